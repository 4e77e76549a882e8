# the formats of P3109, and a line that says where they are
dtinfo list | grep -c binary
dtinfo list | grep P3109
dtinfo list --all | grep -c binary
dtinfo list --all | grep P3109
dtinfo finfo | tail -n 2
dtinfo finfo --all | tail -n 2
dtinfo list --names | grep -c binary
dtinfo iinfo --all
dtinfo list --json | tr ',' '\n' | grep -c '"name":"binary'
