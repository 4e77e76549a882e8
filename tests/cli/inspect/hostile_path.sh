python3 "$MAKERS/make_checkpoint.py" . --others
mv weights.npy "$(printf 'a\033[2Jb\342\200\256')"
dtinfo inspect a*
dtinfo inspect --stats "$(printf 'none\033[2J')" a*
