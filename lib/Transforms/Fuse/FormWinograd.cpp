// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 3x3 convolutions of stride one by fewer products, where the machine gains
// time by it and the op's own weights keep their accuracy.
#include "ChooseStrategy.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/MapElements.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/Winograd.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
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
    auto dense = dyn_cast<DenseElementsAttr>(constant);
    if (!dense)
      return; // it is made when a module is loaded
    for (float value : dense.getValues<float>())
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

/// Of a box along each dim.
constexpr int64_t mostPlaces = 6;

/// matrix * box * transposed matrix, for a box of `in` by `in`.
template <typename T>
void sandwich(ArrayRef<double> matrix, int64_t in, const T *box, T *result) {
  int64_t out = matrix.size() / in;
  T half[mostPlaces * mostPlaces];
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

using Taps = std::array<double, mostPlaces * mostPlaces>;

/// The transformed 3x3 weights of one pair of channels.
Taps transformedTaps(const WinogradTransform &transform, const Weights &weights,
                     int64_t o, int64_t c) {
  assert(transform.places() <= mostPlaces && "a larger box than is known");
  double taps[9];
  for (int64_t i = 0; i != 9; ++i)
    taps[i] = weights.at(o, c, i / 3, i % 3);
  Taps result;
  sandwich(transform.filter, 3, taps, result.data());
  return result;
}

/// All transformed weights, (place, channel, output channel).
AsmResourceBlob transformWeights(const WinogradTransform &transform,
                                 const Weights &weights) {
  int64_t places = transform.places() * transform.places();
  int64_t area = weights.channels * weights.outputs;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
      places * area * sizeof(float), /*align=*/64, /*dataIsMutable=*/true);
  auto *data = reinterpret_cast<float *>(blob.getMutableData().data());
  for (int64_t c = 0; c != weights.channels; ++c)
    for (int64_t o = 0; o != weights.outputs; ++o) {
      Taps taps = transformedTaps(transform, weights, o, c);
      for (int64_t p = 0; p != places; ++p)
        data[p * area + c * weights.outputs + o] = float(taps[p]);
    }
  return blob;
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
    SmallVector<float> box(places), spread(places);
    for (int64_t c = 0; c != weights.channels; ++c) {
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
      Taps taps = transformedTaps(transform, weights, o, c);
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

/// A 3x3 convolution of stride one: n, h, w, o | r, s, c with the input at
/// (n, h + r, w + s, c), whose dims may lie in another order.
struct Convolution {
  tile::ContractOp op;
  AffineMap weights;             ///< of the loops in that order
  SmallVector<int64_t> sizes;    ///< of these loops
  SmallVector<int64_t> position; ///< of n, h, w and c among the input's dims

  int64_t channels() const { return sizes[6]; }
  bool isChannelsLast() const { return llvm::is_sorted(position); }
};

/// Where n, h, w and c lie, and which loops are r, s and c.
struct InputReads {
  int64_t position[4] = {-1, -1, -1, -1};
  int64_t terms[3] = {-1, -1, -1};
};

/// Nothing where the map reads anything else.
std::optional<InputReads> readsOfInput(AffineMap map) {
  InputReads reads;
  for (auto [at, expr] : llvm::enumerate(map.getResults())) {
    unsigned role, term = 2;
    AffineExpr inner = expr;
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr)) {
      auto parallel = dyn_cast<AffineDimExpr>(sum.getLHS());
      if (expr.getKind() != AffineExprKind::Add || !parallel ||
          (parallel.getPosition() != 1 && parallel.getPosition() != 2))
        return std::nullopt;
      role = parallel.getPosition();
      term = role - 1;
      inner = sum.getRHS();
    } else {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      role = dim && dim.getPosition() == 0 ? 0 : 3;
    }
    auto dim = dyn_cast<AffineDimExpr>(inner);
    if (!dim || reads.position[role] >= 0 ||
        (role != 0) != (dim.getPosition() >= 4))
      return std::nullopt;
    reads.position[role] = int64_t(at);
    if (role != 0)
      reads.terms[term] = dim.getPosition();
  }
  return llvm::is_contained(reads.terms, -1) ? std::nullopt
                                             : std::optional(reads);
}

std::optional<Convolution> matchConvolution(tile::ContractOp op) {
  auto input = cast<RankedTensorType>(op.getA().getType());
  AffineMap weights = op.getBMap();
  if (op.getDevice() || op.getParallel().size() != 4 ||
      op.getReduced().size() != 3 || input.getRank() != 4 ||
      !op.getAccumulatorType().isF32() || !input.getElementType().isF32() ||
      !getElementTypeOrSelf(op.getB().getType()).isF32())
    return std::nullopt;
  std::optional<InputReads> reads = readsOfInput(op.getAMap());
  if (!reads || !weights.isProjectedPermutation() ||
      weights.getNumResults() != 4 || weights.isFunctionOfDim(0) ||
      weights.isFunctionOfDim(1) || weights.isFunctionOfDim(2))
    return std::nullopt;
  Convolution convolution{
      op, {}, {}, SmallVector<int64_t>(ArrayRef(reads->position))};
  llvm::append_range(convolution.sizes, op.getParallel());
  SmallVector<AffineExpr> loops(7);
  for (unsigned i : {0u, 1u, 2u, 3u})
    loops[i] = getAffineDimExpr(i, op.getContext());
  for (auto [i, term] : llvm::enumerate(reads->terms)) {
    convolution.sizes.push_back(op.getReduced()[term - 4]);
    loops[term] = getAffineDimExpr(4 + i, op.getContext());
  }
  convolution.weights = weights.replaceDimsAndSymbols(loops, {}, 7, 0);
  for (unsigned i : {1u, 2u})
    if (convolution.sizes[3 + i] != 3 ||
        input.getDimSize(reads->position[i]) != convolution.sizes[i] + 2)
      return std::nullopt;
  return convolution;
}

/// The input as (n, h, w, c).
Value channelsLast(OpBuilder &b, Convolution &convolution) {
  Value input = convolution.op.getA();
  if (convolution.isChannelsLast())
    return input;
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> from(4);
  for (auto [to, at] : llvm::enumerate(convolution.position)) {
    shape.push_back(type.getDimSize(at));
    from[at] = b.getAffineDimExpr(to);
  }
  return copyElements(b, convolution.op.getLoc(), input,
                      AffineMap::get(4, 0, from, b.getContext()), shape)
      .getResult(0);
}

/// Predicted cycles of one worker.
struct Plan {
  double cycles;
  int64_t outputs;     ///< of a box along one dim; 0: without transforms
  int64_t perWorker;   ///< rows of boxes
  int64_t columns = 0; ///< of boxes; 0: all that there are
  int64_t scratch = 0; ///< bytes
};

/// `count` in parts of at most `most` that differ little.
int64_t evenPart(int64_t count, int64_t most) {
  return llvm::divideCeil(count, llvm::divideCeil(count, most));
}

/// With `openSizes`, nothing depends on what divides a size; what a worker
/// keeps for itself is held to `scratchBytes` where that is not 0.
Plan planFor(Convolution &convolution, const Core &core, int64_t outputs,
             bool openSizes, int64_t scratchBytes) {
  ArrayRef<int64_t> n = convolution.sizes;
  double channels = double(convolution.channels()), columns = double(n[3]);
  double lanes = double(core.vectorBytes) / 4;
  double rate = core.multiplyAddsPerCycle * lanes;
  if (outputs == 0) {
    double taps = 9 * channels * columns;
    return {taps * double(n[0] * n[1] * n[2]) / rate +
                taps * 4 / core.coldBytesPerCycle,
            0, 0};
  }
  Plan plan{0, outputs, 1};
  int64_t rows = llvm::divideCeil(n[1], outputs);
  int64_t across = llvm::divideCeil(n[2], outputs);
  double places = double((outputs + 2) * (outputs + 2));
  // As many rows of boxes as leave half of the worker's memory to weights.
  double boxBytes = places * (channels + columns) * 4;
  double most = double(core.farBytes / 2);
  if (openSizes || scratchBytes != 0) {
    if (scratchBytes != 0)
      most = std::min(most, double(scratchBytes));
    auto fitting = std::max<int64_t>(1, int64_t(most / boxBytes));
    plan.columns = evenPart(across, fitting);
    plan.perWorker =
        evenPart(rows, std::max<int64_t>(1, fitting / plan.columns));
    if (!openSizes)
      while (rows % plan.perWorker != 0)
        --plan.perWorker;
  } else {
    plan.columns = across;
    auto fitting = int64_t(most / (boxBytes * double(across)));
    plan.perWorker = std::min(std::max<int64_t>(1, fitting), rows);
    while (rows % plan.perWorker != 0)
      --plan.perWorker;
  }
  double workerBytes = boxBytes * double(plan.perWorker * plan.columns);
  plan.scratch = int64_t(workerBytes);
  double boxes = double(n[0] * rows * across);
  double products = places * boxes * channels * columns / rate;
  // Each vector of a box is loaded, added up about twice along each dim, and
  // stored.
  double transforms = boxes * places * (5 * channels + 4 * columns) / lanes;
  double weightBytes = places * channels * columns * 4;
  double passes = double(n[0] * llvm::divideCeil(rows, plan.perWorker) *
                         llvm::divideCeil(across, plan.columns));
  double streaming = weightBytes / core.coldBytesPerCycle;
  if (weightBytes > double(core.farBytes) / 2)
    streaming += (passes - 1) * weightBytes / core.beyondBytesPerCycle / 2;
  // What does not fit comes from beyond twice, and goes there twice.
  if (workerBytes > double(core.farBytes))
    streaming += double(rows / plan.perWorker) * workerBytes * 4 /
                 core.beyondBytesPerCycle;
  plan.cycles = products + transforms + streaming;
  if (!convolution.isChannelsLast())
    plan.cycles += 2 * double(byteSize(convolution.op.getA().getType())) /
                   core.coldBytesPerCycle;
  // Where all of a row is one worker's, it may be any number of boxes.
  if (!openSizes && plan.columns == across)
    plan.columns = 0;
  return plan;
}

struct FormWinograd : ashlar::impl::FormWinogradPassBase<FormWinograd> {
  using FormWinogradPassBase::FormWinogradPassBase;
  FormWinograd(const MachineModel &machine,
               std::shared_ptr<StrategyTuning> tuning, bool openSizes,
               int64_t scratchBytes, std::shared_ptr<FirstChoices> choices,
               bool sizesOnly)
      : machine(machine), tuning(std::move(tuning)), openSizes(openSizes),
        scratchBytes(scratchBytes), choices(std::move(choices)),
        sizesOnly(sizesOnly) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, machine);
  }
  void runOnOperation() override {
    SmallVector<Convolution> convolutions;
    getOperation().walk([&](tile::ContractOp op) {
      if (std::optional<Convolution> found = matchConvolution(op))
        convolutions.push_back(std::move(*found));
    });
    constexpr auto kind = FirstChoices::Kind::Winograd;
    constexpr auto ofCycles = FirstChoices::Kind::WinogradCycles;
    if (choices) {
      first = choices->find(getOperation(), kind);
      smallest = choices->find(getOperation(), ofCycles);
      if (smallest.size() != convolutions.size() * numbers)
        smallest.clear();
    }
    for (Convolution &convolution : convolutions) {
      size_t at = cycles.size();
      cycles.resize(at + numbers);
      note(rewrite(convolution, MutableArrayRef(cycles).drop_front(at)));
    }
    if (choices) {
      choices->note(getOperation(), kind, std::move(found));
      choices->note(getOperation(), ofCycles, std::move(cycles));
    }
  }

private:
  struct Choice {
    int64_t outputs = 0; ///< along a dim of a box; 0: without transforms
    int64_t columns = 0; ///< of a panel
    double error = 0;
  };

  /// What this convolution became with the first sizes.
  std::optional<Choice> firstChoice() const {
    size_t at = found.size();
    if (at + numbers > first.size())
      return std::nullopt;
    return Choice{first[at], first[at + 1],
                  llvm::bit_cast<double>(first[at + 2])};
  }
  void note(const Choice &choice) {
    llvm::append_values(found, choice.outputs, choice.columns,
                        llvm::bit_cast<int64_t>(choice.error));
  }

  /// What it takes at the smallest sizes; 0: not known.
  int64_t smallestCycles(int64_t outputs) const {
    size_t at = found.size() + outputs / 2;
    return at < smallest.size() ? smallest[at] : 0;
  }
  /// Of open sizes: whether `plan` is hardly slower at the largest sizes than
  /// `best` and faster at the smallest.
  bool suitsAllSizes(const Plan &plan, const Plan &best) const {
    constexpr double hardly = 1.15;
    int64_t own = smallestCycles(plan.outputs),
            other = smallestCycles(best.outputs);
    return own != 0 && own < other && plan.cycles <= hardly * best.cycles;
  }

  /// Says what it became; notes what it takes `cycles`.
  Choice rewrite(Convolution &convolution, MutableArrayRef<int64_t> cycles) {
    tile::ContractOp op = convolution.op;
    std::optional<Choice> before = firstChoice();
    TypedAttr constant = constantBehindReshapes(op.getB());
    auto refuse = [&](const std::string &why) {
      remark::missed(op.getLoc(), about(op, "Winograd", "winograd"))
          << "is computed directly: " << remark::metric("Reason", why);
      return Choice();
    };
    if (!constant)
      return refuse("its weights are not constant");
    Core core(machine, op);
    Weights weights(constant, convolution.weights, convolution.sizes);
    if (!weights.isValid())
      return refuse("its weights cannot be read");
    // Worth its weights only where time is gained.
    Plan best = planFor(convolution, core, 0, openSizes, 0);
    const Plan plain = best;
    const double direct = best.cycles;
    double error = 0;
    cycles[0] = int64_t(direct);
    std::string tried;
    best.cycles *= 0.9;
    for (int64_t outputs : {2, 4}) {
      Plan plan = planFor(convolution, core, outputs, openSizes, scratchBytes);
      cycles[outputs / 2] = int64_t(plan.cycles);
      if (wantsRemarks(op))
        tried +=
            llvm::formatv("; F({0},3) would take {1:f0}", outputs, plan.cycles);
      if (before ? before->outputs != outputs : plan.cycles >= best.cycles)
        continue;
      double estimate =
          before ? before->error
                 : estimateError(tile::winogradTransform(outputs), weights);
      if (estimate > maximumError) {
        tried += llvm::formatv(" with an error of {0:e1}, over {1:e1}",
                               estimate, maximumError);
        continue;
      }
      if (!before && best.outputs != 0 && suitsAllSizes(best, plan))
        continue;
      best = plan;
      error = estimate;
    }
    if (!before && best.outputs != 0 && suitsAllSizes(plain, best))
      return refuse(llvm::formatv(
          "sizes are open, and for the smallest {0} cycles directly are fewer "
          "than {1}; for the largest, {2:f0} are hardly more than {3:f0}",
          smallestCycles(0), smallestCycles(best.outputs), direct,
          best.cycles));
    if (best.outputs == 0)
      return refuse(llvm::formatv("no transform gains a tenth within the "
                                  "error: {0:f0} cycles directly{1}",
                                  direct, tried));
    remark::passed(op.getLoc(), about(op, "Winograd", "winograd"))
        << "F(" << remark::metric("Outputs", best.outputs)
        << ",3): " << remark::metric("Cycles", int64_t(best.cycles))
        << " cycles predicted instead of "
        << remark::metric("DirectCycles", int64_t(direct))
        << ", error on random inputs "
        << remark::metric("Error", llvm::formatv("{0:e1}", error).str());
    explainScratch(convolution, core, best);
    int64_t columns = replace(convolution, best, weights, error,
                              before ? before->columns : 0);
    return {best.outputs, columns, error};
  }

  /// What it costs that a worker may not keep as much as is fastest.
  void explainScratch(Convolution &convolution, const Core &core,
                      const Plan &plan) {
    tile::ContractOp op = convolution.op;
    if (scratchBytes == 0 || !wantsRemarks(op))
      return;
    Plan fastest = planFor(convolution, core, plan.outputs, openSizes, 0);
    if (plan.scratch >= fastest.scratch)
      return;
    remark::passed(op.getLoc(), about(op, "Scratch", "schedule"))
        << "works on fewer tiles at once, so that a worker needs "
        << remark::metric("Bytes", plan.scratch) << " bytes of scratch instead "
        << "of " << remark::metric("BytesBefore", fastest.scratch)
        << "; predicted are " << remark::metric("Cycles", int64_t(plan.cycles))
        << " cycles instead of "
        << remark::metric("CyclesBefore", int64_t(fastest.cycles));
  }

  /// With panels of `wanted` columns where that is not 0. Says how many they
  /// have.
  int64_t replace(Convolution &convolution, const Plan &plan,
                  const Weights &weights, double error, int64_t wanted) {
    tile::ContractOp op = convolution.op;
    OpBuilder b(op);
    Location location = op.getLoc();
    Type element = b.getF32Type();
    ArrayRef<int64_t> n = op.getParallel();
    const WinogradTransform &transform = tile::winogradTransform(plan.outputs);
    int64_t places = transform.places() * transform.places();
    int64_t columns =
        plan.columns != 0 ? plan.columns : llvm::divideCeil(n[2], plan.outputs);
    int64_t count = plan.perWorker * columns;
    // The products alone, for the choice of their strategy.
    auto type =
        RankedTensorType::get({places, weights.channels, n[3]}, element);
    Value taps = arith::ConstantOp::create(
        b, op.getB().getLoc(),
        DenseResourceElementsAttr::get(
            type, "winograd",
            sizesOnly ? UnmanagedAsmResourceBlob::allocateWithAlign({}, 64)
                      : transformWeights(transform, weights)));
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
        /*unrounded=*/Value(), b.getDenseI64ArrayAttr({places, count, n[3]}),
        b.getDenseI64ArrayAttr({weights.channels}),
        b.getAffineMapArrayAttr(maps), UnitAttr(), UnitAttr(), TypedAttr(),
        tile::StrategyAttr(), IntegerAttr());
    products.getBody().emplaceBlock().addArgument(element, location);
    chooseStrategy(products, machine, tuning.get(), openSizes, wanted);
    tile::StrategyAttr chosen = products.getStrategyAttr();
    SmallVector<Attribute> kept(op.getMaps().begin() + 2, op.getMaps().end());
    auto winograd = tile::WinogradOp::create(
        b, location, op.getResultTypes(), channelsLast(b, convolution),
        products.getB(), op.getEpilogue(), op.getInit(), op.getParallelAttr(),
        b.getI64IntegerAttr(plan.outputs), b.getArrayAttr(kept),
        op.getPadAttr(), b.getF64FloatAttr(error),
        b.getDenseI64ArrayAttr({plan.perWorker, plan.columns}),
        chosen.inPlace());
    winograd->setAttr(exec::cyclesAttrName,
                      b.getI64IntegerAttr(int64_t(plan.cycles)));
    winograd->setAttr(exec::boundAttrName, b.getStringAttr("compute"));
    winograd.getBody().takeBody(op.getBody());
    op->replaceAllUsesWith(winograd);
    op.erase();
    products.erase();
    return chosen.getTile(2);
  }

  MachineModel machine = MachineModel::generic();
  std::shared_ptr<StrategyTuning> tuning;
  bool openSizes = false;
  int64_t scratchBytes = 0;
  std::shared_ptr<FirstChoices> choices;
  bool sizesOnly = false;
  static constexpr size_t numbers = FirstChoices::winogradNumbers;
  std::vector<int64_t> first, found, smallest, cycles;
};
} // namespace

std::unique_ptr<Pass> ashlar::createFormWinogradPass(
    const MachineModel &machine, std::shared_ptr<StrategyTuning> tuning,
    bool openSizes, int64_t scratchBytes, std::shared_ptr<FirstChoices> choices,
    bool sizesOnly) {
  return std::make_unique<FormWinograd>(machine, std::move(tuning), openSizes,
                                        scratchBytes, std::move(choices),
                                        sizesOnly);
}
