dtinfo --color always cast 70000 bf16
dtinfo --color always finfo bf16
CLICOLOR_FORCE=1 dtinfo bits 0.1 bf16
CLICOLOR_FORCE=1 NO_COLOR=1 dtinfo cast -q 1 bf16
dtinfo cast 1 bf61 --color always
