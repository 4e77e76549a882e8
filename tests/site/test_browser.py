#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at a built site in headless chromium.

    test_browser.py PROGRAM SITE [--lines 12500] [--seed 1] [--pictures FOLDER]

The page that computes gives, for command lines drawn by a seed, the output, the errors and the exit status of the program, byte
for byte; its fields do what they should. No page is wider than its window, at 1280 and 390 pixels, in light and dark; none logs an error or asks for anything
from elsewhere. --pictures writes what they look like. Ends with 77 if chromium, its driver or selenium is missing.
"""

import argparse
import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import command_lines

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

SKIPPED = 77
AT_ONCE = 250
WIDTHS = {1280: 1000, 390: 844}
# Pages that --pictures shows.
SEEN = ["index.html", "compute.html", "which-dtype.html", "formats.html", "recipes.html", "check-gallery.html", "silent-casts.html",
        "any-to-bf16.html", "manual.html", "man/dtinfo-cast.1.html"]
# Runs command lines as the page does, one after the other, and answers with all results.
BATCH = """
const [lines, done] = arguments, results = [];
(async () => {
  for (const words of lines)
    results.push(await program.run(words));
  done(results);
})();
"""
# Ends when the page shows an answer.
SHOWN = """
const done = arguments[0], look = () => document.getElementById("note").textContent ? done() : setTimeout(look, 20);
look();
"""
# Sets fields of the page, and answers with [what it shows, what it notes] when that is as expected, or after some time.
USE = """
const [fields, expected, done] = arguments, end = Date.now() + 20000;
for (const [name, value] of Object.entries(fields))
  part(name).value = value;
part(Object.keys(fields)[0]).dispatchEvent(new Event("input", { bubbles: true }));
const look = () => {
  const found = [part("shown").textContent, part("note").textContent];
  if (JSON.stringify(found) === JSON.stringify(expected) || Date.now() > end)
    done(found);
  else
    setTimeout(look, 20);
};
look();
"""
# Fields, and the words that they become, or what the page notes.
USED = [({"value": "0.1", "dtype": "fp16", "round": "up"}, ["cast", "0.1", "fp16", "--round", "up"]),
        ({"value": "-1/3", "dtype": "fp8_e4m3fn,int4", "round": ""}, ["cast", "-1/3", "fp8_e4m3fn,int4"]),
        ({"value": "it's", "dtype": "bf16", "round": ""}, ["cast", "it's", "bf16"]),
        ({"command": "dtinfo calc '0.5 + 0.25' fp8_e5m2 -q"}, ["calc", "0.5 + 0.25", "fp8_e5m2", "-q"]),
        ({"command": "  bits \"0x\"3e9a\tbf\\16 "}, ["bits", "0x3e9a", "bf16"]),
        ({"command": "cast in.bin bf16 --from fp32"}, "This page has no files and no devices: use the program on your machine for that."),
        ({"command": "calc '1 + 1 bf16"}, "a quote is open")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site without a log."""

    def log_message(self, *_):
        pass


def serve(site):
    """A server of the site on a free port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def browser():
    """Chromium without a window, which finds nothing outside this machine."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_script_timeout(300)
    return driver


def native(program, words):
    """What the program says."""
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={"PATH": os.defpath, "LC_ALL": "C"})
    return {"out": done.stdout.decode(), "err": done.stderr.decode(), "code": done.returncode}


def compare(driver, base, program, count, seed):
    """Compares the page with the program; returns what is wrong."""
    draw, wrong = command_lines.Draw(program, seed), []
    codes = {}
    driver.get(f"{base}/compute.html")
    with ThreadPoolExecutor(2) as pool:
        for start in range(0, count, AT_ONCE):
            lines = [draw.line() for _ in range(min(AT_ONCE, count - start))]
            expected = pool.map(functools.partial(native, program), lines)
            found = driver.execute_async_script(BATCH, lines)
            for words, here, there in zip(lines, expected, found):
                codes[here["code"]] = codes.get(here["code"], 0) + 1
                if any(here[key] != there.get(key) for key in here):
                    wrong.append(f"{words}\n  program {here}\n  page    {there}")
            print(f"{start + len(lines)} of {count}, {len(wrong)} differ", flush=True)
    print(f"{count} command lines, seed {seed}; exit status: {dict(sorted(codes.items()))}")
    return wrong


def use(driver, base, program):
    """Types into the page; returns what is wrong."""
    wrong = []
    driver.get(f"{base}/compute.html")
    driver.execute_async_script(SHOWN)
    for fields, words in USED:
        answer = {"out": "", "err": "", "code": words} if isinstance(words, str) else native(program, words)
        expected = [answer["out"] + answer["err"], words if isinstance(words, str) else f"exit status {answer['code']}"]
        found = driver.execute_async_script(USE, fields, expected)
        wrong += [f"{fields}: {found}"] if found != expected else []
    return wrong


def dress(driver, width, dark):
    """A window of that width, in light or dark."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": WIDTHS[width], "deviceScaleFactor": 1,
                                                                  "mobile": width < 600})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})


def requests(driver):
    """The addresses that were asked for since the last time."""
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


def look(driver, base, site, pictures):
    """Looks at every page; returns what is wrong."""
    wrong = []
    places = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    for width in WIDTHS:
        dress(driver, width, False)
        for place in places:
            driver.get(f"{base}/{place}")
            wide = driver.execute_script("return document.scrollingElement.scrollWidth")
            if wide > width:
                wrong.append(f"{place}: {wide} pixels wide in a window of {width}")
            wrong += [f"{place}: {entry['message']}" for entry in driver.get_log("browser")]
            wrong += [f"{place}: asks for {url}" for url in requests(driver) if not url.startswith((base, "data:", "chrome"))]
    for place in SEEN if pictures else []:
        for width in WIDTHS:
            for dark in (False, True):
                dress(driver, width, dark)
                driver.get(f"{base}/{place}")
                if place == "compute.html":
                    driver.execute_async_script(SHOWN)
                name = f"{place.replace('/', '-').removesuffix('.html')}-{width}-{'dark' if dark else 'light'}.png"
                driver.save_screenshot(str(pictures / name))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=12500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", type=pathlib.Path)
    args = parser.parse_args()
    site = args.site.resolve()
    missing = [name for name, there in (("selenium", webdriver), ("chromedriver", shutil.which("chromedriver")),
                                        ("chromium", shutil.which("chromium") or shutil.which("chromium-browser")),
                                        ("dtinfo.wasm", (site / "dtinfo.wasm").exists())) if not there]
    if missing:
        print(f"skipped: {', '.join(missing)} missing")
        sys.exit(SKIPPED)
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    server, driver = serve(site), browser()
    try:
        base = f"http://127.0.0.1:{server.server_address[1]}"
        program = os.path.abspath(args.program)
        wrong = look(driver, base, site, args.pictures) + use(driver, base, program)
        wrong += compare(driver, base, program, args.lines, args.seed) if args.lines else []
    finally:
        driver.quit()
        server.shutdown()
    print("\n".join(f"FAIL {line}" for line in wrong[:20]) or "the page and the program agree")
    print(f"{len(wrong)} failures")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
