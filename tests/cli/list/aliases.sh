dtinfo list --aliases
