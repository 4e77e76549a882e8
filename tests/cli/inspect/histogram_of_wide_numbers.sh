python3 - <<'END'
import os, sys
sys.path.insert(0, os.environ['MAKERS'])
from make_checkpoint import pack, safetensors
values = [2.0 ** e for e in range(-149, 128)] * 3 + [0, float('inf'), float('nan'), 3.0e38]
open('x.safetensors', 'wb').write(safetensors([('w', 'F32', [len(values)], pack('F32', values))]))
END
dtinfo inspect --histogram x.safetensors
