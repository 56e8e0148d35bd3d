/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a call with bound arguments costs in C: nanoseconds, the least and the
 * median of some rounds. bound_call MODEL.ash */
#include "bound_session.h"
#include <time.h>

enum { Rounds = 401, Calls = 2500 };

static int isGreater(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  ashlar_runtime_t *runtime;
  ashlar_module_t *module;
  ashlar_entry_t *entry;
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  double nanoseconds[Rounds];
  load.allow_native_code = 1;
  check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, argc > 1 ? argv[1] : "model.ash",
                                &load, &module));
  check(ashlar_module_entry_at(module, 0, &entry));
  bound_t bound = bindZeros(module, entry);
  for (int round = 0; round < Rounds; ++round) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int call = 0; call < Calls; ++call)
      check(ashlar_bindings_run(bound.bindings));
    clock_gettime(CLOCK_MONOTONIC, &end);
    nanoseconds[round] =
        ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) /
        Calls;
  }
  qsort(nanoseconds, Rounds, sizeof *nanoseconds, isGreater);
  printf("%.1f %.1f\n", nanoseconds[0], nanoseconds[Rounds / 2]);
  release(bound);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  return 0;
}
