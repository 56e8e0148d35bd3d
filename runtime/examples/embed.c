/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Runs the entry "main" of a module on zeros: embed model.ash */
#include <ashlar/runtime/api.h>
#include <stdio.h>
#include <stdlib.h>

static void check(ashlar_status_t status) {
  if (status.code == ASHLAR_OK)
    return;
  fprintf(stderr, "%s: %s\n", status.place, status.message);
  exit(1);
}

int main(int argc, char **argv) {
  ashlar_runtime_t *runtime;
  ashlar_module_t *module;
  ashlar_session_t *session;
  ashlar_entry_t *entry;
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  ashlar_tensor_t in[8] = {0}, out[8] = {0}; /* out: the session's memory */
  load.allow_native_code = 1;                /* we trust this file */
  check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, argc > 1 ? argv[1] : "model.ash",
                                &load, &module));
  check(ashlar_module_entry(module, "main", &entry));
  check(ashlar_session_create(module, NULL, NULL, &session));
  for (size_t i = 0; i < ashlar_entry_input_count(entry) && i < 8; ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(ashlar_entry_input(entry, i, &info));
    in[i].data = calloc(1, info.maximum_bytes);
    in[i].capacity = info.maximum_bytes;
    in[i].type = info.type;
    in[i].rank = info.rank;
    for (uint32_t d = 0; d < info.rank; ++d)
      in[i].shape[d] = info.maximum[d];
  }
  check(ashlar_session_run_entry(session, entry, in,
                                 ashlar_entry_input_count(entry), out,
                                 ashlar_entry_output_count(entry)));
  printf("first output: %g\n", *(float *)out[0].data);
  for (size_t i = 0; i < 8; ++i)
    free(in[i].data);
  ashlar_session_release(session);
  ashlar_module_release(module);
  ashlar_runtime_release(runtime);
  return 0;
}
