dtinfo quant 1 int8 --fail-on clipped,special,inexact -q; echo $?
dtinfo quant 0.3 1 int8 --fail-on inexact -q; echo $?
dtinfo quant 1 2 int8 --scale 0.01 --fail-on clipped -q; echo $?
dtinfo quant 1 inf int8 --fail-on clipped -q; echo $?
dtinfo quant 1 inf int8 --fail-on special -q; echo $?
