# PyTorch files of both forms, read without running their pickle.
cp "$TESTS"/../data/torch.pt "$TESTS"/../data/torch_old.pt .
dtinfo inspect torch.pt
dtinfo inspect torch_old.pt -v --stats
dtinfo inspect torch.pt --json | jq -c '.files[] | .kind, (.tensors[] | [.name, .dtype, .stored_as, .order, .refusal]), .notes[]?'
dtinfo compare torch.pt torch_old.pt; echo "exit $?"
