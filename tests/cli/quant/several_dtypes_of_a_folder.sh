# compressed-tensors: a group of config.json for each dtype
PYTHONPATH="$MAKERS" python3 - <<'END'
import os
from make_checkpoint import safetensors, tensor
os.mkdir("plain")
with open("plain/model.safetensors", "wb") as file:
    file.write(safetensors([tensor("m.%d.weight" % i, "F32", [2, 32], range(64)) for i in range(3)]))
with open("plain/config.json", "w") as file:
    file.write("{}")
END
dtinfo quant plain nvfp4 --type 'm.0.*=fp8_e4m3fn,m.1.*=int8' -o several -q
python3 - <<'END'
import json
with open("several/config.json") as file:
    for group in json.load(file)["quantization_config"]["config_groups"].values():
        print(group["format"], group["targets"])
END
