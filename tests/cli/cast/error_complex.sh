dtinfo cast 1+-2j complex64
