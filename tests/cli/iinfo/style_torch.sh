for dtype in int8 uint8 int16 int32 int64; do
    dtinfo iinfo --style torch $dtype
done
