// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel's functions of matrices, which its GPUs have an instruction for, as
// subgroups of any device compute them: a lane has 16 bits of terms of each row
// of a, a column of b, 32 bits in a word, and that column of the sums
// (cl_intel_subgroup_matrix_multiply_accumulate).

#include "ZeKernels.h"

const char *const ashlar::ze::matrixFunctions = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

float half_of(short x) { return vload_half(0, (const half *)&x); }
float bfloat_of(short x) { return as_float((uint)(ushort)x << 16); }

#define MULTIPLY(TYPE, VALUE)                                                  \
  __attribute__((overloadable)) float8                                         \
      intel_sub_group_##TYPE##_##TYPE##_matrix_mad_k16(short8 a, int8 b,       \
                                                       float8 sums) {          \
    short rows[8];                                                             \
    int pairs[8];                                                              \
    float all[8];                                                              \
    vstore8(a, 0, rows);                                                       \
    vstore8(b, 0, pairs);                                                      \
    vstore8(sums, 0, all);                                                     \
    for (int k = 0; k < 16; ++k) {                                             \
      float own = VALUE((short)(pairs[k / 2] >> (16 * (k % 2))));              \
      for (int row = 0; row < 8; ++row) {                                      \
        int term = sub_group_broadcast((int)rows[row], (uint)k);               \
        all[row] = fma(VALUE((short)term), own, all[row]);                     \
      }                                                                        \
    }                                                                          \
    return vload8(0, all);                                                     \
  }
MULTIPLY(f16, half_of)
MULTIPLY(bf16, bfloat_of)

#define MULTIPLY_BYTES(LEFT, LEFT_BYTE, ROWS, RIGHT, RIGHT_BYTE, COLUMN)       \
  __attribute__((overloadable)) int8                                           \
      intel_sub_group_##LEFT##_##RIGHT##_matrix_mad_k32(ROWS a, COLUMN b,      \
                                                        int8 sums) {           \
    short rows[8];                                                             \
    int words[8];                                                              \
    int all[8];                                                                \
    vstore8(as_short8(a), 0, rows);                                            \
    vstore8(as_int8(b), 0, words);                                             \
    vstore8(sums, 0, all);                                                     \
    for (int k = 0; k < 32; ++k) {                                             \
      int own = (RIGHT_BYTE)(words[k / 4] >> (8 * (k % 4)));                   \
      for (int row = 0; row < 8; ++row) {                                      \
        int term = sub_group_broadcast((int)rows[row], (uint)(k / 2));         \
        all[row] += (LEFT_BYTE)(term >> (8 * (k % 2))) * own;                  \
      }                                                                        \
    }                                                                          \
    return vload8(0, all);                                                     \
  }
MULTIPLY_BYTES(i8, char, short8, i8, char, int8)
MULTIPLY_BYTES(i8, char, short8, u8, uchar, uint8)
MULTIPLY_BYTES(u8, uchar, ushort8, i8, char, int8)
MULTIPLY_BYTES(u8, uchar, ushort8, u8, uchar, uint8)
)";
