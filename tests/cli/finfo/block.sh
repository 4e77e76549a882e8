dtinfo finfo mxfp4
