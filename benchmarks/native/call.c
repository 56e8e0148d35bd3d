/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What one call of a small module costs through the C API, arguments checked
 * each time (run) and checked once (bound). Prints one JSON object.
 *
 *   call MODULE.ash SECONDS THREADS
 */
#include "measure.h"
#include <ashlar/runtime/api.h>
#include <string.h>

enum { MOST_TENSORS = 8, BATCH = 1000, MOST_BATCHES = 100000 };

static void check(ashlar_status_t status) {
  if (status.code != ASHLAR_OK) {
    fprintf(stderr, "call: %s: %s\n", status.place, status.message);
    exit(2);
  }
}

static size_t make_tensors(const ashlar_entry_t *entry, size_t count,
                           ashlar_status_t (*info_of)(const ashlar_entry_t *,
                                                      size_t,
                                                      ashlar_tensor_info_t *),
                           ashlar_tensor_t *tensors) {
  if (count > MOST_TENSORS)
    exit(2);
  for (size_t i = 0; i < count; ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(info_of(entry, i, &info));
    tensors[i].data = allocate(info.maximum_bytes);
    memset(tensors[i].data, 0, info.maximum_bytes);
    tensors[i].capacity = info.maximum_bytes;
    tensors[i].type = info.type;
    tensors[i].rank = info.rank;
    memcpy(tensors[i].shape, info.maximum, sizeof(info.maximum));
  }
  return count;
}

int main(int argc, char **argv) {
  static double run_times[MOST_BATCHES], bound_times[MOST_BATCHES];
  if (argc != 4) {
    fprintf(stderr, "usage: call MODULE.ash SECONDS THREADS\n");
    return 2;
  }
  double seconds = atof(argv[2]);
  ashlar_runtime_t *runtime;
  ashlar_module_t *module;
  ashlar_session_t *session;
  ashlar_entry_t *entry;
  ashlar_bindings_t *bindings;
  ashlar_tensor_t in[MOST_TENSORS] = {0}, out[MOST_TENSORS] = {0};
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  load.allow_native_code = 1;
  options.threads = (uint32_t)atoi(argv[3]);
  check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, argv[1], &load, &module));
  check(ashlar_module_entry_at(module, 0, &entry));
  check(ashlar_session_create(module, NULL, &options, &session));
  size_t inputs = make_tensors(entry, ashlar_entry_input_count(entry),
                               ashlar_entry_input, in);
  size_t outputs = make_tensors(entry, ashlar_entry_output_count(entry),
                                ashlar_entry_output, out);
  check(ashlar_bindings_create(session, entry, in, inputs, out, outputs,
                               &bindings));
  size_t count = 0;
  double begin = seconds_now();
  while (count < MOST_BATCHES && seconds_now() - begin < seconds) {
    double start = seconds_now();
    for (int i = 0; i < BATCH; ++i)
      check(ashlar_session_run_entry(session, entry, in, inputs, out, outputs));
    double middle = seconds_now();
    for (int i = 0; i < BATCH; ++i)
      check(ashlar_bindings_run(bindings));
    run_times[count] = (middle - start) / BATCH;
    bound_times[count++] = (seconds_now() - middle) / BATCH;
  }
  printf("{\"run_us\": %.4f, \"bound_us\": %.4f, \"calls\": %zu}\n",
         1e6 * median(run_times, count), 1e6 * median(bound_times, count),
         2 * BATCH * count);
  ashlar_bindings_release(bindings);
  ashlar_session_release(session);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  return 0;
}
