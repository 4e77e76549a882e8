# codes beside others that have a scale: they are refused, not cast as numbers; unless they are to stay
exec 2>&1
PYTHONPATH="$MAKERS" python3 - <<'END'
from dequant_files import write_file
codes = ("F8_E4M3", [2, 2], bytes([56, 60, 64, 68]))
write_file("x.safetensors", {"a.weight": codes, "a.weight_scale": ("F32", [], bytes([0, 0, 0, 64])), "b.weight": codes})
END
dtinfo quant x.safetensors fp32 --dequant -o y.safetensors; echo "exit $?"
ls y.safetensors
dtinfo quant x.safetensors fp32 --dequant -o y.safetensors --keep b.weight; echo "exit $?"
