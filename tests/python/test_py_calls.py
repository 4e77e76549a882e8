# SPDX-License-Identifier: MIT
"""Many calls, many threads, other interpreters: no references are lost, signals are seen."""
import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import unittest

import dtinfo

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    np = None

CALLS = 20000 if os.environ.get("DTI_TEST_QUICK") else 1000000


def resident():
    """Bytes of memory that the process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def refused(call):
    try:
        call()
    except (dtinfo.Error, TypeError, ValueError, BufferError):
        return
    raise AssertionError("was not refused")


class Leaks(unittest.TestCase):
    def traced(self, call):
        """How many bytes the interpreter allocates in 1000 calls and keeps. Its own tables grow now and then: a leak
        shows every time."""
        tracemalloc.start()
        call()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            call()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        return grown

    def steady(self, call, calls, watched=()):
        """Makes many calls, and expects memory and reference counts to stay."""
        for _ in range(1000):
            call()
        gc.collect()
        counts = [sys.getrefcount(thing) for thing in watched]
        memory = resident()
        self.assertLess(min(self.traced(call) for _ in range(3)), 5000)
        for _ in range(calls):
            call()
        gc.collect()
        self.assertLess(abs(resident() - memory), 4 << 20)
        grown = [now - then for now, then in zip([sys.getrefcount(thing) for thing in watched], counts)]
        # Other parts of the interpreter use None, too.
        self.assertEqual([0 if thing is None and abs(n) < 4 else n for n, thing in zip(grown, watched)], [0] * len(grown))

    @unittest.skipIf(np is None, "no numpy")
    def test_cast(self):
        x = np.ones((3, 5), np.float32)
        bf16, words = dtinfo.dtype("bf16"), ("stochastic", "saturate", np.dtype(ml_dtypes.bfloat16), x.dtype)
        self.steady(lambda: dtinfo.cast(x, "bf16", round=words[0], overflow=words[1], seed=3), CALLS,
                    (x, bf16, None) + words)

    @unittest.skipIf(np is None, "no numpy")
    def test_ways(self):
        x = np.ones((3, 5), np.float32)
        y, out = x.T, dtinfo.empty("fp16", (5, 3))
        raw = x.tobytes()
        for call in (lambda: dtinfo.cast(y, "hif8"), lambda: dtinfo.cast(y, "fp16", out=out),
                     lambda: dtinfo.cast(raw, "fp16", src="fp32"), lambda: dtinfo.cast(x, "fp16", report=True),
                     lambda: np.from_dlpack(dtinfo.cast(raw, "fp16", src="fp32")),
                     lambda: dtinfo.cast([1, 2.5], "bf16"), lambda: dtinfo.cast_value("1/3", "bf16"),
                     lambda: dtinfo.finfo("bf16"), lambda: dtinfo.stats(x), lambda: dtinfo.compare(x, x),
                     lambda: dtinfo.cast(x, "hif8").codes, lambda: dtinfo.cast(x, "hif8").__dlpack_device__(),
                     lambda: dtinfo.cast(x, "bf16").tolist(), lambda: dtinfo.dtype("bf16").names("torch"),
                     lambda: dtinfo.quantize(x, "int8").dequantize(), lambda: dtinfo.calc("x + 1", "bf16", x=x),
                     lambda: dtinfo.cast(raw, "bf16", src="fp32").__dlpack__(max_version=(1, 0))):
            with self.subTest(line=call.__code__.co_firstlineno, names=call.__code__.co_names):
                self.steady(call, CALLS // 100, (x, y, out, raw, None, dtinfo.dtype("fp32")))

    @unittest.skipIf(np is None, "no numpy")
    def test_refusals(self):
        x = np.ones(5, np.float32)
        raw, other = x.tobytes(), np.zeros(3, "S4")
        for call in (lambda: dtinfo.dtype("bf17"), lambda: dtinfo.cast(x, "bf16", like="nobody"),
                     lambda: dtinfo.cast(x, "bf16", out=raw), lambda: dtinfo.cast(other, "bf16"),
                     lambda: dtinfo.cast(raw, "bf16"), lambda: dtinfo.cast(x, "bf16", round="x"),
                     lambda: dtinfo.cast_value("x", "bf16"), lambda: dtinfo.open(b"nothing"),
                     lambda: dtinfo.cast(x, "bf16", via=["fp32", "x"]), lambda: dtinfo.quantize(x, "mxfp4", per="tensor"),
                     lambda: dtinfo.calc("x +", "bf16", x=x), lambda: dtinfo.cast(x, "hif8").__dlpack__(),
                     lambda: dtinfo.compare(x, x[:1]), lambda: dtinfo.from_codes(raw, "bf16", (3,))):
            with self.subTest(line=call.__code__.co_firstlineno, names=call.__code__.co_names):
                self.steady(lambda: refused(call), CALLS // 200, (x, raw, other, None))

    @unittest.skipIf(np is None, "no numpy")
    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.safetensors")
            x = np.ones((3, 5), np.float32)
            dtinfo.save(path, {"x": x})

            def call():
                with dtinfo.open(path) as file:
                    file["x"][1:].tolist(), file.metadata, list(file)
            self.steady(call, CALLS // 400)
            self.steady(lambda: dtinfo.save(path, {"x": x}, force=True), CALLS // 2000)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no torch")
        x = torch.ones(3, 5)
        y = torch.ones(3, 5, requires_grad=True)
        self.steady(lambda: dtinfo.cast(x, "bf16"), CALLS // 5, (x, torch.bfloat16))
        self.steady(lambda: dtinfo.cast(x.T, "hif8"), CALLS // 20, (x, torch.bfloat16))
        self.steady(lambda: refused(lambda: dtinfo.cast(y, "bf16")), CALLS // 20, (y,))


@unittest.skipIf(np is None, "no numpy")
class Threads(unittest.TestCase):
    def test_threads(self):
        x = np.random.default_rng(0).standard_normal(1 << 18).astype(np.float32)
        expected = {name: dtinfo.cast(x, name).tobytes() for name in ("bf16", "fp16", "fp8_e4m3fn", "int8")}
        wrong = []

        def work(name):
            for _ in range(40):
                if dtinfo.cast(x, name).tobytes() != expected[name] or dtinfo.dtype("e4m%d" % (hash(name) % 9 + 1)).bits < 6:
                    wrong.append(name)

        threads = [threading.Thread(target=work, args=(name,)) for name in list(expected) * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_others_run(self):
        """While one thread casts, another one does."""
        x = np.zeros(1 << 26, np.float32)
        out = np.empty(1 << 26, np.uint8)
        seen = []
        done = threading.Event()

        def count():
            while not done.is_set():
                seen.append(time.perf_counter())
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        begin = time.perf_counter()
        dtinfo.cast(x, "hif8", out=out)
        end = time.perf_counter()
        done.set()
        thread.join()
        self.assertGreater(sum(begin < at < end for at in seen), 3)

    def test_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npz")
            x = np.arange(1 << 16, dtype=np.float32)
            np.savez_compressed(path, x=x)  # has one place where it decompresses
            with dtinfo.open(path) as file:
                tensor, wrong = file["x"], []

                def work(first):
                    for _ in range(50):
                        if tensor.read(first, 1000).tolist() != x[first:first + 1000].tolist():
                            wrong.append(first)

                threads = [threading.Thread(target=work, args=(i * 5000,)) for i in range(8)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual(wrong, [])

    def test_fork(self):
        x = np.ones(1 << 22, np.float32)
        dtinfo.cast(x, "bf16")  # starts threads
        made = dtinfo.dtype("e5m3")
        child = os.fork()
        if not child:
            try:
                fine = float(dtinfo.cast(x, "bf16")[-1]) == 1 and dtinfo.cast(x[:4], made).tolist() == [1] * 4
                os._exit(0 if fine else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


LONG = """
import numpy as np, dtinfo
x = np.ones(1 << 26, np.float32)
out = np.zeros(1 << 26, np.uint16)
print("ready", flush=True)
while True:
    try:
        out[-1] = 0
        while not out[-1]:
            dtinfo.cast(x, "posit16", round="odd", out=out)
    except KeyboardInterrupt:
        print("stopped", bool(out[-1]), flush=True)
"""


@unittest.skipIf(np is None, "no numpy")
class Signals(unittest.TestCase):
    def test_control_c(self):
        """Ctrl-C ends a cast before it is done. A signal may also come between two casts, so some are sent."""
        child = subprocess.Popen([sys.executable, "-c", LONG], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                                 stdout=subprocess.PIPE, text=True)
        with child:
            try:
                self.assertEqual(child.stdout.readline(), "ready\n")
                answers = []
                for i in range(20):
                    time.sleep(0.05 + 0.007 * i)
                    begin = time.perf_counter()
                    child.send_signal(signal.SIGINT)
                    answers.append(child.stdout.readline())
                    self.assertLess(time.perf_counter() - begin, 2)
                    if answers[-1] == "stopped False\n":
                        break
                self.assertEqual(answers[-1], "stopped False\n", answers)
            finally:
                child.kill()

    def test_same_object(self):
        """A handler that uses the file which its own thread reads gets an exception, and no deadlock."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npz")
            np.savez_compressed(path, x=np.random.default_rng(0).standard_normal(1 << 22))
            errors = []

            def handler(*_):
                try:
                    file["x"].read(0, 1)
                except RuntimeError as error:
                    errors.append(str(error))
                except (NameError, ValueError):
                    pass  # between two files

            old = signal.signal(signal.SIGALRM, handler)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
                for _ in range(20):
                    with dtinfo.open(path) as file:
                        file["x"].read()
                    if errors:
                        break
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, old)
            self.assertIn("using it", errors[0])

    def test_handlers(self):
        """A handler runs while a cast goes on, and may cast, too."""
        seen = []
        old = signal.signal(signal.SIGALRM, lambda *_: seen.append(dtinfo.cast([1.0], "bf16").tolist()))
        try:
            for size in (1 << 24, 1 << 26, 1 << 28):  # a cast that is done before the handler was called twice says nothing
                x, seen[:] = np.ones(size, np.float32), []
                signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
                result = dtinfo.cast(x, "posit16", round="odd")
                signal.setitimer(signal.ITIMER_REAL, 0)
                if len(seen) > 1:
                    break
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        self.assertGreater(len(seen), 1)
        self.assertEqual(seen[0], [1])
        self.assertEqual(result.codes[-1], result.codes[0])


class Interpreters(unittest.TestCase):
    def test_other_interpreters(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                self.skipTest("no subinterpreters")
        code = "import sys; sys.path[:0] = %r; import dtinfo; assert dtinfo.cast([1.0], 'bf16').tolist() == [1]" % (sys.path,)
        for _ in range(3):
            other = interpreters.create()
            failed = interpreters.run_string(other, code)
            interpreters.destroy(other)
            self.assertIsNone(failed)


if __name__ == "__main__":
    unittest.main()
