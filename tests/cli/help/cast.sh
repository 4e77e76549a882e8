dtinfo help cast
