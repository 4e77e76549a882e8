DTINFO_FOO=1 dtinfo cast 1 bf16
