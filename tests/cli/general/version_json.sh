dtinfo --version --json
