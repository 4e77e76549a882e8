# An object of an unknown class is refused by name; --lenient lists what is beside it.
cp "$TESTS/../data/torch_object.pt" .
dtinfo inspect torch_object.pt --lenient
dtinfo inspect torch_object.pt --json | jq -c '[.error.code, .error.argument]'
dtinfo inspect torch_object.pt
