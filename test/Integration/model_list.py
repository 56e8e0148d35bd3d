# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The real models that are compared with ONNX Runtime, and their inputs."""

import contextlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import model_inputs
import wheel_models
from model_case import MODELS, ROOT, Case, Model, fetch_models, fetched

sys.path.insert(0, str(ROOT / "benchmarks" / "models"))
import random_weights  # noqa: E402
import write_models  # noqa: E402


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


def ppocr(name, shape, pictures, region, small):
    path = MODELS / f"{name}.onnx"
    return Model(
        name, lambda work: fetched(path, work),
        lambda _: [Case(label, {"x": make()})
                   for label, make in pictures.items()] +
        [Case("random", {"x": model_inputs.spoilt_picture(
            name, next(iter(pictures.values()))())})],
        {"x": shape}, small,
        lambda label: {"x": model_inputs.text_picture(
            f"{name} {label}", *shape[2:], region)})


# Where 1e-4 is less than what rounding does. With random weights, ResNet-50
# makes an error of its first stage 55 times as large by the last one: 1.0e-6 of
# f32 sums becomes 5.5e-5 of the features, and 1.7e-6, with the first three 3x3
# convolutions through F(4,3), 9.6e-5. Beside f64, the inputs of the softmax are
# off by 1.06e-4 (root mean square over 1,000 classes; 6.8e-5 without
# transforms), ONNX Runtime's by 5.8e-5. Both are independent, so that they are
# 1.2e-4 apart, and so is the largest probability, relative to itself. It is one
# draw: with the strategies of x86-64-v4 9.2e-5, with Sapphire Rapids', whose
# features are nearer to f64, 1.2e-4. The limit is three times the deviation.
RANDOM_LIMITS = {"light_resnet50": 3.6e-4}


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
            folder, (1, 3, 224, 224))},
            tolerance=RANDOM_LIMITS.get(folder, 1e-4))]

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
        shapes, small,
        lambda label: {"input": model_inputs.noise_picture(
            f"{name} {label}", (1, 3, 224, 224))})


def encoder(name, dynamic, small):
    shapes = {i: (1, 128) for i in
              ("input_ids", "attention_mask", "token_type_ids")}
    return Model(
        name, lambda work: written(name, work),
        lambda _: [Case(f"{used} tokens", model_inputs.sentence(
            f"{name}-{used}", 128, used)) for used in (128, 75)],
        shapes if dynamic else {}, small,
        lambda label: model_inputs.sentence(
            f"{name} {label}", 128,
            int(model_inputs.generator(label).integers(5, 129))))


LIGHT = ["squeezenet", "shufflenet", "inception_v1", "inception_v2",
         "resnet50", "densenet121", "zfnet512", "bvlc_alexnet", "vgg19"]


def all_models():
    det, rec, cls = (1, 3, 640, 640), (1, 3, 48, 320), (1, 3, 48, 192)
    word = model_inputs.word_picture
    return [
        ppocr("ppocr_cls", cls, {
            "word": lambda: word(*cls[2:]),
            "turned word": lambda: word(*cls[2:], turned=True)}, (120, 26),
            True),
        ppocr("ppocr_rec", rec, {"word": lambda: word(*rec[2:])}, (180, 26),
              True),
        ppocr("ppocr_det", det, {
            "page": lambda: model_inputs.page_picture(*det[2:])}, (300, 180),
            False),
        classifier("mobilenet_v2", {}, True),
        classifier("resnet50", {"input": (1, 3, 224, 224)}, False),
        encoder("minilm_l6", False, True),
        encoder("bert_base", True, False),
        *wheel_models.all_models(),
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
