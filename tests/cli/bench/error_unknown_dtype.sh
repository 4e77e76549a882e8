dtinfo bench cast fp32:bf61
