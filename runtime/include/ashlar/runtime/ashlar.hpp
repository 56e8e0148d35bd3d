// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API for C++17: handles that release themselves, and errors as
// exceptions or as values.
//
//   ashlar::Runtime runtime;
//   ashlar::Module module = runtime.load("model.ash", &trusting);
//   ashlar::Session session = module.session();
//   std::vector<ashlar_tensor_t> outputs(1); // in the session's memory
//   session.run(module.entry("main"), {ashlar::tensor(x, {1, 8})}, outputs);
//
// Every call throws ashlar::Error where it fails. Compiled without exceptions,
// or with ASHLAR_NO_EXCEPTIONS defined, only those are there that return an
// ashlar::Status, whose names begin with `try`; with exceptions, both. What is
// not wrapped is reached through get(), which lends the C handle. Objects can
// be moved, not copied; one that was moved from, or made empty, holds nothing.
// Threads, ownership of memory and lifetimes are those of api.h.

#ifndef ASHLAR_RUNTIME_ASHLAR_HPP
#define ASHLAR_RUNTIME_ASHLAR_HPP

#include "ashlar/runtime/api.h"
#include "ashlar/runtime/warm_up.h"

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if !defined(ASHLAR_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define ASHLAR_NO_EXCEPTIONS
#endif
#ifndef ASHLAR_NO_EXCEPTIONS
#include <stdexcept>
#endif

namespace ashlar {

/// What a call came to, with strings of its own.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ashlar_status_t status)
      : number(status.code), words(status.message), where(status.place) {}

  bool ok() const { return number == ASHLAR_OK; }
  explicit operator bool() const { return ok(); }
  int32_t code() const { return number; }
  const char *codeName() const { return ashlar_status_code_name(number); }
  const std::string &message() const { return words; }
  const std::string &place() const { return where; }

private:
  int32_t number = ASHLAR_OK;
  std::string words, where;
};

#ifndef ASHLAR_NO_EXCEPTIONS
/// The same, thrown. what() is "CODE: message [place]".
class Error : public std::runtime_error {
public:
  explicit Error(Status failed)
      : std::runtime_error(std::string(failed.codeName()) + ": " +
                           failed.message() +
                           (failed.place().empty()
                                ? std::string()
                                : " [" + failed.place() + "]")),
        status(std::move(failed)) {}
  const Status status;
};

inline void check(Status status) {
  if (!status.ok())
    throw Error(std::move(status));
}
#endif

namespace detail {
template <typename Handle, void (*release)(Handle *)> struct Release {
  void operator()(Handle *handle) const { release(handle); }
};
/// Owns one reference to a C handle.
template <typename Handle, void (*release)(Handle *)> class Owner {
public:
  Owner() = default;
  explicit Owner(Handle *handle) : owned(handle) {}
  /// Lent: valid as long as this is.
  Handle *get() const { return owned.get(); }
  explicit operator bool() const { return owned != nullptr; }

protected:
  /// For a function that makes one.
  template <typename Make> Status fill(Make &&make) {
    Handle *made = nullptr;
    Status status = make(&made);
    owned.reset(made);
    return status;
  }

private:
  std::unique_ptr<Handle, Release<Handle, release>> owned;
};
inline uint64_t nanoseconds(std::chrono::nanoseconds time) {
  return time.count() < 0 ? 0 : uint64_t(time.count());
}
} // namespace detail

/// A dense tensor of a C++ type over memory of the caller's.
template <typename T> struct ElementType;
template <> struct ElementType<float> {
  static constexpr uint32_t value = ASHLAR_TYPE_F32;
};
template <> struct ElementType<double> {
  static constexpr uint32_t value = ASHLAR_TYPE_F64;
};
template <> struct ElementType<bool> {
  static constexpr uint32_t value = ASHLAR_TYPE_BOOL;
};
template <> struct ElementType<int8_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_I8;
};
template <> struct ElementType<int16_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_I16;
};
template <> struct ElementType<int32_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_I32;
};
template <> struct ElementType<int64_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_I64;
};
template <> struct ElementType<uint8_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_U8;
};
template <> struct ElementType<uint16_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_U16;
};
template <> struct ElementType<uint32_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_U32;
};
template <> struct ElementType<uint64_t> {
  static constexpr uint32_t value = ASHLAR_TYPE_U64;
};

/// `data` holds as many elements as the shape has. A shape of more than
/// ASHLAR_MAX_RANK dims is cut to a rank that no entry takes.
template <typename T>
ashlar_tensor_t tensor(T *data, const std::vector<int64_t> &shape) {
  ashlar_tensor_t made = {};
  made.data = const_cast<std::remove_const_t<T> *>(data);
  made.type = ElementType<std::remove_const_t<T>>::value;
  made.rank = uint32_t(shape.size());
  made.capacity = sizeof(T);
  for (size_t i = 0; i < shape.size() && i < ASHLAR_MAX_RANK; ++i) {
    made.shape[i] = shape[i];
    made.capacity *= uint64_t(shape[i]);
  }
  return made;
}

class Budget
    : public detail::Owner<ashlar_budget_t, ashlar_budget_release> {
public:
  using Owner::Owner;
  /// Right below the runtime's.
  Status tryCreate(ashlar_runtime_t *runtime, const std::string &name,
                   uint64_t limit) {
    return fill([&](ashlar_budget_t **out) {
      return ashlar_budget_create(runtime, name.c_str(), limit, out);
    });
  }
  Status tryCreateBelow(const Budget &parent, const std::string &name,
                        uint64_t limit) {
    return fill([&](ashlar_budget_t **out) {
      return ashlar_budget_create_below(parent.get(), name.c_str(), limit, out);
    });
  }
  Status tryQuery(ashlar_budget_statistics_t &out) const {
    out = ASHLAR_BUDGET_STATISTICS_INIT;
    return ashlar_budget_query(get(), &out);
  }
#ifndef ASHLAR_NO_EXCEPTIONS
  Budget below(const std::string &name, uint64_t limit) const {
    Budget made;
    check(made.tryCreateBelow(*this, name, limit));
    return made;
  }
  ashlar_budget_statistics_t query() const {
    ashlar_budget_statistics_t out;
    check(tryQuery(out));
    return out;
  }
#endif
};

/// Memory in which sessions take turns: `arena` of their options.
class Arena : public detail::Owner<ashlar_arena_t, ashlar_arena_release> {
public:
  using Owner::Owner;
  /// budget NULL: the runtime's.
  Status tryCreate(ashlar_runtime_t *runtime, ashlar_budget_t *budget,
                   const std::string &name) {
    return fill([&](ashlar_arena_t **out) {
      return ashlar_arena_create(runtime, budget, name.c_str(), out);
    });
  }
};

/// Memory of a device that a file descriptor stands for.
class Memory : public detail::Owner<ashlar_memory_t, ashlar_memory_release> {
public:
  using Owner::Owner;
  /// budget NULL: the runtime's.
  Status tryCreate(ashlar_runtime_t *runtime, ashlar_device_t *device,
                   ashlar_budget_t *budget, const std::string &name,
                   uint64_t bytes) {
    return fill([&](ashlar_memory_t **out) {
      return ashlar_memory_create(runtime, device, budget, name.c_str(), bytes,
                                  out);
    });
  }
  /// The descriptor stays the caller's.
  Status tryImport(ashlar_runtime_t *runtime, ashlar_device_t *device,
                   ashlar_budget_t *budget, const std::string &name,
                   int descriptor, uint64_t bytes) {
    return fill([&](ashlar_memory_t **out) {
      return ashlar_memory_import(runtime, device, budget, name.c_str(),
                                  descriptor, bytes, out);
    });
  }
  /// The caller closes it.
  Status tryExport(int &descriptor) const {
    return ashlar_memory_export(get(), &descriptor);
  }
  Status tryQuery(ashlar_memory_info_t &out) const {
    out = ASHLAR_MEMORY_INFO_INIT;
    return ashlar_memory_query(get(), &out);
  }
#ifndef ASHLAR_NO_EXCEPTIONS
  ashlar_memory_info_t query() const {
    ashlar_memory_info_t out;
    check(tryQuery(out));
    return out;
  }
  int exported() const {
    int descriptor = -1;
    check(tryExport(descriptor));
    return descriptor;
  }
#endif
};

class Event : public detail::Owner<ashlar_event_t, ashlar_event_release> {
public:
  using Owner::Owner;
  /// The run's own status once it has ended; `done` says whether it has.
  Status tryWait(bool &done, uint64_t timeoutNanoseconds = ASHLAR_FOREVER) {
    int32_t ended = 0;
    Status status = ashlar_event_wait(get(), timeoutNanoseconds, &ended);
    done = ended != 0;
    return status;
  }
  Status tryCancel() { return ashlar_event_cancel(get()); }
#ifndef ASHLAR_NO_EXCEPTIONS
  void wait() {
    bool done;
    check(tryWait(done));
  }
  /// False if the run goes on after so long.
  bool waitFor(std::chrono::nanoseconds time) {
    bool done;
    check(tryWait(done, detail::nanoseconds(time)));
    return done;
  }
  void cancel() { check(tryCancel()); }
#endif
};

class Session
    : public detail::Owner<ashlar_session_t, ashlar_session_release> {
public:
  using Owner::Owner;
  /// budget NULL: the runtime's. options NULL: defaults.
  Status tryCreate(ashlar_module_t *module, ashlar_budget_t *budget = nullptr,
                   const ashlar_session_options_t *options = nullptr) {
    return fill([&](ashlar_session_t **out) {
      return ashlar_session_create(module, budget, options, out);
    });
  }
  /// Outputs without data are the session's, as many as the vector has.
  Status tryRun(const std::string &entry,
                const std::vector<ashlar_tensor_t> &inputs,
                std::vector<ashlar_tensor_t> &outputs) {
    return ashlar_session_run(get(), entry.c_str(), inputs.data(),
                              inputs.size(), outputs.data(), outputs.size());
  }
  /// timeout 0: none.
  Status tryRun(const ashlar_entry_t *entry,
                const std::vector<ashlar_tensor_t> &inputs,
                std::vector<ashlar_tensor_t> &outputs,
                std::chrono::nanoseconds timeout = {}) {
    return ashlar_session_run_within(get(), entry, inputs.data(), inputs.size(),
                                     outputs.data(), outputs.size(),
                                     detail::nanoseconds(timeout));
  }
  /// The tensors' memory must stay until the event has come.
  Status tryStart(const ashlar_entry_t *entry,
                  const std::vector<ashlar_tensor_t> &inputs,
                  std::vector<ashlar_tensor_t> &outputs, Event &event,
                  std::chrono::nanoseconds timeout = {}) {
    ashlar_event_t *made = nullptr;
    Status status = ashlar_session_run_async_within(
        get(), entry, inputs.data(), inputs.size(), outputs.data(),
        outputs.size(), detail::nanoseconds(timeout), &made);
    event = Event(made);
    return status;
  }
  Status tryTrim(uint64_t &bytes) {
    return ashlar_session_trim(get(), &bytes);
  }
  Status tryCancel() { return ashlar_session_cancel(get()); }
  /// A run with zeros, of the tensors' sizes, or where there are none of the
  /// largest. See warm_up.h.
  Status tryWarmUp(const ashlar_entry_t *entry,
                   const std::vector<ashlar_tensor_t> &inputs = {},
                   std::chrono::nanoseconds timeout = {}) {
    return ashlar_session_warm_up(get(), entry,
                                  inputs.empty() ? nullptr : inputs.data(),
                                  inputs.size(), detail::nanoseconds(timeout));
  }
  /// A W3C traceparent; NULL: none.
  Status trySetTraceContext(const char *traceparent) {
    return ashlar_session_set_trace_context(get(), traceparent);
  }
#ifndef ASHLAR_NO_EXCEPTIONS
  void run(const ashlar_entry_t *entry,
           const std::vector<ashlar_tensor_t> &inputs,
           std::vector<ashlar_tensor_t> &outputs,
           std::chrono::nanoseconds timeout = {}) {
    check(tryRun(entry, inputs, outputs, timeout));
  }
  Event start(const ashlar_entry_t *entry,
              const std::vector<ashlar_tensor_t> &inputs,
              std::vector<ashlar_tensor_t> &outputs,
              std::chrono::nanoseconds timeout = {}) {
    Event event;
    check(tryStart(entry, inputs, outputs, event, timeout));
    return event;
  }
  uint64_t trim() {
    uint64_t bytes = 0;
    check(tryTrim(bytes));
    return bytes;
  }
  void cancel() { check(tryCancel()); }
#endif
};

class Module : public detail::Owner<ashlar_module_t, ashlar_module_release> {
public:
  using Owner::Owner;
  Status tryLoad(ashlar_runtime_t *runtime, const std::string &path,
                 const ashlar_load_options_t *options = nullptr) {
    return fill([&](ashlar_module_t **out) {
      return ashlar_module_load_file(runtime, path.c_str(), options, out);
    });
  }
  /// data is aligned to 64 bytes, and stays.
  Status tryLoad(ashlar_runtime_t *runtime, const void *data, size_t size,
                 const ashlar_load_options_t *options = nullptr) {
    return fill([&](ashlar_module_t **out) {
      return ashlar_module_load_memory(runtime, data, size, options, out);
    });
  }
  /// The module's, valid as long as it is.
  Status tryEntry(const std::string &name, ashlar_entry_t *&out) const {
    return ashlar_module_entry(get(), name.c_str(), &out);
  }
#ifndef ASHLAR_NO_EXCEPTIONS
  ashlar_entry_t *entry(const std::string &name) const {
    ashlar_entry_t *found = nullptr;
    check(tryEntry(name, found));
    return found;
  }
  Session session(const ashlar_session_options_t *options = nullptr) const {
    Session made;
    check(made.tryCreate(get(), nullptr, options));
    return made;
  }
  Session session(const Budget &budget,
                  const ashlar_session_options_t *options = nullptr) const {
    Session made;
    check(made.tryCreate(get(), budget.get(), options));
    return made;
  }
#endif
};

class Runtime
    : public detail::Owner<ashlar_runtime_t, ashlar_runtime_release> {
public:
  Status tryCreate(const ashlar_runtime_options_t *options = nullptr) {
    return fill([&](ashlar_runtime_t **out) {
      return ashlar_runtime_create(options, out);
    });
  }
  /// What the library allocates for itself; of an empty object, all runtimes
  /// of the process.
  Status tryOwnMemory(ashlar_own_memory_t &memory) const {
    memory = ASHLAR_OWN_MEMORY_INIT;
    return Status(ashlar_stats_own_memory(get(), &memory));
  }
  Status tryPrometheus(std::string &text) const {
    // It may grow between the two calls.
    for (size_t length = 4096;;) {
      text.resize(length);
      Status status =
          ashlar_stats_prometheus(get(), text.data(), text.size(), &length);
      if (!status.ok() || length < text.size()) {
        text.resize(status.ok() ? length : 0);
        return status;
      }
      length += 1024;
    }
  }
#ifdef ASHLAR_NO_EXCEPTIONS
  Runtime() = default;
#else
  /// Made with the object.
  explicit Runtime(const ashlar_runtime_options_t *options = nullptr) {
    check(tryCreate(options));
  }
  Budget budget(const std::string &name,
                uint64_t limit = ASHLAR_UNLIMITED) const {
    Budget made;
    check(made.tryCreate(get(), name, limit));
    return made;
  }
  Arena arena(const std::string &name, const Budget &budget = {}) const {
    Arena made;
    check(made.tryCreate(get(), budget.get(), name));
    return made;
  }
  Module load(const std::string &path,
              const ashlar_load_options_t *options = nullptr) const {
    Module made;
    check(made.tryLoad(get(), path, options));
    return made;
  }
  ashlar_own_memory_t ownMemory() const {
    ashlar_own_memory_t memory;
    check(tryOwnMemory(memory));
    return memory;
  }
  std::string prometheus() const {
    std::string text;
    check(tryPrometheus(text));
    return text;
  }
#endif
};

/// A part of a device, with memory and workers of its own. Goes before the
/// runtime, and after the modules that are loaded for it: while there are any,
/// the part outlives this object, up to the runtime's end.
class VirtualDevice {
public:
  VirtualDevice() = default;
  VirtualDevice(VirtualDevice &&other) noexcept { swap(other); }
  VirtualDevice &operator=(VirtualDevice &&other) noexcept {
    VirtualDevice(std::move(other)).swap(*this);
    return *this;
  }
  ~VirtualDevice() { (void)tryDestroy(); }

  /// Lent: valid as long as the part is.
  ashlar_device_t *get() const { return device; }
  explicit operator bool() const { return device != nullptr; }

  /// `name`: the device's name, '/' and one of the part's own.
  Status tryCreate(ashlar_runtime_t *of, const std::string &name,
                   uint64_t memoryBytes, uint32_t workers) {
    if (Status status = tryDestroy(); !status.ok())
      return status;
    ashlar_virtual_device_options_t options =
        ASHLAR_VIRTUAL_DEVICE_OPTIONS_INIT;
    options.memory_bytes = memoryBytes;
    options.workers = workers;
    runtime = of;
    return ashlar_virtual_device_create(of, name.c_str(), &options, &device);
  }
  /// INVALID_ARGUMENT, and it stays, while a module is loaded for it.
  Status tryDestroy() {
    if (!device)
      return {};
    Status status = ashlar_virtual_device_destroy(runtime, device);
    if (status.ok())
      device = nullptr;
    return status;
  }
#ifndef ASHLAR_NO_EXCEPTIONS
  VirtualDevice(const Runtime &of, const std::string &name,
                uint64_t memoryBytes, uint32_t workers) {
    check(tryCreate(of.get(), name, memoryBytes, workers));
  }
#endif

private:
  void swap(VirtualDevice &other) noexcept {
    std::swap(runtime, other.runtime);
    std::swap(device, other.device);
  }

  ashlar_runtime_t *runtime = nullptr;
  ashlar_device_t *device = nullptr;
};

} // namespace ashlar

#endif // ASHLAR_RUNTIME_ASHLAR_HPP
