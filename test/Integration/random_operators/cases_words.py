# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TfIdfVectorizer on random rows of few numbers, so that n-grams occur."""

import itertools

import numpy as np
from operator_case import Case


def cases(random):
    grams = [[n] for n in range(4)]
    grams += [list(p) for p in itertools.product(range(4), repeat=2)][::2]
    grams += [list(p) for p in itertools.product(range(3), repeat=3)][::5]
    starts = [0, 4, 4 + 2 * 8]
    pool = [n for gram in grams for n in gram]
    places = list(map(int, random.generator.permutation(len(grams))))
    weights = [float(w) for w in random.floats((len(grams),))]
    for mode, (least, most), skips, shape in itertools.product(
            ("TF", "IDF", "TFIDF"), ((1, 3), (2, 2), (3, 3)), (0, 2, 40),
            ((11,), (3, 7), (2, 1))):
        size = "x".join(map(str, shape))
        yield Case(f"{mode}_{least}{most}_{skips}_{size}", "TfIdfVectorizer",
                   [random.integers(shape, np.int64, 0, 4)],
                   attributes={"mode": mode, "min_gram_length": least,
                               "max_gram_length": most,
                               "max_skip_count": skips,
                               "ngram_counts": starts, "ngram_indexes": places,
                               "pool_int64s": pool, "weights": weights},
                   results=[np.float32])
