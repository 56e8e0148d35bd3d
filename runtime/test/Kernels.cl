// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of Kernels.c that samples need, as a compiler would emit them for
// OpenCL (ashlar/runtime/opencl_abi.h), and some that look at what they are
// given. A group is `chunk` elements of `count`. With ADDRESSES they are called
// as gpu_abi.h says.

#ifdef ADDRESSES
#define OWN                                                                    \
  global char *scratch, ulong scratchBytes, long groups, global uint *status,  \
      uint command
#define BUFFERS_1 global char *p0
#define BUFFERS_2 global char *p0, global char *p1
#define BUFFERS_3 global char *p0, global char *p1, global char *p2
#define o0 0
#define o1 0
#define o2 0
#define scratchOffset 0
#else
#define OWN                                                                    \
  global char *scratch, ulong scratchOffset, ulong scratchBytes, long groups,  \
      global uint *status, uint command
#define BUFFERS_1 global char *p0, ulong o0
#define BUFFERS_2 global char *p0, global char *p1, ulong o0, ulong o1
#define BUFFERS_3                                                              \
  global char *p0, global char *p1, global char *p2, ulong o0, ulong o1,       \
      ulong o2
#endif
#define BEGIN (groups * (long)get_group_id(0) / (long)get_num_groups(0))
#define END (groups * ((long)get_group_id(0) + 1) / (long)get_num_groups(0))

static void report(global uint *status, uint command, uint code) {
  if (status[0] == 0) {
    status[0] = code;
    status[1] = command;
  }
}

kernel void add_f32(BUFFERS_3, long count, long chunk, OWN) {
  global const float *a = (global const float *)(p0 + o0);
  global const float *b = (global const float *)(p1 + o1);
  global float *sum = (global float *)(p2 + o2);
  long end = min(END * chunk, count);
  for (long i = BEGIN * chunk; i < end; ++i)
    sum[i] = a[i] + b[i];
}

// The same through 4096 bytes that the threads of a workgroup share.
kernel void add_shared_f32(BUFFERS_3, long count, long chunk, OWN) {
  local float kept[1024];
  global const float *a = (global const float *)(p0 + o0);
  global const float *b = (global const float *)(p1 + o1);
  global float *sum = (global float *)(p2 + o2);
  long begin = get_group_id(0) * chunk, end = min(begin + chunk, count);
  long threads = get_local_size(0), own = get_local_id(0);
  for (long i = begin + own; i < end; i += threads)
    kept[(i - begin) & 1023] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  // Another thread's.
  for (long i = end - 1 - own; i >= begin; i -= threads)
    sum[i] = kept[(i - begin) & 1023] + b[i];
}

// Through the scratch, which holds a chunk.
kernel void double_f32(BUFFERS_2, long count, long chunk, OWN) {
  global const float *in = (global const float *)(p0 + o0);
  global float *out = (global float *)(p1 + o1);
  global float *own = (global float *)(scratch + scratchOffset +
                                       get_group_id(0) * scratchBytes);
  long last = END;
  for (long group = BEGIN; group < last; ++group) {
    long begin = group * chunk, end = min((group + 1) * chunk, count);
    for (long i = begin; i < end; ++i)
      own[i - begin] = 2 * in[i];
    for (long i = begin; i < end; ++i)
      out[i] = own[i - begin];
  }
}

// Fails where the first element is negative.
kernel void check_f32(BUFFERS_2, long count, long chunk, OWN) {
  global const float *in = (global const float *)(p0 + o0);
  global float *out = (global float *)(p1 + o1);
  if (in[0] < 0) {
    report(status, in[0] == -3 ? command + 1000 : command,
           in[0] == -1 ? 1 : 77);
    return;
  }
  long end = min(END * chunk, count);
  for (long i = BEGIN * chunk; i < end; ++i)
    out[i] = in[i];
}

// Each group says who computed it, in which place of how many, and with which
// scratch: four numbers a group.
kernel void describe(BUFFERS_1, long first, long second, OWN) {
  global long *out = (global long *)(p0 + o0);
  global long *own =
      (global long *)(scratch + scratchOffset + get_group_id(0) * scratchBytes);
  long last = END;
  for (long group = BEGIN; group < last; ++group) {
    out[4 * group] = (long)get_group_id(0);
    out[4 * group + 1] = (long)get_num_groups(0);
    out[4 * group + 2] = first - second;
    out[4 * group + 3] = (long)scratchBytes;
    if (scratchBytes)
      own[0] = group;
  }
}

// How far the buffer's beginning is from a multiple of 128.
kernel void misalignment(BUFFERS_1, OWN) {
  *(global ulong *)(p0 + o0) = (ulong)p0 % 128;
}

// Without what every kernel is given.
kernel void bare(global char *p0) { p0[0] = 1; }
