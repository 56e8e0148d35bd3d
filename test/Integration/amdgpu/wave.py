# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One wave: what each instruction does to its registers and to memory."""

import numpy as np

import fast
import lanes
import matrix
import pseudocode
from decode import base_name
from memory import Fault
from numbers_of_lanes import Number, from_bits, whole
from registers import ACCUMULATORS, EXEC, VCC, VECTOR, Registers

BARRIER, END = "barrier", "end"  # what ends a run of a wave
NOTHING = {"S_NOP", "S_SETPRIO", "S_SLEEP", "S_DELAY_ALU", "S_CLAUSE",
           "S_SENDMSG", "S_ICACHE_INV", "S_DCACHE_INV", "S_INST_PREFETCH",
           "S_SET_INST_PREFETCH_DISTANCE", "BUFFER_GL0_INV", "S_CODE_END",
           "BUFFER_WBL2", "BUFFER_INV", "BUFFER_GL1_INV", "BUFFER_WBINVL1",
           "BUFFER_WBINVL1_VOL", "GLOBAL_INV", "GLOBAL_WB", "GLOBAL_WBINV"}


class Wave:
    def __init__(self, group, number, lanes_count, counters):
        self.group, self.number = group, number
        self.r = Registers(lanes_count)
        self.lanes = lanes_count
        self.counters = counters
        self.pc = 0
        self.steps = 0
        self.scratch = None
        self.index = None  # of vectors, and of which operands; CDNA
        self.lane_id = whole(np.arange(lanes_count), 32)

    def run(self):
        """To the next barrier, or to the end."""
        while True:
            one = self.group.instruction(self.pc)
            try:
                self.counters.check(one.reads, one.writes, one.queue)
                self.steps += 1
                self.next = self.pc + one.size
                if one.plan is None:
                    one.plan = self.plan(one)
                if self.index and one.format.startswith("VOP"):
                    said = lanes.move_indexed(self, one, *self.index)
                else:
                    said = one.plan(self)
            except (Fault, NotImplementedError, pseudocode.Unknown) as error:
                raise Fault(f"{error}; at {self.pc - self.group.base:#x} "
                            f"'{one.text}', wave {self.number} of workgroup "
                            f"{self.group.number}") from error
            self.pc = self.next
            if said:
                return said

    def plan(self, one):
        """What does the instruction, in any wave."""
        name, format = one.name, one.format
        if format.startswith("SOPP") or name in NOTHING:
            return lambda own: own.control(one)
        if name == "S_SET_GPR_IDX_ON":
            return lambda own: own.set_index(one)
        if format.startswith("SMEM"):
            return lambda own: own.load_scalars(one)
        if format.startswith("SOP"):
            return fast.plan_scalar(one, self) or (
                lambda own: own.scalar(one))
        if format in ("DS", "MUBUF", "GLOBAL", "VGLOBAL", "SCRATCH", "VSCRATCH", "FLAT",
                      "VFLAT"):
            return lambda own: lanes.access(own, one)
        if name == "VOPD":
            return lambda own: lanes.dual(own, one)
        if "MFMA" in name or "WMMA" in name:
            return lambda own: own.multiply(one)
        return fast.plan(one, self) or (lambda own: lanes.vector(own, one))

    def multiply(self, one):
        inst = one.inst
        bits = inst.op_bits
        a = self.r.words(one.place("src0", inst.src0.offset),
                         bits["src0"] // 32)
        b = self.r.words(one.place("src1", inst.src1.offset),
                         bits["src1"] // 32)
        count = bits["vdst"] // 32
        if inst.src2.offset >= VECTOR:
            c = self.r.words(one.place("src2", inst.src2.offset), count)
        else:
            c = np.full((self.lanes, count), self.r.bits(
                inst.src2, 32, True), np.uint64).astype(np.uint32)
        if self.r.exec != (1 << self.lanes) - 1:
            raise Fault("matrix instruction with lanes that are off")
        sums = matrix.multiply(one.name, self.group.architecture, a, b, c,
                               getattr(inst, "neg", 0))
        self.r.set_words(one.place("vdst", inst.vdst.offset), sums,
                         np.ones(self.lanes, bool))

    def set_index(self, one):
        """Where moves add to the numbers of their source (1) and target (8)."""
        self.index = (self.r.scalar_bits(one.inst.ssrc0.offset, 8),
                      one.inst.ssrc1.offset)

    def control(self, one):
        name = one.name
        if name == "S_SET_GPR_IDX_OFF":
            self.index = None
            return None
        value = getattr(one.inst, "simm16", 0) if one.format[:4] == "SOPP" \
            else 0
        if self.counters.run(name, value) or name in NOTHING:
            return None
        if name == "S_ENDPGM":
            return END
        if name in ("S_BARRIER", "S_BARRIER_WAIT"):
            self.counters.check_barrier()
            return BARRIER
        if name == "S_BRANCH" or (name.startswith("S_CBRANCH_")
                                  and self.holds(name[len("S_CBRANCH_"):])):
            self.next += 4 * (value - (value & 0x8000) * 2)
            return None
        if not name.startswith("S_CBRANCH_"):
            raise NotImplementedError(f"no emulation of {name}")
        return None

    def holds(self, condition):
        vcc = self.r.scalar_bits(VCC, self.lanes)
        return {"SCC0": self.r.scc == 0, "SCC1": self.r.scc != 0,
                "VCCZ": vcc == 0, "VCCNZ": vcc != 0,
                "EXECZ": self.r.exec == 0, "EXECNZ": self.r.exec != 0
                }[condition]

    def load_scalars(self, one):
        inst, r = one.inst, self.r
        if one.name in NOTHING or not one.name.startswith("S_LOAD"):
            raise NotImplementedError(f"no emulation of {one.name}")
        address = r.scalar_bits(inst.sbase.offset, 64)
        offset = getattr(inst, "ioffset", None)
        offset = inst.offset if offset is None else offset
        if self.group.architecture == "cdna":
            offset = offset - ((offset & 0x100000) << 1) if inst.imm else 0
            uses = getattr(inst, "soffset_en", 0)
        else:
            wide = 0x800000 if self.group.architecture == "rdna4" else 0x100000
            offset -= (offset & wide) << 1
            uses = inst.soffset.offset != 124
        if uses:
            offset += r.scalar_bits(inst.soffset.offset, 32)
        bits = inst.op_bits["sdata"]
        where = np.array([(address + offset) & ~3], np.uint64)
        words = self.group.memory.load(where, bits // 8)[0].view(np.uint32)
        first = inst.sdata.offset
        r.scalar[first:first + len(words)] = words
        self.counters.begin("scalar", range(first, first + len(words)))

    def scalar(self, one):
        inst, r, name = one.inst, self.r, one.name
        literal = getattr(inst, "literal", 0)
        if name in ("S_GETPC_B64", "S_SETPC_B64", "S_SWAPPC_B64"):
            return self.jump(one)
        if name == "S_BARRIER_SIGNAL":
            return self.counters.check_barrier()
        if self.counters.run(name, getattr(inst, "simm16", 0)):
            return None
        if name.startswith(("S_SETREG", "S_GETREG")):
            raise NotImplementedError(f"no emulation of {name}")
        state = {"SCC": Number(np.uint64(r.scc), "u", 1),
                 "EXEC": Number(np.uint64(r.exec), "u", self.lanes),
                 "VCC": Number(np.uint64(r.scalar_bits(VCC, 64)), "u", 64)}
        bits = inst.op_bits
        for field, to in (("ssrc0", "S0"), ("ssrc1", "S1")):
            if field not in bits:
                continue
            size = max(bits[field], 32)
            kind = inst.operands[field][0].name
            state[to] = Number(np.uint64(r.bits(
                getattr(inst, field), size, "_F" in kind, literal)), "u", size)
        if one.format.startswith("SOPK"):
            value = inst.simm16
            state["SIMM16"] = Number(np.uint64(value), "u", 16)
            state["S0"] = Number(np.uint64(value), "u", 16)
        state["SIMM32"] = Number(np.uint64(literal), "u", 32)
        has_target = "sdst" in bits
        if has_target:
            state["D0"] = Number(np.uint64(r.scalar_bits(
                inst.sdst.offset, max(bits["sdst"], 32))), "u",
                max(bits["sdst"], 32))
        before = state["EXEC"]
        self.execute(name, state)
        r.scc = int(np.asarray(state["SCC"].a) != 0)
        if state["EXEC"] is not before:
            r.set_scalar(EXEC, int(state["EXEC"].bits()), self.lanes)
        if has_target and not name.startswith("S_CMPK"):
            r.set_scalar(inst.sdst.offset, int(state["D0"].bits()),
                         max(bits["sdst"], 32))

    def execute(self, name, state):
        text = self.group.pseudocode.get(name)
        if text is None:
            raise NotImplementedError(f"no pseudocode of {name}")
        shape = () if name.startswith("S_") else self.lanes
        run = pseudocode.Run(state, shape)
        state["laneId"] = self.lane_id
        run.block(pseudocode.parse(text))

    def jump(self, one):
        inst, r = one.inst, self.r
        target = None
        if one.name != "S_GETPC_B64":
            target = r.scalar_bits(inst.ssrc0.offset, 64)
        if one.name != "S_SETPC_B64":
            r.set_scalar(inst.sdst.offset, self.next, 64)
        if target is not None:
            self.next = target
