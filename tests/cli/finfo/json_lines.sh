# a document a dtype, each as if it had been asked for alone
dtinfo finfo fp16 e4m3 --jsonl >lines
{ dtinfo finfo fp16 --json; dtinfo finfo e4m3 --json; } >alone
cmp lines alone && wc -l <lines
dtinfo finfo --jsonl | wc -l
dtinfo finfo | wc -l
