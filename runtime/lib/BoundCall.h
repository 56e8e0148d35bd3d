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

struct TensorSpan {
  ashlar_tensor_t *tensors;
  size_t count;
};

/// Of a run that was cancelled or late.
Status stoppedStatus(const RunControl &control);

class BoundCall {
public:
  ASHLAR_OWN_NEW
  BoundCall(Session &session, const ashlar_entry_t &entry);

  /// Nothing of an earlier bind is usable after a failure.
  Status bind(ConstTensorSpan inputs, TensorSpan outputs);

  /// After a successful bind.
  Status run(RunControl &control);
  std::string_view entryName() const;

  /// The shape of an output as the last run left it, where sizes depend on
  /// data; before a run, and everywhere else, the largest for these inputs.
  const int64_t *outputShape(uint32_t index) const {
    return outputArguments[index].shape;
  }
  uint32_t outputCount() const { return uint32_t(outputArguments.size()); }
  uint32_t outputRank(uint32_t index) const;

private:
  /// Where the bytes behind an entry of list.addresses live.
  struct Slot {
    fb::Storage storage;
    uint32_t index;
    uint32_t device; // of the session's: who reads or writes there
  };
  struct Argument {
    uint64_t bytes = 0;
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
    const fb::Kernel *kernel = nullptr;
    const fb::Check *check = nullptr;
  };

  /// A tensor map, resolved, and the memory that it is for.
  struct Map {
    TensorMap map;
    uint32_t slot;
  };

  // BindArguments.cpp
  Status checkInputs(ConstTensorSpan inputs);
  Status checkInput(const ashlar_tensor_t &tensor, uint32_t index);
  Status placeState(ashlar_tensor_t &tensor, uint32_t index, uint32_t input);
  Status readSymbols(ConstTensorSpan inputs);
  const fb::TensorDescription &outputOf(uint32_t index) const;
  Status checkOutputs(TensorSpan outputs);
  Status checkOverlap() const;
  Status checkDevice(Argument &argument, const String &place);
  Status placeInputs(ConstTensorSpan inputs);
  Status placeOutputs(TensorSpan outputs);
  bool usableInPlace(const Argument &argument) const;

  // ResolveCommands.cpp
  Status resolve();
  Status placeArena();
  template <typename Table> Status resolveCommands(const Table &table);
  Status resolveCommand(fb::Command type, const void *table);
  Status resolveIf(const fb::If &branches);
  Status resolveLoop(const fb::Loop &loop);
  Status addControl(Command::Kind kind, const fb::Binding *condition,
                    uint32_t &index, Origin origin);
  uint32_t addCommand(Command command, Origin origin);
  Status resolveDispatch(const fb::Dispatch &dispatch, Command &command);
  Status resolveCopy(const fb::Copy &copy, Command &command);
  Status resolveBinding(const fb::Binding &binding, uint64_t &length,
                        uint32_t device);
  Status resolveAtHome(const fb::Binding &binding);
  Status evaluate(const fb::SizeExpression &size, int64_t &value);
  uint64_t storageBytes(fb::Storage storage, uint32_t index) const;
  Status moveWithBuffer(const fb::Binding &binding, int64_t size,
                        int64_t &offset) const;
  Status patchAddresses();

  // TensorMaps.cpp
  Status resolveLaunch(const fb::Dispatch &dispatch, const fb::Kernel &kernel,
                       Command &command);
  Status encodeMaps();

  // BoundCall.cpp
  Status regain();
  Status runOnDevices(RunControl &control);
  Status finishEarly(RunControl &control);
  Status copyInputs();
  Status readOutputSizes();
  Status copyOutputs();

  // ExplainRun.cpp
  Status whatWentWrong(const RunControl &control) const;
  Status explainFailure(uint32_t command, int32_t code,
                        const String &why) const;
  void labelCommands(Trace &trace);

  Session &session;
  const ashlar_entry_t &entry;
  const fb::ProgramEntry *piece; // of the entry: that for these symbols
  Vector<int64_t> symbols, nextSymbols;
  Vector<Argument> inputArguments;
  Vector<Argument> outputArguments;
  bool resolved = false;
  bool usable = false;
  uint64_t trims = 0; // of the session, when its memory was ours
  CommandList list;
  Vector<ArenaValue> arena; // where sizes have symbols
  uint64_t arenaBytes = 0;  // that these sizes need
  Vector<Slot> slots;       // one per list.addresses
  Vector<Map> maps;         // one per list.blobs
  bool encoded = false;     // blobs are those of the addresses
  GraphCache graphs;
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
