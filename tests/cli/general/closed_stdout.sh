dtinfo --version >&-
