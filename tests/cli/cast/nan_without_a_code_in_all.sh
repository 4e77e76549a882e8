dtinfo cast nan all
