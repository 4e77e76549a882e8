dtinfo completion
