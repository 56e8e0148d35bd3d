// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module with an arena, threads and buffers of its own.

#ifndef ASHLAR_RUNTIME_LIB_SESSION_H
#define ASHLAR_RUNTIME_LIB_SESSION_H

#include "BoundCall.h"
#include "Buffer.h"
#include "Event.h"
#include "OwnMemory.h"
#include "SessionNeeds.h"
#include "SharedArena.h"
#include "Thread.h"

namespace ashlar::runtime {

/// What the caller of a session asked for.
struct SessionOptions {
  String name;                        // of the holder
  std::shared_ptr<Budget> budget;     // that it is charged to
  uint32_t threads = 0;               // 0: the runtime's default
  bool poison = false;                // see Session::poison
  bool reserveAll = false;            // all that any run may need, at once
  uint64_t growthStep = 0;            // bytes; 0: as many as are needed
  uint64_t highWater = 0;             // 0: none
  int32_t priority = 0;               // higher runs first, within a tenant
  std::shared_ptr<SharedArena> arena; // null: one of its own
  bool waitsForArena = true;          // where another session has it
  void *stream = nullptr;             // of the caller's; null: none
};

/// When a run that is asked for now is to have ended; 0: never.
uint64_t deadlineAfter(uint64_t now, uint64_t nanoseconds);

/// One run at a time: who comes meanwhile waits. Any thread, where that is
/// said; otherwise one at a time, the call's.
class Session {
public:
  Session(std::shared_ptr<Module> module, SessionOptions options);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Charges everything first, then allocates. Called once.
  Status start();

  /// The call of an entry that runs without prepared bindings use.
  BoundCall &call(const ashlar_entry_t &entry) { return *calls[entry.index]; }
  /// Whether it is an entry of the session's module.
  bool owns(const ashlar_entry_t &entry) const {
    return entry.module == module.get();
  }
  /// Lives as long as the session.
  Module &moduleOf() const { return *module; }

  /// Waits for the run in flight, then runs on this thread. The time of all of
  /// that is limited; 0: is not.
  Status run(BoundCall &call, uint64_t timeoutNanoseconds = 0);
  /// The same on the session's own thread.
  Status runAsync(BoundCall &call, std::shared_ptr<Event> event,
                  uint64_t timeoutNanoseconds = 0);
  /// Whatever is in flight. Any thread.
  void cancel();
  /// Shown with the runs to come, "" for none; waits for the one in flight.
  void setTraceContext(String traceparent);
  /// Before arguments of a call in flight may change.
  void waitUntilIdle();

  /// Counts since the session started. Any thread.
  void query(ashlar_session_statistics_t &out) const;

  // What bound calls need.
  const fb::Module &index() const { return module->index(); }
  /// The one that was chosen.
  const fb::Program &program() const { return module->program(); }
  /// Where inputs, outputs and arena 0 are.
  ashlar_device_t &home() const { return module->home(); }
  /// By number, as the module has them.
  const Vector<ashlar_device_t *> &devices() const { return module->devices(); }
  /// The device's handle.
  const void *kernel(uint32_t number) const { return module->kernel(number); }
  /// Where a device finds it.
  DeviceAddress weight(uint32_t device, uint32_t number) const {
    return module->weight(device, number);
  }
  /// Where a device's arena is, by the device's number.
  DeviceAddress arena(uint32_t number) const { return arenas[number]->at(); }
  /// Before a call uses the first `bytes` of arena 0: charges
  /// what no call has used yet. It never moves.
  Status useArena(uint64_t bytes);
  /// Gives back what no run needs to find again; waits for the one in flight.
  uint64_t trim();
  /// How often that has happened, here or for the high-water mark: calls that
  /// were bound before ask for their memory again. So they do when a shared
  /// arena has moved.
  uint64_t trimCount() const {
    return trims + (options.arena ? options.arena->moveCount() : 0);
  }
  /// What every run needs: arenas and scratch.
  Status regain();
  /// Null while no trace is on.
  std::shared_ptr<Trace> trace() const { return module->runtime->trace(); }
  /// Gives the list to its devices. Where one of them returns early, it is
  /// finished after finishAll only. A device that fails is lost.
  Status execute(const CommandList &list, RunControl &control,
                 GraphCache &graphs);
  /// Whether a device goes on after it was given a list.
  bool returnsEarly() const { return anyReturnsEarly; }
  /// All that was given to the queues.
  Status finishAll();
  /// What the home is given from now on comes behind all that.
  Status gatherAtHome();
  /// Waits for all queues, whatever they say: before memory goes.
  void drain();
  /// Before tensors of the caller's may be on a device of the runtime.
  Status reach(ashlar_device_t &device);
  /// From and to the caller's tensors, on a device that was reached, null for
  /// the host: in the order of the home's queue, and counted as staged. The
  /// host's memory stays until all is finished.
  Status copyIn(DeviceAddress to, ashlar_device_t *device, void *data,
                uint64_t bytes);
  /// The other way; the host's bytes are there after finishAll.
  Status copyOut(ashlar_device_t *device, void *data, DeviceAddress from,
                 uint64_t bytes);
  /// One more copy between two memories, in the statistics.
  void countTransfer(uint64_t bytes);

  /// Buffers of the size that is asked for, with room for the largest, made on
  /// first use, never moved. On a device
  /// that shares the host's memory, an output that must be staged is computed
  /// in the session's own.
  Status ownedOutput(const ashlar_entry_t &entry, uint32_t index,
                     uint64_t bytes, void *&data, uint64_t &capacity);
  /// For a copy of the caller's tensor, where the home can read it.
  Status stagingInput(const ashlar_entry_t &entry, uint32_t index,
                      uint64_t bytes, DeviceAddress &data);
  /// Where the home writes what is then copied to the caller.
  Status stagingOutput(const ashlar_entry_t &entry, uint32_t index,
                       uint64_t bytes, DeviceAddress &data);

  const String name; // of the holder

  // SessionQueues.cpp
  struct Queue {
    ashlar_device_t &device; // whose queue it is
    void *handle = nullptr;  // the device's queue
    void *event = nullptr;   // the device's, recorded to order two queues
    bool isPending = false;  // something may be under way
    uint64_t epoch = 0;      // barriers before what it was given last
  };
  /// Of the device where inputs, outputs and arena 0 are.
  Queue &homeQueue() { return queues[homeOf(program())]; }
  /// What a device has said: after a failure nothing runs on it any more, and
  /// this gives what all later calls report.
  Status answer(Queue &queue, Status status) {
    return status.ok() ? status : lose(queue.device, status);
  }
  /// The queue is given something.
  void begin(Queue &queue);
  /// The host waits.
  Status finish(Queue &queue);
  /// What `queue` is given from now on comes behind what `after` has.
  Status order(Queue &queue, Queue &after);
  /// As work of that queue's device. The host's memory stays until it has been
  /// finished.
  Status copy(Queue &queue, CopyKind kind, DeviceAddress to, DeviceAddress from,
              uint64_t bytes);
  /// Between two memories, null for the host's, as work of a device that is not
  /// the host's; of both, by way of the host.
  Status move(Queue *to, DeviceAddress target, Queue *from,
              DeviceAddress source, uint64_t bytes);
  /// At once, behind all that the queue was given.
  Status readBack(Queue &queue, DeviceAddress from, void *host, uint64_t bytes);
  Vector<Queue> queues; // one per device, then those of callers' tensors
  uint64_t epoch = 0;   // barriers that have been passed

private:
  /// What a copy of the caller's takes, or how long it takes to be given to a
  /// device.
  struct TracedCopy {
    TracedCopy(const Session &session, const char *what, uint64_t bytes);
    ~TracedCopy();
    const std::shared_ptr<Trace> into; // null: there is none
    const char *label = nullptr;       // the trace's
    uint64_t begin = 0;                // by the trace's clock
  };
  /// Of one entry, by the tensor's number; null until they are used.
  struct EntryBuffers {
    Vector<std::unique_ptr<Buffer>> outputs;       // the session's own
    Vector<std::unique_ptr<Buffer>> stagedInputs;  // copies
    Vector<std::unique_ptr<Buffer>> stagedOutputs; // to be copied
  };
  /// A run for the session's own thread.
  struct Job {
    BoundCall *call = nullptr;    // null: there is none
    std::shared_ptr<Event> event; // who waits for it
    uint64_t asked = 0;           // when
  };

  /// `bytes` in `slot`, charged and allocated; what is there grows. All of the
  /// largest shape where the tensor `isFixed`, of one size at all calls, or
  /// memory does not grow in place.
  Status makeBuffer(const fb::TensorDescription &tensor, bool isFixed,
                    ashlar_memory_kind_t kind, uint64_t bytes,
                    std::unique_ptr<Buffer> &slot);
  /// All that runs may need, where the options ask for it now.
  Status reserveBuffers();
  /// Arenas and scratch, as much of them as every run needs.
  Status allocateArenas();
  /// To at least `bytes`, in steps of the options, never beyond `room`.
  Status grow(Buffer &buffer, uint64_t bytes, uint64_t room);
  /// visit(buffer, whether it is an output's).
  template <typename Visit> void forEachBuffer(const Visit &visit) const;
  /// Bytes of all buffers.
  uint64_t inUse() const;
  /// Gives back what no run needs to find again; how many bytes that was.
  uint64_t giveBack(bool outputsToo);
  /// Nothing runs on the device any more; what all later calls report.
  Status lose(ashlar_device_t &device, const Status &cause);
  /// With an event of its own.
  Status addQueue(ashlar_device_t &device, const QueueOptions &given);
  /// One for each device of the program, in its order.
  Status startQueues();
  /// Waits for them, then they are gone.
  void stopQueues();
  /// To the device, or to those that control flow goes on between.
  Status submitList(const CommandList &list, RunControl &control,
                    GraphCache &graphs);
  /// Null: there is none, or `device` is the host.
  Queue *queueOf(const ashlar_device_t *device);
  /// Counts a copy of the caller's; `out` as queueOf. Fails if the device is
  /// lost.
  Status startStaging(const ashlar_device_t *device, uint64_t bytes,
                      Queue *&out);
  /// Between devices that do not reach each other's memory, by way of the host,
  /// which waits.
  Status passOn(Queue &to, DeviceAddress target, Queue &from,
                DeviceAddress source, uint64_t bytes);
  /// Made on first use; of one size.
  char *bounceBuffer();
  /// Fills what no result may depend on with a pattern.
  Status poison();
  /// On this thread. `asked`: when, in the clock's nanoseconds.
  Status runNow(BoundCall &call, RunControl &control, uint64_t asked,
                bool mayHaveWaited);
  /// What the session's own thread does until the session ends.
  void serve();
  /// A span for the run and one for what it waited for.
  void traceRun(const std::shared_ptr<Trace> &into, const BoundCall &call,
                uint64_t asked, uint64_t start, uint64_t end);

  const std::shared_ptr<Module> module;     // which thus lives longer
  const SessionOptions options;             // as they were given
  uint32_t workers = 1;                     // of each device's queue
  SessionNeeds needs;                       // from `start` on
  uint64_t trims = 0;                       // of its own memory
  Vector<std::unique_ptr<Buffer>> arenas;   // one per device, by number
  Vector<std::unique_ptr<Buffer>> scratch;  // one per device
  Vector<EntryBuffers> buffers;             // one per entry
  Vector<std::unique_ptr<BoundCall>> calls; // one per entry
  Vector<char> bounce;                      // empty until it is needed
  bool anyReturnsEarly = false;             // of the devices

  // The run in flight and the thread that serves it.
  Thread server;
  std::mutex mutex;
  std::condition_variable changed;
  Job job;                         // taken by the server
  std::shared_ptr<Event> inFlight; // of the job, until it has ended
  RunControl ownControl;           // of runs on the caller's thread
  bool quit = false;               // the server is to end
  std::atomic<bool> busy{false};   // a run goes on or is about to

  RunStatistics statistics;                    // its budget looks at them
  Counter stagedTensors, stagedBytes;          // without copies between devices
  std::atomic<uint64_t> lastRunNanoseconds{0}; // 0: none has ended

  String traceContext;           // a traceparent, or ""
  std::weak_ptr<Trace> tracedBy; // who owns the line
  uint32_t traceLine = 0;        // in that trace
  uint64_t tracedUntil = 0;      // no span begins before, on this line
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SESSION_H
