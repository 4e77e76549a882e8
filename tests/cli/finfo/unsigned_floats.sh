exec 2>&1
dtinfo finfo ue4m3 ue5m3 ue3m4
dtinfo finfo ue4m3fn ue5m3fnb15 E5M3FNU ue4m3b7 ue8m0 ue11m52 --field dtype,bits,has_inf,nan_codes
for name in ue5m0 ue4m3fnuz ue11m53 ue04m3 ue1m0fn; do
    dtinfo finfo "$name" || echo "exit $?"
done
