# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions by tinygrad's decoders, held against LLVM's disassembler."""

import importlib
import re

from memory import Fault
from registers import ACCUMULATORS, VECTOR
from tinygrad.renderer.amd import decode_inst

TABLES = {"cdna": ["cdna", "rdna3"], "rdna3": ["rdna3"],
          "rdna4": ["rdna4", "rdna3"]}
TARGETS = {"vdst", "sdst", "sdata", "vdata", "vdstx", "vdsty"}


def load_pseudocode(architecture):
    """By name: tables of neighbours say what one's own lacks."""
    found = {}
    for name in reversed(TABLES[architecture]):
        module = importlib.import_module(
            f"tinygrad.runtime.autogen.amd.{name}.str_pcode")
        for op, text in module.PCODE.items():
            found[op.name] = text
            found.setdefault(base_name(op.name), text)
    return found


def base_name(name):
    return re.sub(r"_(E32|E64|DPP|SDWA)$", "", name)


def _plain(name):
    """As both spell it: LLVM keeps names of older chips."""
    name = re.sub(r"_(e32|e64|dpp|sdwa|e64_dpp|b16_e32)$", "", name.lower())
    name = name.replace("_", "").replace("1k", "")
    return {"vaddcocit32": "vaddccot32"}.get(name, name)


class Instruction:
    def __init__(self, inst, text):
        self.inst, self.text = inst, text
        self.format = type(inst).__name__
        if self.format.startswith("VOPD"):
            self.name = "VOPD"
        else:
            self.name = base_name(inst.op.name)
        self.size = inst.size()
        self.reads, self.writes = set(), set()
        for field, (_, _, _) in inst.operands.items():
            self.note(field, inst.op_bits[field])

    def field(self, field):
        """DPP and SDWA have the operand beside."""
        own = "v" + field
        if field == "src0" and hasattr(type(self.inst), own):
            return own
        return field if hasattr(type(self.inst), field) else None

    def note(self, field, bits):
        name = self.field(field)
        reg = getattr(self.inst, name, None) if name else None
        if not hasattr(reg, "offset"):
            return
        first = self.place(field, reg.offset)
        numbers = range(first, first + max(1, bits // 32))
        (self.writes if field in TARGETS else self.reads).update(
            n for n in numbers if n >= VECTOR or n < 108)

    def place(self, field, offset):
        """Accumulators have numbers behind the others."""
        if offset < VECTOR or not self.isAccumulator(field):
            return offset
        return offset - VECTOR + ACCUMULATORS

    def isAccumulator(self, field):
        inst = self.inst
        if self.name.startswith("V_ACCVGPR"):
            return {"V_ACCVGPR_READ_B32": field == "src0",
                    "V_ACCVGPR_READ": field == "src0",
                    "V_ACCVGPR_WRITE_B32": field == "vdst",
                    "V_ACCVGPR_WRITE": field == "vdst",
                    "V_ACCVGPR_MOV_B32": True}[self.name]
        if self.format == "VOP3P_MFMA":
            if field in ("vdst", "src2"):
                return bool(inst.acc_cd)
            return bool(inst.acc >> (field == "src1") & 1)
        return field in ("vdst", "data", "data0", "data1", "vdata") and bool(
            getattr(inst, "acc", 0))


class Plain:
    """What tinygrad does not decode, and orders caches alone."""

    NAMES = {"buffer_gl0_inv", "buffer_gl1_inv"}

    def __init__(self, text, size):
        self.text, self.size, self.inst = text, size, None
        self.name, self.format = text.split()[0].upper(), "MUBUF"
        self.reads = self.writes = set()


def decode(raw, architecture, text, size):
    """An Instruction; what is not decoded as LLVM does is refused."""
    if text.split()[0] in Plain.NAMES:
        return Plain(text, size)
    inst = decode_inst(raw, architecture)
    found = Instruction(inst, text)
    if found.size != size:
        raise Fault(f"'{text}' is of {size} bytes, decoded as {inst!r} of "
                    f"{found.size}")
    mnemonic = text.split()[0]
    name = inst.opx.name.replace("V_DUAL_", "") if found.name == "VOPD" \
        else inst.op.name
    mnemonic = mnemonic.replace("v_dual_", "").replace("v_dual", "")
    if _plain(mnemonic) != _plain(base_name(name)):
        raise Fault(f"'{text}' is decoded as {name}")
    return found
