#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what is in a program that is linked statically, as SPDX 2.3 in JSON: the libraries with the versions that the
program itself states, and the files of its archive with their digests.

    packaging/sbom.py PROGRAM ARCHIVE > dtinfo.spdx.json

The program must run here. Times are that of SOURCE_DATE_EPOCH."""
import datetime
import hashlib
import json
import os
import platform
import subprocess
import sys
import tarfile

LICENSES = {"zlib": "Zlib", "libdeflate": "MIT", "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later",
            "glibc": "LGPL-2.1-or-later"}


def package(name, version, license_id, **more):
    return {"SPDXID": "SPDXRef-Package-" + name, "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": license_id,
            "licenseDeclared": license_id, "copyrightText": "NOASSERTION", **more}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def main(program, archive):
    facts = json.loads(subprocess.run([program, "--version", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    libraries = [(each["name"], each["version"]) for each in facts["libraries"]]
    libraries.append(("glibc", platform.libc_ver()[1]))
    with open(archive, "rb") as data:
        digest = hashlib.sha256(data.read()).hexdigest()
    files = []
    with tarfile.open(archive) as members:
        for member in sorted((each for each in members if each.isfile()), key=lambda each: each.name):
            content = members.extractfile(member).read()
            files.append({
                "SPDXID": "SPDXRef-File-%d" % len(files), "fileName": "./" + member.name.partition("/")[2],
                "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                              {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
                "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"})
    verification = hashlib.sha1("".join(sorted(each["checksums"][0]["checksumValue"] for each in files)).encode())
    main_package = package(
        "dtinfo", facts["dtinfo"], "MIT", packageFileName=os.path.basename(archive),
        checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
        packageVerificationCode={"packageVerificationCodeValue": verification.hexdigest()},
        sourceInfo="commit %s, %s" % (facts["commit"], facts["compiler"]))
    main_package["filesAnalyzed"] = True
    moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": os.path.basename(archive),
        "documentNamespace": "https://spdx.org/spdxdocs/%s-%s" % (os.path.basename(archive), digest),
        "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: packaging/sbom.py"]},
        "packages": [main_package] + [package(name, version, LICENSES[name]) for name, version in libraries],
        "files": files,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package-dtinfo")]
        + [relation("SPDXRef-Package-dtinfo", "STATIC_LINK", "SPDXRef-Package-" + name) for name, _ in libraries]
        + [relation("SPDXRef-Package-dtinfo", "CONTAINS", each["SPDXID"]) for each in files]}
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
