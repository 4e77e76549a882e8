python3 "$MAKERS/make_checkpoint.py" files --others
exec 2>&1
for dtype in ue4m3 ue5m3 ue3m4 int12; do
    for to in safetensors npy; do
        dtinfo cast files/weights.npy "$dtype" -o "x.$to" --force -q || echo "exit $?"
    done
    dtinfo cast files/weights.npy "$dtype" -o x.bin --force -q
    od -An -tx1 x.bin | head -n 1
done
dtinfo cast files/weights.npy ue5m3 -o x.npy --force
dtinfo inspect x.npy --assume ue5m3 --stats --columns name,dtype,elements,min,max
