dtinfo bench cast --size 1MB
