dtinfo mem '(4, 8, 20)' fp32
dtinfo mem -q '(5,)' fp32
dtinfo mem -q '(4, 8' fp32
dtinfo mem -q '(4, 8]' fp32
