# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many bytes the stores of compiled kernels write, as their disassembled
code says."""

import re
import shutil
import subprocess

MASKED = None

REGISTERS = {"x": 16, "y": 32, "z": 64}
# Of moves to memory; what is not named here has its register's width.
X86 = {"movb": 1, "movw": 2, "movl": 4, "movq": 8, "movabsq": 8, "movnti": 4,
       "pextrb": 1, "pextrw": 2, "pextrd": 4, "pextrq": 8, "extractps": 4,
       "movss": 4, "movsd": 8, "movd": 4, "movlps": 8, "movhps": 8,
       "movlpd": 8, "movhpd": 8, "movsh": 2,
       "extractf128": 16, "extracti128": 16, "extractf32x4": 16,
       "extracti32x4": 16, "extractf64x2": 16, "extracti64x2": 16,
       "extractf32x8": 32, "extracti32x8": 32, "extractf64x4": 32,
       "extracti64x4": 32}
LETTERS = {"b": 1, "w": 2, "d": 4, "q": 8}
NARROWING = re.compile(r"^pmov(?:s|us)?([wdq])([bwd])$")
READS_ONLY = re.compile(r"^v?(cmp|test|bt|p?test|u?comis|call|jmp|prefetch|"
                        r"nop|push|pop|ld|bound)")


def x86_store(name, operands):
    """Bytes that an instruction writes; 0: none, MASKED: it has a mask."""
    if not re.search(r"\)(\s*\{%k\d\})?$", operands) \
            or READS_ONLY.match(name) or "%rsp" in operands.split(",")[-1] \
            or "%rbp" in operands.split(",")[-1]:
        return 0
    plain = name.removeprefix("v")
    if "{%k" in operands or plain.startswith(("pmaskmov", "maskmov")):
        return MASKED
    source = re.match(r"(?:\$\w+, )?%([xyz])mm", operands)
    narrowing = NARROWING.match(plain)
    if narrowing:
        wide, narrow = (LETTERS[letter] for letter in narrowing.groups())
        return REGISTERS[source[1]] * narrow // wide
    if plain == "cvtps2ph":
        return REGISTERS[re.search(r"%([xyz])mm", operands)[1]] // 2
    if plain in X86:
        return X86[plain]
    if source and plain.startswith(("movup", "movap", "movdq", "movnt")):
        return REGISTERS[source[1]]
    if name.startswith("set"):
        return 1
    arithmetic = re.match(r"(and|or|xor|add|inc|dec|sub|not|neg)([bwlq])$",
                          name)
    if arithmetic:
        return X86["mov" + arithmetic[2]]
    raise ValueError(f"is this a store? {name} {operands}")


def arm_store(name, operands):
    if not name.startswith("st") or "[sp" in operands:
        return 0
    register = operands[operands.startswith("{"):]
    lanes = re.match(r"\{\s*v\d+\.([bhsd])\s*\}\[", operands)
    letters = {"b": 1, "h": 2, "s": 4, "d": 8, "q": 16, "w": 4, "x": 8}
    if lanes:
        return letters[lanes[1]]
    vectors = re.match(r"\{(.*?)\}", operands)
    if vectors:
        return sum(int(n) * letters[t] for n, t in
                   re.findall(r"\.(\d+)([bhsd])", vectors[1]))
    if name in ("strb", "sturb"):
        return 1
    if name in ("strh", "sturh"):
        return 2
    width = letters[register[0]]
    if name in ("stp", "stnp"):
        return 2 * width
    if name in ("str", "stur"):
        return width
    raise ValueError(f"is this a store? {name} {operands}")


def riscv_store(name, operands):
    if "(sp)" in operands:
        return 0
    return {"sb": 1, "sh": 2, "sw": 4, "sd": 8, "fsh": 2, "fsw": 4,
            "fsd": 8}.get(name.removeprefix("c."), 0)


def of_functions(image, preset):
    """The widths of all stores but those to the stack, for each function."""
    reader = {"aarch64": arm_store, "riscv64": riscv_store}.get(
        preset, x86_store)
    disassembler = shutil.which("llvm-objdump-22")
    text = subprocess.run(
        [disassembler, "-d", "--no-show-raw-insn", "--no-leading-addr",
         "--no-print-imm-hex", image],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    widths, here = {}, None
    for line in text.splitlines():
        label = re.match(r"^<(.*)>:$", line)
        if label:
            here = widths.setdefault(label[1], [])
            continue
        code = re.match(r"^\s+(\S+)\s*(.*?)\s*(?:[#<].*|//.*)?$", line)
        if here is None or not code:
            continue
        width = reader(*code.groups())
        if width != 0:
            here.append(width)
    return widths


def judge(stores, element, columns, lanes, rows):
    """Why these cannot be the stores of rows of so many columns; "" if they
    can. Masks are for what is left behind whole vectors."""
    plain = [width for width in stores if width is not MASKED]
    if all(width == element for width in plain):
        return ""
    expected = columns * element
    if MASKED in stores:
        expected = columns // lanes * lanes * element
    if sum(plain) in [expected * unrolled for unrolled in range(1, rows + 1)]:
        return ""
    return (f"stores of {sorted(plain)} bytes in rows of {columns} elements "
            f"of {element}")
