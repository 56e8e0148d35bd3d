#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the operator tests of the installed onnx package to a folder.

The package makes them anew with each import, the same each time; ashlar-check
reads folders. A folder that an equal version of the package has filled is left
as it is.

  generate_node_tests.py .deps/onnx-node-1.23.2
"""

import argparse
import pathlib
import shutil
import tempfile
import warnings

import onnx
from onnx import TensorProto, numpy_helper


def serialize(value, info):
    """A value of a test as the file that ONNX's layout has for it."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name).SerializeToString()
    if isinstance(value, TensorProto):
        return value.SerializeToString()
    return numpy_helper.from_array(value, info.name).SerializeToString()


def write_test(case, folder):
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    graph = case.model.graph
    for i, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        for role, values, infos in (("input", inputs, graph.input),
                                    ("output", outputs, graph.output)):
            for j, (value, info) in enumerate(zip(values, infos)):
                (data / f"{role}_{j}.pb").write_bytes(serialize(value, info))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    stamp = folder / ".version"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return
    warnings.simplefilter("ignore")  # of overflows that the tests are about
    from onnx.backend.test.loader import load_model_tests
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    cases = load_model_tests(kind="node")
    for case in cases:
        write_test(case, made / case.name)
    (made / ".version").write_text(onnx.__version__)
    made.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    print(f"wrote {len(cases)} tests to {folder}")


if __name__ == "__main__":
    main()
