dtinfo iinfo -q int8 uint64
dtinfo iinfo -q uint64 max
dtinfo iinfo --field dtype,bits,max.bits int4,bool
dtinfo iinfo -q int8 maxx
dtinfo iinfo int8 int16 --jsonl | wc -l
