# SPDX-License-Identifier: MIT
"""Finds the first tensor of a torch model that leaves fp16, forward or backward, while the model runs in fp32."""
# %%
import sys

import dtinfo

try:
    import torch
except ImportError:
    print("torch is not installed: nothing to show")
    sys.exit(0)

# %%
# A small model whose second layer has large weights. In fp32 all is well.


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 8, bias=False)
        self.down = torch.nn.Linear(8, 4, bias=False)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


model = torch.nn.Sequential(Block(), Block())
with torch.no_grad():
    for block, weight in ((model[0], 0.5), (model[1], 64.0)):
        block.up.weight.fill_(weight)
        block.down.weight.fill_(weight)
x = torch.ones(2, 4)
print("in fp32:", model(x).flatten().tolist()[0])
print("in fp16:", model.half()(x.half()).flatten().tolist()[0])
model.float()

# %%
# The hook looks at the inputs and outputs of all modules, and keeps the first that fp16 does not have.
with dtinfo.torch_hook(model, "fp16") as watch:
    model(x)
print("fp16:", watch.first)
print("      module %s, %s" % (watch.first.module, watch.first.place))
print(watch.first.stats)

# %%
# bf16 has the range.
with dtinfo.torch_hook(model, "bf16") as watch:
    model(x)
print("bf16:", watch.first)

# %%
# Gradients leave it, too: here those of a loss that is scaled by 2^16, a usual first scale of torch.amp.GradScaler.
with torch.no_grad():
    for parameter in model.parameters():
        parameter.fill_(0.5)
with dtinfo.torch_hook(model, "fp16") as watch:
    loss = model(x).sum() * 65536
    loss.backward()
print("scaled by 65536:", watch.first)
with dtinfo.torch_hook(model, "fp16") as watch:
    loss = model(x).sum() * 1024
    loss.backward()
print("scaled by 1024: ", watch.first)
