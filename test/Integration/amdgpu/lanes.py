# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What instructions do by lanes: arithmetic, exchange and access of memory."""

import re

import numpy as np

from memory import Fault
from numbers_of_lanes import Number, fma, from_bits
from registers import EXEC, VCC, VECTOR

ALL = 0xffffffff
M0 = 124  # of CDNA, a scalar register


def signed(value, bits):
    return value - ((value & (1 << (bits - 1))) << 1)


# Operands -------------------------------------------------------------------


def float_size(format):
    """Of an operand's format: "FMT_NUM_F32", "FMT_NUM_PK2_F16"; 0: no float."""
    match = re.search(r"_B?F(16|32|64)$", format)
    return int(match[1]) if match else 0


def halves(wave, one, field, reg, size):
    """True 16-bit operands of RDNA: registers from 128 on are upper halves."""
    is_short = (wave.group.architecture != "cdna" and size == 16
                and reg.offset >= VECTOR + 128
                and re.match(r"VOP[12C]", one.format)
                and not one.format.startswith("VOP3"))
    return (reg.offset - 128, True) if is_short else (reg.offset, False)


class Place:
    def __init__(self, offset):
        self.offset = offset


def source(wave, one, i):
    """Bits and size of source `i`; modifiers are applied."""
    inst = one.inst
    field = f"src{i}"
    name = f"vsrc{i}" if i == 1 and hasattr(inst, "vsrc1") else field
    declared = next((one for one in (field, f"vsrc{i}")
                     if one in inst.operands), None)
    if declared is None or not hasattr(inst, name):
        return None
    format, size = inst.operands[declared][0].name, inst.op_bits[declared]
    reg = getattr(inst, name)
    number = float_size(format)
    literal = getattr(inst, "literal", 0)
    moved = None
    if i == 0 and "_DPP16" in one.format:
        moved = inst.vsrc0.offset
    elif i == 0 and "_SDWA" in one.format:
        reg = Place(inst.vsrc0.offset if not inst.s0
                    else inst.vsrc0.offset - VECTOR)
    elif i == 1 and "_SDWA" in one.format and inst.s1:
        reg = Place(reg.offset - VECTOR)
    offset, is_high = halves(wave, one, declared, reg, size)
    if moved is not None:
        offset, is_high = halves(wave, one, declared, Place(moved), size)
    # Of pairs of f32, a constant is one of them.
    is_pair = number == 32 and size == 64 and offset < VECTOR and offset >= 128
    bits = wave.r.bits(Place(one.place(declared, offset)),
                       32 if is_pair else max(size, 16), number != 0, literal)
    if is_pair:
        bits = bits | bits << np.uint64(32)
    if is_high:
        bits = bits >> np.uint64(16)
    if moved is not None:
        bits = exchanged(wave, bits, inst)
    if "_SDWA" in one.format:
        bits = selected(bits, getattr(inst, f"src{i}_sel"),
                        getattr(inst, f"src{i}_sext"))
    if one.format.startswith("VOP3P"):
        return packed(one, i, bits, size, number), size
    if one.format.startswith("VOP3") and size == 16 and \
            getattr(inst, "opsel", 0) >> i & 1 and offset >= VECTOR:
        bits = bits >> np.uint64(16)
    return with_sign(one, i, bits, number), size


def with_sign(one, i, bits, number):
    inst = one.inst
    if not number:
        return bits
    sign = np.uint64(1 << (number - 1))
    negative = (getattr(inst, "neg", 0) >> i & 1
                or getattr(inst, f"src{i}_neg", 0))
    absolute = (getattr(inst, "abs", 0) >> i & 1
                or getattr(inst, f"src{i}_abs", 0))
    if absolute:
        bits = bits & ~sign
    return bits ^ sign if negative else bits


def packed(one, i, bits, size, number):
    """Which halves a packed operation takes, and their signs."""
    inst = one.inst
    if "MIX" in one.name:
        return bits
    low = inst.opsel >> i & 1
    high = (inst.opsel_hi >> i & 1) if i < 2 else int(inst.opsel_hi2)
    half = np.uint64(32 if "_F32" in one.name or size == 64 else 16)
    all = np.uint64((1 << int(half)) - 1)
    parts = [(bits >> (half * np.uint64(which))) & all
             for which in (low, high)]
    sign = np.uint64(1 << (int(half) - 1))
    for part, negative in enumerate((inst.neg, inst.neg_hi)):
        if number and negative >> i & 1:
            parts[part] = parts[part] ^ sign
    return parts[0] | parts[1] << half


def selected(bits, which, extends):
    which = int(which)
    size = 8 if which < 4 else 16 if which < 6 else 32
    low = 8 * which if which < 4 else 16 * (which - 4) if which < 6 else 0
    found = from_bits(bits >> np.uint64(low), "i" if extends else "u", size)
    return found.converted("u", 32).a if extends else found.a


def dpp_lanes(control, count):
    """From which lane each reads; -1: from none."""
    lane = np.arange(count)
    row, within = lane & ~15, lane & 15
    if control < 0x100:
        return (lane & ~3) | (control >> 2 * (lane & 3) & 3)
    if control == 0x140:
        return row | (15 - within)
    if control == 0x141:
        return (lane & ~7) | (7 - (lane & 7))
    kind, by = control & 0x1f0, control & 15
    if kind == 0x120:
        return row | ((within - by) & 15)
    if kind == 0x160:
        return lane ^ by
    if kind == 0x150:
        return row | by
    if kind == 0x110:
        return np.where(within >= by, lane - by, -1)
    if kind == 0x100:
        return np.where(within + by < 16, lane + by, -1)
    raise NotImplementedError(f"control {control:#x} of DPP")


def exchanged(wave, bits, inst):
    if inst.row_mask != 15 or inst.bank_mask != 15:
        raise NotImplementedError("masks of DPP")
    lanes = dpp_lanes(int(inst.dpp), wave.lanes)
    active = wave.r.active()
    if np.any(lanes < 0) or not np.all(active[lanes][active]):
        raise NotImplementedError("DPP that reads lanes that are off")
    return np.broadcast_to(bits, wave.lanes)[lanes]


# Arithmetic -----------------------------------------------------------------


def vector(wave, one):
    by_hand = HAND.get(one.name)
    if by_hand:
        return by_hand(wave, one)
    inst, r = one.inst, wave.r
    sources = [source(wave, one, i) for i in range(3)]
    state = {"EXEC": Number(np.uint64(r.exec), "u", 64),
             "VCC": Number(np.uint64(r.scalar_bits(VCC, 64)), "u", 64),
             "NEG": Number(np.uint64(getattr(inst, "neg", 0)), "u", 32),
             "SIMM32": Number(np.uint64(getattr(inst, "literal", 0)), "u", 32)}
    for i, own in enumerate(sources):
        if own:
            state[f"S{i}"] = Number(own[0], "u", max(own[1], 32)
                                    if own[1] != 16 else 16)
    is_compare = one.name.startswith("V_CMP")
    # A carry, or a choice, of its own.
    if one.format.startswith(("VOP3", "VOP3SD")) and sources[2] and (
            "_CI_" in one.name or "ADDC" in one.name or "SUBB" in one.name
            or "CNDMASK" in one.name):
        state["VCC"] = Number(np.uint64(r.scalar_bits(
            inst.src2.offset, wave.lanes)), "u", 64)
    if not is_compare:
        size = inst.op_bits["vdst"]
        place, high = halves(wave, one, "vdst", inst.vdst, size)
        place = one.place("vdst", place)
        old = r.bits(Place(place), max(size, 32))
        shown = old >> np.uint64(16) if high else old
        state["D0"] = Number(shown, "u", max(size, 16))
    wave.execute(one.name, state)
    active = r.active()
    if is_compare:
        bits = np.broadcast_to(np.asarray(
            state["lanes:D0" if "lanes:D0" in state else "lanes:EXEC"].a) != 0,
            wave.lanes) & active
        target = EXEC if one.name.startswith("V_CMPX") else (
            inst.vdst.offset if one.format.startswith("VOP3")
            else getattr(inst, "sdst").offset
            if getattr(inst, "sd", 0) else VCC)
        return r.set_scalar(target, r.lane_mask(bits), wave.lanes)
    if "lanes:VCC" in state:
        bits = (np.broadcast_to(np.asarray(state["lanes:VCC"].a) != 0,
                                wave.lanes)) & active
        target = inst.sdst.offset if one.format.startswith("VOP3SD") else VCC
        r.set_scalar(target, r.lane_mask(bits), wave.lanes)
    write(wave, one, state["D0"], place, size, high, old)


def write(wave, one, result, place, size, high, old):
    inst = one.inst
    result = scaled(inst, result)
    bits = np.asarray(result.bits(), np.uint64)
    if size == 16:
        bits = bits & np.uint64(0xffff)
        to_high = high or (one.format.startswith("VOP3")
                           and not one.format.startswith("VOP3P")
                           and getattr(inst, "opsel", 0) >> 3 & 1)
        if to_high:
            bits = bits << np.uint64(16) | old & np.uint64(0xffff)
        elif wave.group.architecture != "cdna":
            bits = bits | old & np.uint64(0xffff0000)
    if "_SDWA" in one.format and inst.dst_sel != 6:
        bits = placed(bits, int(inst.dst_sel), int(inst.dst_unused), old)
    if place < VECTOR:  # V_S_SQRT_F32 and the like: a scalar, whoever is on
        return wave.r.set_scalar(place, int(np.ravel(bits)[0]), max(size, 32))
    wave.r.set_vector(place, bits, max(size, 32), wave.r.active())


def placed(bits, which, unused, old):
    size, low = (8, 8 * which) if which < 4 else (16, 16 * (which - 4))
    all = np.uint64(((1 << size) - 1) << low)
    kept = {0: np.uint64(0), 2: old & ~all}.get(unused)
    if kept is None:
        raise NotImplementedError("dst_unused of SDWA")
    return (bits << np.uint64(low)) & all | kept


def scaled(inst, result):
    factor = {0: None, 1: 2.0, 2: 4.0, 3: 0.5}[int(getattr(inst, "omod", 0))]
    clamps = int(getattr(inst, "clmp", 0))
    if factor is None and not clamps:
        return result
    format = inst.operands["vdst"][0].name
    size = float_size(format)
    if not size or "PK" in format:
        raise NotImplementedError("clamp of what is no float")
    value = from_bits(result.bits(), "f", size).a
    if factor is not None:
        value = value * value.dtype.type(factor)
    if clamps:
        value = np.nan_to_num(np.clip(value, 0, 1), nan=0.0)
    return Number(value, "f", size)


def mbcnt(wave, one):
    is_high = "_HI_" in one.name
    below = np.array([(1 << i) - 1 for i in range(wave.lanes)], np.uint64)
    below = below >> np.uint64(32) if is_high else below & np.uint64(ALL)
    (mask, _), (start, _) = source(wave, one, 0), source(wave, one, 1)
    masked = np.broadcast_to(mask & below, wave.lanes)
    count = np.array([bin(int(x)).count("1") for x in masked], np.uint64)
    wave.r.set_vector(one.inst.vdst.offset, count + start, 32,
                      wave.r.active())


def read_lane(wave, one):
    inst = one.inst
    active = wave.r.active()
    if one.name.startswith("V_READFIRSTLANE"):
        lane = int(np.argmax(active)) if active.any() else 0
    else:
        lane = int(wave.r.bits(inst.src1, 32)) % wave.lanes
    bits = wave.r.bits(Place(one.place("src0", inst.src0.offset)), 32)
    value = int(np.broadcast_to(bits, wave.lanes)[lane])
    # The target is a scalar, which the field has as a vector.
    wave.r.set_scalar(inst.vdst.offset - (VECTOR if inst.vdst.offset >= VECTOR
                                          else 0), value, 32)


def write_lane(wave, one):
    inst = one.inst
    lane = int(wave.r.bits(inst.src1, 32)) % wave.lanes
    # Its literal, if it has one, is the value.
    wave.r.vector[inst.vdst.offset - VECTOR, lane] = np.uint32(
        wave.r.bits(inst.src0, 32, False, getattr(inst, "literal", 0)))


def permute_bytes(wave, one):
    (a, _), (b, _), (select, _) = (source(wave, one, i) for i in range(3))
    data = np.broadcast_to(a << np.uint64(32) | b, wave.lanes)
    result = np.zeros(wave.lanes, np.uint64)
    for i in range(4):
        which = np.broadcast_to(select >> np.uint64(8 * i) & np.uint64(0xff),
                                wave.lanes)
        byte = data >> np.minimum(which * np.uint64(8), np.uint64(56)) \
            & np.uint64(0xff)
        sign = np.uint64(0xff) * (data >> (np.uint64(16) * (
            which & np.uint64(3)) + np.uint64(15)) & np.uint64(1))
        byte = np.where(which >= 13, np.uint64(0xff), np.where(
            which == 12, np.uint64(0), np.where(which >= 8, sign, byte)))
        result |= byte << np.uint64(8 * i)
    wave.r.set_vector(one.inst.vdst.offset, result, 32, wave.r.active())


def permlane_x16(wave, one):
    inst = one.inst
    bits = np.broadcast_to(wave.r.bits(inst.src0, 32), wave.lanes)
    literal = getattr(inst, "literal", 0)
    select = int(wave.r.bits(inst.src1, 32, False, literal)) | \
        int(wave.r.bits(inst.src2, 32, False, literal)) << 32
    lane = np.arange(wave.lanes)
    of = np.array([select >> 4 * (i & 15) & 15 for i in range(wave.lanes)])
    if wave.r.exec != (1 << wave.lanes) - 1:
        raise NotImplementedError("permlanex16 of lanes that are off")
    wave.r.set_vector(inst.vdst.offset, bits[((lane & ~15) ^ 16) | of], 32,
                      wave.r.active())


def move_accumulators(wave, one):
    inst = one.inst
    bits = wave.r.bits(Place(one.place("src0", inst.src0.offset)), 32, False,
                       getattr(inst, "literal", 0))
    wave.r.set_vector(one.place("vdst", inst.vdst.offset), bits, 32,
                      wave.r.active())


def divide_scale(wave, one):
    """V_DIV_SCALE: a term of a quotient, so that Newton's steps neither
    overflow nor lose bits. Its text compares with names of no value."""
    inst, r = one.inst, wave.r
    size = inst.op_bits["vdst"]
    s0, s1, s2 = (from_bits(source(wave, one, i)[0], "f", size).a
                  for i in range(3))
    with np.errstate(all="ignore"):
        bias, step = (127, 64) if size == 32 else (1023, 128)
        limit, tiny = (96, 23) if size == 32 else (768, 53)

        def exponent(x):
            return np.where(x == 0, 0, np.frexp(x)[1] - 1 + bias)

        def is_denormal(x):
            return (x != 0) & (np.abs(x) < np.finfo(s0.dtype).tiny)
        scale, vcc = np.zeros(wave.lanes, int), np.zeros(wave.lanes, bool)
        s0, s1, s2 = (np.broadcast_to(x, wave.lanes) for x in (s0, s1, s2))
        is_zero = (s2 == 0) | (s1 == 0)
        far = exponent(s2) - exponent(s1) >= limit
        rest = ~is_zero & ~far
        inverse = is_denormal((1 / s1.astype(np.longdouble)).astype(s0.dtype))
        small = is_denormal(s2 / s1)
        same1, same2 = s0 == s1, s0 == s2
        rules = [(~is_zero & far, same1, step, True),
                 (rest & is_denormal(s1), True, step, False),
                 (rest & inverse & small, same1, step, True),
                 (rest & inverse, True, -step, False),
                 (rest & small, same2, step, True),
                 (rest & (exponent(s2) <= tiny), True, step, False)]
        done = is_zero.copy()
        for holds, scales, by, sets in rules:
            now = holds & ~done
            scale = np.where(now & scales, by, scale)
            vcc |= now & sets
            done |= now
        value = np.where(is_zero, np.nan, np.ldexp(s0, scale)).astype(s0.dtype)
    active = r.active()
    r.set_scalar(inst.sdst.offset, r.lane_mask(vcc & active), wave.lanes)
    r.set_vector(inst.vdst.offset, Number(value, "f", size).bits(), size,
                 active)


def fraction(wave, one):
    """frexp: of zero and what is denormal AMD's text says nothing."""
    (bits, size) = source(wave, one, 0)
    x = from_bits(bits, "f", size).a
    m, e = np.frexp(x)
    ok = np.isfinite(x)
    if "MANT" in one.name:
        result = Number(np.where(ok, m, x).astype(x.dtype), "f", size)
    else:
        result = Number(np.where(ok, e, 0).astype(np.int64), "i", 32)
    target = inst_size = one.inst.op_bits["vdst"]
    wave.r.set_vector(one.inst.vdst.offset, result.bits(), max(target, 32),
                      wave.r.active())
    return None


def move_pair(wave, one):
    """v_pk_mov_b32: a word of each operand."""
    inst = one.inst
    words = []
    for i in range(2):
        bits = wave.r.bits(getattr(inst, f"src{i}"), 64)
        words.append(bits >> np.uint64(32 * (inst.opsel >> i & 1))
                     & np.uint64(ALL))
    wave.r.set_vector(inst.vdst.offset, words[0] | words[1] << np.uint64(32),
                      64, wave.r.active())


def mix(wave, one):
    """v_fma_mix: each operand an f32 or one half of f16; of the results, an f32
    or one half."""
    inst = one.inst
    values = []
    for i in range(3):
        bits, _ = source(wave, one, i)
        is_half = (inst.opsel_hi >> i & 1) if i < 2 else int(inst.opsel_hi2)
        if is_half:
            half = bits >> np.uint64(16 * (inst.opsel >> i & 1))
            x = from_bits(half, "f", 16).converted("f", 32)
        else:
            x = from_bits(bits, "f", 32)
        a = np.asarray(x.a)
        if inst.neg_hi >> i & 1:
            a = np.abs(a)
        if inst.neg >> i & 1:
            a = -a
        values.append(Number(a, "f", 32))
    result = fma(*values)
    place = inst.vdst.offset
    if "MIXLO" in one.name or "MIXHI" in one.name:
        old = wave.r.bits(Place(place), 32)
        bits = result.converted("f", 16).bits()
        bits = (bits << np.uint64(16) | old & np.uint64(0xffff)
                if "MIXHI" in one.name else bits | old & np.uint64(0xffff0000))
    else:
        bits = result.bits()
    wave.r.set_vector(place, bits, 32, wave.r.active())


def multiply_then_add(wave, one):
    """v_mad_f32, v_mac_f32: rounded twice, and what is denormal is zero."""
    def operand(i):
        if one.name == "V_MAC_F32" and i == 2:
            return wave.r.bits(Place(one.inst.vdst.offset), 32, True, 0)
        return source(wave, one, i)[0]

    def flushed(x):
        return np.where(np.abs(x) < np.finfo(np.float32).tiny,
                        np.float32(0), x)
    a, b, c = (flushed(from_bits(operand(i), "f", 32).a) for i in range(3))
    with np.errstate(all="ignore"):
        value = flushed(flushed(a * b) + c).astype(np.float32)
    wave.r.set_vector(one.inst.vdst.offset, Number(value, "f", 32).bits(), 32,
                      wave.r.active())


def round_even(wave, one):
    (bits, size) = source(wave, one, 0)
    x = from_bits(bits, "f", size)
    wave.r.set_vector(one.inst.vdst.offset,
                      Number(np.rint(x.a), "f", size).bits(), max(size, 32),
                      wave.r.active())


def class_of(wave, one):
    inst, r = one.inst, wave.r
    (bits, size), (wanted, _) = source(wave, one, 0), source(wave, one, 1)
    x = from_bits(bits, "f", size).a
    quiet = {64: 51, 32: 22, 16: 9}[size]
    nan, negative = np.isnan(x), np.signbit(x)
    signals = nan & ((bits >> np.uint64(quiet)) & np.uint64(1) == 0)
    small = (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny)
    normal = np.isfinite(x) & (x != 0) & ~small
    kinds = [signals, nan & ~signals, np.isinf(x) & negative,
             normal & negative, small & negative, (x == 0) & negative,
             (x == 0) & ~negative, small & ~negative, normal & ~negative,
             np.isinf(x) & ~negative]
    found = np.zeros(wave.lanes, bool)
    for i, kind in enumerate(kinds):
        found |= np.broadcast_to(kind & ((wanted >> np.uint64(i))
                                         & np.uint64(1) != 0), wave.lanes)
    target = inst.vdst.offset if one.format.startswith("VOP3") else VCC
    if one.name.startswith("V_CMPX"):
        target = EXEC
    r.set_scalar(target, r.lane_mask(found & r.active()), wave.lanes)


def wide_multiply_add(wave, one):
    (a, _), (b, _), (c, _) = (source(wave, one, i) for i in range(3))
    if "_I64_" in one.name:
        a, b = (from_bits(x, "i", 32).a.astype(np.uint64) for x in (a, b))
    with np.errstate(all="ignore"):
        wave.r.set_vector(one.inst.vdst.offset, a * b + c, 64,
                          wave.r.active())


def move_indexed(wave, one, index, which):
    """A move whose operands' numbers are counted from: 1 the source's, 8 the
    target's."""
    if one.name not in ("V_MOV_B32", "V_MOVRELS_B32", "V_MOVRELD_B32",
                        "V_MOVRELSD_B32"):
        raise NotImplementedError(f"no emulation of {one.name} by an index")
    inst = one.inst
    source, target = inst.src0.offset, inst.vdst.offset
    if which & 1 and source >= VECTOR:
        source += index
    target += index if which & 8 else 0
    wave.counters.check({source}, {target}, None)
    bits = wave.r.bits(Place(source), 32, True, getattr(inst, "literal", 0))
    wave.r.set_vector(target, bits, 32, wave.r.active())


def move_relative(wave, one):
    """RDNA's, by M0."""
    index = wave.r.scalar_bits(125, 32)
    move_indexed(wave, one, index, (1 if "RELS" in one.name else 0)
                 | (8 if one.name.endswith("D_B32") else 0))


HAND = {"V_MOVRELS_B32": move_relative, "V_MOVRELD_B32": move_relative,
        "V_MOVRELSD_B32": move_relative, "V_MBCNT_LO_U32_B32": mbcnt, "V_MBCNT_HI_U32_B32": mbcnt,
        "V_READFIRSTLANE_B32": read_lane, "V_READLANE_B32": read_lane,
        "V_WRITELANE_B32": write_lane, "V_PERM_B32": permute_bytes,
        "V_PERMLANEX16_B32": permlane_x16, "V_NOP": lambda *_: None,
        "V_DIV_SCALE_F32": divide_scale, "V_DIV_SCALE_F64": divide_scale,
        "V_PK_MOV_B32": move_pair, "V_MAD_F32": multiply_then_add,
        "V_MAC_F32": multiply_then_add, "V_MAD_U64_U32": wide_multiply_add, "V_MAD_I64_I32": wide_multiply_add,
        "V_MAD_CO_U64_U32": wide_multiply_add,
        "V_MAD_CO_I64_I32": wide_multiply_add}
for _name in ("V_ACCVGPR_READ", "V_ACCVGPR_WRITE", "V_ACCVGPR_READ_B32",
              "V_ACCVGPR_WRITE_B32", "V_ACCVGPR_MOV_B32"):
    HAND[_name] = move_accumulators
for _size in (16, 32, 64):
    HAND[f"V_FREXP_MANT_F{_size}"] = HAND[f"V_FREXP_EXP_I32_F{_size}"] = \
        fraction
    HAND[f"V_RNDNE_F{_size}"] = round_even
    HAND[f"V_CMP_CLASS_F{_size}"] = HAND[f"V_CMPX_CLASS_F{_size}"] = class_of
for _name in ("F32", "LO_F16", "HI_F16"):
    HAND[f"V_FMA_MIX{'' if _name == 'F32' else ''}" + (
        "_F32" if _name == "F32" else _name)] = mix
    HAND["V_MAD_MIX" + ("_F32" if _name == "F32" else _name)] = mix


def dual(wave, one):
    """Two of RDNA's in one: both read before either writes."""
    inst = one.inst
    results = []
    for side, target in (("x", inst.vdstx), ("y", inst.vdsty)):
        op = getattr(inst, "op" + side).name.replace("V_DUAL_", "")
        literal = getattr(inst, "literal", 0)
        a = wave.r.bits(getattr(inst, f"src{side}0"), 32, "F32" in op, literal)
        b = wave.r.bits(getattr(inst, f"vsrc{side}1"), 32)
        old = wave.r.bits(target, 32)
        x, y, z = (from_bits(one, "f", 32) for one in (a, b, old))
        k = from_bits(np.uint64(literal), "f", 32)
        with np.errstate(all="ignore"):
            made = DUAL[op](wave, a, b, x, y, z, k)
        results.append((target.offset, made.bits() if isinstance(
            made, Number) else made))
    for place, bits in results:
        wave.r.set_vector(place, bits, 32, wave.r.active())


def _of(f):
    return lambda wave, a, b, x, y, z, k: Number(f(x.a, y.a), "f", 32)


def _choose(wave, a, b, *_):
    vcc = np.uint64(wave.r.scalar_bits(VCC, wave.lanes))
    bit = vcc >> np.arange(wave.lanes, dtype=np.uint64) & np.uint64(1)
    return np.where(bit != 0, b, a)


DUAL = {"FMAC_F32": lambda w, a, b, x, y, z, k: fma(x, y, z),
        "FMAAK_F32": lambda w, a, b, x, y, z, k: fma(x, y, k),
        "FMAMK_F32": lambda w, a, b, x, y, z, k: fma(x, k, y),
        "MUL_F32": _of(np.multiply), "ADD_F32": _of(np.add),
        "SUB_F32": _of(np.subtract), "SUBREV_F32": _of(lambda x, y: y - x),
        "MAX_F32": _of(np.fmax), "MIN_F32": _of(np.fmin),
        "MAX_NUM_F32": _of(np.fmax), "MIN_NUM_F32": _of(np.fmin),
        "MOV_B32": lambda w, a, *_: a, "CNDMASK_B32": _choose,
        "ADD_NC_U32": lambda w, a, b, *_: a + b & np.uint64(ALL),
        "LSHLREV_B32": lambda w, a, b, *_: b << (a & np.uint64(31))
        & np.uint64(ALL),
        "AND_B32": lambda w, a, b, *_: a & b}


# Memory ---------------------------------------------------------------------

SIZES = {"B8": 1, "U8": 1, "I8": 1, "BYTE": 1, "UBYTE": 1, "SBYTE": 1,
         "B16": 2, "U16": 2, "I16": 2, "SHORT": 2, "USHORT": 2, "SSHORT": 2,
         "B32": 4, "DWORD": 4, "U32": 4, "B64": 8, "DWORDX2": 8, "B96": 12,
         "DWORDX3": 12, "B128": 16, "DWORDX4": 16}


def access(wave, one):
    if one.format == "DS":
        return access_lds(wave, one)
    if one.format == "MUBUF":
        return access_buffer(wave, one)
    inst, r = one.inst, wave.r
    to_lds = one.name.startswith("GLOBAL_LOAD_LDS_")
    name = one.name.replace("LOAD_LDS", "LOAD")
    match = re.match(r"(GLOBAL|SCRATCH|FLAT)_(LOAD|STORE)_(D16_HI_|D16_)?"
                     r"([BUIS]?(?:8|16|32|64|96|128)|[US]?BYTE|[US]?SHORT|"
                     r"DWORD(?:X[234])?)(_D16_HI|_D16)?$", name)
    if not match:
        raise NotImplementedError(f"no emulation of {name}")
    kind, what, before, spelled, behind = match.groups()
    part = (before or behind or "").strip("_")
    size = SIZES[spelled]
    bits = 24 if wave.group.architecture == "rdna4" else 13
    is_new = hasattr(inst, "ioffset")
    offset = signed(inst.ioffset if is_new else inst.offset, bits)
    address, data = ("vaddr", "vsrc") if is_new else ("addr", "data")
    address = Place(getattr(inst, address).offset)
    active = r.active()
    base = np.zeros(wave.lanes, np.uint64)
    none = 0x7c if wave.group.architecture != "cdna" else 0x7f
    saddr = inst.saddr.offset
    has_scalar = saddr not in (none, 0x7f, 0x7c) and kind != "FLAT"
    with np.errstate(all="ignore"):
        if kind == "SCRATCH":
            if has_scalar:
                base = base + np.uint64(r.scalar_bits(saddr, 32))
            if getattr(inst, "sve", 1):
                base = base + r.bits(address, 32)
        elif has_scalar:
            base = (np.uint64(r.scalar_bits(saddr, 64))
                    + r.bits(address, 32))
        else:
            base = r.bits(address, 64)
        addresses = base + np.uint64(offset & 0xffffffffffffffff)
    lanes = np.flatnonzero(active)
    queue = "load" if what == "LOAD" or wave.group.architecture == "cdna" \
        else "store"
    memory = wave.scratch if kind == "SCRATCH" else wave.group.memory
    own = addresses[lanes]
    if to_lds:
        return load_to_lds(wave, lanes, own, size, offset)
    if what == "LOAD":
        place = one.place("vdst", inst.vdst.offset)
        if len(lanes):
            rows = (memory.load(lanes, own, size) if kind == "SCRATCH"
                    else memory.load(own, size))
            put(wave, place, rows, lanes, spelled, part)
        wave.counters.begin(queue, range(place, place + max(1, size // 4)))
        return
    place = one.place(data, getattr(inst, data).offset)
    if len(lanes):
        rows = taken(wave, place, lanes, size, part)
        if kind == "SCRATCH":
            memory.store(lanes, own, rows)
        else:
            memory.store(own, rows)
    wave.counters.begin(queue, ())


def load_to_lds(wave, lanes, addresses, size, offset):
    """What lane l loads lies l times the size behind M0's place, whichever
    lanes are on."""
    arrives = None
    if len(lanes):
        place = np.uint64(wave.r.scalar_bits(M0, 32) + offset)
        arrives = wave.group.lds.expect(
            wave.number, place + lanes.astype(np.uint64) * np.uint64(size),
            wave.group.memory.load(addresses, size))
    wave.counters.begin("load", (), arrives=arrives)


def access_buffer(wave, one):
    """A lane's own memory, as gfx90a reaches it; kernels use buffers for
    nothing else."""
    inst, r = one.inst, wave.r
    match = re.match(r"BUFFER_(LOAD|STORE)_(D16_HI_|D16_)?([US]?BYTE|"
                     r"[US]?SHORT|DWORD(?:X[234])?)(_D16_HI|_D16)?$", one.name)
    if not match or inst.idxen:
        raise NotImplementedError(f"no emulation of {one.name}")
    what, before, spelled, behind = match.groups()
    part, size = (before or behind or "").strip("_"), SIZES[spelled]
    base = np.full(wave.lanes, inst.offset, np.uint64)
    if inst.offen:
        base = base + r.bits(Place(inst.vaddr.offset), 32)
    base = base + r.bits(inst.soffset, 32) & np.uint64(ALL)
    lanes = np.flatnonzero(r.active())
    place = one.place("vdata", inst.vdata.offset)
    if what == "LOAD":
        if len(lanes):
            put(wave, place, wave.scratch.load(lanes, base[lanes], size), lanes,
                spelled, part)
        wave.counters.begin("load", range(place, place + max(1, size // 4)))
        return
    if len(lanes):
        wave.scratch.store(lanes, base[lanes],
                           taken(wave, place, lanes, size, part))
    wave.counters.begin("load", ())


def put(wave, place, rows, lanes, spelled, part):
    """Bytes of memory in registers; less than a word is extended, or half of
    one is kept."""
    size = rows.shape[1]
    if size >= 4:
        words = np.ascontiguousarray(rows).view(np.uint32)
        for i in range(words.shape[1]):
            wave.r.vector[place - VECTOR + i, lanes] = words[:, i]
        return
    value = np.ascontiguousarray(rows).view({1: np.uint8, 2: np.uint16}[size]
                                            )[:, 0].astype(np.uint64)
    if spelled[0] in "IS" and spelled not in ("SHORT",):
        value = from_bits(value, "i", 8 * size).a.astype(np.uint64)
    old = wave.r.vector[place - VECTOR, lanes].astype(np.uint64)
    if part == "D16_HI":
        value = value << np.uint64(16) | old & np.uint64(0xffff)
    elif part == "D16":
        value = value & np.uint64(0xffff) | old & np.uint64(0xffff0000)
    wave.r.vector[place - VECTOR, lanes] = (value & np.uint64(ALL)).astype(
        np.uint32)


def taken(wave, place, lanes, size, part):
    count = max(1, size // 4)
    words = np.stack([wave.r.vector[place - VECTOR + i, lanes]
                      for i in range(count)], axis=1)
    if part == "D16_HI":
        words = words >> np.uint32(16)
    rows = np.ascontiguousarray(words).view(np.uint8)
    return rows[:, :size]


def further(base, offset):
    return base + np.uint64(offset) & np.uint64(ALL)


def access_lds(wave, one):
    inst, r, name = one.inst, wave.r, one.name
    lds = wave.group.lds
    if name in ("DS_BPERMUTE_B32", "DS_SWIZZLE_B32", "DS_PERMUTE_B32"):
        return exchange(wave, one)
    match = re.match(r"DS_(READ|WRITE|LOAD|STORE)(2)?(?:(ST64|_2ADDR_STRIDE64|"
                     r"_2ADDR))?_([BUI]\d+)(?:_(D16_HI|D16))?$", name)
    if not match:
        raise NotImplementedError(f"no emulation of {name}")
    what, two, stride, spelled, part = match.groups()
    size = SIZES[spelled]
    is_pair = bool(two) or (stride or "").startswith("_2ADDR")
    lanes = np.flatnonzero(r.active())
    base = np.broadcast_to(r.bits(Place(inst.addr.offset), 32),
                           wave.lanes)[lanes]
    if is_pair:
        unit = size * (64 if "64" in (stride or "") else 1)
        offsets = [int(inst.offset0) * unit, int(inst.offset1) * unit]
    else:
        offsets = [int(inst.offset0) | int(inst.offset1) << 8]
    count = max(1, size // 4)
    if what in ("READ", "LOAD"):
        place = one.place("vdst", inst.vdst.offset)
        for i, offset in enumerate(offsets):
            if len(lanes):
                rows = lds.load(wave.number, further(base, offset), size)
                put(wave, place + i * count, rows, lanes, spelled, part or "")
        wave.counters.begin("lds", range(place, place + count * len(offsets)))
        return
    for field, offset in zip(("data0", "data1"), offsets):
        place = one.place(field, getattr(inst, field).offset)
        if len(lanes):
            lds.store(wave.number, further(base, offset),
                      taken(wave, place, lanes, size, part or ""))
    wave.counters.begin("lds", (), stores=True)


def exchange(wave, one):
    inst, r = one.inst, wave.r
    lane = np.arange(wave.lanes)
    offset = int(inst.offset0) | int(inst.offset1) << 8
    if one.name == "DS_SWIZZLE_B32":
        if offset & 0x8000:
            raise NotImplementedError("swizzle of quads")
        value = np.broadcast_to(r.bits(Place(inst.addr.offset), 32), wave.lanes)
        inside = ((lane & 31 & offset) | offset >> 5 & 31) ^ (offset >> 10 & 31)
        source_lane = (lane & ~31) | inside
    elif one.name == "DS_BPERMUTE_B32":
        value = np.broadcast_to(r.bits(Place(inst.data0.offset), 32),
                                wave.lanes)
        address = r.bits(Place(inst.addr.offset), 32) + np.uint64(offset)
        source_lane = np.broadcast_to(address // np.uint64(4), wave.lanes
                                      ).astype(np.int64) % wave.lanes
    else:
        raise NotImplementedError("ds_permute")
    active = r.active()
    if not np.all(active[source_lane[active]]):
        raise Fault("exchange with lanes that are off")
    r.set_vector(inst.vdst.offset, value[source_lane], 32, active)
    wave.counters.begin("lds", [inst.vdst.offset])
