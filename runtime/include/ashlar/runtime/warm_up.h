/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Makes the first request of a session as quick as later ones: for C11 and
 * C++17, on top of api.h. A run maps the pages of weights, code, arena and
 * scratch, starts threads and resolves the program's sizes; here one is done
 * before anybody waits for it.
 */
#ifndef ASHLAR_RUNTIME_WARM_UP_H
#define ASHLAR_RUNTIME_WARM_UP_H

#include "ashlar/runtime/api.h"

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a tensor, aligned for use in place. 0: there is no memory. */
static inline int ashlar_warm_up_place(ashlar_tensor_t *tensor, uint64_t bytes,
                                       int is_zero) {
  size_t rounded = (size_t)(bytes / 64 + 1) * 64;
  tensor->capacity = bytes;
  tensor->data = aligned_alloc(64, rounded);
  if (tensor->data && is_zero)
    memset(tensor->data, 0, rounded);
  return tensor->data != NULL;
}

/* Fills in the tensors of a run with zeros. */
static inline ashlar_status_t
ashlar_warm_up_prepare(const ashlar_entry_t *entry,
                       const ashlar_tensor_t *shapes, ashlar_tensor_t *tensors,
                       size_t inputs, size_t outputs) {
  static const ashlar_status_t no_memory = {
      ASHLAR_INTERNAL, "the system has no memory for zeros", ""};
  for (size_t i = 0; i < inputs + outputs; ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    ashlar_status_t status =
        i < inputs ? ashlar_entry_input(entry, i, &info)
                   : ashlar_entry_output(entry, i - inputs, &info);
    if (status.code != ASHLAR_OK)
      return status;
    uint64_t bytes = info.maximum_bytes;
    if (i < inputs) {
      const int64_t *shape = shapes ? shapes[i].shape : info.maximum;
      tensors[i].type = info.type;
      tensors[i].rank = info.rank;
      bytes = ashlar_element_type_size(info.type);
      for (uint32_t d = 0; d < info.rank; ++d) {
        tensors[i].shape[d] = shape[d];
        bytes *= (uint64_t)shape[d];
      }
    }
    if (!ashlar_warm_up_place(&tensors[i], bytes, i < inputs))
      return no_memory;
  }
  const ashlar_status_t ok = {ASHLAR_OK, "", ""};
  return ok;
}

/* Runs the entry once, with zeros for inputs of the given sizes: of `inputs`
 * only type, rank and shape are read; NULL, with a count of 0: the largest
 * there are. What the session holds afterwards is what any run of these sizes
 * leaves; for zeros and results memory of malloc's is used meanwhile, as much
 * as the tensors have, which is in no budget. Statistics count the run, and
 * what it had to wait for.
 *
 * Weights are read as far as the run uses them: of a table, from which it takes
 * rows, only some. Call it once for each entry, and for sizes that differ much,
 * on the thread that uses the session.
 *
 * timeout_ns as in ashlar_session_run_within, for programs whose length hangs
 * on data; 0: no limit. Errors are those of the run, INVALID_ARGUMENT for
 * shapes that it would refuse. A model may refuse zeros, or a kernel fail with
 * them: what ran before is warm all the same. */
static inline ashlar_status_t
ashlar_session_warm_up(ashlar_session_t *session, const ashlar_entry_t *entry,
                       const ashlar_tensor_t *inputs, size_t input_count,
                       uint64_t timeout_ns) {
  ashlar_status_t status = {ASHLAR_INVALID_ARGUMENT, "entry is NULL", "entry"};
  if (!entry)
    return status;
  if (inputs || input_count != 0) {
    /* Sizes that are refused here cannot overflow above. */
    ashlar_contract_t cost = ASHLAR_CONTRACT_INIT;
    status = ashlar_entry_contract_at(entry, inputs, input_count, &cost);
    if (status.code != ASHLAR_OK)
      return status;
  }
  size_t in = ashlar_entry_input_count(entry);
  size_t out = ashlar_entry_output_count(entry);
  ashlar_tensor_t *tensors =
      (ashlar_tensor_t *)calloc(in + out + 1, sizeof(ashlar_tensor_t));
  if (!tensors) {
    status.code = ASHLAR_INTERNAL;
    status.message = "the system has no memory for tensors";
    status.place = "";
    return status;
  }
  status = ashlar_warm_up_prepare(entry, inputs, tensors, in, out);
  if (status.code == ASHLAR_OK)
    status = ashlar_session_run_within(session, entry, tensors, in,
                                       tensors + in, out, timeout_ns);
  for (size_t i = 0; i < in + out; ++i)
    free(tensors[i].data);
  free(tensors);
  return status;
}

#ifdef __cplusplus
}
#endif
#endif /* ASHLAR_RUNTIME_WARM_UP_H */
