dtinfo iinfo
