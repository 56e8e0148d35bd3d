// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 3x3 convolutions of stride one by fewer products, where the machine gains
// time by it and the op's own weights keep their accuracy.
#include "ChooseStrategy.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/Winograd.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <random>

using namespace mlir;
using namespace ashlar;
using tile::WinogradTransform;

namespace ashlar {
#define GEN_PASS_DEF_FORMWINOGRADPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// Larger boxes of results must keep their sums this close to exact ones,
/// relative to the largest result.
constexpr double maximumError = 1e-5;

/// A constant of f32 seen as (output channel, channel, row, column).
class Weights {
public:
  Weights(TypedAttr constant, AffineMap map, ArrayRef<int64_t> sizes)
      : outputs(sizes[3]), channels(sizes[6]) {
    auto shape = cast<RankedTensorType>(constant.getType()).getShape();
    int64_t stride = 1;
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      steps[cast<AffineDimExpr>(map.getResult(d)).getPosition()] = stride;
      stride *= shape[d];
    }
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant)) {
      bytes = resourceBytes(resource);
      return;
    }
    for (float value : cast<DenseElementsAttr>(constant).getValues<float>())
      owned.push_back(value);
    bytes = ArrayRef(reinterpret_cast<const char *>(owned.data()),
                     owned.size() * sizeof(float));
  }

  bool isValid() const { return !bytes.empty(); }
  double at(int64_t o, int64_t c, int64_t r, int64_t s) const {
    int64_t place = o * steps[3] + c * steps[6] + r * steps[4] + s * steps[5];
    // Where a model's file was mapped, nothing is aligned.
    float value;
    std::memcpy(&value, bytes.data() + place * sizeof(float), sizeof(value));
    return value;
  }

  int64_t outputs, channels;

private:
  int64_t steps[7] = {};
  ArrayRef<char> bytes;
  SmallVector<float, 0> owned;
};

/// matrix * box * transposed matrix, for a box of `in` by `in`.
template <typename T>
void sandwich(ArrayRef<double> matrix, int64_t in, const T *box, T *result) {
  int64_t out = matrix.size() / in;
  SmallVector<T> half(out * in);
  for (int64_t r = 0; r != out; ++r)
    for (int64_t s = 0; s != in; ++s) {
      T sum = 0;
      for (int64_t k = 0; k != in; ++k)
        sum += T(matrix[r * in + k]) * box[k * in + s];
      half[r * in + s] = sum;
    }
  for (int64_t r = 0; r != out; ++r)
    for (int64_t s = 0; s != out; ++s) {
      T sum = 0;
      for (int64_t k = 0; k != in; ++k)
        sum += T(matrix[s * in + k]) * half[r * in + k];
      result[r * out + s] = sum;
    }
}

/// The transformed 3x3 weights of one pair of channels.
SmallVector<double> transformedTaps(const WinogradTransform &transform,
                                    const Weights &weights, int64_t o,
                                    int64_t c) {
  double taps[9];
  for (int64_t i = 0; i != 9; ++i)
    taps[i] = weights.at(o, c, i / 3, i % 3);
  SmallVector<double> result(transform.places() * transform.places());
  sandwich(transform.filter, 3, taps, result.data());
  return result;
}

/// All transformed weights, (place, channel, output channel).
DenseResourceElementsAttr transformWeights(const WinogradTransform &transform,
                                           const Weights &weights,
                                           MLIRContext *context) {
  int64_t places = transform.places() * transform.places();
  int64_t area = weights.channels * weights.outputs;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
      places * area * sizeof(float), /*align=*/64, /*dataIsMutable=*/true);
  auto *data = reinterpret_cast<float *>(blob.getMutableData().data());
  for (int64_t c = 0; c != weights.channels; ++c)
    for (int64_t o = 0; o != weights.outputs; ++o) {
      SmallVector<double> taps = transformedTaps(transform, weights, o, c);
      for (int64_t p = 0; p != places; ++p)
        data[p * area + c * weights.outputs + o] = float(taps[p]);
    }
  auto type = RankedTensorType::get({places, weights.channels, weights.outputs},
                                    Float32Type::get(context));
  return DenseResourceElementsAttr::get(type, "winograd", std::move(blob));
}

/// The largest difference to exact sums over boxes of normal random inputs,
/// relative to the largest result, for a sample of output channels.
double estimateError(const WinogradTransform &transform,
                     const Weights &weights) {
  int64_t reach = transform.places(), size = transform.outputs;
  int64_t places = reach * reach, area = size * size;
  std::mt19937 engine(20150930);
  double worst = 0, largest = 0;
  int64_t samples = std::min<int64_t>(weights.outputs, 16);
  for (int64_t i = 0; i != samples; ++i) {
    int64_t o = i * weights.outputs / samples;
    SmallVector<double> exact(area, 0);
    SmallVector<float> sums(places, 0), results(area);
    for (int64_t c = 0; c != weights.channels; ++c) {
      SmallVector<float> box(places), spread(places);
      // Sums of four uniform numbers: close to normal, and the same on every
      // machine, which the library's normal distribution is not.
      for (float &value : box) {
        double sum = 0;
        for (int k = 0; k != 4; ++k)
          sum += double(engine()) / 4294967296.0 - 0.5;
        value = float(sum * 1.7320508);
      }
      for (int64_t u = 0; u != size; ++u)
        for (int64_t v = 0; v != size; ++v)
          for (int64_t r = 0; r != 3; ++r)
            for (int64_t s = 0; s != 3; ++s)
              exact[u * size + v] +=
                  weights.at(o, c, r, s) * double(box[(u + r) * reach + v + s]);
      SmallVector<double> taps = transformedTaps(transform, weights, o, c);
      sandwich(transform.input, reach, box.data(), spread.data());
      for (int64_t p = 0; p != places; ++p)
        sums[p] += float(taps[p]) * spread[p];
    }
    sandwich(transform.results, reach, sums.data(), results.data());
    for (int64_t p = 0; p != area; ++p) {
      worst = std::max(worst, std::abs(exact[p] - double(results[p])));
      largest = std::max(largest, std::abs(exact[p]));
    }
  }
  return largest == 0 ? 0 : worst / largest;
}

/// n, h, w, o | r, s, c with the input at (n, h + r, w + s, c).
bool isConvolution(tile::ContractOp op) {
  if (op.getParallel().size() != 4 || op.getReduced().size() != 3 ||
      op.getReduced()[0] != 3 || op.getReduced()[1] != 3 ||
      !op.getAccumulatorType().isF32() ||
      !getElementTypeOrSelf(op.getA().getType()).isF32() ||
      !getElementTypeOrSelf(op.getB().getType()).isF32())
    return false;
  AffineExpr n, h, w, o, r, s, c;
  bindDims(op.getContext(), n, h, w, o, r, s, c);
  AffineMap read = AffineMap::get(7, 0, {n, h + r, w + s, c}, op.getContext());
  AffineMap weights = op.getBMap();
  auto input = cast<RankedTensorType>(op.getA().getType());
  return op.getAMap() == read && weights.isProjectedPermutation() &&
         weights.getNumResults() == 4 && !weights.isFunctionOfDim(0) &&
         !weights.isFunctionOfDim(1) && !weights.isFunctionOfDim(2) &&
         input.getDimSize(1) == op.getParallel()[1] + 2 &&
         input.getDimSize(2) == op.getParallel()[2] + 2;
}

/// Predicted cycles of one worker.
struct Plan {
  double cycles;
  int64_t outputs;   ///< of a box along one dim; 0: without transforms
  int64_t perWorker; ///< rows of boxes
};

Plan planFor(tile::ContractOp op, const Core &core, int64_t outputs) {
  ArrayRef<int64_t> n = op.getParallel();
  double channels = double(op.getReduced()[2]), columns = double(n[3]);
  double lanes = double(core.vectorBytes) / 4;
  double rate = core.multiplyAddsPerCycle * lanes;
  if (outputs == 0) {
    double taps = 9 * channels * columns;
    return {taps * double(n[0] * n[1] * n[2]) / rate +
                taps * 4 / core.coldBytesPerCycle,
            0, 0};
  }
  int64_t rows = llvm::divideCeil(n[1], outputs);
  int64_t across = llvm::divideCeil(n[2], outputs);
  double places = double((outputs + 2) * (outputs + 2));
  // As many rows of boxes as leave half of the worker's memory to weights.
  double rowBytes = places * double(across) * (channels + columns) * 4;
  int64_t perWorker =
      std::max<int64_t>(1, int64_t(core.farBytes / 2 / rowBytes));
  perWorker = std::min(perWorker, rows);
  while (rows % perWorker != 0)
    --perWorker;
  double boxes = double(n[0] * rows * across);
  double products = places * boxes * channels * columns / rate;
  // Each vector of a box is loaded, added up about twice along each dim, and
  // stored.
  double transforms = boxes * places * (5 * channels + 4 * columns) / lanes;
  double weightBytes = places * channels * columns * 4;
  double passes = double(n[0] * rows / perWorker);
  double streaming = weightBytes / core.coldBytesPerCycle;
  if (weightBytes > double(core.farBytes) / 2)
    streaming += (passes - 1) * weightBytes / core.beyondBytesPerCycle / 2;
  // What does not fit comes from beyond twice, and goes there twice.
  if (rowBytes * double(perWorker) > double(core.farBytes))
    streaming += double(rows / perWorker) * rowBytes * double(perWorker) * 4 /
                 core.beyondBytesPerCycle;
  return {products + transforms + streaming, outputs, perWorker};
}

struct FormWinograd : ashlar::impl::FormWinogradPassBase<FormWinograd> {
  FormWinograd() = default;
  FormWinograd(const MachineModel &machine,
               std::shared_ptr<StrategyTuning> tuning)
      : machine(machine), tuning(std::move(tuning)) {}

  void runOnOperation() override {
    SmallVector<tile::ContractOp> convolutions;
    getOperation().walk([&](tile::ContractOp op) {
      if (!op.getDevice() && isConvolution(op))
        convolutions.push_back(op);
    });
    for (tile::ContractOp op : convolutions)
      rewrite(op);
  }

private:
  void rewrite(tile::ContractOp op) {
    TypedAttr constant = constantBehindReshapes(op.getB());
    auto refuse = [&](const std::string &why) {
      remark::missed(op.getLoc(), about(op, "Winograd", "winograd"))
          << "is computed directly: " << remark::metric("Reason", why);
    };
    if (!constant)
      return refuse("its weights are not constant");
    Core core(machine, op);
    SmallVector<int64_t> sizes(op.getParallel());
    llvm::append_range(sizes, op.getReduced());
    Weights weights(constant, op.getBMap(), sizes);
    if (!weights.isValid())
      return refuse("its weights cannot be read");
    // Worth its weights only where time is gained.
    Plan best = planFor(op, core, 0);
    const double direct = best.cycles;
    double error = 0;
    std::string found;
    best.cycles *= 0.9;
    for (int64_t outputs : {2, 4}) {
      Plan plan = planFor(op, core, outputs);
      if (wantsRemarks(op))
        found +=
            llvm::formatv("; F({0},3) would take {1:f0}", outputs, plan.cycles);
      if (plan.cycles >= best.cycles)
        continue;
      double estimate =
          estimateError(tile::winogradTransform(outputs), weights);
      if (estimate > maximumError) {
        found += llvm::formatv(" with an error of {0:e1}, over {1:e1}",
                               estimate, maximumError);
        continue;
      }
      best = plan;
      error = estimate;
    }
    if (best.outputs == 0)
      return refuse(llvm::formatv("no transform gains a tenth within the "
                                  "error: {0:f0} cycles directly{1}",
                                  direct, found));
    remark::passed(op.getLoc(), about(op, "Winograd", "winograd"))
        << "F(" << remark::metric("Outputs", best.outputs)
        << ",3): " << remark::metric("Cycles", int64_t(best.cycles))
        << " cycles predicted instead of "
        << remark::metric("DirectCycles", int64_t(direct))
        << ", error on random inputs "
        << remark::metric("Error", llvm::formatv("{0:e1}", error).str());
    replace(op, core, best, weights, error);
  }

  void replace(tile::ContractOp op, const Core &core, const Plan &plan,
               const Weights &weights, double error) {
    OpBuilder b(op);
    Location location = op.getLoc();
    Type element = b.getF32Type();
    ArrayRef<int64_t> n = op.getParallel();
    const WinogradTransform &transform = tile::winogradTransform(plan.outputs);
    int64_t places = transform.places() * transform.places();
    int64_t count = plan.perWorker * llvm::divideCeil(n[2], plan.outputs);
    // The products alone, for the choice of their strategy.
    Value taps = arith::ConstantOp::create(
        b, op.getB().getLoc(),
        transformWeights(transform, weights, &getContext()));
    Value boxes = tensor::EmptyOp::create(
        b, location, {places, count, weights.channels}, element);
    Value sums =
        tensor::EmptyOp::create(b, location, {places, count, n[3]}, element);
    AffineExpr p, m, o, c;
    bindDims(&getContext(), p, m, o, c);
    AffineMap maps[] = {AffineMap::get(4, 0, {p, m, c}, &getContext()),
                        AffineMap::get(4, 0, {p, c, o}, &getContext()),
                        b.getMultiDimIdentityMap(3)};
    auto products = tile::ContractOp::create(
        b, location, sums.getType(), boxes, taps, ValueRange(), sums,
        b.getDenseI64ArrayAttr({places, count, n[3]}),
        b.getDenseI64ArrayAttr({weights.channels}),
        b.getAffineMapArrayAttr(maps), UnitAttr(), UnitAttr(), TypedAttr(),
        tile::StrategyAttr(), IntegerAttr());
    products.getBody().emplaceBlock().addArgument(element, location);
    chooseStrategy(products, machine, tuning.get());
    tile::StrategyAttr chosen = products.getStrategyAttr();
    auto strategy = tile::StrategyAttr::get(
        &getContext(), {plan.perWorker, 0, 0}, chosen.getBox(),
        chosen.getOrder(), chosen.getUnroll(), /*packs=*/false,
        /*grouped=*/false, /*ahead=*/0, /*unit=*/{});
    SmallVector<Attribute> kept(op.getMaps().begin() + 2, op.getMaps().end());
    auto winograd = tile::WinogradOp::create(
        b, location, op.getResultTypes(), op.getA(), products.getB(),
        op.getEpilogue(), op.getInit(), op.getParallelAttr(),
        b.getI64IntegerAttr(plan.outputs), b.getArrayAttr(kept),
        op.getPadAttr(), b.getF64FloatAttr(error), strategy);
    winograd->setAttr(exec::cyclesAttrName,
                      b.getI64IntegerAttr(int64_t(plan.cycles)));
    winograd->setAttr(exec::boundAttrName, b.getStringAttr("compute"));
    winograd.getBody().takeBody(op.getBody());
    op->replaceAllUsesWith(winograd);
    op.erase();
    products.erase();
  }

  MachineModel machine = MachineModel::generic();
  std::shared_ptr<StrategyTuning> tuning;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createFormWinogradPass(const MachineModel &machine,
                               std::shared_ptr<StrategyTuning> tuning) {
  return std::make_unique<FormWinograd>(machine, std::move(tuning));
}
