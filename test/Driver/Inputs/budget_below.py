# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""budget_below.py INSPECTED.json: the contract's peak, less half of what one
worker keeps for itself."""
import json
import sys

contract = json.load(open(sys.argv[1]))["programs"][0]["contract"]
print(contract["peak_bytes"] - contract["scratch_bytes_per_worker"] // 2)
