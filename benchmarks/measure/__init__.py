# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures Ashlar beside its peers; see __main__.py."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Writers of models, and what the comparisons of real models know.
sys.path[:0] = [str(ROOT / "benchmarks" / "models"),
                str(ROOT / "test" / "Integration")]
