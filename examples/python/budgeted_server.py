#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loop of a server: many requests at once, a few sessions, and a budget that
nothing exceeds. What does not fit is refused before anything is allocated, with
the names of those who hold the rest.

    budgeted_server.py MODEL.ash|MODEL.onnx [--sessions=4] [--requests=200]
"""

import argparse
import asyncio
import pathlib
import time

import numpy as np

import ashlar

DIGITS = pathlib.Path(__file__).parents[1] / "digits" / "digits.onnx"


async def serve(module, sessions, requests):
    """Answers each request on the next session that is free."""
    free = asyncio.Queue()
    for session in sessions:
        free.put_nowait(session)
    latencies = []

    async def answer(x):
        begin = time.perf_counter()
        session = await free.get()
        try:
            results = await session.run_async(x)
        finally:
            free.put_nowait(session)
        latencies.append(time.perf_counter() - begin)
        return next(iter(results.values()))
    answers = await asyncio.gather(*(answer(x) for x in requests))
    return answers, sorted(latencies)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="?", type=pathlib.Path, default=DIGITS)
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--requests", type=int, default=200)
    arguments = parser.parse_args()

    shapes = {"image": (1, 1, 8, 8)} if arguments.model == DIGITS else None
    if arguments.model.suffix == ".ash":
        compiled = arguments.model
    else:
        compiled = pathlib.Path("served.ash")
        ashlar.compile(arguments.model, compiled, shapes=shapes)

    # The contract says before loading what so many sessions take.
    cost = ashlar.load(compiled, allow_native_code=True).contract
    shared = cost.weights_bytes + cost.code_bytes
    each = cost.peak_bytes - shared
    budget = ashlar.Budget(shared + arguments.sessions * each, "server")
    print(f"budget: {budget.limit} bytes: {shared} shared and {each} for each "
          f"of {arguments.sessions} sessions")

    module = ashlar.load(compiled, allow_native_code=True, budget=budget)
    sessions = [module.session(threads=1, budget=budget, name=f"session {i}",
                               reserve_all=True)
                for i in range(arguments.sessions)]
    try:
        for i in range(1000):
            sessions.append(module.session(threads=1, budget=budget,
                                           name="one too many",
                                           reserve_all=True))
    except ashlar.OutOfBudget as error:
        print(f"refused, as it should be: {error}")
    info = module.inputs[0]
    generator = np.random.default_rng(0)
    requests = [generator.random(info.maximum).astype(info.dtype)
                for _ in range(arguments.requests)]
    answers, latencies = asyncio.run(serve(module, sessions, requests))
    assert len(answers) == len(requests)
    print(f"{len(answers)} answers; median {1e3 * latencies[len(latencies) // 2]:.2f}"
          f" ms, peak {budget.peak} of {budget.limit} bytes")
    assert budget.peak <= budget.limit


if __name__ == "__main__":
    main()
