// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One entry with arguments: checks the tensors, reads the symbols from the
// inputs' shapes, turns bindings into addresses. What stays the same between
// two binds is not computed again: a static program is resolved once, and
// then only addresses of inputs and outputs change.

#ifndef ASHLAR_RUNTIME_LIB_BOUNDCALL_H
#define ASHLAR_RUNTIME_LIB_BOUNDCALL_H

#include "ArenaPlacement.h"
#include "CallSizes.h"
#include "GraphCache.h"
#include "Module.h"
#include "OwnMemory.h"

namespace ashlar::runtime {

class Session;

/// Tensors that a call fills or says the shapes of; the caller's.
struct TensorSpan {
  ashlar_tensor_t *tensors;
  size_t count;
};

/// Of a run that was cancelled or late.
Status stoppedStatus(const RunControl &control);

/// Of one session, which lives longer and runs one call at a time. Its memory
/// is charged and placed by the first run.
class BoundCall {
public:
  ASHLAR_OWN_NEW
  BoundCall(Session &session, const ashlar_entry_t &entry);

  /// Nothing of an earlier bind is usable after a failure.
  Status bind(ConstTensorSpan inputs, TensorSpan outputs);

  /// After a successful bind.
  Status run(RunControl &control);
  /// In the module; lives as long as that.
  std::string_view entryName() const;

  /// The shape of an output as the last run left it, where sizes depend on
  /// data; before a run, and everywhere else, the largest for these inputs.
  const int64_t *outputShape(uint32_t index) const {
    return outputArguments[index].shape;
  }
  /// Of the entry.
  uint32_t outputCount() const { return uint32_t(outputArguments.size()); }
  /// Of its description; the same in all runs.
  uint32_t outputRank(uint32_t index) const;

private:
  /// Where the bytes behind an entry of list.addresses live.
  struct Slot {
    fb::Storage storage; // an input, an output, a weight, an arena
    uint32_t index;      // in that
    uint32_t device;     // of the session's: who reads or writes there
  };
  /// An input or output as this call has it.
  struct Argument {
    uint64_t bytes = 0;     // of its shape now
    DeviceAddress base;     // what the device at home reads or writes
    void *caller = nullptr; // the caller's, or the session's own output
    ashlar_device_t *device = nullptr; // whose that is; null: the host's
    bool isStaged = false; // copied between the two, before or after
    bool isOwned = false;  // an output in the session's memory
    int64_t shape[ASHLAR_MAX_RANK] = {}; // of an output, as it is now
    int64_t bound[ASHLAR_MAX_RANK] = {}; // of an output, at most
  };

  /// What a command came from, for errors and traces; nothing: a copy or
  /// control flow.
  struct Origin {
    const fb::Kernel *kernel = nullptr; // of a dispatch
    const fb::Check *check = nullptr;   // of a check
  };

  /// A tensor map, resolved, and the memory that it is for.
  struct Map {
    TensorMap map; // for these sizes
    uint32_t slot; // of the address it is for
  };

  // BindArguments.cpp
  /// Types, ranks, fixed dims, strides and where they lie.
  Status checkInputs(ConstTensorSpan inputs);
  Status checkInput(const ashlar_tensor_t &tensor, uint32_t index);
  /// An output that is a state: where its input is.
  Status placeState(ashlar_tensor_t &tensor, uint32_t index, uint32_t input);
  /// Sizes of this call, from the inputs' shapes, and the piece for them.
  Status readSymbols(ConstTensorSpan inputs);
  /// Of the entry, in the module.
  const fb::TensorDescription &outputOf(uint32_t index) const;
  /// And says their shapes; memory that is too small is refused.
  Status checkOutputs(TensorSpan outputs);
  /// An output may be no other argument's memory, but for states.
  Status checkOverlap() const;
  /// Reaches the device that the caller says the tensor is on.
  Status checkDevice(Argument &argument, const String &place);
  /// Where they are, or in a copy that the session makes.
  Status placeInputs(ConstTensorSpan inputs);
  /// The same, and states beside their inputs.
  Status placeOutputs(TensorSpan outputs);
  /// Whether the device at home can read or write it where it is.
  bool usableInPlace(const Argument &argument) const;

  // ResolveCommands.cpp
  /// The piece's commands for these sizes, addresses left out.
  Status resolve();
  /// Offsets of the arena's values for these sizes.
  Status placeArena();
  /// All of a table's, in order, blocks within blocks.
  template <typename Table> Status resolveCommands(const Table &table);
  /// `table`: of the index, as `type` says.
  Status resolveCommand(fb::Command type, const void *table);
  /// Its branches one behind the other, with jumps.
  Status resolveIf(const fb::If &branches);
  Status resolveLoop(const fb::Loop &loop);
  /// Reads its byte at `condition`; null: it reads none. `index`: of the
  /// command.
  Status addControl(Command::Kind kind, const fb::Binding *condition,
                    uint32_t &index, Origin origin);
  /// Its number in the list.
  uint32_t addCommand(Command command, Origin origin);
  /// Addresses, numbers and groups, added to the list.
  Status resolveDispatch(const fb::Dispatch &dispatch, Command &command);
  Status resolveCopy(const fb::Copy &copy, Command &command);
  /// Adds an address for `device` to the list; `length`: bytes there.
  Status resolveBinding(const fb::Binding &binding, uint64_t &length,
                        uint32_t device);
  /// What the session reads itself.
  Status resolveAtHome(const fb::Binding &binding);
  /// Fails where it overflows or is negative.
  Status evaluate(const fb::SizeExpression &size, int64_t &value);
  /// Of an input, output, weight or arena, at these sizes.
  uint64_t storageBytes(fb::Storage storage, uint32_t index) const;
  /// From an offset in the plan for the largest sizes to that for these.
  Status moveWithBuffer(const fb::Binding &binding, int64_t size,
                        int64_t &offset) const;
  /// Of all slots, for these arguments.
  Status patchAddresses();

  // TensorMaps.cpp
  /// The grid and the tensor maps, for the sizes of this call.
  Status resolveLaunch(const fb::Dispatch &dispatch, const fb::Kernel &kernel,
                       Command &command);
  /// After addresses have changed.
  Status encodeMaps();

  // BoundCall.cpp
  /// The session has given memory back since; places stay what they were.
  Status regain();
  /// Gives the list to the session's devices.
  Status runOnDevices(RunControl &control);
  /// What is left of a run on devices that return early.
  Status finishEarly(RunControl &control);
  /// Those that are staged.
  Status copyInputs();
  /// What the program has found out of its outputs' sizes.
  Status readOutputSizes();
  /// Those that are staged.
  Status copyOutputs();

  // ExplainRun.cpp
  /// Of a run that failed, was cancelled or late.
  Status whatWentWrong(const RunControl &control) const;
  /// With the nodes that the command came from. `why`: the device's words.
  Status explainFailure(uint32_t command, int32_t code,
                        const String &why) const;
  /// Of a device that is lost: with the kernels that were under way there.
  Status explainLoss(Status status, const RunControl &control) const;
  /// Tells the trace what each command is called.
  void labelCommands(Trace &trace);

  Session &session;                     // lives longer
  const ashlar_entry_t &entry;          // of the session's module
  const fb::ProgramEntry *piece;        // of the entry: that for these symbols
  Vector<int64_t> symbols, nextSymbols; // of the commands; of this bind
  Vector<Argument> inputArguments;
  Vector<Argument> outputArguments;
  bool resolved = false;         // commands are those of the symbols
  bool usable = false;           // the last bind succeeded
  uint64_t trims = 0;            // of the session, when its memory was ours
  CommandList list;              // for these symbols and addresses
  Vector<ArenaValue> arena;      // where sizes have symbols
  uint64_t arenaBytes = 0;       // that these sizes need
  Vector<Slot> slots;            // one per list.addresses
  Vector<Map> maps;              // one per list.blobs
  bool encoded = false;          // blobs are those of the addresses
  GraphCache graphs;             // of that list
  Vector<Origin> origins;        // one per command
  size_t firstSize = 0;          // slots from here on hold output sizes
  std::weak_ptr<Trace> labelled; // the trace that owns the labels

  // Only while commands are resolved: sizes that were evaluated last, by a part
  // of their address (equal sizes are one table of the index); loops around the
  // command at hand, and the most iterations of the innermost one, negative for
  // no limit.
  struct Evaluated {
    const fb::SizeExpression *size = nullptr;
    int64_t value = 0;
  };
  Vector<Evaluated> evaluated;
  uint32_t loopDepth = 0;
  int64_t loopLimit = -1;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BOUNDCALL_H
