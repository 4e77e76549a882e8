python3 - <<'END'
import os, sys
sys.path.insert(0, os.environ['MAKERS'])
from make_checkpoint import pack, safetensors
inf, nan = float('inf'), float('nan')
tensors = [('specials', 'F32', [2, 4], pack('F32', [nan, inf, -inf, 1e-40, -0.0, 3e38, -1, nan])),
           ('nothing', 'F32', [0, 4], b''),
           ('all nan', 'F16', [2], pack('F16', [nan, nan])),
           ('large', 'I64', [3], pack('I64', [-2**63, 2**63 - 1, 7])),
           ('unsigned', 'U64', [2], pack('U64', [2**64 - 1, 1])),
           ('small', 'I8', [2], pack('I8', [-128, 127])),
           ('codes', 'F8_E4M3', [3], bytes([0x7E, 0xFF, 0x01])),
           ('flags', 'BOOL', [3], bytes([1, 0, 1])),
           ('one', 'F64', [], pack('F64', [0.1]))]
open('x.safetensors', 'wb').write(safetensors(tensors))
END
dtinfo inspect --stats x.safetensors
