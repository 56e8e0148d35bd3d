# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random strategies of many levels: grids in grids, loops in loops over one
dim, groups, terms that the grid shares out, masked ends, rings in rings."""


def listed(parallel, reduced):
    def text(sizes):
        return ", ".join("_" if not size else str(size) for size in sizes)
    return f"[{text(parallel)} | {text(reduced)}]"


def falling(rng, size, least):
    """Some tiles of a dim, each a multiple of the next one."""
    tiles = [least]
    while tiles[0] < size and rng.random() < 0.5:
        tiles.insert(0, tiles[0] * rng.randint(2, 3))
    return tiles


def random_levels(rng, problem, parallel, reduced, random_layout):
    """Text between < and > of #tile.strategy; many contradict themselves."""
    def often(probability):
        return rng.random() < probability
    sizes = list(parallel) + list(reduced)
    count, held = len(sizes), len(parallel)
    least = [rng.choice([1, 2, 3, 4, size, rng.randint(1, size + 2)])
             for size in sizes]
    tiles = [falling(rng, size, tile) for size, tile in zip(sizes, least)]
    masked = [d for d in range(count) if often(0.4)]
    grids, loops = rng.randint(0, 2), rng.randint(1, 3)
    splits = grids and often(0.3)
    # Which level cuts a dim to which of its tiles: the outer ones first.
    levels = [[0] * count for _ in range(grids + loops)]
    for d in range(count):
        first = 0 if d < held or splits else grids
        places = sorted(rng.sample(range(first, grids + loops),
                                   min(len(tiles[d]), grids + loops - first)))
        if d < held and places[-1] < grids and often(0.7):
            places[-1] = grids + loops - 1
        if d >= held and often(0.4):
            places = []
        for place, tile in zip(places[::-1], tiles[d][::-1]):
            levels[place][d] = tile
    text, walked, current = [], [False] * count, [0] * count
    split = any(level[d] for level in levels[:grids]
                for d in range(held, count))
    # No loop over parallel dims stands inside one over terms.
    for number, level in enumerate(levels):
        if number < grids:
            text.append(f"grid g{number} "
                        + listed(level[:held], level[held:]))
            current = [new or old for new, old in zip(level, current)]
            continue
        isLast = number + 1 == len(levels)
        order = [d for d in range(held) if level[d]]
        rng.shuffle(order)
        order += [d for d in range(held, count) if level[d]]
        current = [new or old for new, old in zip(level, current)]
        shown = [current[d] if isLast and d < held else level[d]
                 for d in range(count)]
        text.append("loop " + listed(shown[:held], shown[held:])
                    + (f" order {order}" if order else ""))
    inner = current[:held]
    for number in range(rng.choice([0, 0, 1, 2])):
        inner = [rng.randint(1, size) if size and often(0.7) else 0
                 for size in inner]
        if any(inner):
            text.append(f"group t{number} "
                        + listed(inner, [0] * len(reduced)))
    for name, operand in (("a", problem.a), ("b", problem.b)):
        if not masked and often(0.2):
            continue
        at = grids
        for memory in ["near", "nearer"][:1 + often(0.3)]:
            at = rng.randint(at, grids + loops - 1)
            text.append(
                f"{name}: ring {memory} at {at} slots {rng.randint(1, 4)}"
                + (" by engine" if often(0.3) else "")
                + random_layout(rng, operand.map.count(",") + 1))
    promoting = [n for n in range(grids, grids + loops)
                 if any(levels[n][held:])]
    sums = "acc sums"
    if promoting and often(0.6):
        sums += f" promote {rng.choice(promoting)}"
    text.append(sums)
    if masked:
        text.append(f"masked {masked}")
    if split:
        text.append("partials main")
    terms = list(range(held, count))
    group = problem.grouped and often(0.7)
    k = ", ".join(map(str, terms[:-1] if group else terms))
    k += f" | {terms[-1]}" if group else ""
    return f'"lanes" m [0] n [1] k [{k}], ' + ", ".join(text)
