dtinfo --colour always list
