#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the README and the documents show is what there is.

  - A block after `<!-- file: PATH -->` is that file, less its licence comment;
    `--update` puts it there.
  - A block after `<!-- run -->` is run, line by line, in a copy of nothing but
    links to the repository, and must end with 0. A line that ends with a
    backslash goes on in the next one; comments are no lines.
  - Links between documents point at files that exist.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = re.compile(r"(<!-- file: (\S+) -->\n```\w*\n)(.*?)(^```\n)",
                  re.S | re.M)
RUN = re.compile(r"<!-- run -->\n```sh\n(.*?)```\n", re.S)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
CODE = re.compile(r"^( *)```.*?^\1```$", re.S | re.M)
LICENCE = re.compile(r"\A(/\*.*?\*/\n|(//[^\n]*\n)+)\n*", re.S)


class Count:
    passed = failed = skipped = 0

    def good(self):
        self.passed += 1

    def fail(self, name, why):
        print(f"FAIL {name}: {why}", flush=True)
        self.failed += 1

    def skip(self, name, why):
        print(f"SKIP {name}: {why}", flush=True)
        self.skipped += 1


def shown(path):
    """A file as documents show it. Its licence is the first comment; a second
    comment, which explains the program, stays."""
    text = path.read_text()
    if "SPDX" in text.split("\n")[0]:
        text = LICENCE.sub("", text, count=1)
    return text


def check_files(document, text, update, count):
    def replace(match):
        path = ROOT / match[2]
        if not path.exists():
            count.skip(f"{document}: {match[2]}", "there is no such file yet")
            return match[0]
        content = shown(path)
        if match[3] != content and not update:
            count.fail(f"{document}: {match[2]}",
                       "differs from the file; run scripts/check/readme.py "
                       "--build build --update")
        else:
            count.good()
        return match[1] + content + match[4]
    changed = FILE.sub(replace, text)
    if update and changed != text:
        (ROOT / document).write_text(changed)


def check_commands(document, text, build, count):
    for block in RUN.findall(text):
        if not (build / "bin" / "ashlar-compile").exists():
            count.skip(f"{document}: commands", "ashlar-compile is not built")
            continue
        with tempfile.TemporaryDirectory() as work:
            for name in os.listdir(ROOT):
                if name not in (".git", "build"):
                    os.symlink(ROOT / name, pathlib.Path(work) / name)
            os.symlink(build, pathlib.Path(work) / "build")
            for line in re.sub(r"\\\n *", "", block).splitlines():
                if not line.strip() or line.startswith("#"):
                    continue
                done = subprocess.run(
                    ["bash", "-c", line], cwd=work, capture_output=True,
                    stdin=subprocess.DEVNULL, text=True, errors="replace")
                print(f"$ {line}\n{done.stdout[:2000]}{done.stderr}")
                if done.returncode:
                    count.fail(f"{document}: {line}",
                               f"ended with {done.returncode}")
                else:
                    count.good()


def check_links(document, text, count):
    folder = (ROOT / document).parent
    for target in LINK.findall(CODE.sub("", text)):
        if not (folder / target).exists():
            count.fail(document, f"links to {target}, which is not there")
        else:
            count.good()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    count = Count()
    asked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard",
                            "*.md"], cwd=ROOT, capture_output=True, text=True)
    if asked.returncode:
        print(f"SKIP readme: git lists no files: {asked.stderr.strip()}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    listed = asked.stdout.split()
    for document in sorted(listed):
        text = (ROOT / document).read_text()
        check_files(document, text, arguments.update, count)
        check_commands(document, text, arguments.build.resolve(), count)
        check_links(document, text, count)
    print(f"{count.passed} passed, {count.failed} failed, "
          f"{count.skipped} skipped")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
