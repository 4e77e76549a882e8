echo hello > in.txt
dtinfo inspect in.txt
