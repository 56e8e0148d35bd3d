// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index of a module: everything but the bytes of weights and code, as the
// tables of runtime/schema/module.fbs. Reads `exec` programs after the stage
// `schedule`, binaries and the sections' places; decides nothing.
#include "IndexBuilder.h"
#include "IndexTypes.h"
#include "PieceShapes.h"
#include "PredictTime.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Machine/MachineFile.h"
#include "ashlar/Support/ModelNodes.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/runtime/module_format.h"
#include "ashlar/runtime/module_generated.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;
using namespace ashlar;
using flatbuffers::Offset;

namespace {
class IndexBuilder {
public:
  IndexBuilder(const ModulePieces &pieces, const WeightTable &weights)
      : pieces(pieces), weights(weights) {
    // Numbers that happen to be zero must take their room, too.
    b.ForceDefaults(true);
  }

  SmallVector<char, 0> build(ArrayRef<SectionPlace> sections,
                             const Provenance &provenance);

private:
  /// Null where the file has its bytes.
  Offset<fb::RandomWeight> randomWeight(const WeightTable::Weight &weight) {
    if (!weight.isRandom)
      return 0;
    WeightBytes bytes(weight.value);
    SmallVector<tile::RandomAttr> sources = bytes.randomSources();
    std::vector<uint64_t> numbers;
    std::vector<float> scales;
    for (tile::RandomAttr source : sources) {
      numbers.push_back(source.getNumber());
      scales.push_back(float(source.getScale().getValueAsDouble()));
    }
    std::vector<int64_t> rows, strides;
    int64_t panel = 0, group = 0, clip = 0;
    if (tile::PackedAttr packed = bytes.packing()) {
      panel = packed.getPanel();
      group = packed.getGroup();
      clip = packed.getClip();
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(packed.getType()).getShape();
      shape = shape.drop_back(group == 1 ? 1 : 2);
      rows.assign(shape.begin(), shape.end());
      strides.assign(packed.getStrides().begin(), packed.getStrides().end());
      if (group == 1)
        strides.push_back(0);
    }
    return fb::CreateRandomWeight(
        b, sources.front().getSeed(), b.CreateVector(numbers),
        b.CreateVector(scales), sources.front().getType().getNumElements(),
        b.CreateVector(rows), b.CreateVector(strides), panel, group, clip);
  }

  /// Equal sizes are one table: the file is smaller, and a session that binds
  /// sizes evaluates each once.
  Offset<fb::SizeExpression> size(int64_t constant) {
    Offset<fb::SizeExpression> &known = constants[constant];
    if (known.IsNull())
      known = fb::CreateSizeExpression(b, constant);
    return known;
  }
  Offset<fb::SizeExpression> size(exec::SizeAttr attribute) {
    if (attribute.isConstant())
      return size(attribute.getConstant());
    Offset<fb::SizeExpression> &known = formulas[attribute];
    if (known.IsNull())
      known = size(attribute.getFormula(), attribute.getLargest());
    return known;
  }
  Offset<fb::SizeExpression> size(AffineExpr formula, int64_t largest) {
    std::vector<fb::SizeInstruction> code;
    appendFormula(formula, code);
    return fb::CreateSizeExpression(b, largest, b.CreateVectorOfStructs(code));
  }
  Offset<flatbuffers::Vector<Offset<flatbuffers::String>>>
  strings(ArrayRef<std::string> values) {
    return b.CreateVectorOfStrings(
        std::vector<std::string>(values.begin(), values.end()));
  }

  using Shape = std::vector<Offset<fb::SizeExpression>>;
  using Tensors = Offset<flatbuffers::Vector<Offset<fb::TensorDescription>>>;
  Offset<fb::TensorDescription> tensor(DictionaryAttr described);
  Offset<fb::TensorDescription> tensor(DictionaryAttr described,
                                       const Shape &shape);
  Tensors tensors(ArrayAttr described);
  Tensors wholeInputs(exec::ProgramOp entry);
  Tensors wholeOutputs(unsigned entry);
  std::vector<Offset<fb::Symbol>> symbols();
  Offset<fb::Binding> binding(exec::BindingAttr attribute,
                              ArrayRef<unsigned> weightNumbers);
  std::vector<Offset<fb::Parameter>> argumentsOf(exec::KernelOp kernel,
                                                 ArrayAttr maps);
  using Strings = Offset<flatbuffers::Vector<Offset<flatbuffers::String>>>;
  Strings operatorsOf(ArrayRef<std::string> nodes);
  Strings buffersOf(exec::KernelOp kernel);
  Offset<fb::Kernel> kernel(exec::KernelOp kernel, const ProgramBinary &binary,
                            unsigned piece, unsigned executable);
  /// The commands of a program or block, as the two vectors of a union.
  struct Commands {
    Offset<flatbuffers::Vector<fb::Command>> types;
    Offset<flatbuffers::Vector<Offset<void>>> tables;
  };
  Commands list(Block &block, ArrayRef<unsigned> weightNumbers);
  Offset<void> command(Operation &op, ArrayRef<unsigned> weightNumbers,
                       fb::Command &type);
  std::vector<Offset<fb::AbsentNode>> absentNodes(ArrayRef<ModuleOp> modules);
  Offset<fb::ProgramEntry> programEntry(exec::ProgramOp program, unsigned entry,
                                        const ProgramBinary &binary,
                                        const ModulePieces::Piece &piece);
  Offset<fb::Machine> machine(const MachineModel &model);
  void readOperators(ModuleOp program);
  std::vector<Offset<fb::Executable>> executables(unsigned number,
                                                  unsigned &section);
  std::vector<Offset<fb::Companion>> companionsOf(ModuleOp module,
                                                  const ProgramBinary &binary);
  std::vector<std::string> featuresOf(unsigned number,
                                      ArrayRef<ModuleOp> modules);
  Offset<fb::Program> program(unsigned number, unsigned &section);

  flatbuffers::FlatBufferBuilder b;
  std::map<int64_t, Offset<fb::SizeExpression>> constants;
  llvm::DenseMap<Attribute, Offset<fb::SizeExpression>> formulas;
  const ModulePieces &pieces;
  const WeightTable &weights;
  /// By node of the program at hand.
  llvm::StringMap<StringRef> nodeOperators;
  /// Those of the piece at hand, with their numbers in the program.
  llvm::StringMap<std::pair<unsigned, exec::KernelOp>> kernelsOfPiece;
};

/// Of a state after its change, the largest shape is that of its place: so its
/// elements lie.
static int64_t largestDim(DictionaryAttr described, unsigned dim,
                          int64_t largest) {
  return described.get(stateAttrName)
             ? cast<RankedTensorType>(
                   described.getAs<TypeAttr>("tensor").getValue())
                   .getDimSize(dim)
             : largest;
}

Offset<fb::TensorDescription> IndexBuilder::tensor(DictionaryAttr described) {
  Shape shape;
  for (auto [i, dim] : llvm::enumerate(dimsOf(described)))
    shape.push_back(dim.isConstant()
                        ? size(dim)
                        : size(exec::SizeAttr::get(
                              dim.getFormula(), dim.getMap().getNumSymbols(),
                              largestDim(described, i, dim.getLargest()))));
  return tensor(described, shape);
}

Offset<fb::TensorDescription> IndexBuilder::tensor(DictionaryAttr described,
                                                   const Shape &shape) {
  auto type =
      cast<RankedTensorType>(described.getAs<TypeAttr>("tensor").getValue());
  auto name = described.getAs<StringAttr>("ashlar.name");
  auto element = described.getAs<StringAttr>("ashlar.type");
  flatbuffers::Optional<uint64_t> stateBytes = flatbuffers::nullopt;
  flatbuffers::Optional<uint32_t> stateInput = flatbuffers::nullopt;
  if (described.get(stateShapeAttrName))
    stateBytes = uint64_t(byteSize(type));
  if (auto input = described.getAs<IntegerAttr>(stateAttrName))
    stateInput = uint32_t(input.getInt());
  return fb::CreateTensorDescription(
      b, b.CreateString(name ? name.str() : ""),
      element ? elementType(element.getValue())
              : elementType(type.getElementType()),
      b.CreateVector(shape), stateBytes, stateInput);
}

IndexBuilder::Tensors IndexBuilder::tensors(ArrayAttr described) {
  std::vector<Offset<fb::TensorDescription>> all;
  for (auto each : described.getAsRange<DictionaryAttr>())
    all.push_back(tensor(each));
  return b.CreateVector(all);
}

IndexBuilder::Tensors IndexBuilder::wholeInputs(exec::ProgramOp entry) {
  std::vector<Offset<fb::TensorDescription>> all;
  for (auto described : entry.getInputs().getAsRange<DictionaryAttr>()) {
    auto name = described.getAs<StringAttr>("ashlar.name");
    auto open = name ? pieces.inputs.find(name.str()) : pieces.inputs.end();
    if (open == pieces.inputs.end()) {
      all.push_back(tensor(described));
      continue;
    }
    Shape shape;
    for (AffineExpr dim : open->second)
      if (auto constant = dyn_cast<AffineConstantExpr>(dim))
        shape.push_back(size(constant.getValue()));
      else
        shape.push_back(size(dim, largestOf(dim, pieces.symbols)));
    all.push_back(tensor(described, shape));
  }
  return b.CreateVector(all);
}

IndexBuilder::Tensors IndexBuilder::wholeOutputs(unsigned number) {
  SmallVector<exec::ProgramOp> entries = entryOfPieces(pieces, 0, number);
  std::vector<Offset<fb::TensorDescription>> all;
  for (auto [i, output] : llvm::enumerate(entries.front().getOutputs())) {
    std::vector<SmallVector<exec::SizeAttr>> dims;
    for (exec::ProgramOp entry : entries)
      dims.push_back(dimsOf(cast<DictionaryAttr>(entry.getOutputs()[i])));
    Shape shape;
    for (size_t dim = 0; dim != dims.front().size(); ++dim) {
      SmallVector<exec::SizeAttr> ofPieces;
      for (const SmallVector<exec::SizeAttr> &own : dims)
        ofPieces.push_back(own[dim]);
      auto [formula, most] = joinDims(pieces, ofPieces);
      int64_t largest =
          largestDim(cast<DictionaryAttr>(output), unsigned(dim), most);
      shape.push_back(formula ? size(formula, largest) : size(largest));
    }
    all.push_back(tensor(cast<DictionaryAttr>(output), shape));
  }
  return b.CreateVector(all);
}

std::vector<Offset<fb::Symbol>> IndexBuilder::symbols() {
  std::vector<Offset<fb::Symbol>> all;
  for (const OpenSize &symbol : pieces.symbols)
    all.push_back(fb::CreateSymbol(b, b.CreateString(symbol.name),
                                   symbol.minimum, symbol.maximum,
                                   symbol.step));
  if (!all.empty())
    return all;
  ModuleOp first = programOf(pieces.pieces.front(), 0);
  if (auto open = first->getAttrOfType<ArrayAttr>(exec::symbolsAttrName))
    for (auto symbol : open.getAsRange<DictionaryAttr>())
      all.push_back(fb::CreateSymbol(
          b, b.CreateString(symbol.getAs<StringAttr>("name").str()),
          symbol.getAs<IntegerAttr>("minimum").getInt(),
          symbol.getAs<IntegerAttr>("maximum").getInt(),
          symbol.getAs<IntegerAttr>("step").getInt()));
  return all;
}

Offset<fb::Binding> IndexBuilder::binding(exec::BindingAttr attribute,
                                          ArrayRef<unsigned> weightNumbers) {
  unsigned index = attribute.getIndex();
  if (attribute.getStorage() == exec::Storage::Weights)
    index = weightNumbers[index];
  return fb::CreateBinding(b, static_cast<fb::Storage>(attribute.getStorage()),
                           index, size(attribute.getOffset()),
                           size(attribute.getLength()), attribute.getWritten(),
                           unsigned(attribute.getBuffer() + 1));
}

Offset<fb::Kernel> IndexBuilder::kernel(exec::KernelOp kernel,
                                        const ProgramBinary &binary,
                                        unsigned piece, unsigned executable) {
  std::string symbol = kernel.getSymName().str();
  // Each piece has an executable of its own, a program's kernels have names.
  std::string name =
      piece == 0 ? symbol : symbol + "@" + std::to_string(piece + 1);
  std::vector<std::string> nodes;
  if (ArrayAttr names = kernel.getNodesAttr())
    for (Attribute name : names)
      nodes.push_back(cast<StringAttr>(name).str());
  exec::SizeAttr flops = kernel.getFlopsAttr();
  unsigned device = kernel.getDevice();
  const ProgramBinary &own =
      device == 0 ? binary : binary.companions[device - 1];
  auto [cycles, bound] = predictKernel(kernel, own);
  auto counts = [&](std::optional<ArrayRef<int64_t>> all)
      -> Offset<flatbuffers::Vector<uint32_t>> {
    if (!all)
      return 0;
    return b.CreateVector(std::vector<uint32_t>(all->begin(), all->end()));
  };
  auto block = counts(kernel.getBlock()), cluster = counts(kernel.getCluster());
  uint64_t shared = own.sharedBytes.lookup(symbol);
  Offset<fb::KernelResources> resources;
  if (auto found = own.resources.find(symbol); found != own.resources.end()) {
    const KernelResources &of = found->second;
    resources = fb::CreateKernelResources(b, of.registers, of.sharedBytes,
                                          of.stackBytes, of.spillBytes,
                                          of.groups, of.occupancy);
  }
  Offset<flatbuffers::Vector<Offset<fb::Parameter>>> arguments;
  if (ArrayAttr maps = kernel.getTensorMapsAttr())
    arguments = b.CreateVector(argumentsOf(kernel, maps));
  auto operators = operatorsOf(nodes);
  auto buffers = buffersOf(kernel);
  return fb::CreateKernel(
      b, b.CreateString(name), b.CreateString(symbol), executable + device,
      strings(nodes), flops ? size(flops) : size(0), size(kernelBytes(kernel)),
      own.codeBytes.lookup(symbol), *kernel.getScratchBytes(),
      kernel.getNumBindings(), kernel.getNumParameters(), cycles,
      b.CreateString(bound.str()), block, cluster,
      shared ? flatbuffers::Optional<uint64_t>(shared) : flatbuffers::nullopt,
      arguments, resources, operators, buffers);
}

/// Null where the model's nodes are called by what they are.
IndexBuilder::Strings IndexBuilder::operatorsOf(ArrayRef<std::string> nodes) {
  if (nodeOperators.empty())
    return 0;
  std::vector<Offset<flatbuffers::String>> all;
  for (const std::string &node : nodes)
    all.push_back(b.CreateSharedString(nodeOperators.lookup(node).str()));
  return b.CreateVector(all);
}

/// "f32 1x64x56x56" for each binding.
IndexBuilder::Strings IndexBuilder::buffersOf(exec::KernelOp kernel) {
  std::vector<Offset<flatbuffers::String>> all;
  for (unsigned i = 0; i != kernel.getNumBindings(); ++i) {
    auto type = cast<MemRefType>(kernel.getBindingType(i));
    std::string text;
    llvm::raw_string_ostream out(text);
    out << type.getElementType();
    if (type.getRank() != 0)
      llvm::interleave(type.getShape(), out << " ", "x");
    all.push_back(b.CreateSharedString(text));
  }
  return b.CreateVector(all);
}

/// Addresses, numbers, then what kernels are told of tensors.
std::vector<Offset<fb::Parameter>>
IndexBuilder::argumentsOf(exec::KernelOp kernel, ArrayAttr maps) {
  std::vector<Offset<fb::Parameter>> all;
  for (unsigned i = 0; i != kernel.getNumBindings(); ++i)
    all.push_back(fb::CreateParameter(b, fb::ParameterKind::Pointer, i));
  for (unsigned i = 0; i != kernel.getNumParameters(); ++i)
    all.push_back(fb::CreateParameter(b, fb::ParameterKind::Integer, i));
  auto sizesOf = [&](ArrayRef<exec::SizeAttr> attributes) {
    std::vector<Offset<fb::SizeExpression>> sizes;
    for (exec::SizeAttr attribute : attributes)
      sizes.push_back(size(attribute));
    return b.CreateVector(sizes);
  };
  for (auto map : maps.getAsRange<exec::TensorMapAttr>()) {
    ArrayRef<int64_t> box = map.getBox();
    std::vector<uint32_t> steps(box.size(), 1);
    llvm::copy(map.getSteps(), steps.begin());
    auto described = fb::CreateTensorMap(
        b, elementType(map.getType()), sizesOf(map.getSizes()),
        sizesOf(map.getStrides()),
        b.CreateVector(std::vector<uint32_t>(box.begin(), box.end())),
        b.CreateVector(steps), map.getSwizzle());
    all.push_back(fb::CreateParameter(b, fb::ParameterKind::TensorMap,
                                      map.getBinding(), described));
  }
  return all;
}

/// Of several pieces, what none computes; views and commands are what one has.
std::vector<Offset<fb::AbsentNode>>
IndexBuilder::absentNodes(ArrayRef<ModuleOp> modules) {
  llvm::StringSet<> computed, views, commands;
  auto add = [](llvm::StringSet<> &to, ArrayAttr names) {
    if (names)
      for (auto name : names.getAsRange<StringAttr>())
        to.insert(name.getValue());
  };
  for (ModuleOp module : modules) {
    for (auto kernel : module.getOps<exec::KernelOp>())
      add(computed, kernel.getNodesAttr());
    add(views, module->getAttrOfType<ArrayAttr>(exec::viewsAttrName));
    add(commands, module->getAttrOfType<ArrayAttr>(exec::commandNodesAttrName));
  }
  auto fate = [&](StringRef name) {
    return commands.contains(name) ? fb::NodeFate::Command
           : views.contains(name)  ? fb::NodeFate::View
                                   : fb::NodeFate::Folded;
  };
  std::vector<Offset<fb::AbsentNode>> absent;
  auto all = modules.front()->getAttrOfType<ArrayAttr>(modelNodesAttrName);
  for (Attribute attribute : all ? all.getValue() : ArrayRef<Attribute>()) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    if (!computed.contains(name))
      absent.push_back(
          fb::CreateAbsentNode(b, b.CreateString(name.str()), fate(name)));
  }
  return absent;
}

Offset<void> IndexBuilder::command(Operation &op,
                                   ArrayRef<unsigned> weightNumbers,
                                   fb::Command &type) {
  auto block = [&](Region &region) {
    Commands commands = list(region.front(), weightNumbers);
    return fb::CreateBlock(b, commands.types, commands.tables);
  };
  if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
    auto [number, kernel] = kernelsOfPiece.lookup(launch.getKernel());
    std::vector<Offset<fb::Binding>> bindings;
    for (auto attribute : launch.getBindings().getAsRange<exec::BindingAttr>())
      bindings.push_back(binding(attribute, weightNumbers));
    std::vector<Offset<fb::SizeExpression>> parameters;
    if (ArrayAttr given = kernel.getParametersAttr())
      for (auto parameter : given.getAsRange<exec::SizeAttr>())
        parameters.push_back(size(parameter));
    std::vector<Offset<flatbuffers::String>> nodes;
    for (const std::string &name : nodeNames(launch.getLoc()))
      nodes.push_back(b.CreateSharedString(name));
    type = fb::Command::Dispatch;
    Offset<flatbuffers::Vector<Offset<fb::SizeExpression>>> grid;
    if (kernel.getBlock())
      grid = b.CreateVector(
          std::vector<Offset<fb::SizeExpression>>{size(kernel.getGroups())});
    return fb::CreateDispatch(
               b, number, b.CreateVector(bindings), b.CreateVector(parameters),
               size(kernel.getGroups()), b.CreateVector(nodes), grid)
        .Union();
  }
  if (auto copy = dyn_cast<exec::CopyOp>(op)) {
    auto source = binding(copy.getSource(), weightNumbers);
    auto target = binding(copy.getTarget(), weightNumbers);
    type = fb::Command::Copy;
    return fb::CreateCopy(b, source, target, copy.getSourceStride(),
                          copy.getTargetStride())
        .Union();
  }
  if (auto check = dyn_cast<exec::CheckOp>(op)) {
    auto condition = binding(check.getCondition(), weightNumbers);
    type = fb::Command::Check;
    return fb::CreateCheck(b, condition,
                           b.CreateString(check.getMessage().str()))
        .Union();
  }
  if (auto branches = dyn_cast<exec::IfOp>(op)) {
    auto condition = binding(branches.getCondition(), weightNumbers);
    auto then = block(branches.getThenBlock());
    auto otherwise = block(branches.getElseBlock());
    type = fb::Command::If;
    return fb::CreateIf(b, condition, then, otherwise).Union();
  }
  if (auto loop = dyn_cast<exec::LoopOp>(op)) {
    Offset<fb::SizeExpression> iterations;
    Offset<fb::Binding> condition;
    auto open =
        loop->getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
    if (auto formula = open
                           ? open.getAs<ArrayAttr>(loop.getIterationsAttrName())
                           : ArrayAttr())
      iterations = size(cast<exec::SizeAttr>(formula[0]));
    else if (loop.getIterations())
      iterations = size(*loop.getIterations());
    if (loop.getCondition())
      condition = binding(*loop.getCondition(), weightNumbers);
    auto body = block(loop.getBody());
    type = fb::Command::Loop;
    return fb::CreateLoop(b, iterations, condition, body).Union();
  }
  assert(isa<exec::BarrierOp>(op) && "no other commands");
  type = fb::Command::Barrier;
  return fb::CreateBarrier(b).Union();
}

IndexBuilder::Commands IndexBuilder::list(Block &block,
                                          ArrayRef<unsigned> weightNumbers) {
  std::vector<fb::Command> types;
  std::vector<Offset<void>> tables;
  for (Operation &op : block) {
    fb::Command type;
    tables.push_back(command(op, weightNumbers, type));
    types.push_back(type);
  }
  return {b.CreateVector(types), b.CreateVector(tables)};
}

Offset<fb::ProgramEntry>
IndexBuilder::programEntry(exec::ProgramOp program, unsigned entry,
                           const ProgramBinary &binary,
                           const ModulePieces::Piece &piece) {
  SmallVector<unsigned> weightNumbers;
  for (Attribute value : program.getWeights())
    weightNumbers.push_back(weights.numberOf(value));
  Commands commands = list(program.getBody().front(), weightNumbers);
  std::vector<Offset<fb::OutputSize>> outputSizes;
  SmallVector<Attribute> found;
  if (ArrayAttr listed = program.getOutputSizesAttr())
    llvm::append_range(found, listed);
  for (Attribute attribute : found) {
    auto described = cast<DictionaryAttr>(attribute);
    outputSizes.push_back(fb::CreateOutputSize(
        b, described.getAs<IntegerAttr>("output").getInt(),
        described.getAs<IntegerAttr>("dimension").getInt(),
        binding(described.getAs<exec::BindingAttr>("value"), weightNumbers)));
  }
  MemoryNeeds needs = memoryNeedsOf(program, binary, weights);
  std::vector<Offset<fb::CompanionContract>> companions;
  for (const MemoryNeeds::Companion &other : needs.companions)
    companions.push_back(fb::CreateCompanionContract(
        b, other.weights, other.code, other.arena, other.arenaLowerBound));
  auto contract = fb::CreateContract(
      b, needs.weights, needs.code, needs.arena, needs.arenaLowerBound,
      needs.outputs, needs.staging, needs.scratch, needs.peak(),
      b.CreateVector(companions),
      needs.state == 0 ? flatbuffers::nullopt
                       : flatbuffers::Optional<uint64_t>(needs.state));
  std::vector<Offset<fb::ArenaBuffer>> buffers;
  if (auto listed = program->getAttrOfType<ArrayAttr>(exec::buffersAttrName))
    for (auto buffer : listed.getAsRange<ArrayAttr>()) {
      auto number = [&](unsigned i) {
        return cast<IntegerAttr>(buffer[i]).getInt();
      };
      buffers.push_back(fb::CreateArenaBuffer(
          b, size(cast<exec::SizeAttr>(buffer[0])), number(1),
          unsigned(number(2)), unsigned(number(3))));
    }
  auto sizes = b.CreateVector(outputSizes);
  auto places = b.CreateVector(buffers);
  Offset<flatbuffers::Vector<Offset<fb::SizeRange>>> ranges;
  Tensors outputs;
  if (!piece.ranges.empty()) {
    std::vector<Offset<fb::SizeRange>> all;
    for (const OpenSize &range : piece.ranges)
      all.push_back(
          fb::CreateSizeRange(b, range.minimum, range.maximum, range.step));
    ranges = b.CreateVector(all);
    outputs = tensors(program.getOutputs());
  }
  return fb::CreateProgramEntry(b, entry, commands.types, commands.tables,
                                contract, sizes, places, ranges, outputs);
}

Offset<fb::Machine> IndexBuilder::machine(const MachineModel &model) {
  return fb::CreateMachine(b, b.CreateString(model.name),
                           b.CreateString(machineDigest(model)),
                           b.CreateString(printMachine(model)));
}

void IndexBuilder::readOperators(ModuleOp program) {
  nodeOperators.clear();
  auto names = program->getAttrOfType<ArrayAttr>(modelNodesAttrName);
  auto types = program->getAttrOfType<ArrayAttr>(nodeOperatorsAttrName);
  if (!names || !types)
    return;
  for (auto [name, type] : llvm::zip_equal(names.getAsRange<StringAttr>(),
                                           types.getAsRange<StringAttr>()))
    nodeOperators[name.getValue()] = type.getValue();
}

/// Those of all pieces and devices, in the order in which kernels count them;
/// their other forms behind all of them.
std::vector<Offset<fb::Executable>>
IndexBuilder::executables(unsigned number, unsigned &section) {
  struct OtherForm {
    const BinaryForm &form;
    unsigned device, variantOf;
  };
  std::vector<OtherForm> otherForms;
  std::vector<Offset<fb::Executable>> all;
  auto add = [&](const ProgramBinary &of, unsigned device) {
    Offset<flatbuffers::String> maker;
    if (!of.madeBy.empty())
      maker = b.CreateSharedString(of.madeBy);
    all.push_back(fb::CreateExecutable(b, b.CreateString(of.format), section++,
                                       device, flatbuffers::nullopt, maker));
    for (const BinaryForm &form : of.otherForms)
      otherForms.push_back({form, device, unsigned(all.size())});
  };
  for (const ModulePieces::Piece &piece : pieces.pieces) {
    add(piece.binaries[number], 0);
    for (auto [i, of] : llvm::enumerate(piece.binaries[number].companions))
      add(of, i + 1);
  }
  for (const OtherForm &other : otherForms)
    all.push_back(fb::CreateExecutable(b, b.CreateString(other.form.format),
                                       section++, other.device,
                                       other.variantOf));
  return all;
}

std::vector<Offset<fb::Companion>>
IndexBuilder::companionsOf(ModuleOp module, const ProgramBinary &binary) {
  auto names = module->getAttrOfType<ArrayAttr>(exec::companionsAttrName);
  std::vector<Offset<fb::Companion>> all;
  for (auto [i, of] : llvm::enumerate(binary.companions)) {
    auto name = cast<exec::TargetAttr>(names[i]);
    all.push_back(fb::CreateCompanion(
        b, b.CreateString(name.getName().str()),
        b.CreateString(name.getPreset().str()), b.CreateString(of.deviceType),
        strings(of.requiredFeatures), machine(of.machine)));
  }
  return all;
}

/// What a machine and a runtime must have: instruction sets, and the parts of
/// the format that an older runtime would pass over to wrong numbers.
std::vector<std::string> IndexBuilder::featuresOf(unsigned number,
                                                  ArrayRef<ModuleOp> modules) {
  auto hasOtherForms = [&](const ModulePieces::Piece &piece) {
    const ProgramBinary &of = piece.binaries[number];
    return !of.otherForms.empty() ||
           llvm::any_of(of.companions, [](const ProgramBinary &companion) {
             return !companion.otherForms.empty();
           });
  };
  auto isState = [](Attribute described) {
    return bool(cast<DictionaryAttr>(described).get(stateAttrName));
  };
  auto hasState = [&](ModuleOp module) {
    return llvm::any_of(module.getOps<exec::ProgramOp>(),
                        [&](exec::ProgramOp entry) {
                          return llvm::any_of(entry.getOutputs(), isState);
                        });
  };
  auto hasBlock = [](ModuleOp module) {
    return llvm::any_of(
        module.getOps<exec::KernelOp>(),
        [](exec::KernelOp kernel) { return bool(kernel.getBlock()); });
  };
  std::vector<std::string> features =
      pieces.pieces.front().binaries[number].requiredFeatures;
  if (pieces.pieces.size() > 1)
    features.push_back(ASHLAR_MODULE_FEATURE_PIECES);
  if (llvm::any_of(modules, hasState))
    features.push_back(ASHLAR_MODULE_FEATURE_STATE);
  if (llvm::any_of(pieces.pieces, hasOtherForms) ||
      llvm::any_of(modules, hasBlock))
    features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  if (weights.randomSize() != 0)
    features.push_back(ASHLAR_MODULE_FEATURE_RANDOM_WEIGHTS);
  return features;
}

Offset<fb::Program> IndexBuilder::program(unsigned number, unsigned &section) {
  std::vector<Offset<fb::Kernel>> kernels;
  std::vector<Offset<fb::ProgramEntry>> entries, further;
  SmallVector<ModuleOp> modules;
  unsigned executablesBefore = 0;
  for (auto [i, piece] : llvm::enumerate(pieces.pieces)) {
    modules.push_back(programOf(piece, number));
    readOperators(modules.back());
    const ProgramBinary &binary = piece.binaries[number];
    kernelsOfPiece.clear();
    for (auto kernelOp : modules.back().getOps<exec::KernelOp>()) {
      kernelsOfPiece[kernelOp.getSymName()] = {kernels.size(), kernelOp};
      kernels.push_back(kernel(kernelOp, binary, i, executablesBefore));
    }
    for (auto [entry, op] :
         llvm::enumerate(modules.back().getOps<exec::ProgramOp>()))
      (i == 0 ? entries : further)
          .push_back(programEntry(op, entry, binary, piece));
    executablesBefore += 1 + binary.companions.size();
  }
  auto code = executables(number, section);
  // What all pieces have in common is said of the first.
  ModuleOp module = modules.front();
  const ProgramBinary &binary = pieces.pieces.front().binaries[number];
  auto target = module->getAttrOfType<exec::TargetAttr>(exec::targetAttrName);
  auto companions = companionsOf(module, binary);
  std::vector<std::string> features = featuresOf(number, modules);
  Offset<flatbuffers::Vector<Offset<fb::ProgramEntry>>> others;
  if (!further.empty())
    others = b.CreateVector(further);
  auto own = machine(binary.machine);
  auto absent = b.CreateVector(absentNodes(modules));
  return fb::CreateProgram(b, b.CreateString(target.getName().str()),
                           b.CreateString(target.getPreset().str()),
                           b.CreateString(binary.deviceType), strings(features),
                           b.CreateVector(code), b.CreateVector(kernels),
                           b.CreateVector(entries), own, absent,
                           b.CreateVector(companions),
                           predictNanoseconds(module, binary), others);
}

SmallVector<char, 0> IndexBuilder::build(ArrayRef<SectionPlace> sections,
                                         const Provenance &provenance) {
  std::vector<Offset<fb::Entry>> entries;
  ModuleOp first = programOf(pieces.pieces.front(), 0);
  for (auto [i, entry] : llvm::enumerate(first.getOps<exec::ProgramOp>())) {
    bool isWhole = pieces.pieces.size() == 1;
    auto inputs = isWhole ? tensors(entry.getInputs()) : wholeInputs(entry);
    auto outputs = isWhole ? tensors(entry.getOutputs()) : wholeOutputs(i);
    entries.push_back(fb::CreateEntry(
        b, b.CreateString(entry.getSymName().str()), inputs, outputs));
  }
  auto sizes = symbols();
  std::vector<Offset<fb::Program>> programs;
  unsigned section = 1;
  for (unsigned i = 0; i != pieces.pieces.front().binaries.size(); ++i)
    programs.push_back(program(i, section));
  std::vector<Offset<fb::Section>> sectionTables;
  for (const SectionPlace &place : sections)
    sectionTables.push_back(fb::CreateSection(
        b, fb::SectionKind(place.kind), place.offset, place.size, place.hash));
  std::vector<Offset<fb::Weight>> weightTables;
  for (auto [i, weight] : llvm::enumerate(weights.all())) {
    auto type = cast<RankedTensorType>(weight.value.getType());
    std::vector<int64_t> shape(type.getShape());
    weightTables.push_back(fb::CreateWeight(
        b, b.CreateString("w" + std::to_string(i)),
        elementType(type.getElementType()), b.CreateVector(shape),
        weight.isRandom ? uint32_t(sections.size()) - 1 : 0, weight.offset,
        weight.size, randomWeight(weight)));
  }
  auto origin = fb::CreateProvenance(
      b, b.CreateString(provenance.version), strings(provenance.flags),
      b.CreateString(provenance.modelSha256), strings(provenance.precision));
  std::vector<Offset<fb::Metadata>> metadata;
  for (auto &[key, value] : provenance.metadata)
    metadata.push_back(
        fb::CreateMetadata(b, b.CreateString(key), b.CreateString(value)));
  auto root = fb::CreateModule(
      b, b.CreateVector(sizes), b.CreateVector(entries),
      b.CreateVector(sectionTables), b.CreateVector(weightTables),
      b.CreateVector(programs), origin, b.CreateVector(metadata));
  fb::FinishModuleBuffer(b, root);
  const char *data = reinterpret_cast<const char *>(b.GetBufferPointer());
  return SmallVector<char, 0>(data, data + b.GetSize());
}
} // namespace

void ashlar::collectWeights(ModuleOp module, WeightTable &weights) {
  module.walk([&](exec::ProgramOp program) {
    for (Attribute value : program.getWeights())
      weights.add(cast<TypedAttr>(value));
  });
}

SmallVector<char, 0> ashlar::buildIndex(const ModulePieces &pieces,
                                        const WeightTable &weights,
                                        ArrayRef<SectionPlace> sections,
                                        const Provenance &provenance) {
  return IndexBuilder(pieces, weights).build(sections, provenance);
}
