# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What real models are fed: a photographed page of text, and random data."""

import importlib.metadata
import zlib

import numpy as np
from PIL import Image

# The word "Region-based" of the page's heading: left, top, right, bottom.
WORD = (2, 8, 124, 36)


def generator(label):
    return np.random.default_rng(zlib.crc32(label.encode()))


def page():
    found = importlib.metadata.distribution("scikit-image").locate_file(
        "skimage/data/page.png")
    return Image.open(found).convert("RGB")


def fitted(picture, height, width):
    """Scaled to fit, its rest left at zero, channels first, -1..1: what
    PP-OCR's own code does before each of its models."""
    scale = min(height / picture.height, width / picture.width)
    size = (round(picture.width * scale), round(picture.height * scale))
    pixels = np.asarray(picture.resize(size, Image.BILINEAR), np.float32)
    result = np.zeros((1, 3, height, width), np.float32)
    result[0, :, :size[1], :size[0]] = (
        (pixels / 255 - 0.5) / 0.5).transpose(2, 0, 1)
    return result


def page_picture(height, width):
    return fitted(page(), height, width)


def word_picture(height, width, turned=False):
    word = page().crop(WORD)
    return fitted(word.rotate(180) if turned else word, height, width)


def noise_picture(label, shape):
    """Random, yet with large and small features, as pictures have them: white
    noise averages out in a pooling layer and would test little."""
    random = generator(label)
    n, c, height, width = shape
    result = random.standard_normal(shape).astype(np.float32) * 0.3
    for cells in (3, 7, 15, 40):
        grid = random.standard_normal((n, c, cells, cells)).astype(np.float32)
        rows = np.arange(height) * cells // height
        columns = np.arange(width) * cells // width
        result += 0.5 * grid[:, :, rows[:, None], columns[None, :]]
    return result


def spoilt_picture(label, picture):
    """The picture moved, with another contrast and noise. A picture without
    any text would not do: a detector's map is then nearly zero everywhere, and
    what is compared is the tail of two logistic functions."""
    random = generator(label)
    moved = np.roll(picture, random.integers(5, 40, 2), (2, 3))
    noise = random.standard_normal(picture.shape).astype(np.float32)
    return moved * np.float32(random.uniform(0.7, 1.2)) + 0.1 * noise


def text_picture(label, height, width, region):
    """A region of the page, moved and scaled at random, with another contrast
    and noise: of these, (width, height) where letters are as they mostly are."""
    random, whole = generator(label), page()
    scale = random.uniform(0.7, 1.3)
    size = [min(round(s * scale), limit)
            for s, limit in zip(region, whole.size)]
    at = [random.integers(0, limit - s + 1)
          for s, limit in zip(size, whole.size)]
    picture = fitted(whole.crop((*at, at[0] + size[0], at[1] + size[1])),
                     height, width)
    noise = random.standard_normal(picture.shape).astype(np.float32)
    return (picture * np.float32(random.uniform(0.6, 1.1)) +
            np.float32(random.uniform(0, 0.1)) * noise)


def sentence(label, length, used, vocabulary=30522):
    """Token numbers, mask and types of two sentences, padded to a length."""
    random = generator(label)
    ids = random.integers(1000, vocabulary, (1, length))
    place = np.arange(length)[None]
    ids[:, 0] = 101
    ids[:, used // 2] = ids[:, used - 1] = 102
    ids[place >= used] = 0
    return {
        "input_ids": ids.astype(np.int64),
        "attention_mask": (place < used).astype(np.int64),
        "token_type_ids": (
            (place > used // 2) & (place < used)).astype(np.int64),
    }


def speech(label, samples):
    """A voice, roughly: harmonics of a gliding tone in bursts, with noise."""
    random = generator(label)
    time = np.arange(samples) / 16000
    tone = np.cumsum(2 * np.pi * (120 + 40 * np.sin(7 * time)) / 16000)
    voice = sum(np.sin(k * tone) / k for k in range(1, 12))
    bursts = np.clip(np.sin(2 * np.pi * 3 * time + random.uniform(0, 6)), 0, 1)
    noise = random.standard_normal(samples)
    return (0.2 * voice * bursts + 0.01 * noise).astype(np.float32)


def state(label, *shape):
    return generator(label).standard_normal(shape).astype(np.float32) / 3
