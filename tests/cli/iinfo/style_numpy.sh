dtinfo iinfo --style numpy int8
dtinfo iinfo --style numpy uint64
