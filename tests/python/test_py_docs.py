# SPDX-License-Identifier: MIT
"""The examples of docs/python.md print what the page says."""
import contextlib
import doctest
import io
import os
import pathlib
import re
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"


class Page(unittest.TestCase):
    def test_examples(self):
        import torch  # noqa: F401 - the page uses it
        blocks = re.findall(r"^```pycon\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
        self.assertGreater(len(blocks), 5)
        text = "\n".join(block + "\n" for block in blocks)
        test = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", str(PAGE), 0)
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            os.chdir(folder)
            try:
                output = io.StringIO()
                results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=output.write)
            finally:
                os.chdir(here)
        self.assertEqual(results.failed, 0, output.getvalue())
        self.assertGreater(results.attempted, 20)


if __name__ == "__main__":
    try:
        import ml_dtypes, numpy, torch  # noqa: E401, F401
    except ImportError:
        sys.exit(77)
    unittest.main()
