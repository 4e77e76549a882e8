dtinfo iinfo uint64 --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["results"][0]["max"]["value"])'
