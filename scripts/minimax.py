#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the polynomial coefficients of lib/Transforms/Approximate.

Each polynomial has coefficients that are f32 numbers and, among those, a
relative error as small as Lawson's algorithm (least squares whose weights grow
where the error is large) makes it. The lowest coefficient is rounded to f32
first, then the others are fitted again, and so on, so that a later one takes up
what the rounding of an earlier one lost.
"""

import argparse
import decimal
from decimal import Decimal

import numpy

decimal.getcontext().prec = 50
PI = Decimal("3.14159265358979323846264338327950288419716939937510")


def erf_over_x(x):
    """erf(x) / x by its Taylor series."""
    term, total, n = Decimal(1), Decimal(1), 0
    while abs(term) > Decimal("1e-45"):
        n += 1
        term = -term * x * x / n
        total += term / (2 * n + 1)
    return total * 2 / PI.sqrt()


def tanh_over_x(x):
    return 1 / x - 2 / (x * ((2 * x).exp() + 1)) if x else Decimal(1)


# name: (what is approximated, the function of the polynomial's argument z that
# the polynomial replaces, how much a relative error of the polynomial is one of
# the result, where, how many coefficients). All of Decimals.
CASES = {
    "exp": ("exp(z) = 1 + z + z^2 P(z)",
            lambda z: (z.exp() - 1 - z) / z ** 2,
            lambda z: z ** 2 / z.exp(), (-0.3475, 0.3475), 5),
    "expm1": ("exp(z) - 1 = z + z^2 P(z)",
              lambda z: (z.exp() - 1 - z) / z ** 2,
              lambda z: z ** 2 / (z.exp() - 1), (-0.3475, 0.3475), 5),
    "log": ("log(1 + z) = z + z^2 P(z)",
            lambda z: ((1 + z).ln() - z) / z ** 2,
            lambda z: z ** 2 / (1 + z).ln(), (-0.33334, 0.33334), 9),
    "tanh": ("tanh(x) = x + x^3 P(x^2), z = x^2",
             lambda z: (tanh_over_x(z.sqrt()) - 1) / z,
             lambda z: z / tanh_over_x(z.sqrt()), (1e-9, 0.36), 5),
    "erf": ("erf(z) = 1 - exp(-(z + z P(z)))",
            lambda z: -(1 - z * erf_over_x(z)).ln() / z - 1,
            lambda z: z * (1 - z * erf_over_x(z)) / (z * erf_over_x(z)),
            (1e-6, 3.93), 9),
}


def fit(case, points=400):
    _, function, weight, (low, high), count = case
    # Chebyshev points, an even number: none is zero.
    nodes = numpy.cos(numpy.pi * (numpy.arange(points) + 0.5) / points)
    z = [Decimal(float(low + (high - low) * (1 + u) / 2)) for u in nodes]
    wanted = numpy.array([float(function(v)) for v in z])
    scale = numpy.array([abs(float(weight(v))) for v in z])
    place = numpy.array([float(v) for v in z])
    powers = place[:, None] ** numpy.arange(count)
    fixed = []
    for first in range(count):
        rest = wanted - powers[:, :first] @ fixed
        lawson = numpy.ones(points) / points
        best = None
        for _ in range(400):
            root = numpy.sqrt(lawson) * scale
            found = numpy.linalg.lstsq(powers[:, first:] * root[:, None],
                                       rest * root, rcond=None)[0]
            error = numpy.abs(powers[:, first:] @ found - rest) * scale
            if best is None or error.max() < best[0]:
                best = (error.max(), found)
            lawson *= error
            lawson /= lawson.sum()
        fixed = numpy.append(fixed, float(numpy.float32(best[1][0])))
    error = numpy.abs(powers @ fixed - wanted) * scale
    return fixed, error.max()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=", ".join(CASES))
    for name in parser.parse_args().names or CASES:
        coefficients, error = fit(CASES[name])
        low, high = CASES[name][3]
        print(f"{name}: {CASES[name][0]}, {low:g} <= z <= {high:g}, "
              f"relative error {error:.2g} = 2^{numpy.log2(error):.1f}")
        print("  " + ", ".join(float(c).hex() for c in coefficients))
        print("  " + ", ".join(f"{c:.9g}f" for c in coefficients))


if __name__ == "__main__":
    main()
