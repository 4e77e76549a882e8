# fits 80 columns with the longest labels and shares
python3 - <<'END'
import os, sys
sys.path.insert(0, os.environ['MAKERS'])
from make_checkpoint import pack, safetensors
values = [2.0 ** e for e in range(-1074, 1024, 7)] + [1.0] * 200000
open('x.safetensors', 'wb').write(safetensors([('w', 'F64', [len(values)], pack('F64', values))]))
END
dtinfo inspect --histogram x.safetensors > out
sed -n '/exponent/,$p' out
awk 'length > 80' out
