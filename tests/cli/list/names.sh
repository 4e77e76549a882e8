dtinfo list --names
