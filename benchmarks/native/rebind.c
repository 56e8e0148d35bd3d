/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What binding tensors of two sizes in turns costs a session of a module with
 * open sizes: formulas are evaluated, every value of the arena gets a new
 * place, every command its addresses. Nothing runs. Prints one JSON object.
 *
 *   rebind MODULE.ash SECONDS
 */
#include "measure.h"
#include <ashlar/runtime/api.h>

enum { MOST_TENSORS = 8, BATCH = 100, MOST_BATCHES = 100000 };

static void check(ashlar_status_t status) {
  if (status.code != ASHLAR_OK) {
    fprintf(stderr, "rebind: %s: %s\n", status.place, status.message);
    exit(2);
  }
}

/* The largest sizes, and half of those that are open; both in room for the
 * largest. */
static void make_input(const ashlar_entry_t *entry, size_t i,
                       ashlar_tensor_t *largest, ashlar_tensor_t *half) {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  check(ashlar_entry_input(entry, i, &info));
  largest->data = allocate(info.maximum_bytes);
  largest->capacity = info.maximum_bytes;
  largest->type = info.type;
  largest->rank = info.rank;
  *half = *largest;
  for (uint32_t d = 0; d < info.rank; ++d) {
    largest->shape[d] = info.maximum[d];
    half->shape[d] = info.maximum[d];
    if (info.shape[d] < 0 && info.maximum[d] > 1)
      half->shape[d] /= 2;
  }
}

int main(int argc, char **argv) {
  static double times[MOST_BATCHES];
  if (argc != 3) {
    fprintf(stderr, "usage: rebind MODULE.ash SECONDS\n");
    return 2;
  }
  double seconds = atof(argv[2]);
  ashlar_runtime_t *runtime;
  ashlar_module_t *module;
  ashlar_session_t *session;
  ashlar_entry_t *entry;
  ashlar_bindings_t *bindings;
  /* Outputs are the session's own. */
  ashlar_tensor_t in[2][MOST_TENSORS] = {0}, out[MOST_TENSORS] = {0};
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  load.allow_native_code = 1;
  options.threads = 1;
  check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, argv[1], &load, &module));
  check(ashlar_module_entry_at(module, 0, &entry));
  check(ashlar_session_create(module, NULL, &options, &session));
  size_t inputs = ashlar_entry_input_count(entry);
  size_t outputs = ashlar_entry_output_count(entry);
  if (inputs > MOST_TENSORS || outputs > MOST_TENSORS)
    return 2;
  for (size_t i = 0; i < inputs; ++i)
    make_input(entry, i, &in[0][i], &in[1][i]);
  size_t count = 0;
  double begin = seconds_now();
  while (count < MOST_BATCHES && seconds_now() - begin < seconds) {
    double start = seconds_now();
    for (int i = 0; i < BATCH; ++i) {
      check(ashlar_bindings_create(session, entry, in[i & 1], inputs, out,
                                   outputs, &bindings));
      ashlar_bindings_release(bindings);
    }
    times[count++] = (seconds_now() - start) / BATCH;
  }
  printf("{\"bind_us\": %.3f, \"binds\": %zu}\n", 1e6 * median(times, count),
         BATCH * count);
  ashlar_session_release(session);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  return 0;
}
