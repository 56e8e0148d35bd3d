// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TOOLS_ASHLAR_COMPILE_CALIBRATIONFOLDER_H
#define ASHLAR_TOOLS_ASHLAR_COMPILE_CALIBRATIONFOLDER_H

#include "ashlar/Calibrate/CalibrationInputs.h"

namespace ashlar {

/// Inputs from a folder: a set is a folder of files, one for each input,
/// NAME.npy, NAME.pb, input_K.npy or input_K.pb. `folder` is a set, or holds
/// folders that are, which are taken in the order of their names.
Refusal openCalibrationFolder(const std::string &folder,
                              CalibrationInputs &inputs);

} // namespace ashlar

#endif // ASHLAR_TOOLS_ASHLAR_COMPILE_CALIBRATIONFOLDER_H
