dtinfo bench cast --size 0
