# SPDX-License-Identifier: MIT
"""The type stubs say what the module has, and a program that uses them passes mypy --strict."""
import os
import subprocess
import sys
import unittest

import dtinfo

try:
    import mypy
except ImportError:
    mypy = None
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(dtinfo.__file__)))


@unittest.skipIf(mypy is None, "no mypy")
class Stubs(unittest.TestCase):
    def run_module(self, *arguments):
        done = subprocess.run([sys.executable, "-m", *arguments], env={**os.environ, "MYPYPATH": FOLDER, "PYTHONPATH": FOLDER},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_example(self):
        self.run_module("mypy", "--strict", "--cache-dir", os.devnull,
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "typed_example.py"))

    def test_stubs(self):
        # What only the package's own modules use has no stub.
        self.run_module("mypy.stubtest", "--ignore-missing-stub", "dtinfo")

    def test_all_public_names(self):
        import ast
        with open(os.path.join(os.path.dirname(dtinfo.__file__), "__init__.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        declared = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        declared |= {name.asname for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names}
        public = {name for name in dir(dtinfo) if not name.startswith("_")}
        self.assertEqual(public - declared, set())
        self.assertEqual({name for name in declared if name and not name.startswith("_")} - public, set())


class Documentation(unittest.TestCase):
    def test_docstrings(self):
        for name in dir(dtinfo):
            thing = getattr(dtinfo, name)
            if not name.startswith("_") and callable(thing):
                self.assertTrue(thing.__doc__, name)


if __name__ == "__main__":
    unittest.main()
