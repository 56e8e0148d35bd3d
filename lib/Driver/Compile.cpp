// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/Compile.h"
#include "Compilation.h"
#include "CompileForSizes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ashlar;

static std::string spellBytes(uint64_t bytes) {
  return bytes < 1024 ? std::to_string(bytes) + " B"
         : bytes < 1024 * 1024
             ? llvm::formatv("{0:f2} KiB", double(bytes) / 1024).str()
             : llvm::formatv("{0:f2} MiB", double(bytes) / (1024 * 1024)).str();
}

/// How large an arena each program may have. Where none is small enough, the
/// smallest that there is tells what would fit.
static std::vector<int64_t> arenasWithin(llvm::ArrayRef<MemoryNeeds> needs,
                                         uint64_t budget) {
  std::vector<int64_t> arenas;
  for (const MemoryNeeds &of : needs) {
    uint64_t others = of.peak() - of.arena;
    arenas.push_back(others < budget ? int64_t(budget - others) : 1);
  }
  return arenas;
}

static uint64_t mostNeeded(llvm::ArrayRef<MemoryNeeds> needs) {
  uint64_t most = 0;
  for (const MemoryNeeds &of : needs)
    most = std::max(most, of.peak());
  return most;
}

static void explainBudget(uint64_t budget, const Compilation &closest,
                          llvm::raw_ostream &log) {
  for (auto [of, target] : llvm::zip(closest.needs, closest.targetNames)) {
    if (of.peak() <= budget)
      continue;
    log << "error: --memory-budget: expected a program for " << target
        << " within " << spellBytes(budget) << ", found that it needs "
        << spellBytes(of.peak()) << " at least: weights "
        << spellBytes(of.weights) << ", code " << spellBytes(of.code)
        << ", arena " << spellBytes(of.arena) << ", outputs "
        << spellBytes(of.outputs) << ", staging " << spellBytes(of.staging)
        << ", scratch of a thread " << spellBytes(of.scratch) << "\n";
    for (const MemoryNeeds::Holder &holder :
         llvm::ArrayRef(of.holders).take_front(3))
      log << "note: " << holder.node << " holds " << spellBytes(holder.bytes)
          << " at the peak of the arena\n";
  }
  log << "note: --memory-budget=" << mostNeeded(closest.needs)
      << "B would fit, or smaller inputs (--shape)\n";
}

/// What a worker of each program may take of scratch, where that could make up
/// for all that is too much; empty: nowhere.
static std::vector<int64_t> scratchWithin(llvm::ArrayRef<MemoryNeeds> needs,
                                          uint64_t budget) {
  std::vector<int64_t> scratch;
  bool isWorthwhile = false;
  for (const MemoryNeeds &of : needs) {
    uint64_t excess = of.peak() - std::min(of.peak(), budget);
    bool helps = excess != 0 && excess < of.scratch;
    scratch.push_back(helps ? int64_t(of.scratch - excess) : 0);
    isWorthwhile |= helps;
  }
  return isWorthwhile ? scratch : std::vector<int64_t>();
}

/// What is tried, in turn: the program as it is; smaller boxes, where what
/// kernels keep for themselves is what is too much; cheap values computed
/// again; both; convolutions without transforms, whose weights are larger than
/// the model's, with each of these.
static CompileResult compileWithin(const CompileOptions &options,
                                   const CompileHooks &hooks,
                                   ReportFile &remarks, llvm::raw_ostream &out,
                                   llvm::raw_ostream &log) {
  std::vector<std::unique_ptr<Compilation>> attempts;
  CompileResult result;
  // True when there is nothing more to try.
  auto attempt = [&](Saving saving) {
    attempts.push_back(std::make_unique<Compilation>(
        options, hooks, remarks, out, attempts.empty() ? log : llvm::nulls(),
        std::move(saving)));
    result = attempts.back()->run();
    return !attempts.back()->isOverBudget;
  };
  for (bool exact : {false, true}) {
    // With other convolutions, sizes have other formulas.
    if (exact && (options.exactConvolution || hooks.sizesAreFormulas))
      continue;
    std::vector<int64_t> arenas;
    for (bool repeats : {false, true}) {
      if (attempt({exact, arenas, {}}))
        return result;
      if (!repeats)
        arenas = arenasWithin(attempts.back()->needs, options.memoryBudget);
      std::vector<int64_t> scratch =
          scratchWithin(attempts.back()->needs, options.memoryBudget);
      if (!scratch.empty() && attempt({exact, arenas, scratch}))
        return result;
    }
  }
  auto closest = llvm::min_element(attempts, [](auto &x, auto &y) {
    return mostNeeded(x->needs) < mostNeeded(y->needs);
  });
  explainBudget(options.memoryBudget, **closest, log);
  (*closest)->writeRemarks();
  return result;
}

CompileResult ashlar::compile(const CompileOptions &options,
                              llvm::raw_ostream &out, llvm::raw_ostream &log,
                              const CompileHooks &hooks) {
  if (!options.sizes.empty() && !hooks.sizesAreFormulas) {
    CompileOptions opened = options;
    CompileResult result;
    result.status = openModelDims(opened, log);
    return result.status == CompileStatus::Done
               ? compileForSizes(opened, hooks, out, log)
               : result;
  }
  ReportFile remarks("--remarks");
  if (options.memoryBudget != 0 && !options.stopEarly &&
      options.listStrategies.empty())
    return compileWithin(options, hooks, remarks, out, log);
  return Compilation(options, hooks, remarks, out, log).run();
}
