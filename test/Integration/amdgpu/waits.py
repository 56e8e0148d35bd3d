# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counters of what memory has not answered yet: s_waitcnt and its like."""

from memory import Fault


def spell(registers):
    return ", ".join(f"{'s' if n < 256 else 'v' if n < 512 else 'a'}{n % 256}"
                     for n in sorted(registers))


class Counters:
    """By queue what was begun, in order: (registers it will write, whether it
    may be overtaken, what happens when memory has answered)."""

    def __init__(self, architecture):
        self.architecture = architecture
        self.queues = {"load": [], "store": [], "lds": [], "scalar": []}

    def begin(self, queue, registers, stores=False, arrives=None):
        self.queues[queue].append((frozenset(registers), stores, arrives))

    def check(self, reads, writes, own):
        """`own`: the queue of the instruction itself, whose answers come in
        order, so that the later one is what stays."""
        for name, queue in self.queues.items():
            if not queue:
                continue
            used = reads if name == own else reads | writes
            for pending, _, _ in queue:
                if pending and not pending.isdisjoint(used):
                    raise Fault(f"{spell(pending & used)} used before the "
                                f"counter of {name}s says that memory has "
                                f"answered")

    def check_barrier(self):
        if any(stores for _, stores, _ in self.queues["lds"]):
            raise Fault("barrier in front of the end of stores to the LDS")

    def wait(self, queue, most):
        queue = self.queues[queue]
        # Loads of scalars come in any order.
        if queue is not self.queues["scalar"] or most == 0:
            ended = max(0, len(queue) - most)
            for _, _, arrives in queue[:ended]:
                if arrives:
                    arrives()
            del queue[:ended]

    def wait_both(self, most):
        """LDS and scalars count as one, before RDNA 4."""
        scalar, lds = self.queues["scalar"], self.queues["lds"]
        if not scalar:
            return self.wait("lds", most)
        if most == 0:
            scalar.clear()
            lds.clear()

    def wait_memory(self, most):
        """On CDNA stores count as loads do, in order with them."""
        self.wait("load", most)

    def run(self, name, value):
        """Of an instruction that waits; False: it is none."""
        if name == "S_WAITCNT":
            if self.architecture == "cdna":
                self.wait_memory(value & 15 | (value >> 14 & 3) << 4)
                self.wait_both(value >> 8 & 15)
            else:
                self.wait_memory(value >> 10)
                self.wait_both(value >> 4 & 63)
        elif name == "S_WAITCNT_VSCNT":
            self.wait("store", value)
        elif name == "S_WAIT_LOADCNT_DSCNT":
            self.wait("load", value >> 8 & 63)
            self.wait("lds", value & 63)
        elif name == "S_WAIT_STORECNT_DSCNT":
            self.wait("store", value >> 8 & 63)
            self.wait("lds", value & 63)
        elif name in ("S_WAIT_LOADCNT", "S_WAIT_STORECNT", "S_WAIT_DSCNT",
                      "S_WAIT_KMCNT"):
            self.wait({"LOAD": "load", "STOR": "store", "DSCN": "lds",
                       "KMCN": "scalar"}[name[7:11]], value)
        else:
            return name in ("S_WAITCNT_EXPCNT", "S_WAIT_EXPCNT",
                            "S_WAIT_SAMPLECNT", "S_WAIT_BVHCNT",
                            "S_WAITCNT_DEPCTR", "S_WAIT_ALU", "S_WAIT_IDLE")
        return True
