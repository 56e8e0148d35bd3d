// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WindowGeometry.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Products of two such sizes do not overflow.
static constexpr int64_t largestSize = int64_t(1) << 30;

Value WindowGeometry::pad(ImplicitLocOpBuilder &b, Value input,
                          Value scalar) const {
  int64_t lead =
      cast<RankedTensorType>(input.getType()).getRank() - int64_t(rank());
  SmallVector<int64_t> before(lead, 0), after(lead, 0);
  before.append(low);
  after.append(reach);
  return ashlar::onnx_import::pad(b, input, before, after, scalar);
}

FailureOr<SmallVector<int64_t>>
ashlar::onnx_import::readSizes(NodeImporter &node, StringRef name,
                               unsigned count, int64_t minimum,
                               int64_t otherwise) {
  SmallVector<int64_t> values = node.intsAttribute(name);
  if (values.empty())
    return SmallVector<int64_t>(count, otherwise);
  if (values.size() != count)
    return node.invalid("attribute '" + name + "' has " + Twine(values.size()) +
                        " values; expected " + Twine(count));
  for (int64_t value : values)
    if (value < minimum || value > largestSize)
      return node.invalid("attribute '" + name + "' holds " + Twine(value) +
                          "; expected " + Twine(minimum) + " to " +
                          Twine(largestSize));
  return values;
}

FailureOr<WindowGeometry>
ashlar::onnx_import::readWindowSizes(NodeImporter &node, unsigned rank,
                                     std::optional<ArrayRef<int64_t>> weights) {
  WindowGeometry window;
  if (!weights && !node.hasAttribute("kernel_shape"))
    return node.invalid("expected an attribute 'kernel_shape', found none");
  auto kernel = readSizes(node, "kernel_shape", rank, 1, 1);
  auto strides = readSizes(node, "strides", rank, 1, 1);
  auto dilations = readSizes(node, "dilations", rank, 1, 1);
  if (failed(kernel) || failed(strides) || failed(dilations))
    return failure();
  if (weights && !node.intsAttribute("kernel_shape").empty() &&
      ArrayRef<int64_t>(*kernel) != *weights)
    return node.invalid("attribute 'kernel_shape' is " + spellShape(*kernel) +
                        ", but the weight's kernel is " + spellShape(*weights));
  window.kernel = weights ? SmallVector<int64_t>(*weights) : *kernel;
  for (int64_t size : window.kernel)
    if (size < 1 || size > largestSize)
      return node.invalid("kernel has shape " + spellShape(window.kernel) +
                          "; expected sizes of one or more");
  window.strides = *strides;
  window.dilations = *dilations;
  return window;
}

FailureOr<WindowGeometry> ashlar::onnx_import::readWindowGeometry(
    NodeImporter &node, ArrayRef<int64_t> input,
    std::optional<ArrayRef<int64_t>> weights) {
  unsigned rank = input.size();
  FailureOr<WindowGeometry> sizes = readWindowSizes(node, rank, weights);
  auto pads = readSizes(node, "pads", 2 * rank, 0, 0);
  if (failed(sizes) || failed(pads))
    return failure();
  WindowGeometry &window = *sizes;
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  if (failed(expectOneOf(node, "attribute 'auto_pad'", autoPad,
                         {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"})))
    return failure();
  bool ceilMode = node.intAttribute("ceil_mode", 0) != 0;
  for (unsigned i = 0; i != rank; ++i) {
    int64_t stride = window.strides[i], extent = window.extent(i);
    int64_t low = 0, high = 0, output;
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
      output = llvm::divideCeil(input[i], stride);
      int64_t total =
          std::max<int64_t>((output - 1) * stride + extent - input[i], 0);
      low = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
    } else {
      if (autoPad == "NOTSET")
        low = (*pads)[i], high = (*pads)[rank + i];
      int64_t room = input[i] + low + high - extent;
      output = room < 0 ? 0 : room / stride + 1;
      // A last window that is not whole counts if it starts on something.
      if (ceilMode && room > -stride && room % stride != 0 &&
          output * stride < input[i] + low)
        ++output;
      if (output <= 0)
        return node.invalid(
            "the kernel spans " + Twine(extent) + " elements of axis " +
            Twine(i + 2) + ", but the padded input has " +
            Twine(input[i] + low + high) + "; expected a smaller kernel");
    }
    window.low.push_back(low);
    window.high.push_back(high);
    window.reach.push_back(
        std::max<int64_t>((output - 1) * stride + extent - input[i] - low, 0));
    window.output.push_back(output);
  }
  return window;
}
