dtinfo cast
