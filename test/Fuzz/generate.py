# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs: sources, then operators that find operands among the values
there are."""

import numpy as np

import ops_axes
import ops_elementwise
import ops_integers
import ops_movement
import ops_products
import ops_recurrent
import ops_windows
from choose import between, pick, shape, size
from graph import Graph, Refused

FAMILIES = {"elementwise": ops_elementwise, "products": ops_products,
            "windows": ops_windows, "axes": ops_axes,
            "movement": ops_movement, "integers": ops_integers,
            "recurrent": ops_recurrent}
# What kinds of networks there are: how likely each family is.
MIXTURES = [
    {"elementwise": 3, "products": 3, "windows": 0, "axes": 2, "movement": 2,
     "integers": 0.2},
    {"elementwise": 2, "products": 0.3, "windows": 5, "axes": 1, "movement": 2,
     "integers": 0.2},
    {"elementwise": 4, "products": 0.5, "windows": 0.3, "axes": 3,
     "movement": 3, "integers": 0.5},
    {"elementwise": 1, "products": 0.5, "windows": 0.5, "axes": 1,
     "movement": 2, "integers": 4},
    {"elementwise": 1, "products": 1, "windows": 1, "axes": 1, "movement": 1,
     "integers": 1},
]
# Of few seeds, so that those of all others stay as they are.
LOOPS = {"elementwise": 2, "products": 1, "windows": 0, "axes": 1,
         "movement": 1, "integers": 0.1, "recurrent": 4}


def weighted(graph, pairs):
    weights = np.array([w for _, w in pairs], float)
    return pairs[int(graph.random.choice(len(pairs), p=weights / weights.sum())
                     )][0]


def make_sources(graph, mixture):
    integral = mixture["integers"] >= 1
    floating = pick(graph, ["f32"] * 12 + ["f16", "bf16", "bf16", "f64"])
    for _ in range(between(graph, 1, 2)):
        if mixture["windows"] >= 5:
            rank = pick(graph, [1, 2, 2, 2, 2, 3])
            most = {1: 65, 2: 24, 3: 8}[rank]
            dims = [pick(graph, [1, 1, 1, 2]), size(graph, 33)]
            dims += [size(graph, most) for _ in range(rank)]
        else:
            dims = shape(graph, pick(graph, [1, 2, 2, 3, 3, 3, 4]))
        # Logarithms and the like want numbers that are positive.
        low, high = pick(graph, [(-2, 2), (-2, 2), (-1, 3), (0.1, 2)])
        graph.source(floating, dims, low, high)
    if integral:
        dtype = pick(graph, ["i8", "u8", "u8", "i32", "i64", "u32", "u64"])
        graph.source(dtype, shape(graph, pick(graph, [2, 3, 4])), -100, 100)


def generate(seed):
    """The graph of a seed, and its outputs. Always the same."""
    graph = Graph(np.random.default_rng(seed))
    mixture = pick(graph, MIXTURES)
    if np.random.default_rng([seed, 9]).random() < 0.08:
        mixture = LOOPS
    makers = {name: [(m, w) for m, w in module.MAKERS]
              for name, module in FAMILIES.items()}
    make_sources(graph, mixture)
    wanted = pick(graph, [1, 2, 3, 4, 6, 8, 12])
    for _ in range(wanted * 12):
        if len(graph.nodes) >= wanted:
            break
        family = weighted(graph, list(mixture.items()))
        try:
            weighted(graph, makers[family])(graph)
        except Refused:
            pass
    outputs = graph.outputs()
    if not graph.nodes or not outputs:
        return generate(seed + (1 << 40))
    return graph, outputs


def choose_flags(seed, presets):
    """TARGET THREADS [FLAGS]: how the graph of a seed is compiled and run. A
    machine PRESET:SEED is one that machine_model changes."""
    random = np.random.default_rng([seed, 1])
    # The machine that this is deserves half of the tests.
    preset = "host" if random.random() < 0.5 else presets[
        int(random.integers(len(presets)))]
    flags = [f"cpu:{preset}", str(int(random.choice([1, 1, 2, 3])))]
    if random.random() < 0.2:
        flags.append("--exact-convolution")
    if random.random() < 0.2:
        flags.append("--fuse=" + random.choice(["none", "basic"]))
    if preset != "host" and random.random() < 0.5:
        flags.append(f"--machine={preset}:{seed}")
    return flags
