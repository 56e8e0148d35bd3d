// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --help says. Manual pages and completions are made of it: values that a
// flag may have stand in front, "none, basic or all: ..."; a default at the end
// in brackets.
#include "Flags.h"
#include "ashlar/Driver/DescribeTargets.h"

using namespace ashlar;

static constexpr const char *description = R"(Example:
  ashlar-compile model.onnx -o model.ash --shape=images=1x3x224x224

Compiles a model ahead of time into one .ash file, which ashlar-run or the C
library runs. By default the code is for this machine's processor. Defaults
of options stand in brackets.
)";

static constexpr const char *footer =
    R"(Stages:  import simplify place precision fuse tile schedule emit
Exit:    0 done, 1 model refused, 2 wrong usage, 70 a bug in the compiler
)";

static void declareResult(CLI::App &app, CompileOptions &options,
                          FlagTexts &texts) {
  app.add_option("MODEL", options.input,
                 "The model: .onnx, or .mlir on tensors");
  app.add_option("-o,--output", options.output, "The .ash file to write");
  app.add_option("--emit", texts.emit,
                 "module, static or riscv-object: an .ash file; an object "
                 "FILE.o with its header FILE.h, which needs no runtime; the "
                 "same for a bare RISC-V core (module)");
  app.add_option("--symbol-prefix", options.symbolPrefix,
                 "With --emit=static or riscv-object: what the object's names "
                 "begin with, as in NAME_main and, in capitals, "
                 "NAME_INPUT_COUNT (ashlar). Several objects in one program "
                 "need different ones");
  app.add_option("--target", texts.targets,
                 "What to compile for (cpu:host): T[:PRESET] of the targets "
                 "below. T,T: a program for each; T+T: one program that runs "
                 "on both");
  app.add_option("--machine", options.machine,
                 "A machine model (JSON file) in place of the preset's");
  app.add_option("--assembler", options.assembler,
                 "The program that makes machine code of a target's text (" +
                     describeAssemblers() +
                     "): its path, or none. By default one is looked for; it "
                     "is ended after ten minutes, or as many seconds as "
                     "ASHLAR_ASSEMBLER_SECONDS says")
      ->type_name("PATH");
  app.add_flag("--line-tables", options.lineTables,
               "Let vendors' profilers show the model's nodes as source files "
               "(" +
                   describeLineTables() + ")");
  app.add_option("--sign-key", options.signKey,
                 "Sign the module with this Ed25519 key (PEM), as 'openssl "
                 "genpkey -algorithm ed25519' writes it")
      ->type_name("FILE");
}

static void declareSizes(CLI::App &app, CompileOptions &options,
                         FlagTexts &texts) {
  app.add_option("--shape", texts.shapes,
                 "NAME=1x3x224x224: the shape of an input with dynamic sizes; "
                 "NAME=Nx3x48x8*W: leave the sizes of --dim open "
                 "(NAME=N,3,48,8*W if a name contains an x); repeatable");
  app.add_option("--dim", texts.sizes,
                 "N=1..8,W=32..3200: ranges of sizes that each call chooses, "
                 "by their names in --shape or in the model; H=64..960:32: "
                 "multiples of 32 only");
  app.add_option("--pieces", options.mostPieces,
                 "If one program cannot serve all sizes of --dim: at most so "
                 "many programs for parts of the range (16); 1: refuse")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--state", texts.states,
                 "INPUT=OUTPUT: keep both in one place of the caller's memory. "
                 "The output must be the input with new data appended or "
                 "elements replaced, such as the cache of attention; "
                 "repeatable");
  app.add_option("--value", texts.values,
                 "NAME=16000 or NAME=0,2: make an input a constant of the "
                 "module; repeatable")
      ->take_all();
}

static void declareNumerics(CLI::App &app, CompileOptions &options,
                            FlagTexts &texts) {
  app.add_flag("--exact-convolution", options.exactConvolution,
               "Compute convolutions without Winograd's transforms");
  app.add_option("--precision", texts.precision,
                 "f32, bf16, f16, auto or tf32: round values to 16 bits where "
                 "named rules allow it; auto: to bf16 where the measured error "
                 "allows it; tf32: matrix units alone round (f32)");
  app.add_option("--tolerance", texts.tolerance,
                 "With --precision=auto: how far an output may be from f32, "
                 "relative to its largest element (1e-2)");
  app.add_option("--calibration", options.calibration,
                 "A folder with NAME.npy or NAME.pb for each input, or a "
                 "folder of such folders: the inputs on which errors and the "
                 "range of f16 are measured. Without it, auto uses random "
                 "inputs");
  app.add_option("--precision-plan", options.precisionPlan,
                 "A file that gives the type of each node");
  app.add_option("--write-precision-plan", options.writePrecisionPlan,
                 "Write the types that were chosen to such a file");
  app.add_option("--weights", texts.weights,
                 "random:SEED: store a seed in place of large weights; loading "
                 "makes random weights of it. For measuring");
}

static void declareChoices(CLI::App &app, CompileOptions &options,
                           FlagTexts &texts) {
  app.add_option("--fuse", texts.fuse,
                 "none, basic or all: how many ops may become one kernel "
                 "(all)");
  app.add_option("--memory-budget", texts.budget,
                 "512MiB (B, KiB, MiB, GiB): make the program fit into this "
                 "much memory, or refuse");
  app.add_option("--tuning", options.tuning,
                 "A table of measured strategies (JSON file), from "
                 "ashlar-bench --tune");
  app.add_flag(
      "--strict", options.strict,
      "Refuse what is a warning otherwise: a --tuning table of another "
      "machine or version, and kernels on a GPU's matrix units that "
      "keep registers in memory (rocm; cuda and level-zero where an "
      "assembler says so). Other targets have no such kernels");
  app.add_option("--list-strategies", options.listStrategies,
                 "Write no module, but the strategies of each contraction that "
                 "are worth measuring (JSON), to a file or -");
}

static void declareReports(CLI::App &app, CompileOptions &options,
                           FlagTexts &texts) {
  app.add_option("--remarks", options.remarks,
                 "Write what was decided and why, to a file (.yaml: for tools) "
                 "or -");
  app.add_option("--trace", options.trace,
                 "Write when each stage began and ended, to a file that "
                 "ui.perfetto.dev opens, or -")
      ->type_name("FILE");
  app.add_option("--until", texts.until,
                 "Stop after a stage (below) and print the IR");
  app.add_flag("--until-locations", options.printLocations,
               "With --until: print the names of nodes with each op");
  app.add_option("--save-temps", options.saveTemps,
                 "Keep intermediate files in this folder, a folder per "
                 "program");
  app.add_option("--threads", options.threads, "Threads that compile (all)")
      ->check(CLI::Range(1u, 4096u));
  app.add_flag("--list-operators", options.listOperators,
               "Print the ONNX operators that are supported, with opsets and "
               "types");
  app.add_flag("--list-targets", options.listTargets,
               "Print all that --target takes, one TARGET:PRESET per line");
  app.add_flag("--verbose", options.verbose, "Print each stage with its time");
  app.add_flag("--quiet", options.quiet, "Print errors only")
      ->excludes("--verbose");
}

void ashlar::declareFlags(CLI::App &app, CompileOptions &options,
                          FlagTexts &texts) {
  app.description(description);
  app.footer([] { return "\n" + describeTargets() + footer; });
  app.set_version_flag("--version", "ashlar-compile " ASHLAR_VERSION);
  declareResult(app, options, texts);
  declareSizes(app, options, texts);
  declareNumerics(app, options, texts);
  declareChoices(app, options, texts);
  declareReports(app, options, texts);
}
