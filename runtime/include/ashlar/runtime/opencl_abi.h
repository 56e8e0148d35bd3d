/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where generated OpenCL kernels and the runtime meet.
 *
 * A code section with the format ASHLAR_OPENCL_FORMAT is a SPIR-V module of the
 * OpenCL kind: capability Kernel, addressing model Physical64, version 1.0 to
 * 1.4, little endian. It has one entry point per kernel, with the kernel's
 * symbol as its name and, in OpenCL C's words, these arguments in this order:
 *
 *   global void *buffer      one per binding of the dispatch; of an alignment
 *                            of at least 128 bytes
 *   ulong offset             one per binding: bytes from its buffer to where
 *                            the binding begins
 *   long parameter           one per integer of the dispatch
 *   global void *scratch     a valid buffer even where no kernel has scratch
 *   ulong scratch_offset     bytes
 *   ulong scratch_bytes      of one workgroup; 0: there is none
 *   long groups              of the grid; at least 1
 *   global uint *status      two words: fault, command
 *   uint command             the number of the dispatch
 *
 * It is launched in one dimension, with n workgroups of one work-item, n at
 * least 1 and no more than `groups`. Workgroup i computes groups
 * [groups * i / n, groups * (i + 1) / n) and has, of the scratch, the bytes
 * from scratch + scratch_offset + i * scratch_bytes on, contents undefined.
 * Workgroups run at the same time or one after the other, in any order; they
 * write disjoint bytes.
 *
 * A kernel with a block of t threads, whose program requires "format-1.1", is
 * launched with `groups` workgroups of t work-items: workgroup i computes group
 * i, its work-items together. It has no scratch.
 *
 * A kernel that meets a fault, one of the codes of kernel_abi.h or another
 * number other than 0, writes it to status[0] and `command` to status[1], if
 * status[0] is 0. Of several at the same time one is reported. A kernel after
 * a fault runs all the same: it must not leave its buffers, whatever numbers it
 * finds there.
 */
#ifndef ASHLAR_RUNTIME_OPENCL_ABI_H
#define ASHLAR_RUNTIME_OPENCL_ABI_H

#include <stdint.h>

#define ASHLAR_OPENCL_FORMAT "spirv64"
/* The same kernels as LLVM IR of cl_khr_spir (SPIR 1.2, 64 bits), for drivers
 * that take no SPIR-V. */
#define ASHLAR_OPENCL_SPIR_FORMAT "spir64"

/* Arguments of a kernel with so many bindings and integers. */
#define ASHLAR_OPENCL_ARGUMENTS(bindings, integers)                            \
  (2u * (bindings) + (integers) + 6u)

/* The words behind `status`. */
enum {
  ASHLAR_OPENCL_STATUS_FAULT = 0,
  ASHLAR_OPENCL_STATUS_COMMAND = 1,
  ASHLAR_OPENCL_STATUS_WORDS = 2
};

#endif /* ASHLAR_RUNTIME_OPENCL_ABI_H */
