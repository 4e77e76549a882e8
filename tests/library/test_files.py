# SPDX-License-Identifier: MIT
"""Files through the public functions of the library: what safetensors, numpy, torch, gguf and onnx wrote is read equal to
what these read themselves: whole and in random ranges, by path, by descriptor and from memory, with one thread and with
several.

    test_files.py PROBE
"""
import itertools
import pathlib
import sys
import tempfile

from probe_files import RANDOM, check_file, have, list_of, read, run, tally

TORCH = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "int64": "int64", "int32": "int32",
         "int16": "int16", "int8": "int8", "uint8": "uint8", "bool": "bool", "float8_e4m3fn": "fp8_e4m3fn",
         "float8_e5m2": "fp8_e5m2", "float8_e4m3fnuz": "fp8_e4m3fnuz", "float8_e5m2fnuz": "fp8_e5m2fnuz",
         "float8_e8m0fnu": "fp8_e8m0", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "complex64": "complex64",
         "complex128": "complex128", "complex32": "complex32"}


def torch_tensors(torch, shape):
    """A tensor of random bytes of every dtype."""
    ret = {}
    count = 1
    for size in shape:
        count *= size
    for name, form in TORCH.items():
        dtype = getattr(torch, name, None)
        if dtype is None:
            continue
        item = torch.empty(0, dtype=dtype).element_size()
        raw = bytearray(RANDOM.randbytes(count * item) if name != "bool" else bytes(RANDOM.choices((0, 1), k=count)))
        flat = torch.frombuffer(raw, dtype=torch.uint8) if raw else torch.empty(0, dtype=torch.uint8)
        ret[name] = (form, flat.view(dtype).reshape(shape))
    return ret


def bytes_of(torch, tensor):
    return bytes(tensor.contiguous().flatten().view(torch.uint8).numpy()) if tensor.numel() else b""


def nibbles(raw):
    return bytes(itertools.chain.from_iterable((byte & 15, byte >> 4) for byte in raw))


def check_safetensors(folder):
    torch, library = have("torch"), have("safetensors.torch")
    if not torch or not library:
        return tally.skip("safetensors: the package is not there")
    from safetensors.torch import load_file, save_file
    tensors = {}
    for shape in ((), (7,), (5, 0, 2), (33, 17)):
        for name, (form, tensor) in torch_tensors(torch, shape).items():
            if name not in ("complex128", "complex32"):
                tensors[f"{name}.{len(tensors)}"] = (form, tensor)
    if hasattr(torch, "float4_e2m1fn_x2"):
        packed = torch.frombuffer(bytearray(RANDOM.randbytes(60)), dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
        tensors["fp4"] = ("fp4_e2m1", packed.reshape(6, 10))
    tensors["large"] = ("bf16", torch.frombuffer(bytearray(RANDOM.randbytes(18 << 20)), dtype=torch.bfloat16))
    path = folder / "all.safetensors"
    save_file({name: tensor for name, (_, tensor) in tensors.items()}, path, metadata={"made": "here", "\u00fc": "\n"})
    back, expected = load_file(path), {}
    for name, (form, _) in tensors.items():
        codes, shape = bytes_of(torch, back[name]), tuple(back[name].shape)
        if form == "fp4_e2m1":
            codes, shape = nibbles(codes), shape[:-1] + (2 * shape[-1],)
        expected[name] = (form, shape, codes)
    check_file(path, expected, ("p", "f", "m", "ps"))
    _, others = list_of(path, "m")
    tally.check("safetensors: metadata", sorted((bytes.fromhex(k).decode(), bytes.fromhex(v).decode()) for word, k, v, _ in
                                                (line for line in others if line[0] == "pair")),
                [("made", "here"), ("\u00fc", "\n")])
    for name, first, count in (("large", 9 << 20, 1), ("large", (9 << 20) + 1, 0), ("large", 1, 2 ** 64 - 1)):
        got = read(path, "p", [(name, first, count)])
        tally.check(f"beyond the end {first} {count}", got[0].split("\t")[:2] if isinstance(got[0], str) else got,
                    ["error", "bad_input"])
    tally.part("safetensors")


def check_numpy(folder):
    numpy, ml_dtypes = have("numpy"), have("ml_dtypes")
    if not numpy:
        return tally.skip("numpy is not there")
    names = {"f8": "fp64", "f4": "fp32", "f2": "fp16", "i8": "int64", "i4": "int32", "i2": "int16", "i1": "int8",
             "u8": "uint64", "u4": "uint32", "u2": "uint16", "u1": "uint8", "c8": "complex64", "c16": "complex128", "?": "bool"}
    arrays = {}
    for (code, form), order, shape, fortran in itertools.product(
            names.items(), "<>", ((), (5,), (0, 3), (13, 3, 5), (300, 401)), (False, True)):
        dtype = numpy.dtype((order if code not in ("i1", "u1", "?") else "|") + code)
        count = int(numpy.prod(shape, dtype=int))
        raw = RANDOM.randbytes(count * dtype.itemsize) if code != "?" else bytes(RANDOM.choices((0, 1), k=count))
        array = numpy.frombuffer(raw, dtype).reshape(shape)
        arrays[f"{form}{'be' if order == '>' else 'le'}{len(arrays)}"] = (
            form, numpy.asfortranarray(array) if fortran and shape else array)
    def expect(array):
        return array.astype(array.dtype.newbyteorder("=")).tobytes("C")
    for name, (form, array) in list(arrays.items())[::7]:
        path = folder / (name + ".npy")
        numpy.save(path, array)
        stem = list_of(path, "p")[0]
        check_file(path, {next(iter(stem)): (form, array.shape, expect(numpy.load(path)))}, ("p", "f", "m"))
    for name, save in (("stored.npz", numpy.savez), ("deflated.npz", numpy.savez_compressed)):
        path = folder / name
        save(path, **{key: array for key, (_, array) in arrays.items()})
        back = numpy.load(path)
        check_file(path, {key: (form, back[key].shape, expect(back[key])) for key, (form, _) in arrays.items()},
                   ("p", "f", "m"))
    tally.part("numpy")
    if not ml_dtypes:
        return tally.skip("ml_dtypes is not there")
    for name, form in (("bfloat16", "bf16"), ("float8_e4m3fn", "fp8_e4m3fn"), ("float8_e3m4", "fp8_e3m4"),
                       ("float6_e2m3fn", "fp6_e2m3"), ("float4_e2m1fn", "fp4_e2m1"), ("int4", "int4"),
                       ("uint2", "uint2")):
        dtype = numpy.dtype(getattr(ml_dtypes, name))
        most = 1 << (int(name[5]) if name.startswith("float") and name[5] in "46" else
                     int(name[-1]) if "int" in name else 8)
        raw = bytes(RANDOM.randrange(most) for _ in range(77 * dtype.itemsize))
        path = folder / f"ml_{name}.npy"
        numpy.save(path, numpy.frombuffer(raw, dtype))
        stem = next(iter(list_of(path, "p", form)[0]), None)
        check_file(path, {stem: (form, (77,), raw)}, ("p", "m"), form)
    tally.part("ml_dtypes")


def check_torch(folder):
    torch = have("torch")
    if not torch:
        return tally.skip("torch is not there")
    tensors = {}
    for name, (form, tensor) in torch_tensors(torch, (24, 35)).items():
        tensors[name] = (form, tensor)
        tensors[name + ".t"] = (form, tensor.t())
        tensors[name + ".step"] = (form, tensor[1::3, ::2])
        tensors[name + ".one"] = (form, tensor[3, 4])
    tensors["expanded"] = ("fp32", torch.arange(5.0).expand(3, 5))
    for zipped in (True, False):
        if not zipped:  # which has no names for newer dtypes
            tensors = {name: pair for name, pair in tensors.items()
                       if not name.startswith(("float8", "uint16", "uint32", "uint64", "complex32"))}
        path = folder / f"{'zip' if zipped else 'old'}.pt"
        torch.save({name: tensor for name, (_, tensor) in tensors.items()}, path, _use_new_zipfile_serialization=zipped)
        back = torch.load(path, weights_only=True)
        check_file(path, {name: (form, tuple(back[name].shape), bytes_of(torch, back[name]))
                          for name, (form, _) in tensors.items()}, ("p", "f", "m"))
    tally.part("torch")


def check_gguf(folder):
    gguf, numpy = have("gguf"), have("numpy")
    if not gguf or not numpy:
        return tally.skip("gguf is not there")
    path, expected = folder / "model.gguf", {}
    writer = gguf.GGUFWriter(path, "llama")
    generator = numpy.random.default_rng(33)
    for kind in gguf.GGMLQuantizationType:
        block, size = gguf.GGML_QUANT_SIZES[kind]
        values = generator.standard_normal((5, 3 * 256), dtype=numpy.float32)
        try:
            if block > 1:
                try:
                    data = gguf.quants.quantize(values, kind)
                except NotImplementedError:  # bytes whose fp16 scales are finite
                    data = generator.integers(0, 256, (5, 3 * 256 // block * size), dtype=numpy.uint8) & 0x3b
                want = gguf.quants.dequantize(data, kind)
                form = "fp32"
            elif kind.name in ("F32", "F16", "F64", "I8", "I16", "I32", "I64"):
                data = values.astype({"F": f"f{size}", "I": f"i{size}"}[kind.name[0]])
                want, form = data, {"F": "fp", "I": "int"}[kind.name[0]] + str(8 * size)
            elif kind.name == "BF16":
                data = gguf.quants.quantize(values, kind)
                want, form = data, "bf16"
            else:
                continue
        except (NotImplementedError, KeyError):
            continue
        writer.add_tensor(kind.name, data, raw_dtype=kind)
        expected[kind.name] = (form, (5, 768), want.tobytes())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print("gguf types:", *expected)
    check_file(path, expected, ("p", "f", "m"))
    tally.part("gguf")


def check_onnx(folder):
    onnx, numpy = have("onnx"), have("numpy")
    if not onnx or not numpy:
        return tally.skip("onnx is not there")
    from onnx import TensorProto, helper, numpy_helper
    tensors, expected = [], {}
    kinds = {"FLOAT": "fp32", "DOUBLE": "fp64", "FLOAT16": "fp16", "BFLOAT16": "bf16", "INT8": "int8", "UINT8": "uint8",
             "INT16": "int16", "UINT16": "uint16", "INT32": "int32", "INT64": "int64", "UINT32": "uint32",
             "UINT64": "uint64", "BOOL": "bool", "FLOAT8E4M3FN": "fp8_e4m3fn", "FLOAT8E5M2": "fp8_e5m2", "INT4": "int4",
             "UINT4": "uint4", "FLOAT4E2M1": "fp4_e2m1", "COMPLEX64": "complex64"}
    for (kind, form), raw in itertools.product(kinds.items(), (True, False)):
        name, number = f"{kind}.{raw}", getattr(TensorProto, kind)
        dtype = helper.tensor_dtype_to_np_dtype(number)
        values = numpy.arange(35) % 7
        array = (values if kind != "BOOL" else values % 2).astype(dtype).reshape(5, 7)
        if raw:
            tensor = numpy_helper.from_array(array, name)
            if tensor.data_type != number:
                continue
        else:
            tensor = helper.make_tensor(name, number, (5, 7), array.flatten())
        tensors.append(tensor)
        back = numpy_helper.to_array(tensor)
        mask = 15 if form in ("int4", "uint4", "fp4_e2m1") else None
        codes = back.tobytes() if mask is None else bytes(byte & mask for byte in back.view(numpy.uint8).tobytes())
        expected[name] = (form, (5, 7), codes)
    graph = helper.make_graph([], "g", [], [], tensors)
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph), path)
    check_file(path, expected, ("p", "f", "m"))
    outside = folder / "outside.onnx"
    onnx.save_model(helper.make_model(helper.make_graph([], "g", [], [], [
        numpy_helper.from_array(numpy.arange(4000.0).astype("f4"), "w")])), outside, save_as_external_data=True,
        size_threshold=100, location="outside.data")
    check_file(outside, {"w": ("fp32", (4000,), numpy.arange(4000.0).astype("f4").tobytes())}, ("p",))
    for how in "fm":
        tally.check(f"onnx {how}: external data", "is in another file" in run("list", outside, how).decode(), True)
    tally.part("onnx")


def check_makers(folder):
    """Models in several files, and archives of files."""
    import make_checkpoint
    import split_parts
    forms = {"F32": "fp32", "BF16": "bf16", "I64": "int64", "F16": "fp16"}
    expected = {name: (forms[dtype], shape, data) for name, dtype, shape, data in make_checkpoint.model()}
    make_checkpoint.write_single(folder)
    check_file(folder / "model.safetensors", expected, ("p", "f", "m"))
    sharded = folder / "sharded"
    sharded.mkdir()
    make_checkpoint.write_sharded(sharded)
    check_file(sharded, expected, ("p",))
    check_file(sharded / "model.safetensors.index.json", expected, ("p",))
    make_checkpoint.write_dduf(folder)
    tensor = make_checkpoint.tensor
    expected = {}
    for name, dtype, shape, data in (tensor("unet/conv_in.bias", "F32", [3], [1, -2, 0.1]),
                                     tensor("unet/conv_in.weight", "F32", [3, 2], [0.5] * 6),
                                     tensor("vae/conv_in.weight", "F16", [2], [1, 2]), tensor("vae/steps", "I64", [2], [3, 4])):
        expected[name] = (forms[dtype], shape, data)
    check_file(folder / "model.dduf", expected, ("p", "f", "m"))
    split_parts.write_three(folder)
    codes = bytes(range(1, 33))
    check_file(folder / "m-00002-of-00003.gguf", {name: ("fp32", (8,), codes) for name in "abcd"}, ("p",))
    _, lines = list_of(folder / "m-00001-of-00003.gguf", "m")
    tally.check("a part from memory", "found by their names" in lines[0][2], True)
    make_checkpoint.write_hostile(folder)
    for name in ("hostile.safetensors", "hostile.gguf", "hostile.npz"):
        tensors, _ = list_of(folder / name, "m")
        one = b"\0\0\x80\x3f"
        check_file(folder / name, {key: ("fp32", (1,), one) for key in tensors}, ("p", "m"))
    tally.part("makers")


def main():
    parts = [check_makers, check_safetensors, check_numpy, check_torch, check_gguf, check_onnx]
    for part in parts:
        if len(sys.argv) > 2 and part.__name__ not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            part(pathlib.Path(folder))
    tally.finish()


if __name__ == "__main__":
    main()
