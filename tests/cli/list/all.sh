dtinfo list
