dtinfo
