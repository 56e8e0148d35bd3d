/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the C sides of these measurements share: a module's first entry, of one
 * input and one output, bound to zeros. */
#ifndef ASHLAR_BENCHMARKS_PYTHON_BOUND_SESSION_H
#define ASHLAR_BENCHMARKS_PYTHON_BOUND_SESSION_H

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

typedef struct {
  ashlar_session_t *session;
  ashlar_bindings_t *bindings;
  void *input;
} bound_t;

/* A session of one thread. */
static bound_t bindZeros(ashlar_module_t *module, ashlar_entry_t *entry) {
  bound_t bound;
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  ashlar_tensor_t in = {0}, out = {0};
  options.threads = 1;
  check(ashlar_session_create(module, NULL, &options, &bound.session));
  check(ashlar_entry_input(entry, 0, &info));
  in.capacity = (info.maximum_bytes + 63) / 64 * 64;
  in.data = bound.input = aligned_alloc(64, in.capacity);
  memset(in.data, 0, in.capacity);
  in.type = info.type;
  in.rank = info.rank;
  memcpy(in.shape, info.maximum, sizeof in.shape);
  check(ashlar_bindings_create(bound.session, entry, &in, 1, &out, 1,
                               &bound.bindings));
  return bound;
}

static void release(bound_t bound) {
  ashlar_bindings_release(bound.bindings);
  ashlar_session_release(bound.session);
  free(bound.input);
}

#endif
