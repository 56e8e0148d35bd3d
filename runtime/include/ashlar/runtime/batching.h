// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins requests of one model in batches, for C++17, on top of api.h: callers
// on any threads run one request each, sessions run several of them at once,
// and each caller gets its own rows back. The model needs a size that the
// caller chooses (--dim=N=1..32) along which its requests do not depend on each
// other; one module serves all sizes of batches.
//
//   ashlar::BatchingOptions options;
//   options.symbol = "N";
//   ashlar::Batcher batcher(module, module.entry("main"), options);
//   batcher.run({ashlar::tensor(x, {1, 8})}, outputs); // on any thread
//
// Which are joined   Requests whose other sizes are equal, and whose inputs
//                    without the joined dim hold the same bytes. Others go in
//                    batches of their own.
// When they run      Once there are maximumSize rows, or the first has waited
//                    for maximumDelay, or for half of its timeout.
// Errors             As api.h's, by value; with exceptions also thrown, as in
//                    ashlar.hpp. What a request has wrong by itself it is told
//                    before it waits. A batch that fails is run again in
//                    halves, so that only the requests fail that fail alone;
//                    where the device is lost, all do.
// Memory             Tensors are the host's, outputs have memory of the
//                    caller's. All must stay until the request has ended. One
//                    that is alone in its batch is run on the caller's tensors;
//                    others are copied, from each row's place and back to it.
//                    Joined inputs of the largest batch are kept for each
//                    session, in no budget; what sessions hold is charged.
// Threads            Everything may be called on any thread at any time, but
//                    what makes or destroys an object.
//
// It is all in headers: the library is no larger for it.

#ifndef ASHLAR_RUNTIME_BATCHING_H
#define ASHLAR_RUNTIME_BATCHING_H

#include "ashlar/runtime/detail/batch_queue.h"

#include <set>

namespace ashlar {

struct BatchingOptions {
  /// Rows of a batch, all requests together. 0: as many as the module takes.
  int64_t maximumSize = 0;
  /// How long a request waits for others; at most an hour. 0: only for a
  /// session.
  std::chrono::nanoseconds maximumDelay = std::chrono::milliseconds(1);
  /// The size along which requests are joined, by the model's name for it, "N".
  /// Inputs without it must be equal to be joined, each output must have it.
  /// Empty: the first dim of every input and output.
  std::string symbol;
  /// In place of the symbol, by input and output, the dim; -1 for inputs that
  /// must be equal.
  std::vector<int32_t> inputDims, outputDims;
  /// How many batches run at the same time, each on a session and a thread.
  uint32_t sessions = 1;
  /// Requests beyond are refused with OUT_OF_BUDGET.
  size_t maximumWaiting = 1024;
  /// Of the sessions; NULL: the runtime's, and defaults. Only read by the
  /// constructor and tryCreate.
  ashlar_budget_t *budget = nullptr;
  const ashlar_session_options_t *session = nullptr;
};

/// A request that was started. Goes only when its tensors are no longer used:
/// one that has not ended is cancelled and waited for.
class BatchTicket {
public:
  BatchTicket() = default;
  BatchTicket(BatchTicket &&other) noexcept = default;
  BatchTicket &operator=(BatchTicket &&other) noexcept {
    finish();
    queue = std::move(other.queue);
    request = std::move(other.request);
    return *this;
  }
  ~BatchTicket() { finish(); }
  explicit operator bool() const { return request != nullptr; }

  /// The request's own status once it has ended; `done` says whether it has
  /// within the time. Negative: forever.
  Status tryWait(bool &done,
                 std::chrono::nanoseconds time = std::chrono::nanoseconds(-1)) {
    Status status;
    done = request &&
           queue->wait(*request,
                       time.count() < 0
                           ? detail::never
                           : detail::timeAfter(detail::BatchClock::now(), time),
                       status);
    return request ? status
                   : detail::failure(ASHLAR_INVALID_ARGUMENT,
                                     "nothing was started", "ticket");
  }
  /// Ends it with CANCELLED, unless it had ended: at once where it waits or its
  /// batch runs, else when its session lets its memory go.
  void cancel() {
    if (request)
      queue->cancel(*request);
  }
#ifndef ASHLAR_NO_EXCEPTIONS
  void wait() {
    bool done;
    check(tryWait(done));
  }
#endif

private:
  friend class Batcher;
  void finish() {
    cancel();
    bool done;
    if (request)
      (void)tryWait(done);
  }
  std::shared_ptr<detail::BatchQueue> queue;
  std::shared_ptr<detail::BatchRequest> request;
};

class Batcher {
public:
  Batcher() = default;
  Batcher(Batcher &&) = default;
  Batcher &operator=(Batcher &&other) noexcept {
    close();
    queue = std::move(other.queue);
    shapes = std::move(other.shapes);
    delay = other.delay;
    return *this;
  }
  ~Batcher() { close(); }

  /// Makes the sessions and starts the threads; the module stays until the
  /// batcher is closed. INVALID_ARGUMENT, with the tensor as its place, where
  /// requests cannot be joined as the options say; else what creating sessions
  /// gives.
  Status tryCreate(ashlar_module_t *module, ashlar_entry_t *entry,
                   const BatchingOptions &options = {});

  /// Starts a request. `outputs` have data and capacity; type, rank and shape
  /// are set when it ends. A timeout counts from here on, waiting included; 0:
  /// none. INVALID_ARGUMENT and UNSUPPORTED for tensors that the entry or a
  /// batch does not take, OUT_OF_BUDGET where too many wait, CANCELLED once
  /// closed: `ticket` is empty then.
  Status tryStart(const std::vector<ashlar_tensor_t> &inputs,
                  std::vector<ashlar_tensor_t> &outputs, BatchTicket &ticket,
                  std::chrono::nanoseconds timeout = {}) {
    ticket = {};
    return detail::guarded([&]() -> Status {
      if (!queue)
        return detail::failure(ASHLAR_CANCELLED, "the batcher is closed");
      auto request = std::make_shared<detail::BatchRequest>();
      if (Status status = checkInputs(inputs, request->rows); !status.ok())
        return status;
      if (Status status = checkOutputs(outputs); !status.ok())
        return status;
      request->inputs = inputs;
      request->outputs = outputs.data();
      auto now = detail::BatchClock::now();
      request->departure = now + delay;
      if (timeout.count() != 0) {
        request->deadline = detail::timeAfter(now, timeout);
        request->departure =
            std::min(request->departure, detail::timeAfter(now, timeout / 2));
      }
      if (Status status = queue->submit(request); !status.ok())
        return status;
      ticket.queue = queue;
      ticket.request = std::move(request);
      return {};
    });
  }
  /// Starts a request and waits for it.
  Status tryRun(const std::vector<ashlar_tensor_t> &inputs,
                std::vector<ashlar_tensor_t> &outputs,
                std::chrono::nanoseconds timeout = {}) {
    BatchTicket ticket;
    bool done;
    Status status = tryStart(inputs, outputs, ticket, timeout);
    return status.ok() ? ticket.tryWait(done) : status;
  }

  /// Takes no more requests, runs those that wait, or with `drops` ends them
  /// with CANCELLED, and returns when no thread and no session is left. Tickets
  /// stay valid.
  void close(bool drops = false) {
    if (queue)
      queue->close(drops);
  }

  BatchingStatistics statistics() const {
    return queue ? queue->statistics() : BatchingStatistics();
  }

#ifndef ASHLAR_NO_EXCEPTIONS
  Batcher(const Module &module, ashlar_entry_t *entry,
          const BatchingOptions &options = {}) {
    check(tryCreate(module.get(), entry, options));
  }
  void run(const std::vector<ashlar_tensor_t> &inputs,
           std::vector<ashlar_tensor_t> &outputs,
           std::chrono::nanoseconds timeout = {}) {
    check(tryRun(inputs, outputs, timeout));
  }
  BatchTicket start(const std::vector<ashlar_tensor_t> &inputs,
                    std::vector<ashlar_tensor_t> &outputs,
                    std::chrono::nanoseconds timeout = {}) {
    BatchTicket ticket;
    check(tryStart(inputs, outputs, ticket, timeout));
    return ticket;
  }
#endif

private:
  /// Shapes that the entry was found to take: asking costs as much as planning
  /// an arena.
  struct KnownShapes {
    std::mutex mutex;
    std::set<std::vector<int64_t>> known;
  };
  static constexpr size_t mostShapes = 256;

  static Status describe(ashlar_entry_t *entry, const BatchingOptions &options,
                         detail::BatchQueue::Settings &out);
  static Status chooseDim(bool isInput, size_t index,
                          const std::vector<int32_t> &dims,
                          const std::string &symbol, detail::JoinedTensor &of);
  Status checkInputs(const std::vector<ashlar_tensor_t> &inputs,
                     int64_t &rows) const;
  Status checkOutputs(const std::vector<ashlar_tensor_t> &outputs) const;
  Status askForShapes(const std::vector<ashlar_tensor_t> &inputs) const;

  std::shared_ptr<detail::BatchQueue> queue;
  std::shared_ptr<KnownShapes> shapes;
  std::chrono::nanoseconds delay{0};
};

namespace detail {
inline Status countsDiffer(const char *which, size_t found, size_t expected) {
  return failure(ASHLAR_INVALID_ARGUMENT,
                 std::to_string(found) + " tensors; the entry has " +
                     std::to_string(expected),
                 which);
}
} // namespace detail

inline Status Batcher::chooseDim(bool isInput, size_t index,
                                 const std::vector<int32_t> &dims,
                                 const std::string &symbol,
                                 detail::JoinedTensor &of) {
  auto sizes = detail::sizeTexts(of.info, symbol);
  if (!dims.empty()) {
    of.dim = dims[index];
  } else if (symbol.empty()) {
    of.dim = of.info.rank == 0 ? -1 : 0;
  } else {
    auto found = std::find(sizes.begin(), sizes.end(), symbol);
    of.dim = found == sizes.end() ? -1 : int32_t(found - sizes.begin());
  }
  auto refuse = [&](const std::string &why) {
    return detail::failure(ASHLAR_INVALID_ARGUMENT,
                           std::string(of.info.name) + ", " +
                               of.info.shape_text + ", " + why,
                           detail::placeOf(isInput, index, of));
  };
  if (of.dim < -1 || of.dim >= int32_t(of.info.rank))
    return refuse("has no dim " + std::to_string(of.dim));
  if (of.dim < 0)
    return isInput ? Status()
                   : refuse("has no rows to give back to each request: no dim "
                            "of it is joined");
  if (of.info.shape[of.dim] >= 0)
    return refuse("cannot be joined: size " + std::to_string(of.dim) +
                  " is fixed; compile it with --dim");
  if (sizes[size_t(of.dim)].compare(0, 2, "<=") == 0)
    return refuse("has rows whose number depends on data: nobody knows whose "
                  "they are");
  return {};
}

inline Status Batcher::describe(ashlar_entry_t *entry,
                                const BatchingOptions &options,
                                detail::BatchQueue::Settings &out) {
  out.entry = entry;
  out.inputs.resize(ashlar_entry_input_count(entry));
  out.outputs.resize(ashlar_entry_output_count(entry));
  bool byDims = !options.inputDims.empty() || !options.outputDims.empty();
  if (byDims && options.inputDims.size() != out.inputs.size())
    return detail::countsDiffer("inputDims", options.inputDims.size(),
                                out.inputs.size());
  if (byDims && options.outputDims.size() != out.outputs.size())
    return detail::countsDiffer("outputDims", options.outputDims.size(),
                                out.outputs.size());
  int64_t largest = INT64_MAX;
  for (bool isInput : {true, false})
    for (size_t i = 0; i < (isInput ? out.inputs : out.outputs).size(); ++i) {
      detail::JoinedTensor &tensor = (isInput ? out.inputs : out.outputs)[i];
      Status status = isInput ? ashlar_entry_input(entry, i, &tensor.info)
                              : ashlar_entry_output(entry, i, &tensor.info);
      if (status.ok())
        status = chooseDim(isInput, i,
                           isInput ? options.inputDims : options.outputDims,
                           options.symbol, tensor);
      if (!status.ok())
        return status;
      if (isInput && tensor.dim >= 0)
        largest = std::min(largest, tensor.info.maximum[tensor.dim]);
    }
  if (largest == INT64_MAX)
    return detail::failure(ASHLAR_INVALID_ARGUMENT,
                           "no input has the dim '" + options.symbol +
                               "' to join requests along",
                           "symbol");
  if (options.maximumSize < 0 || options.maximumSize > largest)
    return detail::failure(ASHLAR_INVALID_ARGUMENT,
                           std::to_string(options.maximumSize) +
                               " rows; the module takes at most " +
                               std::to_string(largest),
                           "maximumSize");
  out.maximumSize = options.maximumSize ? options.maximumSize : largest;
  out.maximumWaiting = options.maximumWaiting;
  return {};
}

inline Status Batcher::tryCreate(ashlar_module_t *module, ashlar_entry_t *entry,
                                 const BatchingOptions &options) {
  close();
  queue.reset();
  return detail::guarded([&]() -> Status {
    if (!module || !entry)
      return detail::failure(ASHLAR_INVALID_ARGUMENT, "it is NULL",
                             module ? "entry" : "module");
    if (options.maximumDelay.count() < 0 ||
        options.maximumDelay > std::chrono::hours(1))
      return detail::failure(ASHLAR_INVALID_ARGUMENT,
                             std::to_string(options.maximumDelay.count()) +
                                 " ns; 0 to an hour",
                             "maximumDelay");
    if (options.sessions == 0 || options.sessions > 1024 ||
        options.maximumWaiting == 0)
      return detail::failure(
          ASHLAR_INVALID_ARGUMENT,
          options.maximumWaiting ? "1 to 1024 sessions" : "0; at least 1",
          options.maximumWaiting ? "sessions" : "maximumWaiting");
    detail::BatchQueue::Settings settings;
    if (Status status = describe(entry, options, settings); !status.ok())
      return status;
    std::vector<Session> sessions(options.sessions);
    for (Session &session : sessions)
      if (Status status =
              session.tryCreate(module, options.budget, options.session);
          !status.ok())
        return status;
    auto made = std::make_shared<detail::BatchQueue>();
    shapes = std::make_shared<KnownShapes>();
    delay = options.maximumDelay;
    Status status = made->start(std::move(settings), std::move(sessions));
    if (status.ok())
      queue = std::move(made);
    return status;
  });
}

inline Status
Batcher::askForShapes(const std::vector<ashlar_tensor_t> &inputs) const {
  std::vector<int64_t> shape;
  for (const ashlar_tensor_t &input : inputs) {
    if (input.rank > ASHLAR_MAX_RANK)
      return detail::failure(ASHLAR_INVALID_ARGUMENT, "its rank is too large",
                             "inputs");
    shape.push_back(int64_t(input.type));
    shape.push_back(int64_t(input.rank));
    shape.insert(shape.end(), input.shape, input.shape + input.rank);
  }
  {
    std::lock_guard<std::mutex> lock(shapes->mutex);
    if (shapes->known.count(shape))
      return {};
  }
  ashlar_contract_t cost = ASHLAR_CONTRACT_INIT;
  if (Status status = ashlar_entry_contract_at(
          queue->settings.entry, inputs.data(), inputs.size(), &cost);
      !status.ok())
    return status;
  std::lock_guard<std::mutex> lock(shapes->mutex);
  if (shapes->known.size() < mostShapes)
    shapes->known.insert(std::move(shape));
  return {};
}

inline Status Batcher::checkInputs(const std::vector<ashlar_tensor_t> &inputs,
                                   int64_t &rows) const {
  const auto &tensors = queue->settings.inputs;
  if (inputs.size() != tensors.size())
    return detail::countsDiffer("inputs", inputs.size(), tensors.size());
  if (Status status = askForShapes(inputs); !status.ok())
    return status;
  rows = -1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ashlar_tensor_t &input = inputs[i];
    const detail::JoinedTensor &tensor = tensors[i];
    auto refuse = [&](ashlar_status_code_t code, const std::string &why) {
      return detail::failure(code, why, detail::placeOf(true, i, tensor));
    };
    if (input.device)
      return refuse(ASHLAR_UNSUPPORTED,
                    "batches are joined in the host's memory; device must be "
                    "NULL");
    int64_t own = tensor.dim < 0 ? 1 : tensor.rows(input);
    uint64_t bytes = detail::Extent(tensor, input).bytes(own);
    if (input.capacity < bytes || (!input.data && bytes != 0))
      return refuse(ASHLAR_INVALID_ARGUMENT,
                    "the shape needs " + std::to_string(bytes) +
                        " bytes; there are " +
                        std::to_string(input.data ? input.capacity : 0));
    if (tensor.dim < 0)
      continue;
    if (rows >= 0 && own != rows)
      return refuse(ASHLAR_INVALID_ARGUMENT, std::to_string(own) +
                                                 " rows; inputs before have " +
                                                 std::to_string(rows));
    rows = own;
    if (rows > queue->settings.maximumSize)
      return refuse(ASHLAR_INVALID_ARGUMENT,
                    std::to_string(rows) + " rows; a batch has at most " +
                        std::to_string(queue->settings.maximumSize));
  }
  return {};
}

inline Status
Batcher::checkOutputs(const std::vector<ashlar_tensor_t> &outputs) const {
  const auto &tensors = queue->settings.outputs;
  if (outputs.size() != tensors.size())
    return detail::countsDiffer("outputs", outputs.size(), tensors.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ashlar_tensor_t &output = outputs[i];
    if (output.device || !output.data ||
        (output.type != ASHLAR_TYPE_NONE &&
         output.type != tensors[i].info.type))
      return detail::failure(
          output.device ? ASHLAR_UNSUPPORTED : ASHLAR_INVALID_ARGUMENT,
          output.device ? "results are given back in the host's memory; device "
                          "must be NULL"
          : !output.data
              ? "data is NULL: results are written to the caller's memory"
              : std::string("its type is ") +
                    ashlar_element_type_name(output.type) + "; expected " +
                    ashlar_element_type_name(tensors[i].info.type),
          detail::placeOf(false, i, tensors[i]));
  }
  return {};
}

} // namespace ashlar

#endif // ASHLAR_RUNTIME_BATCHING_H
