dtinfo finfo --style torch fp16
dtinfo finfo --like torch fp16
dtinfo iinfo --style numpy int8
dtinfo iinfo --like numpy int8
dtinfo finfo --help | grep -e --style
