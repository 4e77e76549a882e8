dtinfo bench cast --time 0
