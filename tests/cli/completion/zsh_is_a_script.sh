dtinfo completion zsh | head -n 1
