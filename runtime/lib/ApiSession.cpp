// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of sessions, bindings and events.

#include "Handles.h"

#include <algorithm>

using namespace ashlar::runtime;

static constexpr uint32_t maximumThreads = 4096;

/// https://www.w3.org/TR/trace-context/#traceparent-header-field-values: four
/// numbers of hexadecimal digits, in lower case; version ff, and a trace or
/// span of zeros, are none.
static bool isTraceparent(const char *text) {
  constexpr unsigned length = 55, dashes[] = {2, 35, 52};
  unsigned dash = 0, zeros = 0;
  for (unsigned i = 0; i < length; ++i) {
    char c = text[i];
    zeros += c == '0';
    if (dash < 3 && i == dashes[dash]) {
      if (c != '-' || (i == 35 && zeros == 32) || (i == 52 && zeros == 16))
        return false;
      ++dash;
      zeros = 0;
    } else if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
      return false;
    }
  }
  return text[length] == '\0' && !(text[0] == 'f' && text[1] == 'f');
}

/// Waits for the call in flight, whose arguments would change, then binds.
static Status bindCall(Session &session, const ashlar_entry_t *entry,
                       ConstTensorSpan inputs, TensorSpan outputs) {
  if (!entry)
    return isNull("entry");
  if (!session.owns(*entry))
    return invalidArgument("the entry belongs to another module", "entry");
  session.waitUntilIdle();
  return session.call(*entry).bind(inputs, outputs);
}

static Status startAsync(Session &session, BoundCall &call, uint64_t timeout,
                         ashlar_event_t **out_event) {
  auto handle = std::make_unique<ashlar_event_t>();
  handle->impl = makeShared<Event>();
  ASHLAR_RETURN_IF_ERROR(session.runAsync(call, handle->impl, timeout));
  *out_event = handle.release();
  return {};
}

/// Runs, then corrects the shapes that depend on data.
static Status runAndDescribe(Session &session, BoundCall &call,
                             ashlar_tensor_t *outputs, uint64_t timeout = 0) {
  ASHLAR_RETURN_IF_ERROR(session.run(call, timeout));
  for (uint32_t i = 0; i < call.outputCount(); ++i)
    std::copy_n(call.outputShape(i), call.outputRank(i), outputs[i].shape);
  return {};
}

static Status writeShape(const BoundCall &call, size_t index,
                         int64_t *outShape) {
  if (!outShape)
    return isNull("out_shape");
  if (index >= call.outputCount())
    return invalidArgument(concat("output ", index, " of ", call.outputCount()),
                           "index");
  std::copy_n(call.outputShape(uint32_t(index)),
              call.outputRank(uint32_t(index)), outShape);
  return {};
}

extern "C" {

ashlar_status_t ashlar_arena_create(ashlar_runtime_t *runtime,
                                    ashlar_budget_t *budget, const char *name,
                                    ashlar_arena_t **out_arena) {
  if (out_arena)
    *out_arena = nullptr;
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!name)
      return isNull("name");
    if (!out_arena)
      return isNull("out_arena");
    *out_arena = new ashlar_arena_t{makeShared<SharedArena>(
        runtime->impl, budget ? budget->impl : runtime->impl->budget(), name)};
    return {};
  });
}

void ashlar_arena_release(ashlar_arena_t *arena) { release(arena); }

ashlar_status_t ashlar_session_create(ashlar_module_t *module,
                                      ashlar_budget_t *budget,
                                      const ashlar_session_options_t *options,
                                      ashlar_session_t **out_session) {
  if (out_session)
    *out_session = nullptr;
  return guard(module, [&]() -> Status {
    if (!module)
      return isNull("module");
    if (!out_session)
      return isNull("out_session");
    ashlar_session_options_t read = ASHLAR_SESSION_OPTIONS_INIT;
    ASHLAR_RETURN_IF_ERROR(readStruct(options, read, "options"));
    if (read.threads > maximumThreads)
      return invalidArgument(
          concat(read.threads, " threads; at most ", maximumThreads),
          "options.threads");
    SessionOptions given;
    given.name = read.name ? read.name : module->impl->name;
    given.budget = budget ? budget->impl : module->impl->runtime->budget();
    given.threads = read.threads;
    given.poison = read.poison != 0;
    given.reserveAll = read.reserve_all != 0;
    if (read.growth_bytes > uint64_t(1) << 40)
      return invalidArgument(
          concat(read.growth_bytes, " bytes a step; at most 1 TiB"),
          "options.growth_bytes");
    given.growthStep = read.growth_bytes;
    given.highWater = read.high_water_bytes;
    given.priority = read.priority;
    if (read.arena_busy > ASHLAR_ARENA_REFUSE)
      return invalidArgument(concat("unknown value ", read.arena_busy),
                             "options.arena_busy");
    given.waitsForArena = read.arena_busy == ASHLAR_ARENA_WAIT;
    if (read.arena && !isUsable(read.arena))
      return unusable(read.arena, "options.arena");
    if (read.arena)
      given.arena = read.arena->impl;
    if (read.arena && given.arena->runtime != module->impl->runtime)
      return invalidArgument("the arena is another runtime's", "options.arena");
    given.stream = read.stream;
    auto session = makeShared<Session>(module->impl, std::move(given));
    ASHLAR_RETURN_IF_ERROR(session->start());
    *out_session = new ashlar_session_t{std::move(session)};
    return {};
  });
}

void ashlar_session_release(ashlar_session_t *session) {
  if (isUsable(session))
    session->impl->waitUntilIdle();
  release(session);
}

ashlar_status_t ashlar_session_trim(ashlar_session_t *session,
                                    uint64_t *out_bytes) {
  if (out_bytes)
    *out_bytes = 0;
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    uint64_t bytes = session->impl->trim();
    if (out_bytes)
      *out_bytes = bytes;
    return {};
  });
}

ashlar_status_t ashlar_session_run(ashlar_session_t *session, const char *entry,
                                   const ashlar_tensor_t *inputs,
                                   size_t input_count, ashlar_tensor_t *outputs,
                                   size_t output_count) {
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    if (!entry)
      return isNull("entry");
    ashlar_entry_t *found = nullptr;
    ASHLAR_RETURN_IF_ERROR(session->impl->moduleOf().findEntry(entry, found));
    ASHLAR_RETURN_IF_ERROR(bindCall(
        *session->impl, found, {inputs, input_count}, {outputs, output_count}));
    return runAndDescribe(*session->impl, session->impl->call(*found), outputs);
  });
}

ashlar_status_t
ashlar_session_run_entry(ashlar_session_t *session, const ashlar_entry_t *entry,
                         const ashlar_tensor_t *inputs, size_t input_count,
                         ashlar_tensor_t *outputs, size_t output_count) {
  return ashlar_session_run_within(session, entry, inputs, input_count, outputs,
                                   output_count, 0);
}

ashlar_status_t ashlar_session_run_within(
    ashlar_session_t *session, const ashlar_entry_t *entry,
    const ashlar_tensor_t *inputs, size_t input_count, ashlar_tensor_t *outputs,
    size_t output_count, uint64_t timeout_ns) {
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    ASHLAR_RETURN_IF_ERROR(bindCall(
        *session->impl, entry, {inputs, input_count}, {outputs, output_count}));
    return runAndDescribe(*session->impl, session->impl->call(*entry), outputs,
                          timeout_ns);
  });
}

ashlar_status_t
ashlar_session_run_async(ashlar_session_t *session, const ashlar_entry_t *entry,
                         const ashlar_tensor_t *inputs, size_t input_count,
                         ashlar_tensor_t *outputs, size_t output_count,
                         ashlar_event_t **out_event) {
  return ashlar_session_run_async_within(session, entry, inputs, input_count,
                                         outputs, output_count, 0, out_event);
}

ashlar_status_t ashlar_session_run_async_within(
    ashlar_session_t *session, const ashlar_entry_t *entry,
    const ashlar_tensor_t *inputs, size_t input_count, ashlar_tensor_t *outputs,
    size_t output_count, uint64_t timeout_ns, ashlar_event_t **out_event) {
  if (out_event)
    *out_event = nullptr;
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    if (!out_event)
      return isNull("out_event");
    ASHLAR_RETURN_IF_ERROR(bindCall(
        *session->impl, entry, {inputs, input_count}, {outputs, output_count}));
    return startAsync(*session->impl, session->impl->call(*entry), timeout_ns,
                      out_event);
  });
}

ashlar_status_t ashlar_session_set_trace_context(ashlar_session_t *session,
                                                 const char *traceparent) {
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    if (traceparent && !isTraceparent(traceparent))
      return invalidArgument("expected version, trace, span and flags as W3C's "
                             "traceparent has them, "
                             "00-<32 digits>-<16 digits>-<2 digits>",
                             "traceparent");
    session->impl->setTraceContext(traceparent ? traceparent : "");
    return {};
  });
}

ashlar_status_t ashlar_session_cancel(ashlar_session_t *session) {
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    session->impl->cancel();
    return {};
  });
}

ashlar_status_t
ashlar_session_query(const ashlar_session_t *session,
                     ashlar_session_statistics_t *out_statistics) {
  return guard(session, [&]() -> Status {
    if (!session)
      return isNull("session");
    ashlar_session_statistics_t filled = ASHLAR_SESSION_STATISTICS_INIT;
    session->impl->query(filled);
    return writeStruct(filled, out_statistics, "out_statistics");
  });
}

ashlar_status_t
ashlar_bindings_create(ashlar_session_t *session, const ashlar_entry_t *entry,
                       const ashlar_tensor_t *inputs, size_t input_count,
                       ashlar_tensor_t *outputs, size_t output_count,
                       ashlar_bindings_t **out_bindings) {
  if (out_bindings)
    *out_bindings = nullptr;
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    if (!entry)
      return isNull("entry");
    if (!out_bindings)
      return isNull("out_bindings");
    if (!session->impl->owns(*entry))
      return invalidArgument("the entry belongs to another module", "entry");
    // Binding may allocate the session's outputs and copies, which the run
    // uses.
    session->impl->waitUntilIdle();
    auto bindings = std::make_unique<ashlar_bindings_t>();
    bindings->session = session->impl;
    bindings->call = std::make_unique<BoundCall>(*session->impl, *entry);
    ASHLAR_RETURN_IF_ERROR(
        bindings->call->bind({inputs, input_count}, {outputs, output_count}));
    *out_bindings = bindings.release();
    return {};
  });
}

ashlar_status_t ashlar_session_output_shape(ashlar_session_t *session,
                                            const ashlar_entry_t *entry,
                                            size_t index, int64_t *out_shape) {
  return guard(session, [&]() -> Status {
    if (!isUsable(session))
      return unusable(session, "session");
    if (!entry)
      return isNull("entry");
    if (!session->impl->owns(*entry))
      return invalidArgument("the entry belongs to another module", "entry");
    session->impl->waitUntilIdle();
    return writeShape(session->impl->call(*entry), index, out_shape);
  });
}

ashlar_status_t ashlar_bindings_output_shape(ashlar_bindings_t *bindings,
                                             size_t index, int64_t *out_shape) {
  return guard(bindings, [&]() -> Status {
    if (!isUsable(bindings))
      return unusable(bindings, "bindings");
    bindings->session->waitUntilIdle();
    return writeShape(*bindings->call, index, out_shape);
  });
}

void ashlar_bindings_release(ashlar_bindings_t *bindings) {
  if (isUsable(bindings))
    bindings->session->waitUntilIdle();
  release(bindings);
}

ashlar_status_t ashlar_bindings_run(ashlar_bindings_t *bindings) {
  return ashlar_bindings_run_within(bindings, 0);
}

ashlar_status_t ashlar_bindings_run_within(ashlar_bindings_t *bindings,
                                           uint64_t timeout_ns) {
  return guard(bindings, [&]() -> Status {
    if (!isUsable(bindings))
      return unusable(bindings, "bindings");
    return bindings->session->run(*bindings->call, timeout_ns);
  });
}

ashlar_status_t ashlar_bindings_run_async(ashlar_bindings_t *bindings,
                                          ashlar_event_t **out_event) {
  return ashlar_bindings_run_async_within(bindings, 0, out_event);
}

ashlar_status_t ashlar_bindings_run_async_within(ashlar_bindings_t *bindings,
                                                 uint64_t timeout_ns,
                                                 ashlar_event_t **out_event) {
  if (out_event)
    *out_event = nullptr;
  return guard(bindings, [&]() -> Status {
    if (!isUsable(bindings))
      return unusable(bindings, "bindings");
    if (!out_event)
      return isNull("out_event");
    return startAsync(*bindings->session, *bindings->call, timeout_ns,
                      out_event);
  });
}

ashlar_status_t ashlar_event_wait(ashlar_event_t *event, uint64_t timeout_ns,
                                  int32_t *out_done) {
  if (out_done)
    *out_done = 0;
  return guard([&]() -> Status {
    if (!isUsable(event))
      return unusable(event, "event");
    if (!out_done)
      return isNull("out_done");
    Status status;
    *out_done = event->impl->wait(timeout_ns, status);
    return status;
  });
}

ashlar_status_t ashlar_event_cancel(ashlar_event_t *event) {
  return guard([&]() -> Status {
    if (!isUsable(event))
      return unusable(event, "event");
    event->impl->control.cancel();
    return {};
  });
}

void ashlar_event_release(ashlar_event_t *event) { release(event); }

} // extern "C"
