// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module in memory: its bytes, the program taken and that program's code.

#ifndef ASHLAR_RUNTIME_LIB_MODULE_H
#define ASHLAR_RUNTIME_LIB_MODULE_H

#include "Content.h"
#include "IndexVerifier.h"
#include "OwnMemory.h"
#include "ProgramChoice.h"

namespace ashlar::runtime {
class Module;
class SharedArena;
} // namespace ashlar::runtime

/// An entry point as the program taken runs it. This is the C API's handle.
struct ashlar_entry_t {
  ashlar::runtime::Module *module; // whose entry it is, and which has it
  const ashlar::fb::Entry *entry;  // in the module's index
  // One, or a piece for each part of the sizes; in the order of the file.
  ashlar::runtime::Vector<const ashlar::fb::ProgramEntry *> pieces;
  size_t index; // among the module's entries
  // Shapes for people; the C API lends them.
  ashlar::runtime::Vector<ashlar::runtime::String> inputShapes;
  ashlar::runtime::Vector<ashlar::runtime::String> outputShapes;
};

namespace ashlar::runtime {

/// What the caller of a load asked for.
struct LoadOptions {
  std::shared_ptr<Budget> budget; // that it is charged to
  String name;                    // of the holder
  bool allowNativeCode = false;   // code that a process may not survive
  bool verifyWeights = false;     // read all of them and compare hashes
  bool shareContent = false;      // with modules of the same budget
  ProgramRequest request;         // for which devices
};

/// Loaded by one thread; then nothing of it changes, and any thread reads it.
class Module {
public:
  Module(std::shared_ptr<Runtime> runtime, std::unique_ptr<ModuleFile> file,
         LoadOptions options);
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// Chooses the program and computes what it takes, from the index alone, or
  /// where contents are shared, from what others have as well. Called once.
  Status plan();
  /// After that: whether the module fits its budget now and as many sessions
  /// fit `sessionBudget` beside it.
  Status checkFit(uint32_t sessions, uint32_t workers, bool all,
                  Budget &sessionBudget, SharedArena *arena) const;
  /// What the module and one session take, without arenas where those are
  /// shared; fields of sizes only.
  Status cost(uint32_t workers, bool all, bool hasArenas,
              ashlar_module_cost_t &out) const;
  /// After that: charges, then loads. Called once.
  Status load();
  /// Behind a load that failed: whether a device did not take the program's
  /// code, as another program's it may, or was lost, where others will do.
  bool isRefused() const { return refused; }
  uint32_t programNumber() const { return choice.program; }

  /// Verified; lives as long as this.
  const fb::Module &index() const { return content.file().index(); }
  /// The one that was chosen.
  const fb::Program &program() const {
    return *index().programs()->Get(choice.program);
  }
  /// Where inputs, outputs and arena 0 are.
  ashlar_device_t &home() const { return *choice.devices[homeOf(program())]; }
  /// In whose memory what is the host's of this module counts; null: the
  /// host's own.
  ashlar_device_t *hostMemory() const {
    return home().part && home().usesHostMemory() ? &home() : nullptr;
  }
  /// Where it was loaded for a virtual device, whose turns its runs take; or
  /// null.
  VirtualPart *part() const {
    return choice.asked ? choice.asked->part.get() : nullptr;
  }
  /// The program's own device and the companions'.
  const Vector<ashlar_device_t *> &devices() const { return choice.devices; }
  /// The device's handle for a kernel of the program.
  const void *kernel(uint32_t number) const { return kernels[number]; }
  /// Where a device finds a weight that it reads. Never written.
  DeviceAddress weight(uint32_t device, uint32_t number) const;
  /// Of a device's worst kernel, a multiple of 64.
  uint64_t scratchBytes(size_t device) const {
    return scratchPerWorker[device];
  }

  /// What it takes and where it runs.
  void query(ashlar_module_info_t &out) const;
  /// Weights and code of all that is loaded, in place of an entry's own.
  void addLoaded(ashlar_contract_t &out) const {
    out.weights_bytes = weightsBytes;
    out.code_bytes = codeBytes;
  }
  /// NOT_FOUND names those that there are. The handle lives as long as this.
  Status findEntry(std::string_view name, ashlar_entry_t *&out);

  const std::shared_ptr<Runtime> runtime; // lives longer
  const String name;                      // of the holder
  Vector<ashlar_entry_t> entries;         // in the order of the file
  uint64_t loadNanoseconds = 0;           // what the load took

private:
  /// Where a weight is: in a block or, with null, in the file.
  struct WeightPlace {
    ASHLAR_OWN_NEW
    ContentBlock *block; // null: in the file
    uint64_t offset;     // in that
  };
  /// What each device reads, by its number.
  Vector<Vector<char>> findWeights() const;
  void takeWeights(uint32_t device, const Vector<char> &used);
  /// All executables, then the kernels in them.
  Status loadCode();
  Status loadExecutable(uint32_t number, ContentBlock &block);
  Status takeCode(uint32_t number);
  /// Sets the device's handle for it.
  Status findKernel(const fb::Kernel &kernel);
  Status copyWeights(uint32_t device);
  /// Those of a device that are made: in a block, or with null all.
  void makeWeights(uint32_t device, const ContentBlock *block);
  /// Fills `entries`; handles do not move from then on.
  void describeEntries();

  const LoadOptions options;         // as they were given
  ProgramChoice choice;              // program and devices, from `plan` on
  bool refused = false;              // what isRefused() says
  uint64_t weightsBytes = 0;         // of all devices
  uint64_t codeBytes = 0;            // of what is loaded
  Vector<uint64_t> scratchPerWorker; // by device
  Vector<uint32_t> forms; // of each executable, the one that is loaded
  Content content;        // the file, weights and code
  Vector<ContentBlock *> executables; // null: another form is
  Vector<const void *> kernels;       // devices' handles, by number
  // Of all weights, by device; those that are not used are anywhere.
  std::unique_ptr<WeightPlace[]> weights;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_MODULE_H
