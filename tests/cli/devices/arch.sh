dtinfo devices --arch
