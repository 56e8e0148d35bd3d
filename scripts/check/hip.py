#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device hip on a double of AMD's driver, without a GPU.

The conformance suite of devices, samples of modules, each call of the driver
failing once, and code objects that are cut short or altered. These are tests of
ctest, which the phase unit leaves out.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import unit  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    if not (arguments.build / "CTestTestfile.cmake").exists():
        print(f"SKIP hip: {arguments.build} has no ctest tests")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed, failed, skipped = unit.run(arguments.build, ["-R", unit.OF_HIP])
    if passed + failed + skipped == 0:
        print("SKIP hip: the build has no device of that name (ASHLAR_DEVICES)")
        skipped = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
