// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline for each stage, with the options that mean something to it.
#include "NamedTargets.h"
#include "ashlar/Driver/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace ashlar;

namespace {
/// Which of the pass's options a stage has.
struct StageOptions {
  bool target = false, precision = false, fuse = false, output = false;
};

/// Those of one stage as the command line reads them.
struct ParsedOptions : detail::PassOptions {
  using Text = detail::PassOptions::Option<std::string>;

  explicit ParsedOptions(StageOptions has) {
    auto add = [&](std::unique_ptr<Text> &option, StringRef name,
                   StringRef description, StringRef otherwise) {
      option = std::make_unique<Text>(*this, name, llvm::cl::desc(description),
                                      llvm::cl::init(otherwise.str()));
    };
    if (has.target) {
      add(target, "target", "As ashlar-compile's --target", "");
      add(machine, "machine", "A machine model (JSON) in place of a preset",
          "");
    }
    if (has.precision)
      add(precision, "precision", "f32, bf16 or f16", "f32");
    if (has.fuse)
      add(fuse, "fuse", "How much becomes one kernel: none, basic or all",
          "all");
    if (has.output)
      add(output, "output", "The .ash file to write", "");
  }

  RunStagePassOptions forPass(StringRef stage) const {
    RunStagePassOptions options;
    options.stage = stage.str();
    auto read = [](const std::unique_ptr<Text> &option, std::string &value) {
      if (option)
        value = option->getValue();
    };
    read(target, options.target);
    read(machine, options.machine);
    read(precision, options.precision);
    read(fuse, options.fuse);
    read(output, options.output);
    return options;
  }

  std::unique_ptr<Text> target, machine, precision, fuse, output;
};
} // namespace

static void registerStage(StringRef stage, StageOptions has) {
  std::string name = "ashlar-" + stage.str() + "-pipeline";
  auto build = [stage,
                has](OpPassManager &pm, StringRef text,
                     llvm::function_ref<LogicalResult(const Twine &)> error)
      -> LogicalResult {
    ParsedOptions parsed(has);
    if (failed(parsed.parseFromString(text)))
      return failure();
    RunStagePassOptions options = parsed.forPass(stage);
    // Said before anything is read.
    if (Refusal wrong = checkStageOptions(options))
      return error(*wrong);
    pm.addPass(createRunStagePass(options));
    return success();
  };
  auto list = [has](llvm::function_ref<void(const detail::PassOptions &)> see) {
    see(ParsedOptions(has));
  };
  registerPassPipeline(name, "The stage " + stage.str(), build, list);
}

void ashlar::registerStagePipelines() {
  nameTargetsForPasses();
  StageOptions withTarget;
  withTarget.target = true;
  StageOptions precision = withTarget, fuse = withTarget, emit = withTarget;
  precision.precision = fuse.fuse = emit.output = true;
  registerStage("import", {});
  registerStage("simplify", {});
  registerStage("place", withTarget);
  registerStage("precision", precision);
  registerStage("fuse", fuse);
  registerStage("tile", withTarget);
  registerStage("schedule", fuse);
  registerStage("emit", emit);
}
