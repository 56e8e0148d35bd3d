# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of --precision=auto: on how many inputs that it has not seen does a program
keep the tolerance that it was chosen for?"""

import statistics

import numpy as np
import onnx

from measure import accuracy
from model_case import Case

CALIBRATION = 16
TOLERANCE = 1e-2


def write_inputs(folder, feeds):
    folder.mkdir(parents=True)
    for index, values in enumerate(feeds.values()):
        np.save(folder / f"input_{index}.npy", values)


def calibrate(context, model, count=CALIBRATION):
    """A folder of inputs for --calibration."""
    folder = context.work / f"{model.name}.calibration"
    for number in range(count):
        write_inputs(folder / str(number), model.draw(f"calibration {number}"))
    return folder


def measure(context, model, path, count, wide, mixed):
    """A row: errors of a module relative to that of f32, of `count` inputs."""
    names = [output.name for output in onnx.load(
        path, load_external_data=False).graph.output]
    errors = []
    for number in range(count):
        case = Case("", model.draw(f"unseen {number}"))
        found, expected = (accuracy.outputs(context, module, case, names)
                           for module in (mixed, wide))
        errors.append(accuracy.error(found, list(zip(names, expected))))
    within = sum(error <= TOLERANCE for error in errors)
    return {"inputs": count, "within": within, "worst": max(errors),
            "median": statistics.median(errors),
            "report": [l for l in context.inspect(mixed)["provenance"][
                "precision"] if l.startswith(("auto:", "output", "of other"))]}


def table(rows):
    lines = ["| model | within 1e-2 | worst | median | chosen |",
             "|---|---|---|---|---|"]
    for name, row in rows.items():
        if "refused" in row:
            lines.append(f"| {name} | refused: {row['refused']} | | | |")
            continue
        chosen = row["report"][0].split(",")[0].removeprefix("auto: ")
        lines.append(f"| {name} | {row['within']} of {row['inputs']} "
                     f"| {row['worst']:.1e} | {row['median']:.1e} "
                     f"| {chosen} |")
    return "\n".join(lines) + "\n"
