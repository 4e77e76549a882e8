# SPDX-License-Identifier: MIT
"""Arrays of every kind that come in and go out: the numbers are those that ml_dtypes and torch make of them."""
import array
import ctypes
import unittest
import warnings

import dtinfo
import ml_dtypes
import numpy as np

try:
    import torch
except ImportError:
    torch = None

BF16 = ml_dtypes.bfloat16


def numbers(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


class Kinds(unittest.TestCase):
    def same(self, result, expected):
        """Same kind, dtype, shape and bits as an array of numpy."""
        self.assertIsInstance(result, np.ndarray)
        self.assertEqual(result.dtype, expected.dtype)
        self.assertEqual(result.shape, expected.shape)
        self.assertEqual(result.tobytes(), np.ascontiguousarray(expected).tobytes())

    def test_layouts(self):
        x = numbers(6, 8, 10)
        frozen = x.copy()
        frozen.flags.writeable = False
        for view in (x, x.T, x[::2], x[:, ::-1], x[1:1], x[..., 3], x[2, 3, 4], x[2, 3, 4:5], np.asfortranarray(x),
                     np.broadcast_to(x[0, 0], (3, 10)), frozen, x[:, :, :0], x.transpose(1, 0, 2)[::3, ::-2],
                     np.float32(1.1), x.reshape((1,) * 20 + (-1,))):
            with self.subTest(shape=np.shape(view)):
                self.same(dtinfo.cast(view, "bf16"), np.asarray(view).astype(BF16))

    def test_byte_order(self):
        for word in ("f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"):
            for order in "<>":
                x = np.arange(-8 if word[0] != "u" else 0, 9).astype(order + word)
                for view in (x, x[::3]):
                    self.same(dtinfo.cast(view, "fp32"), view.astype(np.float32))
        x = np.array([1 + 2j, 3 - 4j], ">c8")
        self.same(dtinfo.cast(x, "complex128"), x.astype(np.complex128))

    def test_dtypes(self):
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3",
                     "float8_e3m4", "float8_e4m3b11fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn",
                     "float4_e2m1fn", "int4", "uint4", "int2", "uint2", "int8", "bool", "float16", "float64", "uint64"):
            dtype = np.dtype(getattr(ml_dtypes, name, name))
            x = np.array([[1, 0, 1], [1, 1, 0]], np.float32).astype(dtype)
            for view in (x, x.T, x[:, ::2]):
                self.same(dtinfo.cast(view, "fp32"), view.astype(np.float32))
            self.same(dtinfo.cast(x.astype(np.float32), dtype), x)
            self.assertIs(dtinfo.dtype(dtype).numpy, dtype)
            self.assertIs(dtinfo.dtype(dtype.type), dtinfo.dtype(dtype))

    def test_records_are_refused(self):
        for x in (np.zeros(3, "i4,f4"), np.zeros(3, "S4"), np.zeros(3, "M8[s]"), np.zeros(3, object), np.zeros(2, "f16")):
            with self.subTest(dtype=x.dtype), self.assertRaises(TypeError):
                dtinfo.cast(x, "bf16")

    def test_void_is_codes(self):
        x = np.array([1.0, 2.5], BF16)
        raw = x.view("V2")
        with self.assertRaisesRegex(TypeError, "src="):
            dtinfo.cast(raw, "fp32")
        self.same(dtinfo.cast(raw, "fp32", src="bf16"), x.astype(np.float32))

    def test_codes(self):
        x = np.array([1.0, 2.5, -3], BF16)
        for codes in (x.view(np.uint16), x.view(np.int16), x.tobytes(), bytearray(x.tobytes()), memoryview(x.tobytes()),
                      array.array("H", x.view(np.uint16).tolist())):
            self.assertEqual(np.asarray(dtinfo.cast(codes, "fp32", src="bf16")).tolist(), [1.0, 2.5, -3.0])
        for wrong in (x.tobytes()[:3], np.zeros(3, np.float32), np.zeros(3, np.uint32)):
            with self.assertRaises(ValueError):
                dtinfo.cast(wrong, "fp32", src="bf16")
        with self.assertRaisesRegex(TypeError, "src="):
            dtinfo.cast(b"1234", "fp32")

    def test_buffers(self):
        for letter in "bBhHiIlLqQfd":
            x = array.array(letter, [0, 1, 100])
            self.assertEqual(dtinfo.cast(x, "fp32").tolist(), [0, 1, 100])
            self.assertEqual(dtinfo.cast(memoryview(x)[::2], "fp32").tolist(), [0, 100])
        self.assertEqual(dtinfo.cast((ctypes.c_float * 2)(1.5, 2), "bf16").tolist(), [1.5, 2])
        with self.assertRaises(TypeError):
            dtinfo.cast(memoryview(b"abc").cast("c"), "bf16")

    def test_array_interface(self):
        x = numbers(4, 6)

        class Other:
            def __init__(self, of):
                self.__array_interface__, self.of = of.__array_interface__, of

        for view in (x, x.T, x[::2, ::3], x[:0], x.astype(">f4"), x.astype(np.int16)):
            result = dtinfo.cast(Other(view), "fp64")
            self.assertIsInstance(result, dtinfo.Array)
            self.assertEqual(result.tolist(), view.astype(np.float64).tolist())

        class Wrong:
            __array_interface__ = {"shape": (-1,), "typestr": "<f4", "data": (0, False)}

        with self.assertRaises((ValueError, OverflowError)):
            dtinfo.cast(Wrong(), "fp64")

    def test_dlpack_of_others(self):
        x = numbers(4, 6)

        class Old:
            def __init__(self, of):
                self.of = of

            def __dlpack__(self, stream=None):
                return self.of.__dlpack__()

            def __dlpack_device__(self):
                return self.of.__dlpack_device__()

        class New(Old):
            def __dlpack__(self, **options):
                return self.of.__dlpack__(**options)

        for kind in (Old, New):
            for view in (x, x.T, x[::2, ::3], x.astype(np.int16), x.astype(np.complex64), x > 0):
                wide = "complex128" if view.dtype.kind == "c" else "fp64"
                self.assertEqual(dtinfo.cast(kind(view), wide).tolist(), view.astype(dtinfo.dtype(wide).numpy).tolist())
        with self.assertRaises(BufferError):
            dtinfo.cast(Old(np.zeros(3, BF16)), "fp32")

        class Elsewhere(Old):
            def __dlpack_device__(self):
                return (2, 0)

        with self.assertRaisesRegex(BufferError, "CPU"):
            dtinfo.cast(Elsewhere(x), "fp32")

    def test_not_arrays(self):
        for thing in (None, object(), {}, 1j, {1.0}, ["x"], [[1], [2, 3]], [None]):
            with self.subTest(thing=thing), self.assertRaises((TypeError, ValueError)):
                dtinfo.cast(thing, "bf16")

    def test_numbers(self):
        self.assertEqual(dtinfo.cast([1, 2.5], "bf16").tolist(), [1, 2.5])
        self.assertEqual(dtinfo.cast([[1, 2], [3, 4]], "int8").shape, (2, 2))
        self.assertEqual(dtinfo.cast(3, "fp16").tolist(), 3)
        self.assertEqual(dtinfo.cast([], "fp16").shape, (0,))
        # One rounding from the exact number: through fp64 it would be 2049 -> 2048.
        just_above = "2049." + "0" * 40 + "1"
        self.assertEqual(dtinfo.cast([just_above], "fp16").tolist(), [2050])
        self.assertEqual(dtinfo.cast([2**60 + 2**36 + 1, -(2**60 + 2**36 + 1)], "fp32").tolist(),
                         [2.0**60 + 2.0**37, -(2.0**60 + 2.0**37)])

    def test_out(self):
        x = numbers(5, 7)
        expected = x.astype(BF16)
        for out in (np.empty((5, 7), BF16), np.empty(35, np.uint16), dtinfo.empty("bf16", (5, 7))):
            self.assertIs(dtinfo.cast(x, "bf16", out=out), out)
            self.assertEqual(memoryview(out.view(np.uint16) if isinstance(out, np.ndarray) else out.codes).tobytes(),
                             expected.tobytes())
        raw = bytearray(70)
        dtinfo.cast(x.T, "bf16", out=raw)
        self.assertEqual(bytes(raw), np.ascontiguousarray(expected.T).tobytes())
        frozen = np.empty(35, np.uint16)
        frozen.flags.writeable = False
        for wrong in (np.empty(34, BF16), np.empty(70, BF16)[::2], np.empty(35, np.float32), frozen, b"x" * 70,
                      np.empty(35, np.int16), np.empty(35, ">u2"), np.empty(35, np.float16)):
            with self.assertRaises((ValueError, TypeError)):
                dtinfo.cast(x, "bf16", out=wrong)
        both = np.zeros(64, np.uint8)
        for view in (both[:32].view(np.float32), both.view(np.float32)[:8][::-1], both.view(np.float32)[::2]):
            with self.assertRaisesRegex(ValueError, "overlap"):
                dtinfo.cast(view, "bf16", out=both[12:12 + 2 * len(view)].view(np.uint16))

    def test_array_out(self):
        x = dtinfo.cast([[1.0, -2.5, 300.0]], "hif8")
        self.assertEqual((x.shape, x.ndim, x.size, x.nbytes, len(x), x.dtype.name), ((1, 3), 2, 3, 3, 1, "hif8"))
        self.assertEqual(memoryview(x).format, "B")
        self.assertEqual(np.asarray(x).tolist(), x.codes.tolist())
        with self.assertRaises(dtinfo.UnavailableError):
            x.numpy()
        y = dtinfo.cast([1.0, 2.0], "bf16")
        self.assertEqual(y.numpy().dtype, BF16)
        y.codes[0] = 0
        self.assertEqual(y.tolist(), [0, 2])
        self.assertEqual(np.from_dlpack(dtinfo.cast([1.0], "fp32")).tolist(), [1.0])
        self.assertEqual(dtinfo.cast([1, -1], "int4").tolist(), [1, -1])
        self.assertEqual(dtinfo.cast(np.array([1 + 2j]), "complex32").tolist(), [1 + 2j])
        self.assertEqual(dtinfo.cast(np.array(1 + 2j), "complex32").tolist(), 1 + 2j)
        for name in ("hif8", "fp4_e2m1"):
            with self.assertRaises(BufferError):
                dtinfo.cast([1.0], name).__dlpack__()
        capsule = y.__dlpack__(max_version=(1, 0))
        del y, capsule  # nobody took it

    def test_names(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for name in ("bf16", "torch.bfloat16", "BF16", np.dtype(BF16), BF16, "bfloat16"):
                self.assertIs(dtinfo.dtype(name), dtinfo.dtype("bf16"))
            self.assertIs(dtinfo.dtype(float), dtinfo.dtype("fp64"))
        for wrong in (int, "bf17", 3, None, np.dtype(">f4"), np.dtype("V2"), "mxfp4"):
            with self.assertRaises((TypeError, ValueError)):
                dtinfo.dtype(wrong)


@unittest.skipIf(torch is None, "no torch")
class Torch(unittest.TestCase):
    def same(self, result, expected):
        self.assertIsInstance(result, torch.Tensor)
        self.assertEqual((result.dtype, result.shape), (expected.dtype, expected.shape))
        self.assertTrue(torch.equal(result.contiguous().view(torch.uint8), expected.contiguous().view(torch.uint8)))

    def test_layouts(self):
        x = torch.from_numpy(numbers(6, 8, 10))
        for view in (x, x.permute(2, 0, 1), x[::2], x[1:1], x[..., 3], x[0, 0].expand(3, 10), x.unfold(2, 3, 2)):
            self.same(dtinfo.cast(view, "bf16"), view.to(torch.bfloat16))
        scalar = torch.tensor(1.1)
        self.assertEqual(dtinfo.cast(scalar, "bf16").item(), scalar.to(torch.bfloat16).item())

    def test_dtypes(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2,
                      torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.int8, torch.int64, torch.uint8, torch.bool,
                      torch.complex64):
            x = torch.tensor([[1.0, 0, 1], [1, 1, 0]]).to(dtype)
            wide = torch.complex128 if dtype.is_complex else torch.float64
            self.same(dtinfo.cast(x.T, wide), x.T.to(wide))
            if not dtype.is_complex:
                self.same(dtinfo.cast(x.to(torch.float32), dtype), x)
            self.assertIs(dtinfo.dtype(dtype).torch, dtype)

    def test_pairs(self):
        x = torch.tensor([[0x21, 0x43], [0x65, 0xf7]], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
        self.assertEqual(dtinfo.cast(x, "fp32").tolist(), [[0.5, 1, 1.5, 2], [3, 4, 6, -6]])

    def test_kind_of_result(self):
        x = torch.zeros(3)
        self.assertIsInstance(dtinfo.cast(x, "fp4_e2m1"), dtinfo.Array)
        self.assertIsInstance(dtinfo.cast(x, "hif8"), dtinfo.Array)
        self.assertIsInstance(dtinfo.calc("x + 1", "bf16", x=x), torch.Tensor)

    def test_refused(self):
        x = torch.zeros(3, requires_grad=True)
        with self.assertRaisesRegex(ValueError, "detach"):
            dtinfo.cast(x, "bf16")
        dtinfo.cast(x.detach(), "bf16")
        z = torch.tensor([1 + 2j])
        for view in (z.conj(), z.conj().imag):
            with self.assertRaisesRegex(ValueError, "resolve"):
                dtinfo.cast(view, "complex128" if view.is_complex() else "bf16")
        with self.assertRaises((TypeError, ValueError, RuntimeError, BufferError)):
            dtinfo.cast(torch.zeros(3, 3).to_sparse(), "bf16")
        with self.assertRaises((TypeError, ValueError, RuntimeError, BufferError)):
            dtinfo.cast(torch.zeros(3, device="meta"), "bf16")

    def test_tensor_outlives(self):
        result = dtinfo.cast(torch.full((1 << 16,), 1.5), "bf16")
        kept = [dtinfo.cast(torch.zeros(1 << 16), "bf16") for _ in range(8)]
        self.assertTrue((result == 1.5).all())
        del kept

    def test_out(self):
        out = torch.empty(3, dtype=torch.bfloat16)
        self.assertIs(dtinfo.cast(torch.tensor([1.0, 2, 3]), "bf16", out=out), out)
        self.assertEqual(out.tolist(), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
