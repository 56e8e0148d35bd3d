#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's own tests under sanitizers, built apart from all else.

Plain: address and undefined behaviour. In the mode `quick`, nothing: to build
the runtime anew takes longer than all else there. In the mode `sanitize`, where
the whole suite already runs under these, the runtime is built once more for the
thread sanitizer.
"""

import argparse
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import unit  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    if arguments.mode == "quick":
        print("SKIP sanitized: building the runtime anew takes longer than "
              "all else of --quick")
        print("0 passed, 0 failed, 1 skipped")
        return 0

    preset = "runtime-tsan" if arguments.mode == "sanitize" else "runtime-asan"
    driver = ROOT / ".deps/opencl/icd"
    if preset == "runtime-tsan" or not driver.is_dir():
        # It cannot see how the threads of an OpenCL driver wait for each other.
        driver = os.devnull
    # No others: Intel's for GPUs open libraries in a way (RTLD_DEEPBIND) that
    # the address sanitizer ends the process for. Level Zero's loader knows its
    # drivers by name, and takes others instead.
    os.environ["OCL_ICD_VENDORS"] = str(driver)
    os.environ["ZE_ENABLE_ALT_DRIVERS"] = "none"
    build = ROOT / f"build-{preset}"
    for command in (["cmake", "--preset", preset],
                    ["cmake", "--build", build]):
        if subprocess.run(command, cwd=ROOT,
                          stdin=subprocess.DEVNULL).returncode:
            print(f"FAIL {preset}: {' '.join(map(str, command[:2]))} failed")
            print("0 passed, 1 failed, 0 skipped")
            return 1
    if not (build / "CTestTestfile.cmake").exists():
        print("SKIP sanitized: the runtime has no ctest tests yet")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed, failed, skipped = unit.run(build)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
