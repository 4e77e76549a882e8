#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the wheels of `dtinfo`, for old C libraries and for other machines, by zig's C compiler.

    python3 -m venv build-wheels && build-wheels/bin/pip install -r packaging/requirements.txt
    build-wheels/bin/python packaging/wheels.py                       both kinds, for this machine's architecture
    ... packaging/wheels.py --target manylinux_2_17_aarch64 --libraries FOLDER

Two wheels have one name and version. `module` has the Python module and the command, and its tag says which Pythons
it fits (cp311-abi3 if Python 3.11 builds it). `command` has the command alone and fits every Python (py3-none): pip and
uv take it where the other does not fit.

zlib, libdeflate and nettle are linked statically, from --libraries: a folder with include, lib and share as below /usr,
which is the default. packaging/debian-libraries.sh fills one for another architecture. The headers of MPFR and GMP are
taken from there as well. The texts of the libraries' licences go into the wheel."""
import argparse
import base64
import collections
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
KINDS = ("module", "command")
Target = collections.namedtuple("Target", "zig family triplet tags")
TARGETS = {
    "manylinux_2_17_x86_64": Target("x86_64-linux-gnu.2.17", "x86_64", "x86_64-linux-gnu",
                                     "manylinux2014_x86_64.manylinux_2_17_x86_64"),
    "manylinux_2_17_aarch64": Target("aarch64-linux-gnu.2.17", "aarch64", "aarch64-linux-gnu",
                                      "manylinux2014_aarch64.manylinux_2_17_aarch64"),
}
# name for pkg-config: the file of the library (none: only its headers are needed), its headers
LIBRARIES = {
    "zlib": ("libz.a", ["zlib.h", "zconf.h"]),
    "libdeflate": ("libdeflate.a", ["libdeflate.h"]),
    "nettle": ("libnettle.a", ["nettle"]),
    "gmp": (None, ["gmp.h"]),
    "mpfr": (None, ["mpfr.h"]),
}
NOTICES = {"zlib": "zlib1g-dev", "libdeflate": "libdeflate-dev", "nettle": "nettle-dev"}


def fail(message):
    sys.exit("wheels.py: " + message)


def find(prefix, triplet, folder, name):
    """A file or folder of a library, where Debian and others have it."""
    for place in (prefix / folder / triplet / name, prefix / folder / name):
        if place.exists():
            return place
    return None


def version_of(prefix, triplet, name):
    """The version that the library's own file for pkg-config states."""
    path = find(prefix, triplet, "lib", "pkgconfig/%s.pc" % name) or find(prefix, triplet, "share", "pkgconfig/%s.pc" % name)
    if not path:
        fail("%s has no %s.pc" % (prefix, name))
    for line in path.read_text().splitlines():
        if line.startswith("Version:"):
            return line.split(":")[1].strip()
    return fail("%s states no version" % path)


def take_libraries(prefix, triplet, stage):
    """Copies headers and static libraries into a folder with nothing else, so that neither the headers nor the shared
    libraries of this machine's C library are found."""
    for name, (archive, headers) in LIBRARIES.items():
        for item in headers + ([archive] if archive else []):
            folder = "lib" if item == archive else "include"
            source = find(prefix, triplet, folder, item)
            if not source:
                fail("%s has no %s of %s: install the development package, or name another folder with --libraries"
                     % (prefix / folder, item, name))
            (stage / folder).mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, stage / folder / item)
        (stage / "lib/pkgconfig").mkdir(parents=True, exist_ok=True)
        (stage / "lib/pkgconfig" / (name + ".pc")).write_text(
            "Name: %s\nDescription: %s\nVersion: %s\nCflags: -I%s\n%s" % (
                name, name, version_of(prefix, triplet, name), stage / "include",
                "Libs: -L%s -l%s\n" % (stage / "lib", archive[3:-2]) if archive else ""))


def take_python_headers(python, prefix, triplet, stage):
    include = pathlib.Path(ask(python, "import sysconfig; print(sysconfig.get_path('include'))"))
    if not (include / "Python.h").exists():
        fail("%s has no Python.h: install the headers of %s" % (include, python))
    shutil.copytree(include, stage / "python")
    # Debian's pyconfig.h includes that of the architecture from a folder of its own.
    for base in (prefix / "include", include.parent):
        if (base / triplet / include.name / "pyconfig.h").exists():
            shutil.copytree(base / triplet / include.name, stage / "python" / triplet / include.name)
            break


def notices(prefix):
    """The texts of the licences of what is linked statically, by the name that they get."""
    found = {}
    for name, package in NOTICES.items():
        places = [prefix / "share/doc" / package / "copyright", *sorted(prefix.glob("share/licenses/%s/*" % name))]
        places = [place for place in places if place.is_file()]
        if not places:
            fail("%s has no text of the licence of %s: put it into %s" % (
                prefix, name, prefix / "share/licenses" / name))
        found["%s.txt" % name] = b"\n".join(place.read_bytes() for place in places)
    return found


def ask(python, program):
    return subprocess.run([python, "-c", program], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout.strip()


def machine_file(target, work):
    """Names zig's compiler to Meson. Headers come from zig and from the stage only."""
    try:
        import ziglang
    except ImportError:
        fail("ziglang is missing: pip install -r packaging/requirements.txt")
    zig = str(pathlib.Path(ziglang.__file__).parent / "zig")
    stage = work / "stage"
    # zig adds -DNDEBUG and frame pointers; messages of assertions have the path below the project's folder
    flags = ["-isystem", str(stage / "python"), "-UNDEBUG", "-g0", "-fomit-frame-pointer",
             "-fmacro-prefix-map=%s/=" % os.path.relpath(ROOT, work / "build")]
    text = (
        "[binaries]\nc = %r\nar = %r\npkg-config = 'pkg-config'\n\n"
        "[built-in options]\nc_args = %r\nc_link_args = %r\n\n"
        "[properties]\npkg_config_libdir = %r\nneeds_exe_wrapper = true\n\n"
        "[host_machine]\nsystem = 'linux'\ncpu_family = %r\ncpu = %r\nendian = 'little'\n"
        % ([zig, "cc", "-target", target.zig], [zig, "ar"], flags, ["-s"], str(stage / "lib/pkgconfig"),
           target.family, target.family))
    path = work / "machine.ini"
    if not path.exists() or path.read_text() != text:  # else what is compiled already is still good
        shutil.rmtree(work / "build", ignore_errors=True)
        path.write_text(text)


def build(python, kind, target, work):
    """Builds one wheel by meson-python; its path."""
    out = work / kind
    environment = dict(os.environ, _PYTHON_HOST_PLATFORM="linux-" + target.family,
                       ZIG_GLOBAL_CACHE_DIR=str(work / "zig"), ZIG_LOCAL_CACHE_DIR=str(work / "zig"))
    environment["PATH"] = "%s:%s" % (pathlib.Path(python).parent, environment["PATH"])
    for name in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS"):
        environment.pop(name, None)
    options = ["--cross-file=%s" % (work / "machine.ini"), "-Dpython=%s" % ("enabled" if kind == "module" else "disabled"),
               "-Dmpfr=enabled", "-Dwrap_mode=nodownload"]
    done = subprocess.run(
        [python, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out),
         "-Cbuild-dir=%s" % (work / "build")] + ["-Csetup-args=%s" % option for option in options] + [str(ROOT)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    (work / (kind + ".txt")).write_text(done.stdout)
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-4000:])
        fail("the build failed; the whole output is in %s" % (work / (kind + ".txt")))
    return next(out.glob("*.whl"))


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (name, digest, len(data))


def finish(built, platforms, extra, epoch, out):
    """Writes the wheel again: the platform's tags, the texts of licences, members in order, one time; its path."""
    name, version, python, abi, _ = built.stem.split("-")
    info = "%s-%s.dist-info/" % (name, version)
    path = out / ("%s-%s-%s-%s-%s.whl" % (name, version, python, abi, platforms))
    with zipfile.ZipFile(built) as old:
        members = {item.filename: (old.read(item), item.external_attr) for item in old.infolist()}
    lines = [line for line in members[info + "WHEEL"][0].decode().splitlines() if not line.startswith("Tag:")]
    tags = ["Tag: %s-%s-%s" % (python, each, platform) for each in abi.split(".") for platform in platforms.split(".")]
    members[info + "WHEEL"] = ("\n".join(lines + tags).encode() + b"\n", members[info + "WHEEL"][1])
    metadata = members[info + "METADATA"][0].decode()
    first = "License-File: LICENSE\n"
    metadata = metadata.replace(first, first + "".join("License-File: %s\n" % each for each in extra), 1)
    members[info + "METADATA"] = (metadata.encode(), members[info + "METADATA"][1])
    for each, text in extra.items():
        members[info + "licenses/" + each] = (text, 0o644 << 16)
    del members[info + "RECORD"]
    record = "".join(record_line(each, members[each][0]) for each in sorted(members)) + info + "RECORD,,\n"
    members[info + "RECORD"] = (record.encode(), 0o644 << 16)
    moment = time.gmtime(max(epoch, 315532800))[:6]  # zip knows no year before 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for each in sorted(members, key=lambda member: (member.startswith(info), member)):
            item = zipfile.ZipInfo(each, moment)
            item.external_attr = members[each][1]
            item.compress_type = zipfile.ZIP_DEFLATED
            item.create_system = 3
            new.writestr(item, members[each][0])
    return path


def epoch_of_sources():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else 0


def judge(wheels, tag):
    """Other people's checks of a wheel. Those that are not installed are named; the number of complaints."""
    bad = 0
    for wheel in wheels:
        # W007: a wheel of the command alone has no library, as it should
        alone = ["--ignore", "W007"] if "-none-" in wheel.name else []
        checks = [["auditwheel", "show"], ["check-wheel-contents"] + alone, ["twine", "check", "--strict"]]
        if "-abi3-" in wheel.name:
            checks.append(["abi3audit", "--strict"])
        for check in checks:
            tool = pathlib.Path(sys.executable).parent / check[0]
            if not tool.exists():
                print("%s: not judged by %s, which is not installed" % (wheel.name, check[0]))
                continue
            done = subprocess.run([str(tool)] + check[1:] + [str(wheel)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, universal_newlines=True)
            words = " ".join(done.stdout.split())
            good = done.returncode == 0 and (check[0] != "auditwheel" or 'platform tag: "%s"' % tag in words)
            print("%s: %s: %s" % (wheel.name, check[0], "passed" if good else words))
            bad += not good
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    machine = "aarch64" if sysconfig.get_platform().endswith("aarch64") else "x86_64"
    parser.add_argument("--target", choices=sorted(TARGETS), default="manylinux_2_17_" + machine)
    parser.add_argument("--kind", choices=KINDS, action="append", help="which wheel (default: both)")
    parser.add_argument("--python", default=sys.executable,
                        help="the Python that the module is built for, with meson-python (default: this one)")
    parser.add_argument("--libraries", type=pathlib.Path, default=pathlib.Path("/usr"), metavar="FOLDER")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-wheel", metavar="FOLDER",
                        help="where it builds (default: build-wheel)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build-dist", metavar="FOLDER")
    options = parser.parse_args()
    target, prefix, work = TARGETS[options.target], options.libraries.resolve(), options.work.resolve()
    extra, wheels = notices(prefix), []
    options.out.mkdir(parents=True, exist_ok=True)
    for folder in ("stage", *KINDS):
        shutil.rmtree(work / folder, ignore_errors=True)
    take_libraries(prefix, target.triplet, work / "stage")
    take_python_headers(options.python, prefix, target.triplet, work / "stage")
    machine_file(target, work)
    for kind in options.kind or KINDS:
        built = build(options.python, kind, target, work)
        wheels.append(finish(built, target.tags, extra, epoch_of_sources(), options.out))
        print(wheels[-1], flush=True)
    sys.exit(1 if judge(wheels, options.target) else 0)


if __name__ == "__main__":
    main()
