dtinfo bench dot --loss
