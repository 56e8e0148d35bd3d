// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in files, of inputs and of calibration: .npy and ONNX's TensorProto.
// They are read or refused in words, and what was read is written and read
// again as the same.

#include "CompareTensors.h"
#include "Failure.h"
#include "Require.h"
#include "TensorFile.h"

#include <cstring>

using namespace ashlar::tools;
using ashlar::fuzz::MemoryBound;
using ashlar::fuzz::require;

/// bf16 has no type of NumPy's own, small types are bytes there.
static void expectSame(const Tensor &tensor) {
  std::string text = formatNpy(tensor);
  Tensor again = parseNpy(text, "again.npy");
  require(again.shape() == tensor.shape() && again.type() == tensor.type());
  require(again.bytes() == tensor.bytes() &&
          (tensor.bytes() == 0 ||
           std::memcmp(again.data(), tensor.data(), tensor.bytes()) == 0));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return 0;
  bool isNpy = data[0] % 2;
  std::string contents(reinterpret_cast<const char *>(data) + 1, size - 1);
  try {
    Tensor tensor;
    {
      MemoryBound bound(size, 16, 1 << 20);
      tensor = isNpy ? parseNpy(contents, "x.npy")
                     : parseTensorProto(contents, "x.pb");
    }
    if (isNpy)
      expectSame(tensor);
    (void)printTensor("x", tensor);
  } catch (const Failure &failure) {
    require(*failure.what() != 0 && failure.code == Refused);
  }
  return 0;
}
