dtinfo help
