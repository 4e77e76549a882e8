dtinfo bench dot --list
