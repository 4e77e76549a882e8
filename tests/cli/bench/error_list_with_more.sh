dtinfo bench cast --list extra --size x
