# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms beside NumPy's in double; windows and tables."""

import numpy as np
from operator_case import Case

RTOL, ATOL = 1e-4, 1e-4


def parts(values):
    return np.stack([values.real, values.imag], -1).astype(np.float32)


def stft(x, hop, window, transform):
    starts = range(0, x.shape[1] - len(window) + 1, hop)
    return np.stack([transform(x[:, i:i + len(window)] * window)
                     for i in starts], 1)


def cases(random):
    # A power of two, a product of small primes, a prime, beyond one factor.
    for n in (1, 2, 16, 30, 37, 96, 1025):
        real = random.floats((3, n, 1))
        whole = random.floats((2, n, 2))
        axis = np.array(1, np.int64)
        for onesided in (0, 1):
            yield Case(f"DFT_real_{n}_{onesided}", "DFT", [real, None, axis],
                       opset=20, constants=[2],
                       attributes={"onesided": onesided},
                       reference=lambda x, _, a, one=onesided: parts(
                           np.fft.rfft(x[..., 0], axis=1) if one
                           else np.fft.fft(x[..., 0], axis=1)))
        for inverse in (0, 1):
            transform = np.fft.ifft if inverse else np.fft.fft
            yield Case(f"DFT_complex_{n}_{inverse}", "DFT",
                       [whole, None, axis], opset=20, constants=[2],
                       attributes={"inverse": inverse},
                       reference=lambda x, _, a, f=transform: parts(
                           f(x[..., 0].astype(complex) + 1j * x[..., 1],
                             axis=1)))
    # Another length, other axes, and back from half a spectrum.
    x = random.floats((4, 6, 5, 1))
    for axis in (0, 1, -2):
        for n in (3, 9):
            yield Case(f"DFT_axis_{axis}_{n}", "DFT",
                       [x, np.array(n, np.int64), np.array(axis, np.int64)],
                       opset=20, constants=[1, 2],
                       reference=lambda x, n, a: parts(np.fft.fft(
                           x[..., 0], int(n),
                           axis=a if a >= 0 else a + 1)))
    half = random.floats((2, 6, 2))
    for n in (9, 10, 12):
        yield Case(f"DFT_irfft_{n}", "DFT",
                   [half, np.array(n, np.int64), np.array(1, np.int64)],
                   opset=20, constants=[1, 2],
                   attributes={"inverse": 1, "onesided": 1},
                   reference=lambda x, n, a: np.fft.irfft(
                       x[..., 0].astype(complex) + 1j * x[..., 1], int(n),
                       axis=1)[..., None].astype(np.float32))
    signal = random.floats((2, 120, 1))
    for step, length in ((10, 16), (7, 30)):
        for onesided in (0, 1):
            yield Case(f"STFT_{step}_{length}_{onesided}", "STFT",
                       [signal, np.array(step, np.int64),
                        random.floats((length,))], constants=[1],
                       attributes={"onesided": onesided},
                       reference=lambda x, hop, window, one=onesided: parts(
                           stft(x[..., 0].astype(float), int(hop), window,
                                np.fft.rfft if one else np.fft.fft)))
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for periodic in (0, 1):
            yield Case(f"{op}_{periodic}", op, [np.array(300, np.int64)],
                       constants=[0], results=[np.float32],
                       attributes={"periodic": periodic})
    for bins, length, rate, low, high in [(8, 128, 16000, 0, 8000),
                                          (20, 400, 22050, 60, 7600)]:
        yield Case(f"MelWeightMatrix_{bins}", "MelWeightMatrix",
                   [np.array(n, np.int64) for n in (bins, length, rate)] +
                   [np.array(f, np.float32) for f in (low, high)],
                   constants=[0, 1, 2, 3, 4], results=[np.float32])
