/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a compiler would emit, written by hand. A group is `chunk` elements of
 * `count`; both are parameters. */
#include <ashlar/runtime/kernel_abi.h>

#include <stddef.h>

const uint32_t ashlar_kernel_abi_version = ASHLAR_KERNEL_ABI_VERSION;

static int64_t limit(const int64_t *parameters, int64_t group_end) {
  int64_t end = group_end * parameters[1];
  return end < parameters[0] ? end : parameters[0];
}

/* buffers: a, b, sum; parameters: count, chunk */
int32_t add_f32(void *const *buffers, const int64_t *parameters, void *scratch,
                int64_t group_begin, int64_t group_end) {
  const float *a = buffers[0], *b = buffers[1];
  float *sum = buffers[2];
  int64_t end = limit(parameters, group_end);
  (void)scratch;
  for (int64_t i = group_begin * parameters[1]; i < end; ++i)
    sum[i] = a[i] + b[i];
  return ASHLAR_KERNEL_OK;
}

/* Doubles through the scratch, which holds a chunk of floats.
 * buffers: in, out; parameters: count, chunk */
int32_t double_f32(void *const *buffers, const int64_t *parameters,
                   void *scratch, int64_t group_begin, int64_t group_end) {
  const float *in = buffers[0];
  float *out = buffers[1], *own = scratch;
  for (int64_t group = group_begin; group < group_end; ++group) {
    int64_t begin = group * parameters[1], end = limit(parameters, group + 1);
    for (int64_t i = begin; i < end; ++i)
      own[i - begin] = 2 * in[i];
    for (int64_t i = begin; i < end; ++i)
      out[i] = own[i - begin];
  }
  return ASHLAR_KERNEL_OK;
}

/* Fails where the first input's element 0 is negative.
 * buffers: in, out; parameters: count, chunk */
int32_t check_f32(void *const *buffers, const int64_t *parameters,
                  void *scratch, int64_t group_begin, int64_t group_end) {
  const float *in = buffers[0];
  float *out = buffers[1];
  int64_t end = limit(parameters, group_end);
  (void)scratch;
  if (in[0] == -1)
    return ASHLAR_KERNEL_INDEX_OUT_OF_RANGE;
  if (in[0] < 0)
    return 77;
  for (int64_t i = group_begin * parameters[1]; i < end; ++i)
    out[i] = in[i];
  return ASHLAR_KERNEL_OK;
}

/* Each row times a factor. Fails where a row begins with a negative number.
 * buffers: in, factor, out; parameters: rows, chunk, width */
int32_t rows_f32(void *const *buffers, const int64_t *parameters, void *scratch,
                 int64_t group_begin, int64_t group_end) {
  const float *in = buffers[0], *factor = buffers[1];
  float *out = buffers[2];
  int64_t width = parameters[2], end = limit(parameters, group_end);
  (void)scratch;
  for (int64_t i = group_begin * parameters[1]; i < end; ++i) {
    if (in[i * width] < 0)
      return 77;
    for (int64_t j = i * width; j < (i + 1) * width; ++j)
      out[j] = in[j] * *factor;
  }
  return ASHLAR_KERNEL_OK;
}

/* Computes nothing, `count` times. */
int32_t spin(void *const *buffers, const int64_t *parameters, void *scratch,
             int64_t group_begin, int64_t group_end) {
  (void)buffers, (void)scratch;
  for (int64_t group = group_begin; group < group_end; ++group)
    for (volatile int64_t i = 0; i < parameters[0];)
      i = i + 1;
  return ASHLAR_KERNEL_OK;
}

/* What the device guard makes of a tensor map. */
struct guard_tensor_map {
  const char *address;
  int64_t rank, sizes[5], strides[5];
};

/* Gathers the rows of a matrix, doubled, without the gaps between them: a group
 * is a row. buffers: map of in, out; parameters: none */
int32_t gather_f32(void *const *buffers, const int64_t *parameters,
                   void *scratch, int64_t group_begin, int64_t group_end) {
  const struct guard_tensor_map *map = buffers[0];
  float *out = buffers[1];
  (void)parameters, (void)scratch;
  for (int64_t i = group_begin; i < group_end; ++i)
    for (int64_t j = 0; j < map->sizes[0]; ++j)
      out[i * map->sizes[0] + j] =
          2 * *(const float *)(map->address + i * map->strides[1] +
                               j * map->strides[0]);
  return ASHLAR_KERNEL_OK;
}
