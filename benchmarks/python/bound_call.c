/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a call with bound arguments costs in C: nanoseconds, the least and the
 * median of some rounds. bound_call MODEL.ash */
#include <ashlar/runtime/api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { Rounds = 31, Calls = 20000 };

static void check(ashlar_status_t status) {
  if (status.code == ASHLAR_OK)
    return;
  fprintf(stderr, "%s: %s\n", status.place, status.message);
  exit(1);
}

static int isGreater(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  ashlar_runtime_t *runtime;
  ashlar_module_t *module;
  ashlar_session_t *session;
  ashlar_entry_t *entry;
  ashlar_bindings_t *bindings;
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  ashlar_tensor_t in = {0}, out = {0};
  double nanoseconds[Rounds];
  load.allow_native_code = 1;
  options.threads = 1;
  check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, argc > 1 ? argv[1] : "model.ash",
                                &load, &module));
  check(ashlar_module_entry_at(module, 0, &entry));
  check(ashlar_session_create(module, NULL, &options, &session));
  check(ashlar_entry_input(entry, 0, &info));
  in.capacity = (info.maximum_bytes + 63) / 64 * 64;
  in.data = aligned_alloc(64, in.capacity);
  memset(in.data, 0, in.capacity);
  in.type = info.type;
  in.rank = info.rank;
  memcpy(in.shape, info.maximum, sizeof in.shape);
  check(ashlar_bindings_create(session, entry, &in, 1, &out, 1, &bindings));
  for (int round = 0; round < Rounds; ++round) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int call = 0; call < Calls; ++call)
      check(ashlar_bindings_run(bindings));
    clock_gettime(CLOCK_MONOTONIC, &end);
    nanoseconds[round] =
        ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) /
        Calls;
  }
  qsort(nanoseconds, Rounds, sizeof *nanoseconds, isGreater);
  printf("%.1f %.1f\n", nanoseconds[0], nanoseconds[Rounds / 2]);
  ashlar_bindings_release(bindings);
  ashlar_session_release(session);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  free(in.data);
  return 0;
}
