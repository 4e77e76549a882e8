python3 "$MAKERS/make_checkpoint.py" model
dtinfo inspect -v model
