# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A device's memory held to the contract: on a driver double, which counts,
what is allocated is what the module says, to the byte; see
test/Integration/contract/HoldDevice.cpp."""

import numpy as np

import contract  # which knows where model_list.py is
from on_device import call, first_error, why_not_held


def compile_for(tools, target, path, module, *flags):
    """Why it does not compile, or nothing."""
    done, said = call(tools / "ashlar-compile", path, "-o", module,
                      f"--target={target}", "--quiet", *flags)
    return "" if done else f"does not compile: {first_error(said)}"


def hold(build, device, module, *calls):
    done, said = call(build / "unittests" / "hold-device", device, module,
                      *calls)
    said = said.strip().replace(f"{module.parent}/", "")
    if done:
        print(said, flush=True)
    return "" if done else said or "ended with an error and said nothing"


def hold_model(build, target, device, model, work, runs):
    """Two sessions of a model, whose calls run, or are but made room for; where
    they run, a budget counts what the contract says, too."""
    module = work / f"{model.name}-memory.ash"
    given = []
    with model.prepare(work) as path:
        for i, (name, values) in enumerate(
                model.cases(path)[0].feeds.items() if runs else []):
            np.save(work / f"memory-{i}.npy", values)
            given.append(f"{name}={work / f'memory-{i}.npy'}")
        why = compile_for(build / "bin", target, path, module,
                          *model.arguments())
    if why or not runs:
        return why or hold(build, device, module)
    return hold(build, device, module, "--at", *given) or why_not_held(
        build / "bin", module, device, [f"--input={each}" for each in given])


def hold_open(build, target, device, model, work):
    """Two sessions where calls choose sizes: a device's memory does not grow in
    place, so it is that of the largest from the first call on."""
    module = work / f"{model.name}-open-memory.ash"
    with model.prepare(work) as path:
        flags, calls = contract.calls_at(
            model, path, work, lambda points: (points[0], points[-1]))
        why = compile_for(build / "bin", target, path, module, *flags)
    return why or hold(build, device, module, *calls)


def check_memory(build, target, device, names, running, opened, work, counts):
    """Models by name, of which those in `running` run; `opened`: of open
    sizes."""
    for model in contract.model_list.all_models():
        if model.name in names:
            counts.must(f"memory of {model.name} on {target}", hold_model(
                build, target, device, model, work, model.name in running))
        if model.name in opened:
            counts.must(f"memory of {model.name} at sizes of calls on {target}",
                        hold_open(build, target, device, model, work))
