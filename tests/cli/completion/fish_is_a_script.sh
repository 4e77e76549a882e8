dtinfo completion fish | head -n 1
