#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process of run.py: takes cases by name, a line of JSON each, and answers
each with one. A case that kills it or loses its GPU takes nothing else along.
"""

import argparse
import io
import json
import pathlib
import sys
import time
import traceback
import zipfile

import numpy as np

import ashlar_c
import kinds
import peer_graph
import places
import timing

DEVICE_LOST = 6  # ashlar_status_code_t
# A first run that takes longer is not repeated to see whether bytes are equal.
SECONDS_AGAIN = 3


class Worker:
    def __init__(self, folder, device):
        self.place = places.find_place(device, seed=time.time_ns() % 2**31)
        self.library = next(folder.glob("lib/libashlar_runtime.so.?"))
        self.runtime = ashlar_c.Runtime(self.library, device)
        self.processor = None
        self.archive = zipfile.ZipFile(folder / "modules.zip")
        self.cases = {c["name"]: c for c in json.loads(
            (folder / "cases.json").read_text())["cases"]}

    def session(self, case):
        return ashlar_c.Session(self.runtime, case["name"],
                                self.archive.read(case["file"] + ".ash"))

    def prepared(self, case):
        """A session bound to fresh inputs in the device's memory: it, the
        inputs and the outputs."""
        session = self.session(case)
        try:
            inputs, outputs = (self.bind_given if "arrays" in case
                               else self.bind_fresh)(session, case)
        except BaseException:
            session.close()
            raise
        return session, inputs, outputs

    def bind_fresh(self, session, case):
        scales = kinds.scales(case)
        inputs = [self.place.normal(shape, case["type"],
                                    scales.get(name, 1.0))
                  for name, shape in case["inputs"]]
        outputs = [self.place.unwritten(info.shape[:info.rank], case["type"])
                   for info in session.outputs]
        self.place.synchronize()
        session.bind([self.place.place(t) for t in inputs],
                     [self.place.place(t) for t in outputs])
        return inputs, outputs

    def bind_given(self, session, case):
        """Inputs that travelled, for times."""
        arrays = np.load(io.BytesIO(self.archive.read(case["arrays"])))
        feeds = [arrays[f"in {i.name.decode()}"] for i in session.inputs]
        inputs = [self.place.bytes_of(a) for a in feeds]
        outputs = [self.place.bytes_of(np.full(i.maximum_bytes, 255, np.uint8))
                   for i in session.outputs]
        self.place.synchronize()
        session.bind(
            [self.place.place(t, a.shape) for t, a in zip(inputs, feeds)],
            [self.place.place(t, i.maximum[:i.rank])
             for t, i in zip(outputs, session.outputs)])
        return inputs, outputs

    def numbers(self, case):
        if case["part"] != "table":
            return self.compare_given(case)
        began = time.perf_counter()
        session, inputs, outputs = self.prepared(case)
        loaded = time.perf_counter()
        try:
            session.run()
            ran = time.perf_counter()
            staged = session.statistics().staged_tensors
            found = self.place.result(outputs[0], case["type"])
            moved = 0
            if ran - loaded < SECONDS_AGAIN:
                session.run()
                again = self.place.result(outputs[0], case["type"])
                moved = int((found != again).sum())
                del again
        finally:
            session.close()
        names = [name for name, _ in case["inputs"]]
        wanted = kinds.REFERENCES[case["kind"]](
            self.place.math,
            **{n: self.place.f64(t, case["type"])
               for n, t in zip(names, inputs)}, **case["sizes"])
        norm, worst = self.place.errors(found, wanted)
        del found, wanted
        self.release(inputs, outputs)
        most, largest = case["tolerance"]
        # NaN is in no range.
        why = "" if norm <= most and worst <= largest else \
            f"differs by {norm:.2e} in norm, {worst:.2e} at most"
        if not why and moved:
            why = f"another run gives {moved} other elements"
        return {"ok": not why, "norm": norm, "worst": worst, "why": why,
                "load_s": loaded - began, "first_run_s": ran - loaded,
                "staged": staged}

    def expected(self, case, arrays, feeds):
        """What travelled, or what the processor makes of the same weights."""
        if "reference" not in case:
            return [arrays[f"out {i}"] for i in range(sum(
                name.startswith("out ") for name in arrays.files))]
        self.processor = self.processor or ashlar_c.Runtime(self.library,
                                                            "cpu:0")
        session = ashlar_c.Session(self.processor, case["name"],
                                   self.archive.read(case["reference"]))
        try:
            return session.run_on_host(feeds)
        finally:
            session.close()

    def compare_given(self, case):
        arrays = np.load(io.BytesIO(self.archive.read(case["arrays"])))
        began = time.perf_counter()
        session = self.session(case)
        loaded = time.perf_counter()
        try:
            feeds = [arrays[f"in {info.name.decode()}"]
                     for info in session.inputs]
            found = session.run_on_host(feeds)
            ran = time.perf_counter()
            types = [o.type for o in session.outputs]
        finally:
            session.close()
        worst, why = 0.0, ""
        for ours, wanted, type_ in zip(
                found, self.expected(case, arrays, feeds), types):
            error, reason = compare(ours, wanted, type_, case["rule"])
            worst, why = max(worst, error), why or reason
        return {"ok": not why, "why": why, "worst": worst,
                "load_s": loaded - began, "first_run_s": ran - loaded}

    def timed(self, case, how):
        session, inputs, outputs = self.prepared(case)
        try:
            return {"ok": True, "why": "", **how(session, inputs)}
        finally:
            session.close()
            self.release(inputs, outputs)

    def peer(self, case):
        """Of a whole model: PyTorch's, with inputs of its own; else nothing."""
        if "peer" not in case or not self.place.has_peers:
            return None
        torch = self.place.torch
        graph = peer_graph.Graph(torch, self.archive, case["peer"],
                                 torch.bfloat16, self.place.device)
        arrays = np.load(io.BytesIO(self.archive.read(case["arrays"])))
        inputs = [graph.own(torch.from_numpy(arrays[f"in {name}"]).to(
            self.place.device)) for name in graph.inputs]
        return peer_graph.Call(graph, inputs)

    def time(self, case):
        return self.timed(case, lambda session, inputs: timing.measure(
            self.runtime, self.place, session, case, inputs,
            peer=self.peer(case)))

    def compiled(self, case):
        return self.timed(case, lambda session, inputs: timing.measure(
            self.runtime, self.place, session, case, inputs, True,
            self.peer(case)))

    def counted(self, case):
        return self.timed(case, lambda session, inputs: timing.count(
            self.place, session, case, inputs, self.peer(case)))

    def release(self, *lists):
        for tensors in lists:
            self.place.free(tensors)

    def ceilings(self, _case):
        return {"ok": True, "why": "", **timing.ceilings(self.place)}


def compare(found, wanted, type_, rule):
    """The largest error by the largest value, and why it is wrong; `type_`
    is an ashlar_element_type_t."""
    if tuple(found.shape) != tuple(wanted.shape):
        return 0.0, f"expected the shape {wanted.shape}, found {found.shape}"
    code, type_ = type_, ashlar_c.TYPES[type_][0]
    if type_ not in ("f16", "bf16", "f32", "f64"):
        wanted = wanted.astype(found.dtype)
        nan = ashlar_c.NAN_OF_BYTES.get(code, lambda x: x != x)
        wrong = int(((found != wanted) & ~(nan(found) & nan(wanted))).sum())
        return 0.0, f"{wrong} of {found.size} differ" if wrong else ""
    found = places.to_f64(found, type_)
    wanted = places.to_f64(wanted, type_ if wanted.dtype == np.uint16 else "")
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0, np.abs(found - wanted))
    finite = np.abs(wanted[np.isfinite(wanted)])
    largest = float(finite.max(initial=0))
    worst = float(error.max(initial=0)) / (largest or 1.0)
    if "norm" in rule:
        norm = float(np.linalg.norm(error) / (np.linalg.norm(wanted) or 1.0))
        return norm, "" if norm <= rule["norm"] else \
            f"differs by {norm:.2e} in norm"
    slack = np.where(np.isfinite(wanted), rule.get("relative", 0)
                     * np.abs(wanted) + rule.get("absolute", 0)
                     + rule.get("largest", 0) * largest, 0)
    wrong = ~(error <= slack)
    return worst, (f"{int(wrong.sum())} of {wrong.size} differ, by "
                   f"{worst:.2e} of the largest") if wrong.any() else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", type=pathlib.Path, required=True)
    parser.add_argument("--device", required=True)
    arguments = parser.parse_args()
    # What libraries print is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    began = time.perf_counter()
    worker = Worker(arguments.dir, arguments.device)

    def answer(what):
        print(json.dumps(what), file=answers, flush=True)
    answer({"ready_s": time.perf_counter() - began,
            "place": type(worker.place).__name__})
    for line in sys.stdin:
        asked = json.loads(line)
        case = worker.cases.get(asked["name"])
        said, lost = {}, False
        try:
            said = getattr(worker, asked["mode"])(case)
        except ashlar_c.Refused as why:
            said = {"ok": False, "why": str(why)}
            lost = why.code == DEVICE_LOST
        except Exception as why:  # the next one may go well
            traceback.print_exc()
            said = {"ok": False, "why": f"{type(why).__name__}: {why}"[:500]}
            lost = "CUDA error" in str(why)
        answer({**asked, **said, "lost": lost})
        if lost:
            return


if __name__ == "__main__":
    main()
