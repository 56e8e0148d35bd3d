// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompilePieces.h"
#include "CodeFlags.h"
#include "EmittedPrograms.h"
#include "IdleDevices.h"
#include "PrintDiagnostic.h"
#include "SizedCompilation.h"
#include "SplitText.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Emit/MemoryNeeds.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir;
using namespace ashlar;

FormTrial ashlar::compileOneForm(const CompileOptions &options,
                                 const CompileHooks &hooks,
                                 llvm::raw_ostream &out, llvm::raw_ostream &log,
                                 const std::vector<bool> &ends) {
  FormTrial found;
  llvm::raw_string_ostream held(found.said);
  // What is verbose is said at once.
  std::optional<ProgressLine> progress;
  progress.emplace(log, !options.quiet && !options.verbose, hooks.begin);
  SizedCompilation compilation(options, hooks, out, held, log, &*progress);
  compilation.endAtLargest(ends);
  found.result = compilation.study();
  // The compile has a line of its own.
  progress.reset();
  compilation.endProgress();
  bool isRefused = found.result.status == CompileStatus::Refused;
  found.wantsRanges = isRefused && !compilation.namesRange;
  if (isRefused && compilation.isOfForms)
    found.trial = {SizeTrial::Differs, compilation.cut};
  if (found.result.status != CompileStatus::Done)
    return found;
  CompileHooks writing = hooks;
  writing.progress = &log;
  found.result = compilation.write(held, writing);
  bool wasDone = found.result.status == CompileStatus::Done;
  isRefused = found.result.status == CompileStatus::Refused;
  found.wantsRanges =
      isRefused && options.memoryBudget == 0 && !compilation.namesRange;
  found.trial = {wasDone     ? SizeTrial::Works
                 : isRefused ? SizeTrial::Differs
                             : SizeTrial::Fails,
                 isRefused ? compilation.cut : std::nullopt};
  return found;
}

namespace {
class PieceCompilation {
public:
  PieceCompilation(const CompileOptions &options, const CompileHooks &hooks,
                   llvm::raw_ostream &out, llvm::raw_ostream &log)
      : options(options), hooks(hooks), out(out), log(log) {}

  bool cut(const SizeTrial &known) {
    return cutIntoPieces(
        options.sizes, known, options.mostPieces,
        [&](const std::vector<SizeRange> &ranges) { return tries(ranges); });
  }
  CompileStatus write(llvm::raw_ostream &errors);
  std::string listRanges() const;
  size_t size() const { return made.size(); }
  /// Of the last part that could not be compiled: which, and what was wrong.
  std::vector<SizeRange> failed;
  std::string why;
  bool mayHelp = false; ///< to cut that part

private:
  SizeTrial tries(const std::vector<SizeRange> &ranges);
  FormTrial compileFixed(const CompileOptions &options,
                         const CompileHooks &hooks);
  std::vector<bool> endsOf(const std::vector<SizeRange> &ranges) const;
  bool fitsOutputs(const EmittedPrograms &added,
                   const std::vector<SizeRange> &ranges,
                   std::string &said) const;
  std::vector<std::string> flags() const;
  ModulePieces describe() const;
  bool fitsBudget(const ModulePieces &pieces, llvm::raw_ostream &errors) const;

  const CompileOptions &options;
  const CompileHooks &hooks;
  llvm::raw_ostream &out, &log;
  std::shared_ptr<FirstChoices> choices = std::make_shared<FirstChoices>();
  std::vector<EmittedPrograms> programs;
  std::vector<std::vector<SizeRange>> made;
  std::set<std::string> warnings;
};
} // namespace

/// At one size a model is one without open sizes.
FormTrial PieceCompilation::compileFixed(const CompileOptions &given,
                                         const CompileHooks &hooks) {
  SizePoint point;
  for (const SizeRange &range : given.sizes)
    point.push_back(range.maximum);
  CompileOptions fixed = optionsAt(given, point);
  fixed.sizes.clear();
  fixed.symbolicShapes.clear();
  FormTrial found;
  llvm::raw_string_ostream held(found.said);
  CompileHooks writing = hooks;
  writing.progress = &log;
  found.result = compile(fixed, out, held, writing);
  if (found.result.status == CompileStatus::Done)
    found.trial = {SizeTrial::Works};
  return found;
}

SizeTrial PieceCompilation::tries(const std::vector<SizeRange> &ranges) {
  if (auto zero = cutAtZero(ranges))
    return {SizeTrial::Differs, zero};
  if (options.verbose)
    log << "trying one form for " << spellRanges(ranges) << " ...\n";
  CompileOptions part = options;
  part.sizes = ranges;
  if (!made.empty()) {
    // Files that tell of a compile tell of its largest sizes.
    part.remarks.clear();
    part.writePrecisionPlan.clear();
    if (!part.saveTemps.empty()) {
      llvm::SmallString<128> path(part.saveTemps);
      llvm::sys::path::append(path, "piece-" + std::to_string(made.size() + 1));
      part.saveTemps = std::string(path);
    }
  }
  CompileHooks keeping = hooks;
  // So that all read the same weights.
  keeping.choices = choices;
  std::optional<EmittedPrograms> kept;
  keeping.keep = [&](EmittedPrograms done) { kept.emplace(std::move(done)); };
  FormTrial found =
      countSizes(ranges, 2) == 1
          ? compileFixed(part, keeping)
          : compileOneForm(part, keeping, out, log, endsOf(ranges));
  if (kept && !fitsOutputs(*kept, ranges, found.said))
    found.trial = {SizeTrial::Fails};
  if (found.trial.outcome == SizeTrial::Works) {
    // Warnings, once for all parts.
    if (warnings.insert(found.said).second)
      log << found.said;
    made.push_back(ranges);
    if (kept)
      programs.push_back(std::move(*kept));
  } else {
    failed = ranges;
    why = found.said;
    mayHelp = found.trial.outcome == SizeTrial::Differs;
  }
  return found.trial;
}

/// What lies above a part is another one.
std::vector<bool>
PieceCompilation::endsOf(const std::vector<SizeRange> &ranges) const {
  std::vector<bool> ends;
  for (auto [range, whole] : llvm::zip(ranges, options.sizes))
    ends.push_back(range.maximum != whole.maximum);
  return ends;
}

static exec::ProgramOp entryOf(const EmittedPrograms &programs) {
  auto module = programs.module.get();
  return *(*module.getOps<ModuleOp>().begin())
              .getOps<exec::ProgramOp>()
              .begin();
}

/// An entry says of each output how many dims it has.
bool PieceCompilation::fitsOutputs(const EmittedPrograms &added,
                                   const std::vector<SizeRange> &ranges,
                                   std::string &said) const {
  if (programs.empty())
    return true;
  auto rankOf = [](Attribute output) {
    return cast<RankedTensorType>(cast<DictionaryAttr>(output)
                                      .getAs<TypeAttr>("tensor")
                                      .getValue())
        .getRank();
  };
  for (auto [own, other] : llvm::zip(entryOf(added).getOutputs(),
                                     entryOf(programs.front()).getOutputs())) {
    if (rankOf(own) == rankOf(other))
      continue;
    auto name = cast<DictionaryAttr>(own).getAs<StringAttr>("ashlar.name");
    said = "note: the output '" + (name ? name.str() : "") + "' has " +
           std::to_string(rankOf(own)) + " dims for " + spellRanges(ranges) +
           " and " + std::to_string(rankOf(other)) + " for " +
           spellRanges(made.front()) +
           "; one module needs as many for all sizes\n";
    return false;
  }
  return true;
}

static std::vector<OpenSize> describe(const std::vector<SizeRange> &ranges) {
  std::vector<OpenSize> sizes;
  for (const SizeRange &range : ranges)
    sizes.push_back({range.name, range.minimum, range.maximum, range.step});
  return sizes;
}

/// A sum of products of names and numbers.
static AffineExpr parseDim(const std::string &dim,
                           const std::vector<SizeRange> &sizes,
                           MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const std::string &term : split(dim, '+')) {
    AffineExpr product = getAffineConstantExpr(1, context);
    for (const std::string &factor : split(term, '*')) {
      auto range = llvm::find_if(
          sizes, [&](const SizeRange &each) { return each.name == factor; });
      product =
          product *
          (range == sizes.end()
               ? getAffineConstantExpr(sizeOfDim(factor, {}, {}), context)
               : getAffineSymbolExpr(unsigned(range - sizes.begin()), context));
    }
    sum = sum + product;
  }
  return sum;
}

ModulePieces PieceCompilation::describe() const {
  ModulePieces pieces;
  pieces.symbols = ::describe(options.sizes);
  for (auto [program, ranges] : llvm::zip(programs, made))
    pieces.pieces.push_back(
        {*program.module, program.binaries, ::describe(ranges)});
  for (auto &[name, shape] : options.symbolicShapes)
    for (const std::string &dim : shape)
      pieces.inputs[name].push_back(
          parseDim(dim, options.sizes, programs.front().context.get()));
  return pieces;
}

bool PieceCompilation::fitsBudget(const ModulePieces &pieces,
                                  llvm::raw_ostream &errors) const {
  if (options.memoryBudget == 0)
    return true;
  uint64_t most = 0;
  for (const MemoryNeeds &needs : measureMemory(pieces))
    most = std::max(most, needs.peak());
  if (most <= options.memoryBudget)
    return true;
  errors << "error: --memory-budget: expected " << programs.size()
         << " programs for parts of the sizes within " << options.memoryBudget
         << " B together, found that they need " << most
         << " B; make the range of --dim smaller\n";
  return false;
}

/// Those of the first piece, with the sizes that were asked for.
std::vector<std::string> PieceCompilation::flags() const {
  auto isOfSizes = [](llvm::StringRef flag) {
    return flag.starts_with("--dim=") || flag.starts_with("--shape=");
  };
  std::vector<std::string> all = programs.front().provenance.flags, sizes;
  for (const std::string &flag : codeFlags(options, {}, ""))
    if (isOfSizes(flag))
      sizes.push_back(flag);
  auto place = llvm::find_if(all, isOfSizes) - all.begin();
  llvm::erase_if(all, isOfSizes);
  all.insert(all.begin() + place, sizes.begin(), sizes.end());
  return all;
}

CompileStatus PieceCompilation::write(llvm::raw_ostream &errors) {
  // Of a compile that stops early, everything is printed.
  if (programs.empty())
    return CompileStatus::Done;
  std::vector<CompiledPiece> all;
  for (EmittedPrograms &program : programs)
    all.push_back({*program.module, program.binaries});
  dropIdleDevices(options, all);
  ModulePieces pieces = describe();
  EmittedPrograms &first = programs.front();
  ScopedDiagnosticHandler handler(
      first.context.get(),
      [&](Diagnostic &diagnostic) { printDiagnostic(diagnostic, errors); });
  Provenance provenance = first.provenance;
  provenance.flags = flags();
  return fitsBudget(pieces, errors) &&
                 writePrograms(options, pieces, first.dataFiles,
                               std::move(provenance), errors)
             ? CompileStatus::Done
             : CompileStatus::Refused;
}

std::string PieceCompilation::listRanges() const {
  constexpr size_t most = 8;
  std::string text;
  for (const std::vector<SizeRange> &ranges : llvm::ArrayRef(made).take_front(
           made.size() <= most ? made.size() : most - 1))
    text += (text.empty() ? "" : "; ") + spellRanges(ranges);
  if (made.size() > most)
    text += " and " + std::to_string(made.size() + 1 - most) + " more";
  return text;
}

FormTrial ashlar::compilePieces(const CompileOptions &options,
                                const CompileHooks &hooks,
                                const FormTrial &whole, llvm::raw_ostream &out,
                                llvm::raw_ostream &log) {
  PieceCompilation pieces(options, hooks, out, log);
  FormTrial found = whole;
  llvm::raw_string_ostream held(found.said);
  if (!pieces.cut(whole.trial)) {
    // Zero alone is no fault of the others.
    auto zero = cutAtZero(options.sizes);
    bool isOfZero = !zero || pieces.failed.empty() ||
                    pieces.failed[zero->symbol].maximum == 0;
    StringRef why = pieces.why;
    if (!isOfZero)
      found.said = pieces.why;
    else if (!pieces.mayHelp && !why.empty())
      held << (why.consume_front("error: ")
                   ? "note: for " + spellRanges(pieces.failed) + ": "
                   : "")
           << why;
    // What stood in the way of a part may be all that there is.
    StringRef last = why.split('\n').first;
    if (isOfZero && pieces.mayHelp && last.consume_front("error: ") &&
        !StringRef(found.said).contains(last))
      held << "note: for " << spellRanges(pieces.failed) << ": " << last
           << "\n";
    if (pieces.mayHelp || why.empty())
      held << "note: at most " << options.mostPieces
           << " programs for parts of the sizes were tried; --pieces=N allows "
              "more\n";
    return found;
  }
  found.said.clear();
  found.wantsRanges = false;
  found.result.status = pieces.write(held);
  found.trial = {found.result.status == CompileStatus::Done ? SizeTrial::Works
                                                            : SizeTrial::Fails};
  if (found.trial.outcome == SizeTrial::Works && !options.quiet)
    log << "note: no one form serves all sizes; " << pieces.size()
        << " programs do, for " << pieces.listRanges() << "\n";
  return found;
}
