# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions that kernels are full of, without their pseudocode: words in,
words out. `check_pseudocode.py` holds each against AMD's text."""

import numpy as np

from registers import EXEC, LITERAL, VCC, VECTOR

U32, F32 = np.uint32, np.float32


def _f(x):
    return x.view(F32)


def _float(f):
    return lambda *words: f(*[_f(x) for x in words]).view(U32)


def _fma(a, b, c):
    """Rounded once: the product is exact, the sum is rounded to odd first."""
    p = _f(a).astype(np.float64) * _f(b)
    z = _f(c).astype(np.float64)
    s = p + z
    back = s - p
    error = (p - (s - back)) + (z - back)
    bits = np.atleast_1d(s).view(np.int64)
    odd = (error != 0) & np.isfinite(s) & (s != 0) & ((bits & 1) == 0)
    if odd.any():
        away = (error > 0) == (s > 0)
        s = np.where(odd, bits + np.where(away, 1, -1), bits).view(np.float64)
    return s.astype(F32).view(U32)


VECTORS = {  # sources, then what the target had
    "V_MOV_B32": lambda a, d: a,
    "V_ADD_F32": lambda a, b, d: (_f(a) + _f(b)).view(U32),
    "V_SUB_F32": lambda a, b, d: (_f(a) - _f(b)).view(U32),
    "V_SUBREV_F32": lambda a, b, d: (_f(b) - _f(a)).view(U32),
    "V_MUL_F32": lambda a, b, d: (_f(a) * _f(b)).view(U32),
    "V_FMA_F32": lambda a, b, c, d: _fma(a, b, c),
    "V_FMAC_F32": lambda a, b, d: _fma(a, b, d),
    "V_ADD_U32": lambda a, b, d: a + b,
    "V_ADD_NC_U32": lambda a, b, d: a + b,
    "V_SUB_U32": lambda a, b, d: a - b,
    "V_SUB_NC_U32": lambda a, b, d: a - b,
    "V_SUBREV_U32": lambda a, b, d: b - a,
    "V_AND_B32": lambda a, b, d: a & b,
    "V_OR_B32": lambda a, b, d: a | b,
    "V_XOR_B32": lambda a, b, d: a ^ b,
    "V_LSHLREV_B32": lambda a, b, d: b << (a & U32(31)),
    "V_LSHRREV_B32": lambda a, b, d: b >> (a & U32(31)),
    "V_ASHRREV_I32": lambda a, b, d: (b.view(np.int32)
                                      >> (a & U32(31)).view(np.int32)
                                      ).view(U32),
    "V_LSHL_ADD_U32": lambda a, b, c, d: (a << (b & U32(31))) + c,
    "V_ADD_LSHL_U32": lambda a, b, c, d: (a + b) << (c & U32(31)),
    "V_ADD3_U32": lambda a, b, c, d: a + b + c,
    "V_LSHL_OR_B32": lambda a, b, c, d: (a << (b & U32(31))) | c,
    "V_AND_OR_B32": lambda a, b, c, d: (a & b) | c,
    "V_OR3_B32": lambda a, b, c, d: a | b | c,
    "V_XAD_U32": lambda a, b, c, d: (a ^ b) + c,
    "V_MUL_LO_U32": lambda a, b, d: a * b,
    "V_MUL_U32_U24": lambda a, b, d: (a & U32(0xffffff))
    * (b & U32(0xffffff)),
    "V_BFE_U32": lambda a, b, c, d: (a >> (b & U32(31)))
    & ((U32(1) << (c & U32(31))) - U32(1)),
}
FLOATS = {name for name in VECTORS if name.endswith("_F32")}


def plan(one, wave):
    """A function of the wave, or None: it is one of the others."""
    if one.name == "V_CNDMASK_B32":
        return plan_choice(one, wave)
    inst, make = one.inst, VECTORS.get(one.name)
    if make is None or not one.format.split("_LIT")[0] in (
            "VOP1", "VOP2", "VOP3"):
        return None
    if any(getattr(inst, field, 0) for field in ("omod", "clmp", "opsel")):
        return None
    sources = []
    for i in range(3):
        field = f"src{i}"
        declared = next((x for x in (field, f"vsrc{i}")
                         if x in inst.operands), None)
        if declared is None:
            break
        name = f"vsrc{i}" if hasattr(inst, f"vsrc{i}") else field
        if not hasattr(inst, name):
            break
        if inst.op_bits[declared] != 32:
            return None
        sources.append(_reader(one, wave, getattr(inst, name).offset,
                               declared, i))
    if len(sources) + 1 != make.__code__.co_argcount:
        return None
    place = one.place("vdst", inst.vdst.offset) - VECTOR

    def run(own):
        r = own.r
        row = r.vector[place]
        words = [read(r) for read in sources]
        result = make(*words, row)
        if r.all_on():
            row[:] = result
        else:
            np.copyto(row, result, where=r.active())
    return run


def _reader(one, wave, offset, declared, i):
    inst = one.inst
    is_float = one.name in FLOATS or one.name == "V_MOV_B32"
    absolute = getattr(inst, "abs", 0) >> i & 1
    negative = getattr(inst, "neg", 0) >> i & 1

    def signed(word):
        if absolute:
            word = word & U32(0x7fffffff)
        return word ^ U32(0x80000000) if negative else word
    if offset >= VECTOR:
        place = one.place(declared, offset) - VECTOR
        if absolute or negative:
            return lambda r: signed(r.vector[place])
        return lambda r: r.vector[place]
    if offset < 128:
        return lambda r: signed(r.scalar[offset:offset + 1])
    constant = signed(np.array([wave.r.constant(
        offset, 32, is_float, getattr(inst, "literal", 0)) & 0xffffffff
        if offset not in (251, 252, 253) else 0], U32))
    if offset in (251, 252, 253):
        return lambda r: signed(np.array([r.constant(offset, 32, False, 0)],
                                         U32))
    return lambda r: constant


# Scalars ---------------------------------------------------------------------

ONES = 0xffffffff


def _carry(total):
    return total & ONES, int(total > ONES)


def _sub(a, b):
    return (a - b) & ONES, int(b > a)


def _signed(x):
    return x - ((x & 0x80000000) << 1)


def _logic(f, bits=ONES):
    def apply(a, b, scc):
        value = f(a, b) & bits
        return value, int(value != 0)
    return apply


def _overflow(f):
    def apply(a, b, scc):
        value = f(_signed(a), _signed(b))
        return value & ONES, int(not -1 << 31 <= value < 1 << 31)
    return apply


SCALARS = {  # words and SCC to the target and SCC
    "S_ADD_I32": _overflow(lambda a, b: a + b),
    "S_SUB_I32": _overflow(lambda a, b: a - b),
    "S_MUL_HI_U32": lambda a, b, scc: (a * b >> 32, scc),
    "S_ADD_U32": lambda a, b, scc: _carry(a + b),
    "S_ADDC_U32": lambda a, b, scc: _carry(a + b + scc),
    "S_SUB_U32": lambda a, b, scc: _sub(a, b),
    "S_LSHL_B32": _logic(lambda a, b: a << (b & 31)),
    "S_LSHR_B32": _logic(lambda a, b: a >> (b & 31)),
    "S_AND_B32": _logic(lambda a, b: a & b),
    "S_OR_B32": _logic(lambda a, b: a | b),
    "S_MUL_I32": lambda a, b, scc: (a * b & ONES, scc),
    "S_CSELECT_B32": lambda a, b, scc: (a if scc else b, scc),
}
ONES_64 = (1 << 64) - 1
PAIRS = {  # the same of 64 bits
    "S_AND_B64": _logic(lambda a, b: a & b, ONES_64),
    "S_OR_B64": _logic(lambda a, b: a | b, ONES_64),
    "S_XOR_B64": _logic(lambda a, b: a ^ b, ONES_64),
    "S_ANDN2_B64": _logic(lambda a, b: a & ~b, ONES_64),
    "S_AND_NOT1_B64": _logic(lambda a, b: a & ~b, ONES_64),
}
COMPARES = {"EQ": lambda a, b: a == b, "LG": lambda a, b: a != b,
            "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b,
            "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b}


def plan_scalar(one, wave):
    inst, name = one.inst, one.name
    literal = getattr(inst, "literal", 0)

    def reader(field):
        reg = getattr(inst, field)
        if reg.offset < 128:
            return lambda r: int(r.scalar[reg.offset])
        if reg.offset in (251, 252, 253):
            return None
        value = wave.r.constant(reg.offset, 32, False, literal) & ONES
        return lambda r: value
    if name in ("S_MOV_B32",) and one.format.startswith("SOP1"):
        read, target = reader("ssrc0"), inst.sdst.offset
        if read is None or target in (EXEC, EXEC + 1):
            return None

        def move(own):
            own.r.scalar[target] = read(own.r)
        return move
    make = SCALARS.get(name)
    compare = None
    if name.startswith("S_CMP_") and name.endswith(("_U32", "_I32")):
        compare = COMPARES.get(name[6:8])
    if name in PAIRS:
        return _plan_pair(inst, PAIRS[name])
    if make is None and compare is None:
        return None
    a, b = reader("ssrc0"), reader("ssrc1")
    if a is None or b is None:
        return None
    if compare:
        of = _signed if name.endswith("_I32") else lambda x: x

        def run_compare(own):
            own.r.scc = int(compare(of(a(own.r)), of(b(own.r))))
        return run_compare
    target = inst.sdst.offset
    if target in (EXEC, EXEC + 1):
        return None

    def run(own):
        r = own.r
        r.scalar[target], r.scc = make(a(r), b(r), r.scc)
    return run


def _plan_pair(inst, make):
    a, b, target = inst.ssrc0, inst.ssrc1, inst.sdst.offset
    if any(reg.offset in (251, 252, 253, LITERAL) for reg in (a, b)):
        return None

    def run(own):
        r = own.r
        value, r.scc = make(int(r.bits(a, 64)), int(r.bits(b, 64)), r.scc)
        r.set_scalar(target, value, 64)
    return run


def plan_choice(one, wave):
    """V_CNDMASK, by VCC or a mask of its own."""
    inst = one.inst
    if one.format not in ("VOP2", "VOP3") or any(
            getattr(inst, field, 0) for field in ("neg", "abs", "opsel")):
        return None
    declared = "src1" if "src1" in inst.operands else "vsrc1"
    reads = [_reader(one, wave, inst.src0.offset, "src0", 0), _reader(
        one, wave, getattr(inst, "vsrc1", getattr(inst, "src1", None)).offset,
        declared, 1)]
    mask = inst.src2.offset if one.format == "VOP3" else VCC
    place = inst.vdst.offset - VECTOR
    lane = np.arange(wave.lanes, dtype=np.uint64)

    def run(own):
        r = own.r
        bits = np.uint64(r.scalar_bits(mask, own.lanes)) >> lane & np.uint64(1)
        row = r.vector[place]
        result = np.where(bits != 0, reads[1](r), reads[0](r))
        np.copyto(row, result, where=r.active())
    return run
