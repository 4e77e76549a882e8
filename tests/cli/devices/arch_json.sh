dtinfo devices --arch m4 --json
dtinfo devices --arch hopper --supports bf16,e3m4 --json
dtinfo devices --supports bf16 --json | jq -c '.supports[].groups[] | [.group, .architectures]'
