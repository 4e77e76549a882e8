python3 - <<'END'
import os, sys
sys.path.insert(0, os.environ['MAKERS'])
from make_checkpoint import pack, safetensors
notes = {'note': 'x' * 200, 'k' * 90: 'long key', 'empty': '', 'wide': '\u4e2d' * 90}
notes.update({'n%02d' % i: str(i) for i in range(40)})
open('x.safetensors', 'wb').write(safetensors([], notes))
END
dtinfo inspect x.safetensors
dtinfo inspect x.safetensors --metadata
