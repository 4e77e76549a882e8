for text in 1e 1e+ 1ex 1e-x '1e 5' 1e_5 1e+_5 1e5_ 0x1p 0x1px
do
    dtinfo cast "$text" fp16 2>&1 || echo $?
done
