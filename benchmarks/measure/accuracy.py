# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ours make of inputs, and how far that is from somebody else's."""

import numpy as np

import compare_models


def outputs(context, module, case, names):
    command = [context.bin / "ashlar-run", module]
    for index, (name, values) in enumerate(case.feeds.items()):
        np.save(context.work / f"in-{index}.npy", values)
        command.append(f"--input={name}={context.work / f'in-{index}.npy'}")
    for index, name in enumerate(names):
        command.append(f"--output={name}={context.work / f'out-{index}.npy'}")
    context.run(*command)
    return [np.load(context.work / f"out-{index}.npy")
            for index in range(len(names))]


def error(found, expected):
    """The largest difference of any output, relative to its largest element;
    `expected`: [(name, values)]."""
    return max(compare_models.difference(
        np.asarray(f).astype(v.dtype).reshape(v.shape), v)
        for f, (_, v) in zip(found, expected))
