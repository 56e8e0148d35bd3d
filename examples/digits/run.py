#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the digits example, runs it on held-out pictures, shows them.

Every command that does the work is printed before it runs, so that it can be
repeated by hand.
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
# Zero to six, and a three that the net takes for a nine.
SHOWN = [8, 20, 0, 1, 2, 3, 4, 195]


def fancy():
    """Whether a person looks through a terminal that knows Unicode."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return (sys.stdout.isatty() and encoding == "utf8"
            and os.environ.get("TERM", "dumb") != "dumb")


def draw(picture):
    """The rows of one picture, two columns a pixel, bright where inked."""
    shades = " ░▒▓█" if fancy() else " .:-=+*#%@"
    coloured = fancy() and "NO_COLOR" not in os.environ
    rows = []
    for row in picture:
        cells = []
        for p in map(float, row):
            cell = 2 * shades[round(p * (len(shades) - 1))]
            # 232..255 are the greys of a 256-colour terminal.
            grey = 240 + round(p * 15)
            cells.append(f"\033[38;5;{grey}m{cell}" if coloured else cell)
        rows.append("".join(cells) + ("\033[0m" if coloured else ""))
    return rows


def show(pictures, captions, per_row=4):
    for start in range(0, len(pictures), per_row):
        blocks = [draw(p) for p in pictures[start:start + per_row]]
        for line in zip(*blocks):
            print("  " + "  ".join(line))
        print("  " + "  ".join(
            c.ljust(16) for c in captions[start:start + per_row]))
        print()


def run(*command, quiet=False):
    words = [str(word) for word in command]
    if not quiet:
        print("$ " + " ".join(shlex.quote(shorten(word)) for word in words),
              flush=True)
    done = subprocess.run(words, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"error: {words[0]} ended with {done.returncode}")


def shorten(word):
    """Paths as one would type them where one stands."""
    for part in word.split("="):
        if part.startswith("/"):
            relative = os.path.relpath(part)
            if len(relative) < len(part):
                word = word.replace(part, relative)
    return word


def count_right(file, labels):
    right = int((np.load(file).argmax(1) == labels).sum())
    return (f"{right} of {len(labels)} held-out pictures are right "
            f"({right / len(labels):.1%})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True,
                        help="the folder of ashlar-compile and ashlar-run")
    parser.add_argument("--work", type=pathlib.Path, required=True,
                        help="a folder for what is written")
    arguments = parser.parse_args()
    compiler = arguments.bin.resolve() / "ashlar-compile"
    runner = arguments.bin.resolve() / "ashlar-run"
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    images = np.load(HERE / "test_images.npy")
    labels = np.load(HERE / "test_labels.npy")

    one = work / "digits.ash"
    start = time.monotonic()
    run(compiler, HERE / "digits.onnx", "--shape=image=1x1x8x8", "-o", one)
    print(f"  compiled in {time.monotonic() - start:.2f} s, "
          f"{one.stat().st_size:,} bytes\n")

    captions = []
    for k, index in enumerate(SHOWN):
        source, target = work / f"image-{index}.npy", work / f"out-{index}.npy"
        np.save(source, images[index:index + 1])
        run(runner, one, f"--input=image={source}",
            f"--output=probabilities={target}", quiet=k > 0)
        if k == 0:
            print(f"  (and so on for {len(SHOWN) - 1} more)\n")
        y = np.load(target)[0]
        wrong = "" if y.argmax() == labels[index] else (
            f", not {labels[index]}")
        captions.append(f"a {y.argmax()} ({y.max():.0%}){wrong}")
    show([images[i, 0] for i in SHOWN], captions)

    every = work / "digits-all.ash"
    run(compiler, HERE / "digits.onnx",
        "--shape=image=" + "x".join(map(str, images.shape)), "-o", every)
    run(runner, every, f"--input=image={HERE / 'test_images.npy'}",
        f"--output=probabilities={work / 'out-all.npy'}")
    print(f"\n  {count_right(work / 'out-all.npy', labels)}.\n")

    print("  The same on a simulated TPU-like machine, products in bf16:\n")
    simulated = work / "digits-systolic.ash"
    run(compiler, HERE / "digits.onnx",
        "--shape=image=" + "x".join(map(str, images.shape)),
        "--target=systolic:tpu-128", "--precision=bf16", "-o", simulated)
    run(runner, simulated, "--device=systolic:0",
        f"--input=image={HERE / 'test_images.npy'}",
        f"--output=probabilities={work / 'out-systolic.npy'}")
    use = json.loads(subprocess.run(
        [arguments.bin.resolve() / "ashlar-inspect", simulated, "--utilisation",
         "--json"], capture_output=True, text=True, check=True).stdout)[0]
    print(f"\n  {count_right(work / 'out-systolic.npy', labels)}; "
          f"{use['cycles']:,} cycles,\n  the array {use['utilisation']:.0%} used "
          f"(ashlar-inspect --utilisation).\n")


if __name__ == "__main__":
    main()
