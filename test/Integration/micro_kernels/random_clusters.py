# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random strategies of grids in grids whose innermost parts share the copies of
the operand that is the same for all of them."""

from random_levels import listed, random_levels


def random_clusters(rng, problem, parallel, reduced, random_layout):
    """Text between < and > of #tile.strategy; some contradict themselves."""
    def often(probability):
        return rng.random() < probability
    across = rng.randrange(2)  # rows share b, columns a
    size = parallel[across]
    # The last part may be cut short, and those behind it have nothing.
    if size < 2:
        return random_levels(rng, problem, parallel, reduced, random_layout)
    tile, count = rng.randint(1, size - 1), rng.randint(2, 4)
    beside = rng.randint(1, parallel[1 - across] + 1)
    isCut = often(0.5)
    held = [0, 0]
    held[across], held[1 - across] = tile, beside
    cluster = [0, 0]
    cluster[across] = tile * count
    cluster[1 - across] = beside if isCut else 0
    block = [tile if d == across else cluster[d] for d in range(2)]
    none = [0] * len(reduced)
    terms = [rng.choice([0, rng.randint(1, size)]) for size in reduced]
    order = ([] if isCut else [1 - across]) + [
        2 + d for d, size in enumerate(terms) if size]
    masked = [0, 1] + [2 + d for d, size in enumerate(terms)
                       if size and (reduced[d] % size or often(0.3))]
    text = ["grid cluster " + listed(cluster, none),
            "grid block " + listed(block, none),
            "loop " + listed(held, terms) + (f" order {order}" if order else "")]
    for name, operand, shares in (("a", problem.a, across == 1),
                                  ("b", problem.b, across == 0)):
        text.append(f"{name}: ring near at 2 slots {rng.randint(1, 4)} by engine"
                    + (" multicast" if shares else "")
                    + random_layout(rng, operand.map.count(",") + 1))
    text.append("acc sums" + (" promote 2" if any(terms) and often(0.3) else ""))
    text.append(f"masked {masked}")
    if often(0.3):
        text += ["role producer group x 1", "role consumer group x 1"]
    k = ", ".join(str(2 + d) for d in range(len(reduced)))
    return f'"lanes" m [0] n [1] k [{k}], ' + ", ".join(text)
