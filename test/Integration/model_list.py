# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The real models that are compared with ONNX Runtime, and their inputs."""

import contextlib
import dataclasses
import pathlib
import sys
from typing import Callable

import numpy as np
import onnx
from onnx import numpy_helper

import model_inputs

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / ".deps" / "models"
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks" / "models")]
import fetch_models  # noqa: E402
import random_weights  # noqa: E402
import write_models  # noqa: E402


@dataclasses.dataclass
class Case:
    """One set of inputs; `expected` where it is not ONNX Runtime's answer."""
    label: str
    feeds: dict
    expected: list | None = None
    # ONNX's own outputs were computed elsewhere, by older code.
    tolerance: float = 1e-4


@dataclasses.dataclass
class Model:
    name: str
    prepare: Callable  # work folder -> context manager of the model's path
    cases: Callable    # path -> list of Case
    shapes: dict = dataclasses.field(default_factory=dict)
    small: bool = False

    def arguments(self):
        return [f"--shape={name}=" + "x".join(map(str, shape))
                for name, shape in self.shapes.items()]


@contextlib.contextmanager
def fetched(path, _work):
    if not path.exists():
        fetch_models.fetch(MODELS)
    yield path


@contextlib.contextmanager
def written(name, _work):
    path = MODELS / f"{name}.onnx"
    if not path.exists():
        write_models.WRITERS[name](path)
    yield path


@contextlib.contextmanager
def randomized(source, work):
    """These are large and quickly made: they stay only while in use."""
    if not source.exists():
        fetch_models.fetch(MODELS)
    path = work / f"{source.parent.name}_random.onnx"
    onnx.save(random_weights.randomize(onnx.load(source)), path)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def ppocr(name, shape, pictures, small):
    path = MODELS / f"{name}.onnx"
    return Model(
        name, lambda work: fetched(path, work),
        lambda _: [Case(label, {"x": make()})
                   for label, make in pictures.items()] +
        [Case("random", {"x": model_inputs.spoilt_picture(
            name, next(iter(pictures.values()))())})],
        {"x": shape}, small)


def light(folder):
    """ONNX's model with its own input and output, and with random weights."""
    path = MODELS / folder / "model.onnx"

    def own(_):
        data = path.parent / "test_data_set_0"
        read = lambda file: onnx.load_tensor(data / file)  # noqa: E731
        source = read("input_0.pb")
        return [Case("its own", {source.name: numpy_helper.to_array(source)},
                     [numpy_helper.to_array(read("output_0.pb"))], 1e-3)]

    def drawn(model_path):
        graph = onnx.load(model_path, load_external_data=False).graph
        constants = {t.name for t in graph.initializer}
        name, = [i.name for i in graph.input if i.name not in constants]
        return [Case("random", {name: model_inputs.noise_picture(
            folder, (1, 3, 224, 224))})]

    small = folder in ("light_squeezenet", "light_shufflenet")
    return [
        Model(folder, lambda work: fetched(path, work), own, small=small),
        Model(f"{folder}_random", lambda work: randomized(path, work), drawn,
              small=small),
    ]


def classifier(name, shapes, small):
    return Model(
        name, lambda work: written(name, work),
        lambda _: [Case("random", {"input": model_inputs.noise_picture(
            name, (1, 3, 224, 224))})],
        shapes, small)


def encoder(name, dynamic, small):
    shapes = {i: (1, 128) for i in
              ("input_ids", "attention_mask", "token_type_ids")}
    return Model(
        name, lambda work: written(name, work),
        lambda _: [Case(f"{used} tokens", model_inputs.sentence(
            f"{name}-{used}", 128, used)) for used in (128, 75)],
        shapes if dynamic else {}, small)


def wheel_model(name, feeds, shapes=None, small=True):
    """One of fetch_models.WHEELS; `feeds`: label -> function of the inputs."""
    path = MODELS / f"{name}.onnx"
    return Model(
        name, lambda work: fetched(path, work),
        lambda _: [Case(label, make()) for label, make in feeds.items()],
        shapes or {}, small)


def control_flow_models():
    """Real models with conditions and recurrent layers, by many exporters."""
    speech, state = model_inputs.speech, model_inputs.state
    noise = model_inputs.noise_picture
    rate = np.array(16000, np.int64)
    features = lambda label: state(label, 1, 16, 96) * 3  # noqa: E731
    return [
        wheel_model("silero_vad", {"speech": lambda: {
            "input": speech("vad", 576)[None], "sr": rate,
            "state": state("vad", 2, 1, 128)}},
            {"input": (1, 576), "state": (2, 1, 128)}),
        wheel_model("silero_vad_half", {"speech": lambda: {
            "input": speech("half", 576)[None],
            "state": state("half", 2, 1, 128)}},
            {"input": (1, 576), "state": (2, 1, 128)}),
        # Both of its branches have networks for these shapes.
        wheel_model("silero_vad_v3", {
            f"{hertz} Hz": lambda hertz=hertz: {
                "input": speech(f"v3 {hertz}", 1536)[None],
                "sr": np.array(hertz, np.int64),
                "h": state("h", 2, 1, 64), "c": state("c", 2, 1, 64)}
            for hertz in (16000, 8000)},
            {"input": (1, 1536), "h": (2, 1, 64), "c": (2, 1, 64)}),
        wheel_model("silero_vad_v6", {"speech": lambda: {
            "input": speech("v6", 8 * 576).reshape(8, 576),
            "h": state("h6", 1, 1, 128), "c": state("c6", 1, 1, 128)}},
            {"input": (8, 576)}),
        wheel_model("hey_jarvis", {
            f"features {k}": lambda k=k: {"x.1": features(f"jarvis {k}")}
            for k in (2, 3, 9, 11)}),  # two take each branch
        wheel_model("speech_mel", {"speech": lambda: {
            "input": 1000 * speech("mel", 12400)[None]}},
            {"input": (1, 12400)}),
        wheel_model("speech_embedding", {"features": lambda: {
            "input_1": state("embedding", 1, 76, 32, 1) * 3}},
            {"input_1": (1, 76, 32, 1)}),
        wheel_model("captcha", {"letters": lambda: {
            "input1": noise("captcha", (1, 1, 64, 160))}},
            {"input1": (1, 1, 64, 160)}, small=False),
        wheel_model("captcha_det", {"picture": lambda: {
            "images": noise("captcha_det", (1, 3, 416, 416))}}, small=False),
        wheel_model("basic_pitch", {"speech": lambda: {
            "serving_default_input_2:0":
                speech("pitch", 43844).reshape(1, 43844, 1)}},
            {"serving_default_input_2:0": (1, 43844, 1)}, small=False),
        wheel_model("magika", {"bytes": lambda: {
            "bytes": model_inputs.generator("magika").integers(
                0, 257, (1, 2048)).astype(np.int32)}},
            {"bytes": (1, 2048)}),
    ]


LIGHT = ["squeezenet", "shufflenet", "inception_v1", "inception_v2",
         "resnet50", "densenet121", "zfnet512", "bvlc_alexnet", "vgg19"]


def all_models():
    det, rec, cls = (1, 3, 640, 640), (1, 3, 48, 320), (1, 3, 48, 192)
    word = model_inputs.word_picture
    return [
        ppocr("ppocr_cls", cls, {
            "word": lambda: word(*cls[2:]),
            "turned word": lambda: word(*cls[2:], turned=True)}, True),
        ppocr("ppocr_rec", rec, {"word": lambda: word(*rec[2:])}, True),
        ppocr("ppocr_det", det, {
            "page": lambda: model_inputs.page_picture(*det[2:])}, False),
        classifier("mobilenet_v2", {}, True),
        classifier("resnet50", {"input": (1, 3, 224, 224)}, False),
        encoder("minilm_l6", False, True),
        encoder("bert_base", True, False),
        *control_flow_models(),
        *(model for name in LIGHT for model in light(f"light_{name}")),
    ]


def read_text(model_path, scores):
    """What PP-OCR's recogniser reads: the best class of each step, repeated
    ones and blanks dropped; the characters stand in the model's metadata."""
    metadata = {p.key: p.value for p in
                onnx.load(model_path, load_external_data=False).metadata_props}
    characters = ["", *metadata["character"].splitlines(), " "]
    best = scores[0].argmax(1)
    steps = [b for k, b in enumerate(best) if k == 0 or b != best[k - 1]]
    return "".join(characters[b] for b in steps if b < len(characters))


def is_finite(values):
    return bool(np.isfinite(values.astype(np.float64)).all())
