/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * resident MODEL.ash: loads a module, runs it once on ones, and prints the
 * resident memory of the process before it and its peak, in bytes. */
#include <ashlar/runtime/api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(ashlar_status_t status) {
  if (status.code == ASHLAR_OK)
    return;
  fprintf(stderr, "%s: %s\n", status.place, status.message);
  exit(1);
}

/* A line of /proc/self/status, such as "VmHWM:", in bytes. */
static unsigned long long memory(const char *name) {
  char line[256];
  unsigned long long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0)
      sscanf(line + strlen(name), "%llu", &kib);
  if (file)
    fclose(file);
  return kib * 1024;
}

int main(int argc, char **argv) {
  enum { most = 16 };
  ashlar_runtime_t *runtime;
  ashlar_module_t *module;
  ashlar_session_t *session;
  ashlar_entry_t *entry;
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  ashlar_tensor_t in[most] = {0}, out[most] = {0};
  unsigned long long before;
  if (argc != 2)
    return fprintf(stderr, "usage: resident MODEL.ash\n"), 2;
  load.allow_native_code = 1;
  options.threads = 1;
  before = memory("VmRSS:");
  check(ashlar_runtime_create(NULL, &runtime));
  check(ashlar_module_load_file(runtime, argv[1], &load, &module));
  check(ashlar_module_entry(module, "main", &entry));
  check(ashlar_session_create(module, NULL, &options, &session));
  if (ashlar_entry_input_count(entry) > most ||
      ashlar_entry_output_count(entry) > most)
    return fprintf(stderr, "resident: at most %d inputs\n", most), 1;
  for (size_t i = 0; i < ashlar_entry_input_count(entry); ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(ashlar_entry_input(entry, i, &info));
    in[i].data = malloc(info.maximum_bytes);
    if (!in[i].data)
      return 1;
    in[i].capacity = info.maximum_bytes;
    in[i].type = info.type;
    in[i].rank = info.rank;
    memset(in[i].data, 0, info.maximum_bytes);
    if (info.type == ASHLAR_TYPE_I64)
      for (size_t k = 0; k < info.maximum_bytes / 8; ++k)
        ((int64_t *)in[i].data)[k] = 1;
    for (uint32_t d = 0; d < info.rank; ++d)
      in[i].shape[d] = info.maximum[d];
  }
  check(ashlar_session_run_entry(session, entry, in,
                                 ashlar_entry_input_count(entry), out,
                                 ashlar_entry_output_count(entry)));
  printf("%llu %llu\n", before, memory("VmHWM:"));
  return 0;
}
