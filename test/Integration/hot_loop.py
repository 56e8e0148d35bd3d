#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the hot loop of a kernel and checks that it leaves the stack alone.

Reads what ashlar-inspect --disassemble prints for x86-64. The hot loop is the
innermost one with the most multiply-adds; an operand on the stack inside it is
a register that did not suffice.

  ashlar-inspect model.ash --disassemble=KERNEL | hot_loop.py --at-least=24
"""

import argparse
import re
import sys

LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
JUMP = re.compile(r"^j\w+\s+(?:0x)?([0-9a-f]+)\b")
MULTIPLY_ADD = re.compile(r"^(v(fmadd|dpbf16|dpbusd|pdpbusd)|tdp)")


def innermost_loops(code):
    """Ranges of instructions from a jump's target back to it that hold no
    other such range."""
    loops = []
    for place, (address, text) in enumerate(code):
        jump = JUMP.match(text)
        if jump and int(jump[1], 16) <= address:
            start = next((i for i, (a, _) in enumerate(code)
                          if a >= int(jump[1], 16)), place)
            loops.append((start, place))
    return [(s, e) for s, e in loops
            if not any((s, e) != (t, f) and s <= t and f <= e
                       for t, f in loops)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--at-least", type=int, required=True,
                        help="multiply-adds that the hot loop must have")
    parser.add_argument("--stack-at-most", type=int, default=0,
                        help="operands on the stack that are allowed (0)")
    arguments = parser.parse_args()
    code = [(int(m[1], 16), re.sub(r"\s+", " ", m[2]).strip())
            for m in map(LINE.match, sys.stdin) if m]
    has_frame = any(text.startswith("movq %rsp, %rbp") for _, text in code)
    stack = re.compile(r"\(%rsp\b" + (r"|\(%rbp\b" if has_frame else ""))

    def multiply_adds(loop):
        return sum(bool(MULTIPLY_ADD.match(text))
                   for _, text in code[loop[0]:loop[1] + 1])

    loops = innermost_loops(code)
    hot = max(loops, key=multiply_adds, default=None)
    if hot is None or multiply_adds(hot) < arguments.at_least:
        print(f"expected a loop with {arguments.at_least} multiply-adds, found "
              f"{multiply_adds(hot) if hot else 'no loop'} among {len(loops)} "
              f"loops and {len(code)} instructions")
        return 1
    body = [text for _, text in code[hot[0]:hot[1] + 1]]
    spills = [text for text in body if stack.search(text)]
    print(f"hot loop: {len(body)} instructions, {multiply_adds(hot)} "
          f"multiply-adds, {len(spills)} on the stack")
    for text in spills:
        print(f"  {text}")
    return 1 if len(spills) > arguments.stack_at_most else 0


if __name__ == "__main__":
    sys.exit(main())
