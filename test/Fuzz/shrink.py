# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a graph that fails smaller, as long as it fails in the same way."""

from graph import FLOATS
from run import judge


def live(case):
    """Without what no output needs."""
    needed = {v.name for v in case.outputs}
    nodes = []
    for node in reversed(case.nodes):
        if needed & set(node.output):
            nodes.append(node)
            needed |= set(node.input)
    nodes.reverse()
    inputs = {n: a for n, a in case.inputs.items() if n in needed}
    weights = {n: a for n, a in case.initializers.items() if n in needed}
    values = {n: v for n, v in case.values.items()
              if n in needed or any(n in node.output for node in nodes)}
    return case.changed(nodes=nodes, inputs=inputs, initializers=weights,
                        values=values)


def cut(case, node, known):
    """What the node computes becomes an input."""
    if any(name not in known for name in node.output):
        return None
    outputs = [v for v in case.outputs if v.name not in node.output]
    if not outputs:
        return None
    inputs = case.inputs | {name: known[name] for name in node.output}
    nodes = [n for n in case.nodes if n is not node]
    return live(case.changed(nodes=nodes, inputs=inputs, outputs=outputs))


def bypass(case, node):
    """What the node computes becomes what it takes, where types agree."""
    result = case.values.get(node.output[0])
    for name in node.input:
        v = case.values.get(name)
        if (v and result and len(node.output) == 1 and v.shape == result.shape
                and v.dtype == result.dtype):
            break
    else:
        return None
    nodes = []
    for other in case.nodes:
        if other is node:
            continue
        copy = type(other)()
        copy.CopyFrom(other)
        for i, taken in enumerate(copy.input):
            if taken == node.output[0]:
                copy.input[i] = name
        nodes.append(copy)
    outputs = [v if v.name != node.output[0] else case.values[name]
               for v in case.outputs]
    made = {n for other in nodes for n in other.output}
    if any(v.name not in made for v in outputs):
        return None
    return live(case.changed(nodes=nodes, outputs=outputs))


def plainer_flags(case):
    target, threads, *rest = case.flags
    fewer = [rest[:i] + rest[i + 1:] for i in range(len(rest))]
    for flags in [[target, "1", *rest], *([target, threads, *f]
                                          for f in [[], *fewer])]:
        if flags != case.flags and len(flags) <= len(case.flags):
            yield case.changed(flags=flags)


def cost(case):
    floats = sum(v.dtype in FLOATS for v in case.values.values())
    return len(case.nodes), len(case.outputs), floats, len(case.flags)


def shrink(runner, case, kind, failing_output=None, rounds=40):
    """The smallest case found that fails in the same way."""
    oracle = kind == "oracle"

    def first_that_fails(candidates):
        candidates = sorted(candidates, key=cost)
        for at in range(0, len(candidates), 8):
            chunk = candidates[at:at + 8]
            answers = runner.run(chunk, oracle)
            for candidate, (_, answer) in zip(chunk, answers):
                verdict = judge(candidate, answer)
                if verdict and verdict[0] == kind:
                    return candidate
        return None

    if failing_output is not None:
        alone = live(case.with_outputs([failing_output]))
        case = first_that_fails([alone]) or case
    # Of a compiler that crashes, the reference alone says nothing.
    inner = [case.values[n] for node in case.nodes for n in node.output
             if n in case.values]
    arrays = runner.reference_values(case, inner)
    known = dict(zip([v.name for v in inner], arrays)) if arrays else {}
    for _ in range(rounds):
        candidates = [live(case.with_outputs([v])) for v in case.outputs
                      if len(case.outputs) > 1]
        for node in case.nodes:
            candidates += [c for c in (cut(case, node, known),
                                       bypass(case, node)) if c]
            # What comes after may not matter to a crash.
            ends = [case.values[n] for n in node.output if n in case.values]
            if ends and kind not in ("wrong", "oracle"):
                candidates.append(live(case.with_outputs(ends)))
        candidates = [c for c in candidates if c.nodes and cost(c) < cost(case)]
        smaller = first_that_fails(candidates)
        if smaller is None:
            break
        case = smaller
    for plainer in plainer_flags(case):
        case = first_that_fails([plainer]) or case
    return case
