dtinfo --version
