/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What C programs include: compiled, not run. */
#include "ashlar/runtime/warm_up.h"

ashlar_status_t warm_up_first(ashlar_module_t *module,
                              ashlar_session_t *session);
ashlar_status_t warm_up_first(ashlar_module_t *module,
                              ashlar_session_t *session) {
  ashlar_entry_t *entry = NULL;
  ashlar_status_t status = ashlar_module_entry_at(module, 0, &entry);
  return status.code == ASHLAR_OK
             ? ashlar_session_warm_up(session, entry, NULL, 0, 0)
             : status;
}
