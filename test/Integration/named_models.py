# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that check models by their names in model_list."""

import argparse
import pathlib

import device_run
import model_list


def check(description, missing, check_model):
    """The exit status. `missing` is what is not there and how to have it, or
    nothing; then check_model(tools, model, path, work, tally) is called for each
    model that is named."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="+", metavar="MODEL")
    arguments = parser.parse_args()
    tally = device_run.Tally()
    if missing:
        tally.skip(*missing)
        return tally.end()
    for model in model_list.all_models():
        if model.name in arguments.names:
            with model.prepare(arguments.work) as path:
                check_model(arguments.bin.resolve(), model, path,
                            arguments.work, tally)
    return tally.end()
