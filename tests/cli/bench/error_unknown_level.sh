dtinfo bench cast --level sse9
