# SPDX-License-Identifier: MIT
"""A hook for modules of torch that finds the first tensor outside a dtype's range."""
from . import _dtinfo


class Escape:
    """A tensor that left the range: where it was seen, its statistics, and why it does not fit."""

    def __init__(self, module, place, index, stats, dtype):
        self.module, self.place, self.index, self.stats, self.dtype = module, place, index, stats, dtype

    @property
    def reason(self):
        """In words."""
        stats = self.stats
        if not stats.fits(self.dtype) and stats.finite:
            return "%g at element %d is beyond the range of %s" % (stats.absmax, stats.absmax_index, self.dtype)
        if stats.nan:
            return "%d NaN, the first at element %d" % (stats.nan, stats.first_nan)
        return "%d infinite, the first at element %d" % (stats.inf, stats.first_inf)

    def __repr__(self):
        number = "" if self.index is None else " %d" % self.index
        return "%s%s of %s: %s" % (self.place, number, self.module or "the model", self.reason)


class torch_hook:
    """Records the first tensor of a model that leaves a dtype's range.

    with dtinfo.torch_hook(model, "fp16") as watch:
        loss = model(x).sum()
        loss.backward()
    print(watch.first)

    model: a torch.nn.Module. dtype: the range, such as 'fp16' for a model that runs in fp32. A number that overflows
    when it is rounded to dtype has left it, and so have NaN and infinity. gradients: also look at the gradients of
    outputs. first: an Escape, or None; after the first, nothing is looked at. Its place is 'input', 'output' or
    'gradient'. Works as a context manager, or until remove().
    """

    def __init__(self, model, dtype, *, gradients=True):
        self.dtype, self.first = _dtinfo.dtype(dtype), None
        self._gradients = gradients
        self._handles = [module.register_forward_hook(self._forward(name)) for name, module in model.named_modules()]

    def _forward(self, name):
        def hook(module, inputs, output):
            self._look(name, "input", inputs)
            self._look(name, "output", output)
            for tensor in output if isinstance(output, (tuple, list)) else (output,):
                if self._gradients and getattr(tensor, "requires_grad", False):
                    tensor.register_hook(lambda gradient: self._look(name, "gradient", gradient))
        return hook

    def _look(self, name, place, tensors):
        if self.first is not None:
            return
        several = isinstance(tensors, (tuple, list))
        for index, tensor in enumerate(tensors if several else (tensors,)):
            if not hasattr(tensor, "is_floating_point") or not tensor.is_floating_point() or not tensor.numel():
                continue
            stats = _dtinfo.stats(tensor.detach().cpu())
            if stats.nan or stats.inf or not stats.fits(self.dtype):
                self.first = Escape(name, place, index if several and len(tensors) > 1 else None, stats, self.dtype)
                return

    def remove(self):
        """Takes the hooks off the model."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()
