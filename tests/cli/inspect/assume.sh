python3 - <<'END'
import os, sys
sys.path.insert(0, os.environ['MAKERS'])
from make_checkpoint import npy, pack
open('x.npy', 'wb').write(npy('|V2', (3,), pack('BF16', [1, -2, 0.5])))
END
dtinfo inspect x.npy
dtinfo inspect x.npy --assume bf16 --stats
