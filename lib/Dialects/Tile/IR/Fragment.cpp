// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements of a unit's sums a thread holds.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar::tile;

int64_t FragmentAttr::getExtent(unsigned side) const {
  int64_t extent = 1;
  for (ArrayRef<int64_t> steps : {getRegisters(), getLanes()})
    for (size_t i = side; i < steps.size(); i += 2)
      extent = std::max(extent, 2 * steps[i]);
  return extent;
}

FragmentAttr FragmentAttr::getRowsAlone() const {
  SmallVector<int64_t> registers, lanes;
  for (size_t i = 0; i < getRegisters().size(); i += 2)
    if (getRegisters()[i] != 0)
      registers.append({getRegisters()[i], 0});
  for (size_t i = 0; i < getLanes().size(); i += 2)
    lanes.append({getLanes()[i], 0});
  return get(getContext(), registers, lanes, /*inFlight=*/0);
}

int64_t FragmentAttr::getRowAlone(int64_t i) const {
  int64_t row = 0, bits = 0;
  for (size_t bit = 0; 2 * bit < getRegisters().size(); ++bit)
    if (getRegisters()[2 * bit] != 0)
      row |= ((i >> bit) & 1) << bits++;
  return row;
}

LogicalResult
FragmentAttr::verify(llvm::function_ref<InFlightDiagnostic()> error,
                     ArrayRef<int64_t> registers, ArrayRef<int64_t> lanes,
                     int64_t inFlight) {
  if (inFlight < 0 || inFlight > 8)
    return error() << "expected 0 to 8 steps in flight, found " << inFlight;
  // No thread holds an element twice, and no bit is left out.
  int64_t seen[2] = {0, 0};
  for (auto [steps, mayRepeat] :
       {std::pair(registers, false), std::pair(lanes, true)}) {
    if (steps.size() % 2 != 0 || steps.size() > 20)
      return error() << "expected up to 10 pairs of rows and columns, found ["
                     << steps << "]";
    for (size_t i = 0; i != steps.size(); i += 2) {
      if (mayRepeat && steps[i] == 0 && steps[i + 1] == 0)
        continue;
      bool isColumn = steps[i] == 0;
      int64_t step = steps[i + isColumn];
      if ((!isColumn && steps[i + 1] != 0) || step < 1 || step > 4096 ||
          !llvm::isPowerOf2_64(step) || (seen[isColumn] & step) != 0)
        return error() << "expected powers of two, each once, along rows or "
                          "columns, found ["
                       << steps << "]";
      seen[isColumn] |= step;
    }
  }
  for (int64_t side : seen)
    if (!llvm::isPowerOf2_64(side + 1))
      return error() << "expected a rectangle that values and lanes cover, "
                        "found a gap";
  return success();
}
