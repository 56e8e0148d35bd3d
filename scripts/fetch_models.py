#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts the real models that tests use into .deps/models.

All of them come out of Python packages that setup.sh has installed; nothing is
downloaded here.

    ppocr_{det,rec,cls}.onnx    PP-OCR's text detector, recogniser and angle
                                classifier (rapidocr-onnxruntime)
    light_*/model.onnx          nine classifiers of ONNX's own suite, with
    light_*/test_data_set_0/    their inputs and expected outputs (onnx)
"""

import argparse
import importlib.metadata
import pathlib
import shutil

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ROOT / ".deps" / "models"
PPOCR = {
    "ppocr_det": "ch_PP-OCRv4_det_infer.onnx",
    "ppocr_rec": "ch_PP-OCRv4_rec_infer.onnx",
    "ppocr_cls": "ch_ppocr_mobile_v2.0_cls_infer.onnx",
}


def package_file(package, path):
    found = importlib.metadata.distribution(package).locate_file(path)
    if not pathlib.Path(found).exists():
        raise SystemExit(f"error: the package {package} has no {path}; "
                         "run scripts/setup.sh")
    return pathlib.Path(found)


def copy(source, target):
    """Copies unless it is there; never leaves half a file."""
    if target.exists() and target.stat().st_size == source.stat().st_size:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(target.name + ".new")
    shutil.copyfile(source, unfinished)
    unfinished.rename(target)


def light_input(value_info):
    """The input that ONNX's runner feeds these models: a ramp from 0 to 1."""
    shape = [d.dim_value for d in value_info.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    return (np.arange(count).reshape(shape) / count).astype(np.float32)


def fetch_light(model_file, folder):
    copy(model_file, folder / "model.onnx")
    data = folder / "test_data_set_0"
    data.mkdir(exist_ok=True)
    copy(model_file.with_name(model_file.stem + "_output_0.pb"),
         data / "output_0.pb")
    target = data / "input_0.pb"
    if not target.exists():
        graph = onnx.load(model_file).graph
        constants = {t.name for t in graph.initializer}
        source, = [i for i in graph.input if i.name not in constants]
        tensor = numpy_helper.from_array(light_input(source), source.name)
        unfinished = target.with_name("input_0.pb.new")
        unfinished.write_bytes(tensor.SerializeToString())
        unfinished.rename(target)


def fetch(models=MODELS):
    for name, file in PPOCR.items():
        copy(package_file("rapidocr-onnxruntime",
                          f"rapidocr_onnxruntime/models/{file}"),
             models / f"{name}.onnx")
    light = package_file("onnx", "onnx/backend/test/data/light")
    for model_file in sorted(light.glob("light_*.onnx")):
        fetch_light(model_file, models / model_file.stem)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=MODELS)
    arguments = parser.parse_args()
    fetch(arguments.out)
    for path in sorted(arguments.out.glob("*.onnx")) + sorted(
            arguments.out.glob("light_*/model.onnx")):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(arguments.out)}")


if __name__ == "__main__":
    main()
