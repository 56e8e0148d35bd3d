// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machine.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Refusal.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace ashlar;
using interpret::Number;
using interpret::Numbers;

namespace ashlar {
#define GEN_PASS_DEF_INTERPRETKERNELSPASS
#include "ashlar/Interpret/Passes.h.inc"
} // namespace ashlar

/// The elements from the first to the last of a memref, or nothing where they
/// are not known, too many or no numbers.
static std::optional<int64_t> reachOf(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!memory || !memory.hasStaticShape() ||
      !memory.getElementType().isIntOrIndexOrFloat() ||
      failed(memory.getStridesAndOffset(strides, offset)) || offset != 0)
    return std::nullopt;
  double reach = 1;
  for (auto [size, stride] : llvm::zip(memory.getShape(), strides)) {
    if (size == 0)
      return 0;
    if (stride < 0)
      return std::nullopt; // open, or backwards
    reach += double(size - 1) * stride;
  }
  if (reach > interpret::mostElements)
    return std::nullopt;
  return int64_t(reach);
}

/// Why a function cannot be run.
static Refusal whyNot(func::FuncOp function, uint64_t most) {
  for (Type type : function.getArgumentTypes())
    if (!reachOf(type))
      return "expected arguments of memrefs of numbers, at most " +
             std::to_string(interpret::mostElements) +
             ", whose sizes and strides are known";
  std::string unknown;
  function.getBody().walk([&](Operation *op) {
    if (!interpret::isKnown(*op) ||
        llvm::any_of(op->getRegions(), [](Region &region) {
          return !region.empty() && !region.hasOneBlock();
        }))
      unknown = op->getName().getStringRef();
  });
  if (!function.getBody().hasOneBlock())
    unknown = "cf.br";
  if (!unknown.empty())
    return "holds '" + unknown + "', which is nothing that can be interpreted";
  uint64_t points = 0;
  auto count = [&](ArrayRef<int64_t> sizes) {
    double all = 1;
    for (int64_t size : sizes)
      all *= ShapedType::isDynamic(size) ? 1 : size;
    points += uint64_t(std::min(all, 1e18));
  };
  function.walk([&](Operation *op) {
    if (auto contract = dyn_cast<tile::ContractOp>(op)) {
      SmallVector<int64_t> sizes(contract.getParallel());
      llvm::append_range(sizes, contract.getReduced());
      count(sizes);
    } else if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
      count(loops.getStaticLoopRanges());
    }
  });
  if (points > most)
    return "has " + std::to_string(points) +
           " products and points, more than " + std::to_string(most);
  return std::nullopt;
}

/// Floats of -1 to 1. Wide integers are 0 or 1, since they may be indices.
static std::vector<Numbers> draw(func::FuncOp function, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Numbers> all;
  for (Type argument : function.getArgumentTypes()) {
    Type element = cast<MemRefType>(argument).getElementType();
    Numbers &numbers = all.emplace_back(*reachOf(argument));
    for (Number &number : numbers)
      if (isa<FloatType>(element))
        number.real = interpret::roundTo(
            element, double(int64_t(random() % 4001) - 2000) / 2000);
      else
        number.whole = interpret::wrapTo(
            element, element.isIndex() || element.getIntOrFloatBitWidth() > 16
                         ? random() % 2
                         : random());
  }
  return all;
}

namespace {
/// How far a run is from the reference.
struct Difference {
  double most = 0; ///< relative to the largest number of its buffer
  std::string place;
};

struct InterpretKernels
    : ashlar::impl::InterpretKernelsPassBase<InterpretKernels> {
  using InterpretKernelsPassBase::InterpretKernelsPassBase;

  interpret::TellOutcome tell;

  LogicalResult initialize(MLIRContext *context) override {
    if (failed(parsePassPipeline(through, pipeline)))
      return failure();
    // Passes nested in func.func(..) would find no function in a function.
    for (Pass &pass : pipeline)
      if (pass.getArgument().empty())
        return emitError(UnknownLoc::get(context),
                         "expected passes on functions in 'through', without "
                         "func.func(..) around them");
    if (schedules < 1 || !(tolerance >= 0))
      return emitError(UnknownLoc::get(context),
                       "expected one schedule or more and a tolerance of 0 or "
                       "more");
    return success();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    InterpretKernelsPassBase::getDependentDialects(registry);
    OpPassManager passes("func.func");
    if (succeeded(parsePassPipeline(through, passes, llvm::nulls())))
      passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    // Of a program, its kernels alone.
    bool isProgram = getOperation()->hasAttr(exec::targetAttrName);
    llvm::StringSet<> bodies;
    getOperation().walk([&](exec::KernelOp kernel) {
      isProgram = true;
      if (std::optional<StringRef> body = kernel.getBody())
        bodies.insert(*body);
    });
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      if (!function.isExternal() &&
          (!isProgram || bodies.contains(function.getName())))
        functions.push_back(function);
    });
    for (func::FuncOp function : functions) {
      Refusal why = whyNot(function, most);
      if (tell)
        tellOf(function, why.value_or(""));
      else if (why)
        emitRemark(function.getLoc())
            << "'" << function.getName() << "' is left out: " << *why;
      else if (failed(check(function)))
        signalPassFailure();
    }
    markAllAnalysesPreserved();
  }

  /// Runs one that is not left out, and says what became of it.
  void tellOf(func::FuncOp function, const std::string &leftOut) {
    interpret::KernelOutcome outcome;
    outcome.name = function.getName();
    outcome.leftOut = leftOut;
    if (leftOut.empty()) {
      ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &said) {
        if (said.getSeverity() == DiagnosticSeverity::Error &&
            outcome.wrong.empty())
          outcome.wrong = said.str();
      });
      if (failed(check(function)) && outcome.wrong.empty())
        outcome.wrong = "cannot be run";
      outcome.difference = found;
    }
    tell(outcome);
  }

  LogicalResult check(func::FuncOp function) {
    found = 0;
    func::FuncOp reference;
    if (auto name = function->getAttrOfType<FlatSymbolRefAttr>("reference")) {
      reference =
          SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(function, name);
      if (!reference || whyNot(reference, most) ||
          reference.getArgumentTypes() != function.getArgumentTypes()) {
        InFlightDiagnostic error =
            function.emitError("expected a reference that can be run, with the "
                               "same arguments, found ")
            << name;
        if (reference)
          error.attachNote(reference.getLoc()) << "the reference is here";
        return error;
      }
    }
    if (through.empty())
      return compare(function, reference);
    OwningOpRef<func::FuncOp> clone = function.clone();
    Block &beside = *function->getBlock();
    clone->setName((function.getName() + "__through").str());
    func::FuncOp expanded = *clone;
    beside.getOperations().insert(std::next(function->getIterator()),
                                  clone.release());
    LogicalResult result = runPipeline(pipeline, expanded);
    if (succeeded(result))
      result = compare(expanded, reference ? reference : function);
    expanded.erase();
    return result;
  }

  /// Runs `function` under all schedules, beside `reference` if there is one.
  LogicalResult compare(func::FuncOp function, func::FuncOp reference) {
    std::vector<Numbers> expected = draw(function, seed);
    if (reference && failed(interpret::run(reference, expected, seed)))
      return failure();
    Difference worst;
    for (unsigned i = 0; i != schedules; ++i) {
      std::vector<Numbers> found = draw(function, seed);
      if (failed(interpret::run(function, found, seed + i)))
        return emitRemark(function.getLoc())
                   << "'" << function.getName() << "': with seed=" << seed + i,
               failure();
      if (!reference && i == 0)
        expected = found;
      for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
        look(cast<MemRefType>(type).getElementType(), number, expected[number],
             found[number], worst);
      if (worst.most > tolerance) {
        InFlightDiagnostic error =
            function.emitError("expected what ")
            << (reference ? reference.getName() : "the first schedule")
            << " gives, found " << worst.place << ", with seed=" << seed + i;
        if (reference)
          error.attachNote(reference.getLoc()) << "the reference is here";
        return error;
      }
    }
    found = worst.most;
    emitRemark(function.getLoc())
        << "'" << function.getName() << "' interpreted under "
        << schedules.getValue() << " schedules: largest difference "
        << llvm::formatv("{0:e1}", worst.most).str();
    return success();
  }

  static void look(Type type, size_t argument, const Numbers &expected,
                   const Numbers &found, Difference &worst) {
    bool isReal = isa<FloatType>(type);
    double largest = 1e-30, step = 0;
    if (isReal) {
      // What rounding to the nearest may do.
      step = std::ldexp(1.0, -int(cast<FloatType>(type).getFPMantissaWidth()));
      for (Number number : expected)
        if (std::isfinite(number.real))
          largest = std::max(largest, std::fabs(number.real));
    }
    for (size_t i = 0; i != expected.size(); ++i) {
      double difference;
      if (!isReal) {
        difference = expected[i].whole == found[i].whole ? 0 : INFINITY;
      } else {
        double x = expected[i].real, y = found[i].real;
        if (x == y || (std::isnan(x) && std::isnan(y)))
          continue;
        // One rounding of the type each is no difference.
        difference = std::fabs(x - y) <= 2 * step * std::fabs(x)
                         ? 0
                         : std::fabs(x - y) / largest;
        if (std::isnan(difference))
          difference = INFINITY;
      }
      if (!(difference > worst.most))
        continue;
      worst.most = difference;
      worst.place = isReal ? llvm::formatv("{0:e6} in place of {1:e6}",
                                           found[i].real, expected[i].real)
                                 .str()
                           : llvm::formatv("{0} in place of {1}",
                                           found[i].whole, expected[i].whole)
                                 .str();
      worst.place += " at element " + std::to_string(i) + " of argument " +
                     std::to_string(argument);
    }
  }

  OpPassManager pipeline{"func.func"};
  double found = 0; ///< the largest difference of the last function
};
} // namespace

std::unique_ptr<Pass>
interpret::createInterpretKernelsPass(InterpretKernelsPassOptions options,
                                      TellOutcome tell) {
  auto pass = std::make_unique<InterpretKernels>(std::move(options));
  pass->tell = std::move(tell);
  return pass;
}
