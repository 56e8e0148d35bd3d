// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ashlar-compile is asked for, in plain types: the command line fills it,
// ashlar-check and tests make it themselves.
#ifndef ASHLAR_DRIVER_COMPILEOPTIONS_H
#define ASHLAR_DRIVER_COMPILEOPTIONS_H

#include "ashlar/Transforms/Pipelines/FuseLevel.h"
#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ashlar {
class StageTrace;

/// One program to make: a target and the machine model it is made for.
struct TargetRequest {
  std::string target; ///< "cpu", "reference"
  std::string preset; ///< "host"; empty: the target's default
  /// Further devices that the program runs on.
  std::vector<TargetRequest> companions = {};
  bool hasEmptyPreset = false; ///< "TARGET:", which is refused
};

/// A size that the caller chooses with each call: N=1..8; H=64..960:32, of
/// multiples of 32 only.
struct SizeRange {
  std::string name;
  int64_t minimum = 1, maximum = 1; ///< multiples of the step
  int64_t step = 1;

  /// As the command line has it.
  std::string text() const {
    return name + "=" + std::to_string(minimum) + ".." +
           std::to_string(maximum) +
           (step == 1 ? "" : ":" + std::to_string(step));
  }
};

/// Where compilation stops, in order.
enum class Stage {
  Import,
  Simplify,
  Place,
  Precision,
  Fuse,
  Tile,
  Schedule,
  Emit
};

/// What is written.
enum class OutputKind {
  Module, ///< an .ash file for the runtime
  /// An object file and a C header, without the runtime: for a core without
  /// an operating system, or for a processor that has one.
  RiscvObject,
  StaticObject
};

struct CompileOptions {
  std::string input;  ///< .onnx or .mlir
  std::string output; ///< .ash or .o; unused when stopping early
  OutputKind outputKind = OutputKind::Module;
  /// What the names in an object and its header begin with, the macros' in
  /// capitals: lower case, digits and _.
  std::string symbolPrefix = "ashlar";
  /// An open file to write to instead; negative: none.
  int outputDescriptor = -1;
  std::vector<TargetRequest> targets = {{"cpu", ""}};
  /// A machine file, for the target that it is of where no preset is named;
  /// empty: presets only.
  std::string machine;
  /// A table of measured strategies; empty: none.
  std::string tuning;
  /// Whether a table for another machine or version is refused, not ignored,
  /// and code of matrix units that keeps registers in memory.
  bool strict = false;
  /// Where the strategies worth measuring go instead of a module, as JSON; "-"
  /// is the standard output; empty: nowhere.
  std::string listStrategies;
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Sizes with ranges, and shapes in them: a dim is a number, such a name, or
  /// a sum of products of them ("8*h", "P+T"). An input of an ONNX model that
  /// has no shape here is open where the model itself calls its dims by these
  /// names.
  std::vector<SizeRange> sizes;
  std::map<std::string, std::vector<std::string>> symbolicShapes;
  /// Where no one form serves all sizes, the most programs for parts of them;
  /// 1: such sizes are refused.
  unsigned mostPieces = 16;
  /// Inputs that become outputs in place, by their names, and the largest
  /// shape of each at any size; empty: that which it has.
  struct State {
    std::string input, output;
    std::vector<int64_t> shape;
  };
  std::vector<State> states;
  /// Convolutions are sums of products only, without Winograd's transforms.
  bool exactConvolution = false;
  /// Inputs that become constants: their elements as numbers, in order.
  std::map<std::string, std::vector<std::string>> values;
  /// Large weights are numbers of this seed, made when the module is loaded.
  std::optional<uint64_t> randomWeights;
  FuseLevel fuse = FuseLevel::All;
  /// The low type of the rules; of a search, what it may choose.
  NumberType precision = NumberType::F32;
  /// Matrix units of TF32 may multiply what is f32, and stays so.
  bool roundsToTF32 = false;
  /// Which nodes may be low is searched for, so that each output stays within
  /// the tolerance: max |difference| / max |reference|.
  bool searchPrecision = false;
  double tolerance = 1e-2;
  std::string calibration;        ///< folder of inputs; empty: made up
  std::string precisionPlan;      ///< file that decides; empty: rules do
  std::string writePrecisionPlan; ///< file to write; empty: none
  /// Bytes that each program's memory contract may say; 0: any.
  uint64_t memoryBudget = 0;
  /// Where what the compiler decided goes: YAML for .yaml and .yml, else text;
  /// "-" is text on the standard output; empty: nowhere.
  std::string remarks;
  /// The key (PEM) that the module is signed with; empty: it is not signed.
  std::string signKey;
  /// Where the times of stages go; "-" is the standard output; empty: nowhere.
  /// Who compiles writes it, from what `stages` has heard.
  std::string trace;
  StageTrace *stages = nullptr; ///< null: nobody listens
  /// Prints the IR after this stage instead of writing a file.
  bool stopEarly = false;
  Stage until = Stage::Emit;
  bool printLocations = false; ///< with that IR, the model's node names
  /// The program that makes machine code of what a target writes as text: a
  /// path; "none"; empty: what is found.
  std::string assembler;
  /// Code of targets whose profilers show lines names the nodes.
  bool lineTables = false;
  std::string saveTemps; ///< folder for intermediate files; empty: none
  unsigned threads = 0;  ///< 0: as many as the machine has
  bool verbose = false;
  bool quiet = false;
  bool listOperators = false; ///< instead of compiling
  bool listTargets = false;   ///< likewise
};

/// Returns false, leaving the results alone, when the text has another form.
bool parseTargets(const std::string &text, std::vector<TargetRequest> &targets);
bool parseShape(const std::string &text, std::string &name,
                std::vector<int64_t> &shape);
/// NAME=Nx3x48xW: each dim a number, one of the names of `sizes`, or a sum of
/// products of them. A name with an x in it is read as a whole; where that can
/// be done in two ways, commas in place of x part the dims. `why` says what is
/// wrong.
bool parseSymbolicShape(const std::string &text,
                        const std::vector<SizeRange> &sizes, std::string &name,
                        std::vector<std::string> &shape, std::string &why);
/// One such dim, spelled without blanks; of numbers alone, as their value.
/// False where a part is no number and no name of `sizes`: the first such, in
/// quotes, or "nothing".
bool parseOpenDim(const std::string &text, const std::vector<SizeRange> &sizes,
                  std::string &dim, std::string &unknown);
/// What a dim of a symbolic shape is where each of `sizes` has its value.
int64_t sizeOfDim(const std::string &dim, const std::vector<SizeRange> &sizes,
                  const std::vector<int64_t> &values);
/// N=1..8,W=32..3200:32: names that are not repeated, ranges from 0 on, maybe
/// of multiples. `why` says what is wrong.
bool parseSizeRanges(const std::string &text, std::vector<SizeRange> &sizes,
                     std::string &why);
/// NAME=16000 or NAME=0,2; the numbers are read when their type is known.
bool parseValue(const std::string &text, std::string &name,
                std::vector<std::string> &numbers);
/// 512MiB: B, KiB, MiB or GiB, and more than none.
bool parseByteCount(const std::string &text, uint64_t &bytes);
/// f32, bf16, f16 or auto.
bool parsePrecision(const std::string &text, CompileOptions &options);
/// A finite number above zero.
/// "random:7".
bool parseWeights(const std::string &text, CompileOptions &options);
bool parseTolerance(const std::string &text, double &tolerance);
bool parseFuseLevel(const std::string &text, FuseLevel &level);
const char *fuseLevelName(FuseLevel level);
bool parseStage(const std::string &text, Stage &stage);
const char *stageName(Stage stage);

} // namespace ashlar

#endif // ASHLAR_DRIVER_COMPILEOPTIONS_H
