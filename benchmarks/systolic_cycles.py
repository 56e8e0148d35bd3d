#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the systolic simulator's cycles with SCALE-Sim's, layer by layer.

Both get the layer as folds of one fixed dataflow, operands on chip and our
shadow loading switched off. SCALE-Sim's total is the index of the last cycle,
one less than their number; its output-stationary folds end before the results
have left the array, R cycles each, which ours count. Taking both into account
the two must agree to the cycle.

Needs SCALE-Sim (PyPI: scalesim 3.0.0, with numpy below 2) in the Python that
runs this, and AshlarSystolicFolds, which the runtime's tests build.
"""

import argparse
import csv
import glob
import os
import random
import subprocess
import sys
import tempfile

CONFIGURATION = """[general]
run_name = compared
[architecture_presets]
ArrayHeight: {dim}
ArrayWidth: {dim}
IfmapSramSzkB: 65536
FilterSramSzkB: 65536
OfmapSramSzkB: 65536
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth: 1000
Dataflow: {dataflow}
MemoryBanks: 1
ReadRequestBuffer: 32
WriteRequestBuffer: 32
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""

# M, N, K: products of BERT-base with 128 words; convolutions of ResNet50.
LAYERS = [(128, 768, 768), (128, 3072, 768), (128, 768, 3072), (128, 128, 64),
          (128, 64, 128), (784, 128, 1152), (196, 256, 2304), (196, 1024, 256),
          (49, 512, 4608), (49, 2048, 512)]


def theirs(dim, dataflow, layers):
    with tempfile.TemporaryDirectory() as folder:
        configuration = os.path.join(folder, "machine.cfg")
        topology = os.path.join(folder, "layers.csv")
        with open(configuration, "w") as file:
            file.write(CONFIGURATION.format(dim=dim, dataflow=dataflow))
        with open(topology, "w") as file:
            file.write("Layer name, M, N, K,\n")
            for i, layer in enumerate(layers):
                file.write(f"layer{i}, " + ", ".join(map(str, layer)) + ",\n")
        done = subprocess.run(
            [sys.executable, "-m", "scalesim.scale", "-c", configuration, "-t",
             topology, "-l", topology, "-p", folder, "-i", "gemm", "-s", "N"],
            capture_output=True, text=True)
        reports = glob.glob(os.path.join(folder, "*", "COMPUTE_REPORT.csv"))
        if done.returncode or not reports:
            sys.exit("SCALE-Sim failed:\n" + done.stdout + done.stderr)
        with open(reports[0]) as file:
            return [int(float(row[2])) for row in list(csv.reader(file))[1:]]


def ours(program, dim, dataflow, layer):
    done = subprocess.run([program, str(dim), dataflow, *map(str, layer)],
                          capture_output=True, text=True, check=True)
    return map(int, done.stdout.split())


def folds(dim, layer):
    return -(-layer[0] // dim) * -(-layer[1] // dim)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin",
                        help="where AshlarSystolicFolds is")
    parser.add_argument("--dims", default="16,128", help="array sizes")
    parser.add_argument("--random", type=int, default=10,
                        help="further layers of random sizes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = os.path.join(options.bin, "AshlarSystolicFolds")
    numbers = random.Random(options.seed)
    wrong = compared = 0
    print("| array | dataflow | M x N x K | SCALE-Sim | ours, no shadow | ours |")
    print("|---|---|---|---|---|---|")
    for dim in map(int, options.dims.split(",")):
        layers = [layer for layer in LAYERS if dim > 16 or max(layer) < 800]
        layers += [tuple(numbers.randint(1, 3 * dim) for _ in range(3))
                   for _ in range(options.random)]
        for dataflow in ("ws", "is", "os"):
            for layer, cycles in zip(layers, theirs(dim, dataflow, layers)):
                alone, shadowed = ours(program, dim, dataflow, layer)
                expected = cycles + 1
                if dataflow == "os":
                    expected += dim * folds(dim, layer)
                compared += 1
                wrong += alone != expected
                print(f"| {dim} | {dataflow} | "
                      f"{' x '.join(map(str, layer))} | {cycles} | {alone}"
                      f"{'' if alone == expected else ' (wrong)'} | "
                      f"{shadowed} |")
    print(f"\n{compared} layers compared, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
