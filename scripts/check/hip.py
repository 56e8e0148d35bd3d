#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device hip on a double of AMD's driver, without a GPU.

The conformance suite of devices, samples of modules, each call of the driver
failing once, and code objects that are cut short or altered. These are tests of
ctest, which the phase unit leaves out.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import unit  # noqa: E402

if __name__ == "__main__":
    sys.exit(unit.phase(
        "hip", __doc__, ["-R", unit.OF_HIP],
        "the build has no device of that name (ASHLAR_DEVICES)"))
