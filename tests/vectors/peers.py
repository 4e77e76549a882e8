# SPDX-License-Identifier: MIT
"""What numpy, ml_dtypes and torch make of the inputs of vector files: casts, values of codes, arithmetic."""

import importlib

NUMPY_NAMES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "int64": "int64"}
ML_NAMES = {"bf16": "bfloat16", "fp8_e5m2": "float8_e5m2", "fp8_e4m3fn": "float8_e4m3fn",
            "fp8_e5m2fnuz": "float8_e5m2fnuz", "fp8_e4m3fnuz": "float8_e4m3fnuz", "fp8_e4m3": "float8_e4m3",
            "fp8_e3m4": "float8_e3m4", "fp8_e4m3b11fnuz": "float8_e4m3b11fnuz", "fp8_e8m0": "float8_e8m0fnu",
            "fp6_e3m2": "float6_e3m2fn", "fp6_e2m3": "float6_e2m3fn", "fp4_e2m1": "float4_e2m1fn"}
TORCH_NAMES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "int64": "int64", "bf16": "bfloat16",
               "fp8_e5m2": "float8_e5m2", "fp8_e4m3fn": "float8_e4m3fn", "fp8_e5m2fnuz": "float8_e5m2fnuz",
               "fp8_e4m3fnuz": "float8_e4m3fnuz", "fp8_e8m0": "float8_e8m0fnu"}
WIDTHS = {"fp64": 64, "int64": 64, "fp32": 32, "fp16": 16, "bf16": 16}      # others are a byte
OPERATIONS = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "sqrt": "sqrt"}


def width_of(name):
    return WIDTHS.get(name, 8)


class Numpy:
    """numpy's own dtypes, and with ml_dtypes those of it; a cast is array.astype()."""

    def __init__(self, name, module, names, sources):
        self.name, self.numpy, self.module, self.names = name, importlib.import_module("numpy"), module, names
        self.sources = {**NUMPY_NAMES, **sources}
        self.version = module.__version__

    def dtype(self, name):
        if name in NUMPY_NAMES:
            return self.numpy.dtype(NUMPY_NAMES[name])
        return self.numpy.dtype(getattr(self.module, ML_NAMES[name]))

    def array(self, name, codes):
        return self.numpy.array(codes, dtype=f"uint{width_of(name)}").view(self.dtype(name))

    def codes(self, name, array):
        return [int(code) for code in array.view(f"uint{width_of(name)}")]

    def cast(self, source, target, codes):
        with self.numpy.errstate(all="ignore"):
            return self.codes(target, self.array(source, codes).astype(self.dtype(target)))

    def from_text(self, target, texts):
        with self.numpy.errstate(all="ignore"):
            return self.codes(target, self.numpy.array([float(text) for text in texts]).astype(self.dtype(target)))

    def values(self, name, codes):
        with self.numpy.errstate(all="ignore"):
            return [float(value) for value in self.array(name, codes).astype("float64")]

    def arithmetic(self, operation, name, operands):
        with self.numpy.errstate(all="ignore"):
            made = getattr(self.numpy, OPERATIONS[operation])(*[self.array(name, codes) for codes in operands])
            return self.codes(name, made.astype(self.dtype(name)))

    def has_arithmetic(self, operation):
        return operation in OPERATIONS


class Torch:
    """torch on the CPU; a cast is tensor.to()."""

    def __init__(self, torch):
        self.name, self.torch, self.names, self.sources = "torch", torch, TORCH_NAMES, TORCH_NAMES
        self.version = torch.__version__.partition("+")[0]
        self.numpy = importlib.import_module("numpy")

    def tensor(self, name, codes):
        raw = self.numpy.array(codes, dtype=f"uint{width_of(name)}").view(f"int{width_of(name)}")
        return self.torch.from_numpy(raw).view(getattr(self.torch, TORCH_NAMES[name]))

    def codes(self, name, tensor):
        width = width_of(name)
        raw = tensor.view(getattr(self.torch, f"int{width}")).numpy()
        return [int(code) for code in raw.view(f"uint{width}")]

    def cast(self, source, target, codes):
        return self.codes(target, self.tensor(source, codes).to(getattr(self.torch, TORCH_NAMES[target])))

    def values(self, name, codes):
        return [float(value) for value in self.tensor(name, codes).to(self.torch.float64)]

    def arithmetic(self, operation, name, operands):
        return self.codes(name, getattr(self.torch, OPERATIONS[operation])(*[self.tensor(name, c) for c in operands]))

    def has_arithmetic(self, operation):
        return operation in OPERATIONS


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def peers():
    """(those that are installed, the names of the missing ones)."""
    numpy, ml_dtypes, torch = module("numpy"), module("ml_dtypes"), module("torch")
    found = [Numpy("numpy", numpy, {"fp16": "float16"}, {})] if numpy else []
    if numpy and ml_dtypes:
        found.append(Numpy("ml_dtypes", ml_dtypes, ML_NAMES, {"bf16": "bfloat16"}))
    if numpy and torch:
        found.append(Torch(torch))
    return found, [name for name, made in (("numpy", numpy), ("ml_dtypes", ml_dtypes), ("torch", torch)) if not made]
