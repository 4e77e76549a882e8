exec 2>&1
dtinfo bits 0x7e ue4m3
dtinfo bits 0x7f ue4m3 -q
dtinfo bits 0xff ue4m3 || echo "exit $?"
dtinfo bits 0xff ue5m3 -q
dtinfo bits 0xfe ue5m3 -q
