# 100 parts, and a member after the last one: what lies behind the list of parts is not looked at, which a sanitizer sees
PYTHONPATH="$MAKERS" python3 - <<'END'
from make_checkpoint import dduf, safetensors, tensor
parts = [("p%d/w.safetensors" % i, safetensors([tensor("w", "F32", [1], [i])])) for i in range(100)]
with open("many.dduf", "wb") as file:
    file.write(dduf([("model_index.json", b'{"_class_name": "P"}'), *parts, ("vae/config.json", b"{}")]))
END
dtinfo cast many.dduf bf16 -o half.dduf | head -n 1
dtinfo check many.dduf half.dduf
