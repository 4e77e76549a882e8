dtinfo bench expsin fp32
