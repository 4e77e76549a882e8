#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our libcurl numbers, functions and structures with libcurl's own header. Skipped without that header.
usage: check_curl_types.py SOURCE_FOLDER COMPILER..."""
import os
import re
import subprocess
import sys
import tempfile

SKIP = 77
FUNCTIONS = {"global_init": "CURLcode (long)", "easy_init": "CURL *(void)", "easy_perform": "CURLcode (CURL *)",
             "easy_cleanup": "void (CURL *)", "easy_strerror": "const char *(CURLcode)",
             "slist_free_all": "void (struct curl_slist *)"}
TYPES = """
#define SAME(a, b) _Static_assert((long)(a) == (long)(b), #a)
SAME(sizeof(CURLcode), sizeof(int));
SAME(sizeof(curl_socket_t), sizeof(int));
SAME(sizeof(curlsocktype), sizeof(int));
SAME(sizeof(struct curl_sockaddr), sizeof(struct dti_curl_sockaddr));
SAME(offsetof(struct curl_sockaddr, addrlen), offsetof(struct dti_curl_sockaddr, addrlen));
SAME(offsetof(struct curl_sockaddr, addr), offsetof(struct dti_curl_sockaddr, addr));
SAME(CURLINFO_PRIMARY_IP, DTI_CURLINFO_PRIMARY_IP);
SAME(CURL_GLOBAL_DEFAULT, DTI_CURL_GLOBAL_DEFAULT);
SAME(CURL_HTTP_VERSION_1_1, DTI_CURL_HTTP_1_1);
SAME(CURL_SOCKET_BAD, DTI_CURL_SOCKET_BAD);
SAME(CURL_ERROR_SIZE, DTI_CURL_ERROR_SIZE);
"""


def program(source):
    with open(os.path.join(source, "src/io/net/curl_options.def"), encoding="utf-8") as file:
        options = re.findall(r"CURL_OPTION\((\w+)", file.read())
    with open(os.path.join(source, "src/io/net/curl.h"), encoding="utf-8") as file:
        results = re.findall(r"DTI_(CURLE_\w+)", file.read())
    assert len(options) > 10 and len(results) > 10
    lines = ["#include <stddef.h>", "#include <curl/curl.h>", '#include "io/net/curl.h"', TYPES]
    lines += ["SAME(CURLOPT_%s, DTI_CURLOPT_%s);" % (name, name) for name in options]
    lines += ["SAME(%s, DTI_%s);" % (name, name) for name in results]
    for name, kind in FUNCTIONS.items():
        lines.append("%s = curl_%s;" % (kind.replace("(", "(*const use_%s)(" % name, 1), name))
    return "\n".join(lines) + "\n"


def main():
    source, compiler = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "check.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <curl/curl.h>\n")
        check = compiler + ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DCURL_DISABLE_DEPRECATION",
                            "-I" + os.path.join(source, "src"), "-I" + os.path.join(source, "include"), path]
        if subprocess.run(check, check=False, stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: no curl/curl.h")
            return SKIP
        with open(path, "w", encoding="utf-8") as file:
            file.write(program(source))
        done = subprocess.run(check, check=False)
    print("libcurl's types: %s" % ("wrong" if done.returncode else "as in curl.h"))
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
