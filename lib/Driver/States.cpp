// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "States.h"
#include "SizedCompilation.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ashlar;

static std::string listInputs(func::FuncOp entry) {
  std::string names;
  for (unsigned i = 0; i != entry.getNumArguments(); ++i)
    if (auto name = entry.getArgAttrOfType<StringAttr>(i, "ashlar.name"))
      names += (names.empty() ? "" : ", ") + name.str();
  return names.empty() ? "none" : names;
}

static std::optional<unsigned> findInput(func::FuncOp entry, StringRef name) {
  for (unsigned i = 0; i != entry.getNumArguments(); ++i)
    if (entry.getArgAttrOfType<StringAttr>(i, "ashlar.name") == name)
      return i;
  return std::nullopt;
}

/// The one entry, or the first.
static func::FuncOp entryOf(ModuleOp model) {
  for (auto function : model.getOps<func::FuncOp>())
    if (function.isPublic())
      return function;
  return {};
}

bool ashlar::markStates(ModuleOp model, const CompileOptions &options,
                        llvm::raw_ostream &log) {
  func::FuncOp entry = entryOf(model);
  Builder b(model.getContext());
  for (const CompileOptions::State &state : options.states) {
    std::optional<unsigned> input = findInput(entry, state.input);
    if (!input) {
      log << "error: --state=" << state.input << "=" << state.output
          << ": expected the name of an input (" << listInputs(entry)
          << "), found '" << state.input << "'\n";
      return false;
    }
    entry.setArgAttr(
        *input, stateOfAttrName,
        b.getDictionaryAttr(
            {b.getNamedAttr("output", b.getStringAttr(state.output)),
             b.getNamedAttr("shape", b.getDenseI64ArrayAttr(state.shape))}));
  }
  return true;
}

CompileResult ashlar::readStates(CompileOptions fixed,
                                 const CompileHooks &hooks,
                                 std::vector<CompileOptions::State> &states,
                                 llvm::raw_ostream &log) {
  fixed.sizes.clear();
  fixed.symbolicShapes.clear();
  fixed.stopEarly = true;
  fixed.until = Stage::Import;
  fixed.remarks.clear();
  fixed.quiet = true;
  fixed.verbose = false;
  CompileHooks reading = hooks;
  reading.printsIR = false;
  reading.afterImport = [&](ModuleOp model) {
    func::FuncOp entry = entryOf(model);
    for (CompileOptions::State &state : states) {
      auto input = findInput(entry, state.input);
      auto before =
          input
              ? dyn_cast<RankedTensorType>(entry.getArgument(*input).getType())
              : RankedTensorType();
      for (unsigned i = 0; i != entry.getNumResults(); ++i) {
        auto after = dyn_cast<RankedTensorType>(entry.getResultTypes()[i]);
        if (!after || entry.getResultAttrOfType<StringAttr>(i, "ashlar.name") !=
                          state.output)
          continue;
        state.shape.assign(after.getShape().begin(), after.getShape().end());
        // Even the largest is a part, so that all sizes have one form.
        if (before && before.getRank() == after.getRank())
          for (int64_t d = 0; d != after.getRank(); ++d)
            state.shape[d] += before.getDimSize(d) != after.getDimSize(d);
      }
    }
  };
  return compile(fixed, llvm::nulls(), log, reading);
}

CompileResult ashlar::findLargestStates(CompileOptions &options,
                                        const CompileHooks &hooks,
                                        llvm::raw_ostream &log) {
  if (options.states.empty())
    return {};
  SizePoint largest;
  for (const SizeRange &range : options.sizes)
    largest.push_back(range.maximum);
  return readStates(optionsAt(options, largest), hooks, options.states, log);
}
