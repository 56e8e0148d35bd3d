# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What somebody does who has just installed the wheels: compile, run, compare.
Run by bare_install.sh, with nothing but the wheels and NumPy."""

import os
import sys

import numpy as np

import ashlar


def doubling_model():
    """y = x + x, of floats 2x3, spelled out."""
    def message(*parts):
        out = b""
        for number, value in parts:
            if isinstance(value, int):
                out += bytes([number << 3, value])
            else:
                out += bytes([number << 3 | 2, len(value)]) + value
        return out

    def port(name):
        dims = b"".join(message((1, message((1, size)))) for size in (2, 3))
        tensor = message((1, 1), (2, dims))
        return message((1, name), (2, message((1, tensor))))
    node = message((1, b"x"), (1, b"x"), (2, b"y"), (3, b"sum"), (4, b"Add"))
    graph = message((1, node), (2, b"g"), (11, port(b"x")), (12, port(b"y")))
    return message((1, 8), (7, graph), (8, message((2, 17))))


def main():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = ashlar.compile(doubling_model())(x)
    assert np.array_equal(y, x + x), y

    module = ashlar.compile("digits.onnx", shapes={"image": (1, 1, 8, 8)})
    picture = np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 1, 8, 8)
    plain = ashlar.compile("digits.onnx", shapes={"image": (1, 1, 8, 8)},
                           target="reference")
    ours, theirs = module(picture), plain(picture)
    assert abs(ours.sum() - 1) < 1e-5, ours
    assert np.allclose(ours, theirs, rtol=1e-4, atol=1e-6), (ours, theirs)
    assert module.kernels() and module.contract.peak_bytes > 0

    # Whatever was loaded is the base system's or our own.
    allowed = ("/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/",
               "/usr/lib/python3", os.path.realpath(sys.prefix), "/usr/bin/",
               "/lib64/")
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[5].strip() if line.count("/") else ""
            if ".so" in path:
                assert path.startswith(allowed), path
                assert "LLVM" not in path and "MLIR" not in path, path
    print("compiled, ran, compared:", ashlar.__version__, "Python",
          sys.version.split()[0], "glibc", os.confstr("CS_GNU_LIBC_VERSION"))


if __name__ == "__main__":
    main()
