// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel's functions of matrices, which its GPUs have an instruction for, as
// subgroups of any device compute them: a lane has its share of the terms of
// each row of a, 16 bits of 16 lanes and 32 of 8, a column of b, 32 bits in a
// word, and that column of the sums
// (cl_intel_subgroup_matrix_multiply_accumulate).

#include "ZeKernels.h"

const char *const ashlar::ze::matrixFunctions = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

float half_of(short x) { return vload_half(0, (const half *)&x); }
float bfloat_of(short x) { return as_float((uint)(ushort)x << 16); }

// LANE: terms of a row that a lane has.
#define MULTIPLY(TYPE, VALUE, ROWS, ROW, LANE)                                 \
  __attribute__((overloadable)) float8                                         \
      intel_sub_group_##TYPE##_##TYPE##_matrix_mad_k16(ROWS a, int8 b,         \
                                                       float8 sums) {          \
    ROW rows[8];                                                               \
    int pairs[8];                                                              \
    float all[8];                                                              \
    vstore8(a, 0, rows);                                                       \
    vstore8(b, 0, pairs);                                                      \
    vstore8(sums, 0, all);                                                     \
    for (int k = 0; k < 16; ++k) {                                             \
      float own = VALUE((short)(pairs[k / 2] >> (16 * (k % 2))));              \
      for (int row = 0; row < 8; ++row) {                                      \
        int terms = sub_group_broadcast((int)rows[row], (uint)(k / LANE));     \
        short term = (short)(terms >> (16 * (k % LANE)));                      \
        all[row] = fma(VALUE(term), own, all[row]);                            \
      }                                                                        \
    }                                                                          \
    return vload8(0, all);                                                     \
  }
MULTIPLY(f16, half_of, short8, short, 1)
MULTIPLY(bf16, bfloat_of, short8, short, 1)
MULTIPLY(f16, half_of, int8, int, 2)
MULTIPLY(bf16, bfloat_of, int8, int, 2)

#define MULTIPLY_BYTES(LEFT, LEFT_BYTE, ROWS, RIGHT, RIGHT_BYTE, COLUMN, AS,   \
                       ROW, LANE)                                              \
  __attribute__((overloadable)) int8                                           \
      intel_sub_group_##LEFT##_##RIGHT##_matrix_mad_k32(ROWS a, COLUMN b,      \
                                                        int8 sums) {           \
    ROW rows[8];                                                               \
    int words[8];                                                              \
    int all[8];                                                                \
    vstore8(AS(a), 0, rows);                                                   \
    vstore8(as_int8(b), 0, words);                                             \
    vstore8(sums, 0, all);                                                     \
    for (int k = 0; k < 32; ++k) {                                             \
      int own = (RIGHT_BYTE)(words[k / 4] >> (8 * (k % 4)));                   \
      for (int row = 0; row < 8; ++row) {                                      \
        int terms = sub_group_broadcast((int)rows[row], (uint)(k / LANE));     \
        all[row] += (LEFT_BYTE)(terms >> (8 * (k % LANE))) * own;              \
      }                                                                        \
    }                                                                          \
    return vload8(0, all);                                                     \
  }
#define MULTIPLY_COLUMNS(LEFT, LEFT_BYTE, ROWS, AS, ROW, LANE)                 \
  MULTIPLY_BYTES(LEFT, LEFT_BYTE, ROWS, i8, char, int8, AS, ROW, LANE)         \
  MULTIPLY_BYTES(LEFT, LEFT_BYTE, ROWS, u8, uchar, uint8, AS, ROW, LANE)
MULTIPLY_COLUMNS(i8, char, short8, as_short8, short, 2)
MULTIPLY_COLUMNS(u8, uchar, ushort8, as_short8, short, 2)
MULTIPLY_COLUMNS(i8, char, int8, as_int8, int, 4)
MULTIPLY_COLUMNS(u8, uchar, uint8, as_int8, int, 4)
)";
