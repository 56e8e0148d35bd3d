// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of Kernels.c that samples need, as a compiler would emit them for
// GPUs whose memory has addresses (ashlar/runtime/gpu_abi.h), and some that
// look at what they are given or do what they must not. A group is `chunk`
// elements of `count`.

#include <stdint.h>

#define KERNEL __attribute__((device_kernel)) void
#define OWN                                                                    \
  char *scratch, int64_t scratchBytes, int64_t groups, uint32_t *status,       \
      uint32_t command
#ifdef __AMDGCN__
#define ME ((int64_t)__builtin_amdgcn_workgroup_id_x())
#define ALL                                                                    \
  ((int64_t)(__builtin_amdgcn_grid_size_x() /                                  \
             __builtin_amdgcn_workgroup_size_x()))
#else
#define ME ((int64_t)__nvvm_read_ptx_sreg_ctaid_x())
#define ALL ((int64_t)__nvvm_read_ptx_sreg_nctaid_x())
#endif
#define BEGIN (groups * ME / ALL)
#define END (groups * (ME + 1) / ALL)

static void report(uint32_t *status, uint32_t command, uint32_t code) {
  uint32_t none = 0;
  if (__atomic_compare_exchange_n(&status[0], &none, code, 0, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED))
    status[1] = command;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

KERNEL add_f32(const float *a, const float *b, float *sum, int64_t count,
               int64_t chunk, OWN) {
  int64_t end = least(END * chunk, count);
  for (int64_t i = BEGIN * chunk; i < end; ++i)
    sum[i] = a[i] + b[i];
}

// Through the scratch, which holds a chunk.
KERNEL double_f32(const float *in, float *out, int64_t count, int64_t chunk,
                  OWN) {
  float *own = (float *)(scratch + ME * scratchBytes);
  int64_t last = END;
  for (int64_t group = BEGIN; group < last; ++group) {
    int64_t begin = group * chunk, end = least((group + 1) * chunk, count);
    for (int64_t i = begin; i < end; ++i)
      own[i - begin] = 2 * in[i];
    for (int64_t i = begin; i < end; ++i)
      out[i] = own[i - begin];
  }
}

// Fails where the first element is negative; where it is infinite, leaves its
// buffers.
KERNEL check_f32(const float *in, float *out, int64_t count, int64_t chunk,
                 OWN) {
  if (in[0] < 0) {
    report(status, in[0] == -3 ? command + 1000 : command,
           in[0] == -1 ? 1 : 77);
    return;
  }
  if (in[0] > 3e38f)
    out[(int64_t)1 << 40] = 0;
  int64_t end = least(END * chunk, count);
  for (int64_t i = BEGIN * chunk; i < end; ++i)
    out[i] = in[i];
}

// Each group says who computed it, in which place of how many, and with which
// scratch: four numbers a group.
KERNEL describe(int64_t *out, int64_t first, int64_t second, OWN) {
  int64_t *own = (int64_t *)(scratch + ME * scratchBytes);
  int64_t last = END;
  for (int64_t group = BEGIN; group < last; ++group) {
    out[4 * group] = ME;
    out[4 * group + 1] = ALL;
    out[4 * group + 2] = first - second;
    out[4 * group + 3] = scratchBytes;
    if (scratchBytes)
      own[0] = group;
  }
}

// How far the buffer's beginning is from a multiple of 64.
KERNEL misalignment(uint64_t *out, OWN) { *out = (uintptr_t)out % 64; }

// Without what every kernel is given.
KERNEL bare(char *out) { out[0] = 1; }
