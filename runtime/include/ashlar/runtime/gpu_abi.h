/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where generated kernels of GPUs whose memory has addresses, and the runtime
 * meet.
 *
 * A code section with the format ASHLAR_PTX_FORMAT is the text of a module of
 * PTX for addresses of 64 bits, without a zero at its end; one with the format
 * ASHLAR_HSACO_FORMAT an ELF shared object (AMDGPUUsage, "Code Object") that is
 * loaded as it is, for the one chip that the program requires; one with the
 * format ASHLAR_SPIRV_ADDRESSES_FORMAT a SPIR-V module as in opencl_abi.h, but
 * for the parameters of its kernels; one whose format begins with
 * ASHLAR_ZEBIN_FORMAT machine code of the same kernels in Intel's form, an ELF
 * file, for the GPU that the rest of the format names as Intel's compiler does
 * ("zebin-pvc"). Each has one entry per kernel, with the kernel's symbol as its
 * name and these parameters in this order, in C's words:
 *
 *   void *binding            one per binding of the dispatch, in the device's
 *                            memory, of an alignment of at least 64 bytes
 *   int64_t parameter        one per integer of the dispatch
 *   void *scratch            valid even where no kernel has scratch
 *   int64_t scratch_bytes    of one workgroup; 0: there is none
 *   int64_t groups           of the grid; at least 1
 *   uint32_t *status         two words: fault, command
 *   uint32_t command         the number of the dispatch
 *   char map[128]            one per tensor map of Kernel.arguments, by value,
 *                            aligned to 64: what the driver makes of it
 *
 * Kernel.arguments, where there are any, are all bindings, all integers, then
 * the tensor maps, each in order.
 *
 * A kernel whose workgroups share memory that the launch asks for (Kernel's
 * shared_bytes) has it as its one array of shared memory without a size.
 *
 * It is launched in one dimension, with n workgroups of the kernel's block, of
 * one thread where it has none; n is at least 1 and no more than `groups`, and
 * no more than run at once where the kernel takes tensor maps: the threads of
 * such a one that copy go on from group to group ahead of the others. With
 * Kernel.cluster = [c], c neighbours reach each other's shared memory, as the
 * code says as well (.reqnctapercluster); n and `groups` are multiples of c, so
 * that all of a cluster have as many groups.
 * Workgroup i computes groups [groups * i / n, groups * (i + 1) / n), or, where
 * the kernel takes tensor maps, groups i, i + n, i + 2n and so on, and has, of
 * the scratch, the bytes from scratch + i * scratch_bytes on, contents
 * undefined. Workgroups run at the same time or one after the other, in any
 * order; they write disjoint bytes.
 *
 * A kernel that meets a fault, one of the codes of kernel_abi.h or another
 * number other than 0, puts it into status[0] if 0 is there, by one atomic
 * instruction, and if it was the one, writes `command` to status[1]. A kernel
 * after a fault runs all the same: it must not leave its buffers, whatever
 * numbers it finds there.
 */
#ifndef ASHLAR_RUNTIME_GPU_ABI_H
#define ASHLAR_RUNTIME_GPU_ABI_H

#include <stdint.h>

#define ASHLAR_PTX_FORMAT "ptx"
#define ASHLAR_HSACO_FORMAT "hsaco"
#define ASHLAR_SPIRV_ADDRESSES_FORMAT "spirv64-addresses"
#define ASHLAR_ZEBIN_FORMAT "zebin-"

/* Parameters of a kernel with so many bindings and integers, without tensor
 * maps. */
#define ASHLAR_GPU_PARAMETERS(bindings, integers) ((bindings) + (integers) + 5u)

/* The words behind `status`. */
enum {
  ASHLAR_GPU_STATUS_FAULT = 0,
  ASHLAR_GPU_STATUS_COMMAND = 1,
  ASHLAR_GPU_STATUS_WORDS = 2
};

#endif /* ASHLAR_RUNTIME_GPU_ABI_H */
