# what follows the name of a file is read with it
for text in '@"x.npy" $' '@x.npy + $' '@x.npy "' '@"x.npy" 1e+' '@"x.npy'
do
    dtinfo calc "$text" fp32 2>&1 || echo $?
done
