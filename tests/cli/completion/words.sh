dtinfo __complete ca
dtinfo __complete cast --rou
dtinfo __complete cast --round near
dtinfo __complete cast 1 bf
dtinfo __complete cast 1 bf16,fp1
dtinfo __complete completion ''
dtinfo __complete bench cast --level ''
dtinfo __complete bench cast --level all,avx5
dtinfo __complete bench cast --threads ''
dtinfo __complete cast --from te
dtinfo __complete check x --dtype 'bf16,fp3'
