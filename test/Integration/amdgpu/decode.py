# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions by tinygrad's decoders, held against LLVM's disassembler."""

import importlib
import re

from memory import Fault
from registers import ACCUMULATORS, VECTOR
from tinygrad.renderer.amd import decode_inst
from tinygrad.runtime.autogen.amd.cdna.enum import VOP2Op, VOP3POp

TABLES = {"cdna": ["cdna", "rdna3"], "rdna3": ["rdna3"],
          "rdna4": ["rdna4", "rdna3"]}
QUEUES = {"DS": "lds", "MUBUF": "load", "GLOBAL": "load", "SCRATCH": "load", "FLAT": "load",
          "VGLOBAL": "load", "VSCRATCH": "load", "VFLAT": "load"}
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
    name = re.sub(r"_(e32|e64|dpp|sdwa|e64_dpp)$", "", name.lower())
    name = name.replace("_", "").replace("1k", "")
    name = re.sub(r"^(vaccvgpr\w+?)b32$", r"\1", name)
    name = name.replace("madmix", "fmamix")  # the same code
    return {"vaddcocit32": "vaddccot32"}.get(name, name)


class Instruction:
    def __init__(self, inst, text, has_halves=False):
        """`has_halves`: numbers of short vector operands from 128 on are upper
        halves, as RDNA has them."""
        self.inst, self.text = Fields(inst), text
        self.has_halves = has_halves
        self.plan = None  # how it is done
        self.format = type(inst).__name__
        if self.format.startswith("VOPD"):
            self.name = "VOPD"
        else:
            self.name = base_name(inst.op.name)
        self.size = inst.size()
        self.reads, self.writes = set(), set()
        self.queue = QUEUES.get(self.format)
        for field in inst.operands:
            if field == "vdst" and "_LOAD_LDS_" in self.name:
                continue  # it has none, but M0
            self.note(field, inst.op_bits[field])

    def field(self, field):
        """DPP and SDWA have the operand beside."""
        own = "v" + field
        if field == "src0" and hasattr(self.inst, own):
            return own
        return field if hasattr(self.inst, field) else None

    def note(self, field, bits):
        name = self.field(field)
        reg = getattr(self.inst, name, None) if name else None
        if field == "soffset" and not getattr(self.inst, "soffset_en", 1):
            return
        if field == "vaddr" and not getattr(self.inst, "offen", 1):
            return
        if "SCRATCH" in self.format and "addr" in field and (
                field != "saddr") and not self.inst.sve:
            return
        if not hasattr(reg, "offset") or 108 <= reg.offset < VECTOR:
            return
        if field == "vaddr" and getattr(self.inst, "saddr",
                                        reg).offset < 124:
            bits = 32  # of an offset
        first = self.place(field, reg.offset)
        if (self.has_halves and bits == 16 and first >= VECTOR + 128
                and re.match(r"VOP[12C]", self.format)):
            first -= 128
        if (field == "vdst" and self.name.startswith("V_READ")
                or "_SDWA" in self.format and self.isScalarOfSdwa(field)):
            first -= VECTOR  # a scalar, which the field has as a vector
        if 108 <= first < VECTOR:
            return
        numbers = range(first, first + max(1, bits // 32))
        (self.writes if field in TARGETS else self.reads).update(numbers)

    def isScalarOfSdwa(self, field):
        return bool(getattr(self.inst, {"src0": "s0", "src1": "s1",
                                        "vsrc1": "s1"}.get(field, ""), 0))

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


class Fields:
    """An instruction's, read once: tinygrad takes them from its bits each
    time."""

    def __init__(self, inst):
        for name, _ in inst._fields:
            if name != "encoding":
                setattr(self, name, getattr(inst, name))
        self.operands, self.op_bits = inst.operands, inst.op_bits


def _as_fma(raw):
    word = int.from_bytes(raw[:4], "little")
    return (word & ~(0x3ff << 16) | 0x1cb << 16).to_bytes(4, "little") + raw[4:]


def _as_fmac(raw):
    """Of a product that is added to its target."""
    word = int.from_bytes(raw[:4], "little")
    return (word & ~(0x3f << 25) | VOP2Op.V_FMAC_F32_E32.value << 25).to_bytes(
        4, "little") + raw[4:]


def _as_mfma(of):
    """With operands as those of that one."""
    def change(raw):
        word = int.from_bytes(raw[:4], "little")
        return (word & ~(0x7f << 16) | of.value << 16).to_bytes(
            4, "little") + raw[4:]
    return change


# What the tables of a later chip lack: the place of a neighbour, and the name.
OLDER = {("cdna", "v_mad_f32"): (_as_fma, "V_MAD_F32"),
         ("cdna", "v_mac_f32_e32"): (_as_fmac, "V_MAC_F32"),
         ("cdna", "v_mfma_f32_16x16x16bf16_1k"): (
             _as_mfma(VOP3POp.V_MFMA_F32_16X16X16_BF16),
             "V_MFMA_F32_16X16X16_BF16"),
         ("cdna", "v_mfma_f32_16x16x8_xf32"): (
             _as_mfma(VOP3POp.V_MFMA_F32_16X16X16_F16),
             "V_MFMA_F32_16X16X8_XF32"),
         ("cdna", "v_mfma_i32_16x16x16i8"): (
             _as_mfma(VOP3POp.V_MFMA_F32_16X16X4_F32),
             "V_MFMA_I32_16X16X16_I8")}


class Plain:
    """What tinygrad does not decode, and orders caches alone."""

    NAMES = {"buffer_gl0_inv", "buffer_gl1_inv"}

    def __init__(self, text, size):
        self.text, self.size, self.inst = text, size, None
        self.name, self.format = text.split()[0].upper(), "MUBUF"
        self.reads = self.writes = set()
        self.queue = self.plan = None


def decode(raw, architecture, text, size):
    """An Instruction; what is not decoded as LLVM does is refused."""
    if text.split()[0] in Plain.NAMES:
        return Plain(text, size)
    older = OLDER.get((architecture, text.split()[0]))
    if older:
        raw = older[0](raw)
    try:
        inst = decode_inst(raw, architecture)
    except ValueError as error:
        raise Fault(f"'{text}' is not decoded: {error}") from error
    found = Instruction(inst, text, architecture != "cdna")
    if older:
        found.name = older[1]
        return found
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
