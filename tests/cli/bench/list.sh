dtinfo bench --list
