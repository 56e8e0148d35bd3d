// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SystolicContracts.h"
#include "LowerKernel.h"
#include "Lowering.h"
#include "PackColumns.h"
#include "ReadContract.h"
#include "Strategies.h"
#include "StreamOps.h"
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "systolic/Function.h"
#include "systolic/Numbers.h"
#include <random>

using namespace mlir;
using namespace ashlar;
using namespace ashlar::systolic::test;

//===-- As text -----------------------------------------------------------===//

static std::string join(const std::vector<int64_t> &sizes, const char *between,
                        const char *before = "") {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? before : between) + std::to_string(size);
  return text;
}

static std::string typeOf(const Operand &operand) {
  std::string text = "memref<";
  for (int64_t size : operand.shape)
    text += std::to_string(size) + "x";
  return text + operand.type + ">";
}

std::string Contract::text() const {
  bool isBF16 = input == "bf16";
  std::string sum = isBF16 ? "f32" : "i32";
  std::string arguments = "%a: " + typeOf(a) + ", %b: " + typeOf(b);
  std::string epilogues, types, blockArguments = "%sum: " + sum;
  std::string all = parallel + ", " + reduced;
  auto map = [](const std::string &dims, const std::string &results) {
    return "affine_map<(" + dims + ") -> (" + results + ")>";
  };
  std::string maps = map(all, a.map) + ", " + map(all, b.map);
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string name = "%e" + std::to_string(i);
    arguments += ", " + name + ": " + typeOf(operands[i]);
    epilogues += (i ? ", " : "") + name;
    types += (i ? ", " : "") + typeOf(operands[i]);
    blockArguments += ", %" + std::to_string(i) + ": " + operands[i].type;
    maps += ", " + map(parallel, operands[i].map);
  }
  maps += ", " + map(parallel, result.map);
  arguments += ", %c: " + typeOf(result);
  std::string text = "func.func @kernel(" + arguments + ") {\n  tile.contract";
  text += " a(%a : " + typeOf(a) + ") b(%b : " + typeOf(b) + ")";
  if (!operands.empty())
    text += " epilogue(" + epilogues + " : " + types + ")";
  text += " outs(%c : " + typeOf(result) + ") attributes {parallel = array<i64";
  text += join(parallelSizes, ", ", ": ") + ">, reduced = array<i64";
  text += join(reducedSizes, ", ", ": ") + ">, maps = [" + maps + "]" + pad;
  if (sumBits)
    text += ", tile.sum_bits = " + std::to_string(sumBits) + " : i64";
  if (hasOnes)
    text += ", tile.ones";
  text += "} {\n  ^bb0(" + blockArguments + "):\n" + body;
  text += body.empty() ? "    tile.yield %sum : " : "    tile.yield %z : ";
  text += result.type + "\n  }\n  return\n}\n";
  return text;
}

//===-- Kinds -------------------------------------------------------------===//

/// The sum, as inputs or as it is.
static void storeSums(Contract &contract, bool isWide) {
  bool isBF16 = contract.input == "bf16";
  contract.result.type = isBF16 ? (isWide ? "f32" : "bf16") : "i32";
  if (isBF16 && !isWide)
    contract.body = "    %z = arith.truncf %sum : f32 to bf16\n";
  contract.epilogue = [](double sum, const std::vector<double> &) {
    return sum;
  };
  contract.relative = isBF16 && !isWide ? 1.0 / 250 : 0;
  contract.ofTerms = isBF16 ? 1e-5 : 0;
}

Contract ashlar::systolic::test::product(const std::string &type, int64_t m,
                                         int64_t n, int64_t k,
                                         bool isTransposed) {
  Contract contract;
  contract.input = type;
  contract.parallel = "m, n";
  contract.reduced = "k";
  contract.parallelSizes = {m, n};
  contract.reducedSizes = {k};
  contract.a = {"m, k", {m, k}, type};
  contract.b = isTransposed ? Operand{"n, k", {n, k}, type}
                            : Operand{"k, n", {k, n}, type};
  contract.result = {"m, n", {m, n}, ""};
  storeSums(contract, false);
  return contract;
}

Contract ashlar::systolic::test::batched(const std::string &type, int64_t count,
                                         int64_t m, int64_t n, int64_t k,
                                         bool isTransposed) {
  Contract contract = product(type, m, n, k, isTransposed);
  contract.parallel = "h, m, n";
  contract.parallelSizes = {count, m, n};
  // Heads lie side by side in A, as attention has them.
  contract.a = {"m, h, k", {m, count, k}, type};
  contract.b = isTransposed ? Operand{"h, n, k", {count, n, k}, type}
                            : Operand{"k, h, n", {k, count, n}, type};
  contract.result.map = "h, m, n";
  contract.result.shape = {count, m, n};
  return contract;
}

Contract ashlar::systolic::test::convolution(const std::string &type,
                                             const Convolution &c) {
  Contract contract;
  contract.input = type;
  contract.parallel = "n, h, w, o";
  contract.reduced = "r, s, c";
  int64_t reachH = (c.filterHeight - 1) * c.dilation + 1;
  int64_t reachW = (c.filterWidth - 1) * c.dilation + 1;
  int64_t oh = (c.height - reachH) / c.stride + 1;
  int64_t ow = (c.width - reachW) / c.stride + 1;
  contract.parallelSizes = {c.images, oh, ow, c.filters};
  contract.reducedSizes = {c.filterHeight, c.filterWidth, c.channels};
  auto index = [&](const char *at, const char *tap) {
    return std::string(at) + " * " + std::to_string(c.stride) + " + " + tap +
           " * " + std::to_string(c.dilation);
  };
  contract.a = {"n, " + index("h", "r") + ", " + index("w", "s") + ", c",
                {c.images, c.height, c.width, c.channels},
                type};
  contract.b = {"r, s, c, o",
                {c.filterHeight, c.filterWidth, c.channels, c.filters},
                type};
  std::string off = " + " + std::to_string(c.margin);
  contract.result = {
      "n, h" + off + ", w" + off + ", o",
      {c.images, oh + 2 * c.margin, ow + 2 * c.margin, c.filters},
      ""};
  storeSums(contract, false);
  if (c.margin)
    contract.pad = type == "bf16" ? ", pad = 0.0 : bf16" : ", pad = 0 : i32";
  return contract;
}

Contract ashlar::systolic::test::depthwise(const std::string &type,
                                           const Convolution &c) {
  Contract contract = convolution(type, c);
  contract.reduced = "r, s";
  contract.reducedSizes = {c.filterHeight, c.filterWidth};
  contract.parallelSizes.back() = c.channels;
  contract.a.map.back() = 'o';
  contract.b = {"r, s, o", {c.filterHeight, c.filterWidth, c.channels}, type};
  contract.result.shape.back() = c.channels;
  return contract;
}

Contract ashlar::systolic::test::withBody(
    Contract contract, const std::string &body,
    std::function<double(double, const std::vector<double> &)> epilogue,
    std::vector<Operand> operands) {
  contract.operands = std::move(operands);
  contract.body = body;
  if (contract.result.type == "bf16")
    contract.body += "    %z = arith.truncf %f : f32 to bf16\n";
  contract.epilogue = std::move(epilogue);
  return contract;
}

Contract ashlar::systolic::test::withBias(Contract contract) {
  bool isBF16 = contract.input == "bf16";
  std::string type = isBF16 ? "f32" : "i32";
  // The last dim of the result is that of the columns.
  std::string column = contract.parallel.substr(contract.parallel.size() - 1);
  Operand bias = {column, {contract.parallelSizes.back()}, type};
  if (isBF16)
    return withBody(contract,
                    "    %zero = arith.constant 0.0 : f32\n"
                    "    %biased = arith.addf %sum, %0 : f32\n"
                    "    %f = arith.maximumf %biased, %zero : f32\n",
                    [](double sum, const std::vector<double> &operands) {
                      return std::max(0.0, sum + operands[0]);
                    },
                    {bias});
  return withBody(contract, "    %z = arith.addi %sum, %0 : i32\n",
                  [](double sum, const std::vector<double> &operands) {
                    return sum + operands[0];
                  },
                  {bias});
}

//===-- As commands -------------------------------------------------------===//

static bool isSame(const systolic::Kernel &one, const systolic::Kernel &other) {
  return llvm::equal(
      one.commands, other.commands,
      [](const systolic::Command &x, const systolic::Command &y) {
        return x.funct == y.funct && x.unit == y.unit && x.rs1 == y.rs1 &&
               x.rs2 == y.rs2;
      });
}

/// The stream of a part once it has been a strategy.
static std::string writeByStrategy(tile::ContractOp contract,
                                   const systolic::Machine &machine,
                                   systolic::Part part, uint32_t bindings,
                                   systolic::Kernel &kernel) {
  systolic::Contraction whole, form;
  contract.setStrategyAttr(strategyOf(contract, part, machine));
  if (failed(verify(contract)))
    return "its strategy is none of the contraction";
  Refusal why = readContract(contract, machine, whole);
  if (!why)
    why = readStrategy(contract.getStrategyAttr(), whole, machine, form, part);
  if (why)
    return *why;
  part.contraction = &form;
  return writeParts({part}, machine, "kernel", bindings, kernel);
}

/// The stream that a search with these options finds.
static FailureOr<systolic::Kernel>
lowerWith(func::FuncOp function, const systolic::Machine &machine,
          int64_t beside, const systolic::SearchOptions &options,
          Compiled &compiled) {
  std::string &error = compiled.error;
  systolic::Contraction contraction;
  auto contract = *function.getOps<tile::ContractOp>().begin();
  error = systolic::readContract(contract, machine, contraction).value_or("");
  if (!error.empty())
    return failure();
  if (beside) {
    auto packed = contraction.isDepthwise
                      ? systolic::packLanes(contraction, beside)
                      : systolic::packColumns(contraction, machine, beside);
    if (!packed) {
      error = "its results cannot stand side by side";
      return failure();
    }
    contraction = *packed;
  }
  systolic::Kernel kernel, again;
  systolic::Chosen chosen;
  error = chooseParts({contraction}, {"kernel"}, machine, options, std::nullopt,
                      chosen);
  compiled.alternatives = std::move(chosen.lowered.alternatives);
  const unsigned bindings = function.getNumArguments();
  if (error.empty())
    error = writeParts(chosen.parts, machine, "kernel", bindings, kernel);
  if (error.empty() && !contraction.isSum) {
    error =
        writeByStrategy(contract, machine, chosen.parts[0], bindings, again);
    if (error.empty() && !isSame(kernel, again))
      error = "the stream is another one by its strategy";
  }
  if (!error.empty())
    return failure();
  return kernel;
}

Compiled ashlar::systolic::test::compile(const Contract &contract,
                                         const Machine &machine, int64_t beside,
                                         const SearchOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<affine::AffineDialect, func::FuncDialect, scf::SCFDialect,
                      arith::ArithDialect, math::MathDialect,
                      memref::MemRefDialect, tile::TileDialect,
                      systolicir::SystolicDialect>();
  Compiled compiled;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    compiled.error += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(contract.text(), &context);
  if (!module)
    return compiled;
  auto function = *module->getOps<func::FuncOp>().begin();
  auto kernel = lowerWith(function, machine, beside, options, compiled);
  if (failed(kernel))
    return compiled;
  // Through the dialect and back.
  auto contracts = llvm::to_vector(function.getOps<tile::ContractOp>());
  OpBuilder b(contracts[0]);
  writeOps(b, contracts[0].getLoc(), *kernel, function.getArguments());
  contracts[0].erase();
  if (failed(verify(*module)))
    return compiled;
  auto again = readOps(function);
  if (failed(again))
    return compiled;
  if (!isSame(*again, *kernel))
    compiled.error = "the stream is another one when read from its ops";
  compiled.kernel = std::move(*again);
  return compiled;
}

//===-- On numbers --------------------------------------------------------===//

namespace {
/// Bytes of an operand.
struct Memory {
  std::string type;
  std::vector<uint8_t> bytes;

  double at(int64_t i) const {
    if (type == "bf16")
      return systolic::fromBF16(load<uint16_t>(i));
    if (type == "f32")
      return load<float>(i);
    if (type == "i8")
      return load<int8_t>(i);
    return load<int32_t>(i);
  }
  void set(int64_t i, double value) {
    if (type == "bf16")
      store(i, systolic::toBF16(float(value)));
    else if (type == "f32")
      store(i, float(value));
    else if (type == "i8")
      store(i, int8_t(value));
    else
      store(i, int32_t(value));
  }
  template <typename T> T load(int64_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + size_t(i) * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void store(int64_t i, T value) {
    std::memcpy(bytes.data() + size_t(i) * sizeof(T), &value, sizeof(T));
  }
};

int64_t widthOf(const std::string &type) {
  return type == "i8" ? 1 : type == "bf16" ? 2 : 4;
}

int64_t count(const std::vector<int64_t> &shape) {
  int64_t all = 1;
  for (int64_t size : shape)
    all *= size;
  return all;
}

/// Where an operand's element lies: a constant, and a step for each dim.
struct Index {
  int64_t first = 0;
  std::vector<int64_t> steps;

  int64_t at(const std::vector<int64_t> &point) const {
    int64_t index = first;
    for (size_t d = 0; d < steps.size(); ++d)
      index += steps[d] * point[d];
    return index;
  }
};

Index indexOf(const Operand &operand, const std::string &dims,
              MLIRContext &context) {
  auto attribute = cast<AffineMapAttr>(parseAttribute(
      "affine_map<(" + dims + ") -> (" + operand.map + ")>", &context));
  AffineMap map = attribute.getValue();
  auto flat = [&](SmallVector<int64_t> point) {
    int64_t index = 0;
    SmallVector<int64_t> place = map.compose(point);
    for (auto [at, size] : llvm::zip(place, operand.shape))
      index = index * size + at;
    return index;
  };
  SmallVector<int64_t> zero(map.getNumDims(), 0);
  Index index;
  index.first = flat(zero);
  for (unsigned d = 0; d < map.getNumDims(); ++d) {
    SmallVector<int64_t> one = zero;
    one[d] = 1;
    index.steps.push_back(flat(one) - index.first);
  }
  return index;
}

bool next(std::vector<int64_t> &point, const std::vector<int64_t> &sizes,
          size_t from) {
  for (size_t d = sizes.size(); d-- > from;) {
    if (++point[d] < sizes[d])
      return true;
    point[d] = 0;
  }
  return false;
}
} // namespace

std::string ashlar::systolic::test::runAndCompare(const Contract &contract,
                                                  const Machine &machine,
                                                  const Compiled &compiled,
                                                  uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Memory> memories;
  auto make = [&](const Operand &operand) -> Memory & {
    Memory memory{operand.type, {}};
    int64_t size = count(operand.shape);
    memory.bytes.resize(size_t(size * widthOf(operand.type)));
    std::normal_distribution<double> normal(0, operand.scale);
    std::uniform_int_distribution<int> byte(-128, 127);
    for (int64_t i = 0; i < size; ++i)
      memory.set(i, operand.value ? *operand.value
                    : operand.type[0] == 'i'
                        ? double(byte(random)) * operand.scale
                        : normal(random));
    memories.push_back(std::move(memory));
    return memories.back();
  };
  make(contract.a);
  make(contract.b);
  for (const Operand &operand : contract.operands)
    make(operand);
  make(contract.result);

  Vector<Binding> bindings;
  for (Memory &memory : memories)
    bindings.push_back({memory.bytes.data(), memory.bytes.size(),
                        &memory == &memories.back()});
  Function half(machine);
  half.start(bindings);
  Decoder decoder(machine, compiled.kernel);
  Action action;
  while (decoder.next(action))
    if (!half.execute(action))
      return half.error();
  if (decoder.failed())
    return decoder.error();

  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string all = contract.parallel + ", " + contract.reduced;
  Index a = indexOf(contract.a, all, context);
  Index b = indexOf(contract.b, all, context);
  Index result = indexOf(contract.result, contract.parallel, context);
  std::vector<Index> operands;
  for (const Operand &operand : contract.operands)
    operands.push_back(indexOf(operand, contract.parallel, context));
  std::vector<int64_t> sizes = contract.parallelSizes;
  size_t parallel = sizes.size();
  sizes.insert(sizes.end(), contract.reducedSizes.begin(),
               contract.reducedSizes.end());
  // As numbers, once.
  auto widen = [](const Memory &memory, const Operand &operand) {
    std::vector<double> values(size_t(count(operand.shape)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = memory.at(int64_t(i));
    return values;
  };
  std::vector<double> av = widen(memories[0], contract.a);
  std::vector<double> bv = widen(memories[1], contract.b);
  std::vector<bool> isComputed(size_t(count(contract.result.shape)), false);
  std::vector<int64_t> point(sizes.size(), 0);
  const Memory &found = memories.back();
  int64_t inner = sizes.back();
  int64_t stepA = a.steps.back(), stepB = b.steps.back();
  do {
    double sum = 0, terms = 0;
    do {
      int64_t atA = a.at(point), atB = b.at(point);
      for (int64_t i = 0; i < inner; ++i) {
        double term = av[size_t(atA + i * stepA)] * bv[size_t(atB + i * stepB)];
        sum += term;
        terms += std::fabs(term);
      }
      point.back() = inner - 1;
    } while (next(point, sizes, parallel));
    std::vector<double> values;
    for (size_t i = 0; i < operands.size(); ++i)
      values.push_back(memories[2 + i].at(operands[i].at(point)));
    double expected = contract.epilogue(sum, values);
    int64_t at = result.at(point);
    isComputed[size_t(at)] = true;
    double value = found.at(at);
    double allowed =
        contract.relative * std::fabs(expected) + contract.ofTerms * terms;
    if (!(std::fabs(value - expected) <= allowed))
      return "element " + std::to_string(at) + ": expected " +
             std::to_string(expected) + ", found " + std::to_string(value);
    std::vector<int64_t> outer(point.begin(), point.begin() + long(parallel));
    if (!next(outer, contract.parallelSizes, 0))
      break;
    std::copy(outer.begin(), outer.end(), point.begin());
    std::fill(point.begin() + long(parallel), point.end(), 0);
  } while (true);
  for (size_t i = 0; i < isComputed.size(); ++i)
    if (!isComputed[i] && !contract.pad.empty() && found.at(int64_t(i)) != 0)
      return "element " + std::to_string(i) +
             ", which is padding: expected 0, found " +
             std::to_string(found.at(int64_t(i)));
  return "";
}
