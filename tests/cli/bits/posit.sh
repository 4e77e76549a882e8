# Regime, exponent and fraction; both ends of the range; negative numbers are a two's complement; NaR.
dtinfo bits 0x4a posit8
dtinfo bits 0xb6 posit8
dtinfo bits 0x7e posit8
dtinfo bits 0x01 posit16
dtinfo bits 0x8000 posit16
dtinfo bits -2.5 posit16 --json
