dtinfo devices --device gpu
