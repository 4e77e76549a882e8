dtinfo bench cast --size 4KiB,1MB
