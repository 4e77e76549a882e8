printf '\0\1\2\377' | dtinfo cast - bool --from bool -o /dev/null
