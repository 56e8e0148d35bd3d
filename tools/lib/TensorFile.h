// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in files: NumPy's .npy and ONNX's TensorProto (.pb). Both are read
// as hostile input.

#ifndef ASHLAR_TOOLS_LIB_TENSORFILE_H
#define ASHLAR_TOOLS_LIB_TENSORFILE_H

#include "Tensor.h"

namespace ashlar::tools {

/// By the name's ending. Throws a Failure that says what is wrong.
Tensor readTensorFile(const std::string &path);

Tensor parseNpy(const std::string &contents, const std::string &path);
Tensor parseTensorProto(const std::string &contents, const std::string &path);

/// bf16, which NumPy does not know, becomes two opaque bytes ('V2').
std::string formatNpy(const Tensor &tensor);

/// "random" or "random:7". The same numbers on every machine: floats uniform
/// in [-1, 1), integers 0 to 9, bools 0 or 1. `name` takes part, so that two
/// inputs differ.
Tensor randomTensor(const std::string &name, uint64_t seed, uint32_t type,
                    std::vector<int64_t> shape);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_TENSORFILE_H
