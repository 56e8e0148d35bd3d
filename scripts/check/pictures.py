#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages of ashlar-inspect in a browser without a screen.

A page must be drawn, not only written: its screenshot is not blank, its script
has run to the end, and a node of the model can be read in it.
"""

import argparse
import html
import pathlib
import shutil
import subprocess
import sys
import tempfile

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import limit_cpu  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BROWSERS = ["chromium", "chromium-browser", "chrome-headless-shell",
            "google-chrome"]


def browse(browser, page, work, *arguments):
    """A profile of its own, so that nobody else's browser is asked."""
    result = limit_cpu.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={work / 'profile'}", "--window-size=1600,1000",
         *arguments, page.as_uri()], seconds=120)
    if result.returncode:
        raise RuntimeError(f"{browser} ended with {result.returncode}: "
                           f"{result.stderr.strip()[-300:]}")
    return result.stdout


def colors(path):
    with Image.open(path) as picture:
        return len(picture.convert("RGB").getcolors(1 << 24))


def check_page(browser, page, node, rows, work):
    """Why it is not as it should be, or nothing."""
    picture = work / "picture.png"
    picture.unlink(missing_ok=True)
    browse(browser, page, work, f"--screenshot={picture}")
    found = colors(picture)
    if found < 12:
        return f"the screenshot has {found} colors, it is blank"
    if page.suffix == ".svg":
        return None if node in page.read_text() else f"'{node}' is not in it"
    drawn = html.unescape(browse(browser, page, work, "--dump-dom"))
    if f'data-ready="{rows}"' not in drawn:
        return f"its script has not come to its end with {rows} rows"
    if node not in drawn:
        return f"'{node}' is not in it"
    if page.name == "graph.html" and drawn.count("<path") < rows - 1:
        return "there are no arcs"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print("SKIP pictures: no Chromium was found (Debian: chromium)")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    tools = arguments.build.resolve() / "bin"
    failed = passed = 0
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        module = work / "digits.ash"
        subprocess.run([tools / "ashlar-compile",
                        ROOT / "examples" / "digits" / "digits.onnx",
                        "--shape=image=1x1x8x8", "-o", module, "--quiet"],
                       check=True)
        pages = {"memory.svg": "--memory-map", "memory.html": "--memory-map",
                 "graph.html": "--graph"}
        for name, flag in pages.items():
            page = work / name
            subprocess.run([tools / "ashlar-inspect", module,
                            f"{flag}={page}"], check=True)
            if "http://" in page.read_text().replace(
                    "http://www.w3.org/2000/svg", "") or \
                    "https://" in page.read_text():
                why = "it reaches out to the network"
            else:
                text = page.read_text()
                rows = text.count('class="command"' if name == "graph.html"
                                  else 'class="value"')
                why = check_page(browser, page, "conv1", rows, work)
            if why:
                failed += 1
                print(f"FAIL {name}: {why}")
            else:
                passed += 1
                print(f"{name}: drawn")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
