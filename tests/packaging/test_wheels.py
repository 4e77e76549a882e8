#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wheels, built and judged by packaging/wheels.py, in a bare environment of every Python that is found: which of
the two is taken, that the command runs and says the version, that the module is there from Python 3.11 on.

    test_wheels.py [PYTHON]    PYTHON has packaging/requirements.txt and builds the wheels

DTI_WHEELS names a folder with wheels that are built already; DTI_PYTHONS more interpreters, separated by colons."""
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
TOOLS = ("build", "mesonpy", "ziglang")
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}


def run(*command, environment=None):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, env=environment)


def interpreters():
    """One interpreter for each version that is found: {"3.13t": path}."""
    names = os.environ.get("DTI_PYTHONS", "").split(":")
    for folder in os.environ["PATH"].split(":"):
        names += glob.glob(folder + "/python3.[0-9]*")
    names += glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.[0-9]*"))
    question = ("import sys, sysconfig; print('%d.%d%s' % (sys.version_info[:2] + "
                "('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else '',)))")
    found = {}
    for name in names:
        if not re.search(r"/python(3(\.\d+)?t?)?$", name) or "/shims/" in name:
            continue
        done = run(name, "-c", question, environment=CLEAN)
        version = done.stdout.strip()
        if done.returncode == 0 and re.fullmatch(r"3\.\d+t?", version) and int(version[2:].rstrip("t")) >= 7:
            found.setdefault(version, name)
    return dict(sorted(found.items(), key=lambda item: (int(item[0][2:].rstrip("t")), item[0])))


def build(python, folder):
    """Builds the wheels; None if what that takes is missing."""
    missing = [tool for tool in TOOLS if run(python, "-c", "import " + tool).returncode != 0]
    if missing:
        print("wheels are not built: %s lacks %s" % (python, ", ".join(missing)))
        return None
    done = run(python, ROOT / "packaging/wheels.py", "--work", folder / "work", "--out", folder / "wheels")
    print(done.stdout)
    if done.returncode != 0:
        raise SystemExit("FAILED: packaging/wheels.py, exit code %d" % done.returncode)
    return folder / "wheels"


def complaints(version, python, wheels, folder):
    """Installs by the environment's own pip and tries what was installed; what is wrong, or None without pip."""
    place = folder / ("python" + version)
    made = run(python, "-m", "venv", place, environment=CLEAN)
    if made.returncode != 0:
        print("%s: not tried: %s makes no environment with pip" % (version, python))
        return None
    done = run(place / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir",
               "--no-index", "--find-links", wheels, "dtinfo", environment=CLEAN)
    if done.returncode != 0:
        return ["pip install: " + done.stdout]
    problems = []
    stated = run(place / "bin/dtinfo", "--version", environment=CLEAN).stdout.split()[:2]
    rounded = run(place / "bin/dtinfo", "cast", "1/3", "bf16", environment=CLEAN).stdout
    if stated != ["dtinfo", wheel_version(wheels)]:
        problems.append("the command states %s" % stated)
    if not rounded.startswith("1/3 -> bf16 = 0.333984375 "):
        problems.append("cast of 1/3 to bf16: %r" % rounded)
    done = run(place / "bin/python", "-I", "-c", "import dtinfo; print(getattr(dtinfo, '__version__', None) or dtinfo.version())", environment=CLEAN)
    if int(version[2:].rstrip("t")) >= least_minor(wheels) and not version.endswith("t"):
        if done.stdout.strip() != wheel_version(wheels):
            problems.append("the module: " + done.stdout)
    elif "ModuleNotFoundError: No module named 'dtinfo'" not in done.stdout:
        problems.append("a module where none was built: " + done.stdout)
    return problems


def least_minor(wheels):
    """The module's wheel fits the Python that built it and later ones: 11 of cp311-abi3."""
    return int(re.search(r"-cp3(\d+)-abi3-", " ".join(wheel.name for wheel in wheels.glob("*.whl"))).group(1))


def wheel_version(wheels):
    return next(wheels.glob("dtinfo-*.whl")).name.split("-")[1]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ready = os.environ.get("DTI_WHEELS")
        wheels = pathlib.Path(ready) if ready else build(sys.argv[1] if len(sys.argv) > 1 else sys.executable, folder)
        if not wheels:
            return SKIPPED
        passed = failed = 0
        for version, python in interpreters().items():
            found = complaints(version, python, wheels, folder)
            if found is None:
                continue
            passed, failed = passed + (not found), failed + bool(found)
            print("Python %s, %s: %s" % (version, python, "; ".join(found) or "passed"))
        for version in ("3.11", "3.12", "3.13", "3.14", "3.14t", "3.15"):
            if version not in interpreters():
                print("Python %s was not found: not tried" % version)
        print("%d passed, %d failed" % (passed, failed))
        return 1 if failed else 0 if passed else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
