dtinfo bench cast fp32
