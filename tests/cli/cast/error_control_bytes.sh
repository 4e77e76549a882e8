dtinfo cast "$(printf '\033[31mred')" bf16
