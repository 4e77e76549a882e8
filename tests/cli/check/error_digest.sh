dtinfo check a --digest sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709
