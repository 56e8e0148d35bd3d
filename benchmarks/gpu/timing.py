# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of our kernels and of PyTorch's on the same data, in turns."""

import json
import pathlib
import statistics
import tempfile
import time

import kinds

RUNS, ROUNDS = 20, 4
SECONDS = 3.0  # of ours and each peer, about
# Launching takes a noticeable part of what is shorter: it is measured once
# more with the GPU's own counters.
SHORT_US = 500


def median(values):
    return statistics.median(values) if values else None


def read_trace(path, runs):
    """Of each run, in microseconds by the GPU's own clock: from the first
    kernel's begin to the last one's end, and the sum of the kernels; how many
    kernels a run has."""
    events = json.loads(path.read_text())["traceEvents"]
    lines = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M"
             and e["name"] == "thread_name"
             and e["args"]["name"] == "kernels"}
    kernels = sorted((e["ts"], e["dur"], e["name"]) for e in events
                     if e["ph"] == "X" and (e["pid"], e["tid"]) in lines)
    each = len(kernels) // runs if runs else 0
    if not each or len(kernels) != each * runs:
        return [], [], 0, {}
    spans, sums, by_name = [], [], {}
    for first in range(0, len(kernels), each):
        of_run = kernels[first:first + each]
        spans.append(max(t + d for t, d, _ in of_run) - of_run[0][0])
        sums.append(sum(d for _, d, _ in of_run))
        for _, duration, name in of_run:
            by_name.setdefault(name, []).append(duration)
    return spans, sums, each, {n: median(d) * (len(d) // runs)
                               for n, d in by_name.items()}


def timed_ours(session, runs):
    walls = []
    for _ in range(runs):
        began = time.perf_counter()
        session.run()
        walls.append(1e6 * (time.perf_counter() - began))
    return walls


def timed_peer(torch, function, inputs, runs):
    """Microseconds between events: the host is ahead, so that a launch costs
    only what the GPU waits for it."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(runs + 1)]
    events[0].record()
    for event in events[1:]:
        function(*inputs)
        event.record()
    torch.cuda.synchronize()
    return [1e3 * a.elapsed_time(b) for a, b in zip(events, events[1:])]


def find_peers(torch, case, inputs, is_compiled, peer=None):
    """Those that run: (functions by name, whoever does not and why). `peer`:
    of a whole model, which has inputs of its own."""
    peers, refused = {}, {}
    eager = kinds.eager(torch, case) if "kind" in case else \
        {"torch": peer} if peer else {}
    if is_compiled and peer:
        eager = {"torch.compile": peer.compiled()}
    elif is_compiled:
        eager = {"torch.compile": torch.compile(eager["torch"],
                                                dynamic=False)}
    for name, function in eager.items():
        try:
            function(*inputs)
            torch.cuda.synchronize()
            peers[name] = function
        except Exception as why:  # of torch.compile: any
            if "CUDA error" in str(why):
                raise
            refused[name] = str(why).splitlines()[0][:200]
    return peers, refused


def measure(runtime, place, session, case, inputs, is_compiled=False,
            peer=None):
    once, = timed_ours(session, 1)
    if once < 1e6 * SECONDS / 3:
        once = min(timed_ours(session, 2))
    each = max(1, min(RUNS // ROUNDS, int(1e6 * SECONDS / ROUNDS / once)))
    rounds = ROUNDS if once * ROUNDS < 2e6 * SECONDS else 1
    torch = place.torch if place.has_peers else None
    peers, refused = find_peers(
        torch, case, inputs, is_compiled, peer) if torch else ({}, {})
    walls, times = [], {name: [] for name in peers}
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        runtime.trace_start(trace)
        try:
            for _ in range(rounds):
                walls += timed_ours(session, each)
                place.synchronize()
                for name, function in peers.items():
                    timed_peer(torch, function, inputs, 1)  # warm
                    times[name] += timed_peer(torch, function, inputs,
                                              RUNS // ROUNDS)
        finally:
            runtime.trace_stop()
        spans, sums, kernels, by_name = read_trace(trace, rounds * each)
    return {"us": median(spans) or median(walls),
            "from": "gpu" if spans else "host",
            "least_us": min(spans or walls), "runs": rounds * each,
            "kernels": kernels, "kernels_us": median(sums),
            "each_us": by_name, "wall_us": median(walls),
            "peers_us": {n: median(t) for n, t in times.items()},
            "peers_refused": refused}


def counted(torch, function, runs=RUNS):
    """Microseconds from the begin of a run's first kernel to the end of its
    last one by the GPU's counters, whoever launched them: no events between
    that could take time, too."""
    profiler = torch.profiler
    function()
    torch.cuda.synchronize()
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as all_:
        for _ in range(runs):
            function()
        torch.cuda.synchronize()
    gpu = torch.autograd.DeviceType.CUDA
    kernels = sorted(
        (e.start_ns(), e.end_ns())
        for e in all_.profiler.kineto_results.events()
        if e.device_type() == gpu and not e.is_user_annotation()
        and not e.name().startswith(("Memcpy", "Memset")))
    each = len(kernels) // runs
    if not each or len(kernels) % runs:
        raise ValueError(f"{len(kernels)} kernels of {runs} runs were counted")
    return median([(kernels[i + each - 1][1] - kernels[i][0]) / 1e3
                   for i in range(0, len(kernels), each)])


def count(place, session, case, inputs, peer=None):
    torch = place.torch
    peers, _ = find_peers(torch, case, inputs, False, peer)
    return {"us": counted(torch, session.run), "peers_us": {
        name: counted(torch, lambda f=function: f(*inputs))
        for name, function in peers.items()}}


def ceilings(place):
    """What the GPU can do at best, by PyTorch: copies, products."""
    if not place.has_peers:
        return {}
    torch = place.torch
    source = torch.randn(1 << 29, device=place.device)  # 2 GiB
    target = torch.empty_like(source)
    timed_peer(torch, target.copy_, [source], 3)
    copy = median(timed_peer(torch, target.copy_, [source], 20))
    found = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
             "copy_gbytes": 2 * source.numel() * 4 / copy / 1e3}
    del source, target
    for name, type_, n in (("bf16", torch.bfloat16, 8192),
                           ("f32", torch.float32, 8192)):
        x, w = (torch.randn(n, n, device=place.device).to(type_)
                for _ in range(2))
        timed_peer(torch, torch.matmul, [x, w], 3)
        took = median(timed_peer(torch, torch.matmul, [x, w], 20))
        found[f"{name}_tflops"] = 2 * n**3 / took / 1e6
    return found
