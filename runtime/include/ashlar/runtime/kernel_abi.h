/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where generated host code and the runtime meet.
 *
 * A code section with a format of "elf-<machine>" is a position-independent
 * shared object. It may need libc.so.6 and libm.so.6 and nothing else. It has
 * no constructors. It exports
 *
 *   - the data symbol ASHLAR_KERNEL_ABI_SYMBOL, a uint32_t that holds
 *     ASHLAR_KERNEL_ABI_VERSION;
 *   - one function of type ashlar_kernel_function_t per kernel.
 *
 * A kernel computes groups [group_begin, group_end) of its grid. Different
 * ranges of one call may run at the same time on different threads; they write
 * disjoint bytes. A kernel keeps no state, allocates nothing and does not
 * change the floating-point environment.
 */
#ifndef ASHLAR_RUNTIME_KERNEL_ABI_H
#define ASHLAR_RUNTIME_KERNEL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_KERNEL_ABI_VERSION 1u
#define ASHLAR_KERNEL_ABI_SYMBOL "ashlar_kernel_abi_version"

/* Alignment in bytes of every buffer and of the scratch a kernel is given. */
#define ASHLAR_KERNEL_BUFFER_ALIGNMENT 64

/* What a kernel returns. */
enum {
  ASHLAR_KERNEL_OK = 0,
  /* An index read from a tensor lies outside the tensor it points into. */
  ASHLAR_KERNEL_INDEX_OUT_OF_RANGE = 1
};

/* buffers      one address per binding of the dispatch, in order; read-only
 *              bindings are never written
 * parameters   one integer per parameter of the dispatch, in order
 * scratch      scratch_bytes of this worker's own memory, contents undefined;
 *              NULL where scratch_bytes is 0 */
typedef int32_t (*ashlar_kernel_function_t)(void *const *buffers,
                                            const int64_t *parameters,
                                            void *scratch, int64_t group_begin,
                                            int64_t group_end);

#ifdef __cplusplus
}
#endif
#endif /* ASHLAR_RUNTIME_KERNEL_ABI_H */
