# one device, one size: one measurement
dtinfo bench dot --dtype fp32 --size 100 --threads 1 --time 0.001 | grep thread
