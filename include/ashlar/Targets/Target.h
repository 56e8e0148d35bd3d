// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target gives to the compiler: its machine models and the way from a
// kernel after the stage `tile` to its binary. Everything else is shared.
#ifndef ASHLAR_TARGETS_TARGET_H
#define ASHLAR_TARGETS_TARGET_H

#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace ashlar {

/// What a kernel should take.
struct KernelPrediction {
  uint64_t cycles;       ///< of one worker that does all of it
  llvm::StringRef bound; ///< what limits it; a literal, or the kernel's own
};

/// What an assembler says that a kernel's machine code takes.
struct KernelResources {
  uint64_t registers = 0;   ///< of a thread
  uint64_t sharedBytes = 0; ///< of a workgroup, what a launch gives included
  uint64_t stackBytes = 0;  ///< of a thread, spilled registers included
  uint64_t spillBytes = 0;  ///< of a thread: registers stored for want of them
  /// Workgroups that one worker holds at a time, and the share of the threads
  /// it could hold that these are.
  uint64_t groups = 0;
  double occupancy = 0;
};

/// The same kernels once more, for devices that do not take the first form.
struct BinaryForm {
  std::string format;
  std::string image;
};

/// The kernels of one program in the form that the runtime loads.
struct ProgramBinary {
  std::string format;     ///< "elf-x86_64": what the runtime checks
  std::string deviceType; ///< which runtime device runs it
  /// Instruction sets that the machine must have, in LLVM's spelling.
  std::vector<std::string> requiredFeatures;
  std::string image;
  std::string madeBy; ///< another program that made `image`; empty: we did
  std::vector<BinaryForm> otherForms;  ///< the preferred first
  llvm::StringMap<uint64_t> codeBytes; ///< by kernel symbol, in `image`
  /// By kernel symbol, where an assembler was asked.
  llvm::StringMap<KernelResources> resources;
  /// The same, of those whose workgroups share memory that a launch asks for.
  llvm::StringMap<uint64_t> sharedBytes;
  /// By kernel symbol, of those that the target knows better than its model.
  llvm::StringMap<KernelPrediction> predictions;
  MachineModel machine;                  ///< what the kernels were made for
  bool isPlain = false;                  ///< of single elements, no vectors
  std::vector<ProgramBinary> companions; ///< of further devices, in order

  /// Of the largest form: whichever a device takes, it has room.
  uint64_t mostCodeBytes() const {
    uint64_t most = image.size();
    for (const BinaryForm &form : otherForms)
      most = std::max<uint64_t>(most, form.image.size());
    return most;
  }
};

struct EmitOptions {
  /// Which of the program's devices this is: only its kernels are compiled.
  unsigned device = 0;
  /// As little as possible stands between the loops and their code.
  bool plain = false;
  std::string saveTemps; ///< folder; empty: none
  /// The program that makes machine code of a target's text, where it has one:
  /// a path; "none"; empty: what is found.
  std::string assembler;
  bool lineTables = false; ///< code says of which node an instruction is
  bool strict = false;     ///< code that falls short of its strategy is refused
  /// Told of each kernel with a matrix unit whose threads keep in memory what
  /// should be in registers. True: the program will be compiled again with
  /// another strategy, and nobody else is told; may be empty.
  std::function<bool(mlir::ModuleOp kernel)> triesAgain;
  bool mayTryAgain = false; ///< it may say yes
  /// Set when the machine is at fault and not the compiler: a full disk; or the
  /// model, which an object cannot hold.
  bool *refused = nullptr;
};

/// What the shared stages ask of a target.
struct Capabilities {
  bool fuses = true;             ///< ops become kernels together
  bool tilesKernels = true;      ///< what is no contraction is cut into tiles
  bool wideAccumulators = false; ///< f32 is added up in f64
  bool multipliesBytes = true;   ///< what was dequantized, as it was before
  /// Kernels of contractions that it runs in succession may be one.
  bool joinsKernels = false;
  /// Of what it runs beside another target: sums become bytes on their way out,
  /// and nothing can follow that.
  bool endsInBytes = false;
  /// Of what it runs beside another target: kernels are for one size only.
  bool fixedSizes = false;
  /// Of a sum of integers that stays in an array; 0: as many as elsewhere.
  int64_t arraySumBits = 0;
  /// Of what it runs beside another target: contractions have strategies for
  /// its machine, and its own pipeline lowers its kernels.
  bool lowersKernels = false;
};

/// What the stage `tile` asks of a target's own pipeline.
struct KernelOptions {
  /// How many of PipelineSteps.h are taken.
  unsigned steps = ~0u;
};

/// A target with one machine model chosen.
class Target {
public:
  explicit Target(MachineModel machine) : model(std::move(machine)) {}
  virtual ~Target() = default;

  const MachineModel &machine() const { return model; }
  /// "TARGET:PRESET".
  std::string name() const { return model.target + ":" + model.name; }
  virtual Capabilities capabilities() const { return {}; }
  /// Beside another target: why it cannot compute an op on tensors, such as a
  /// tile.contract; empty: it can.
  virtual std::string whyNot(mlir::Operation *) const {
    return "it runs no contraction for another target";
  }
  /// What an op takes that it can compute, launch included, as predicted or
  /// simulated; nothing: what the machine model says. Any thread, nothing
  /// changes.
  virtual std::optional<double> nanoseconds(mlir::Operation *) const {
    return std::nullopt;
  }
  /// At the end of the stage `tile`: takes the kernels of a program, whose
  /// bodies are functions on memrefs and their contractions have strategies, to
  /// the form that `emit` reads. A program's first target says so for all of
  /// its kernels but those of companions that lower their own; what another
  /// companion reads as contractions stays one.
  virtual void buildKernelPipeline(mlir::OpPassManager &program,
                                   const KernelOptions &options) const = 0;
  /// Compiles the kernels of `program` that are this device's; consumes their
  /// bodies. Emits diagnostics and fails only through our own fault.
  virtual mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                              const EmitOptions &options) = 0;

  /// Why its programs are of no use to the runtime; empty: they are.
  virtual std::string whyNoModule() const { return ""; }
  /// Why it has no part in a program that is one object file, without the
  /// runtime, for a bare core or one with an operating system; empty: it has.
  virtual std::string whyNoObject(bool isBare) const {
    return "it makes no code that runs without the runtime";
  }
  /// Adds this device's kernels to `object` as internal functions of the type
  /// in kernel_abi.h, under their symbols. The host is the first that does and
  /// says for which machine; it consumes their bodies. Emits a diagnostic where
  /// it fails.
  virtual mlir::LogicalResult addToObject(mlir::ModuleOp program,
                                          const EmitOptions &options,
                                          llvm::Module &object) {
    return mlir::failure();
  }
  /// Of the host: the object file, which needs memcpy and memset, with an
  /// operating system also C's other functions on memory and its mathematics.
  /// Emits a diagnostic, at the kernel, where it would need something else.
  virtual mlir::FailureOr<std::string> writeObject(mlir::ModuleOp program,
                                                   const EmitOptions &options,
                                                   llvm::Module &object) {
    return mlir::failure();
  }

  /// Of further devices that the program runs on, 1 and so on.
  std::vector<std::unique_ptr<Target>> companions;
  /// Nobody asked for it beside them: it computes only what they cannot.
  bool standsIn = false;

private:
  MachineModel model;
};

/// How a target is found by name.
struct TargetInfo {
  std::string name;
  std::vector<std::string> presets; ///< the first is the default
  /// The model of a preset, one of presets.
  MachineModel (*machineFor)(llvm::StringRef preset);
  /// Why there is no code for a model, by the field at fault; empty: there is.
  std::string (*check)(const MachineModel &machine);
  /// `machine` is a preset's, or has passed check.
  std::unique_ptr<Target> (*create)(MachineModel machine);
  /// Computes everything, and inputs and outputs are in its memory. Any other
  /// needs such a one beside it.
  bool isHost = true;
  /// The preset that makes object files where none is named; empty: none does.
  std::string objectPreset = "";
  /// A target for products of constants that take long, computed while others
  /// are compiled; null: no such. It runs on every machine that compiles, and
  /// gives the same bytes on all of them.
  std::unique_ptr<Target> (*createForConstants)() = nullptr;
  /// A host that may be a further device of another's program as well.
  bool standsBeside = false;
  /// The vendor's program that makes machine code of what it writes; empty: no
  /// such is asked.
  std::string assembler = "";
  /// Whether a program is that one, by its path; null: any may be.
  bool (*isAssembler)(llvm::StringRef path) = nullptr;
  /// Its code can say of which node an instruction is.
  bool hasLineTables = false;
};

/// All targets of this compiler; lib/InitAll.cpp is the list.
const std::vector<TargetInfo> &allTargets();

} // namespace ashlar

#endif // ASHLAR_TARGETS_TARGET_H
