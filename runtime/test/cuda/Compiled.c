// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that LLVM compiles twice, for the processor and to PTX: what comes
// out is the same, bit for bit. Each element of the output is one thread's.

typedef unsigned char uint8;
typedef signed char int8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef long long int64;
typedef float Vector __attribute__((ext_vector_type(16)));
typedef uint8 Bytes __attribute__((ext_vector_type(16)));

#ifdef __NVPTX__
#define FUNCTION(NAME, T, OUT)                                                 \
  static void NAME##_at(int i, const T *a, const T *b, OUT *out);              \
  __attribute__((nvptx_kernel)) void NAME(                                     \
      const __attribute__((address_space(1))) T *a,                            \
      const __attribute__((address_space(1))) T *b,                            \
      __attribute__((address_space(1))) OUT *out) {                            \
    NAME##_at(__nvvm_read_ptx_sreg_tid_x() +                                   \
                  __nvvm_read_ptx_sreg_ctaid_x() *                             \
                      __nvvm_read_ptx_sreg_ntid_x(),                           \
              (const T *)a, (const T *)b, (OUT *)out);                         \
  }                                                                            \
  static void NAME##_at(int i, const T *a, const T *b, OUT *out)
#else
#define FUNCTION(NAME, T, OUT)                                                 \
  static void NAME##_at(int i, const T *a, const T *b, OUT *out);              \
  void NAME(const void *a, const void *b, void *out, int n) {                  \
    for (int i = 0; i < n; ++i)                                                \
      NAME##_at(i, a, b, out);                                                 \
  }                                                                            \
  static void NAME##_at(int i, const T *a, const T *b, OUT *out)
#endif

// e^x by a polynomial and an exponent's bits.
static float exponential(float x) {
  x = x > 88.0f ? 88.0f : x < -87.0f ? -87.0f : x;
  float n = __builtin_roundevenf(x * 1.44269504f);
  float r = __builtin_fmaf(n, -0.693359375f, x);
  r = __builtin_fmaf(n, 2.12194440e-4f, r);
  float p = 1.0f / 720;
  p = __builtin_fmaf(p, r, 1.0f / 120);
  p = __builtin_fmaf(p, r, 1.0f / 24);
  p = __builtin_fmaf(p, r, 1.0f / 6);
  p = __builtin_fmaf(p, r, 0.5f);
  p = __builtin_fmaf(p, r, 1.0f);
  p = __builtin_fmaf(p, r, 1.0f);
  union {
    uint32 bits;
    float value;
  } scale = {(uint32)((int)n + 127) << 23};
  return p * scale.value;
}

FUNCTION(softmax, float, float) {
  float most = -__builtin_inff(), sum = 0;
  for (int k = 0; k < 37; ++k)
    most = a[i * 37 + k] > most ? a[i * 37 + k] : most;
  for (int k = 0; k < 37; ++k)
    sum += exponential(a[i * 37 + k] - most);
  for (int k = 0; k < 37; ++k)
    out[i * 37 + k] = exponential(a[i * 37 + k] - most) / sum + b[i];
}

FUNCTION(vectors, Vector, Vector) {
  Vector x = a[i], y = b[i], z = __builtin_elementwise_fma(x, y, x);
  z = __builtin_elementwise_max(z, y);
  Vector w = __builtin_elementwise_sqrt(__builtin_elementwise_abs(z));
  w = x < y ? w : __builtin_elementwise_floor(z);
  out[i] = __builtin_elementwise_copysign(w, x) / (y * y + 1.0f);
}

FUNCTION(quantize, Vector, Bytes) {
  Vector scaled = __builtin_elementwise_roundeven(a[i] * 13.25f + b[i]);
  Vector least = -128.0f, most = 127.0f;
  scaled = __builtin_elementwise_max(scaled, least);
  scaled = __builtin_elementwise_min(scaled, most);
  int8 kept[16];
  for (int k = 0; k < 16; ++k)
    kept[k] = (int8)scaled[k];
  // Through memory whose index is known late.
  Bytes bytes;
  for (int k = 0; k < 16; ++k)
    bytes[k] = (uint8)(kept[(k + i) % 16] + 128);
  out[i] = bytes;
}

FUNCTION(halves, float, float) {
  // One operation a statement: some processors keep more digits within one.
  _Float16 x = (_Float16)a[i], y = (_Float16)b[i];
  _Float16 product = x * y, sum = product + (_Float16)0.5f;
  _Float16 less = sum - y, third = sum / (_Float16)3.0f;
  out[i] = (float)(sum > x ? less : third);
}

// To a bf16 and back; not every machine's libraries have it.
static float narrowed(float x) {
#ifdef __NVPTX__
  return (float)(__bf16)x;
#else
  union {
    float value;
    uint32 bits;
  } of = {x};
  of.bits = (of.bits + 0x7fff + (of.bits >> 16 & 1)) & 0xffff0000;
  return of.value;
#endif
}

FUNCTION(bfloats, float, float) {
  float x = narrowed(a[i]), y = narrowed(b[i]);
  out[i] = narrowed(x * y + narrowed(a[i] - b[i]));
}

FUNCTION(whole, int, int) {
  int x = a[i], y = b[i], divisor = y == 0 || y == -1 ? 7 : y;
  uint32 sum = (uint32)(x / divisor) + (uint32)(x % divisor);
  sum += (uint32)(x / 10) + (uint32)y % 13u;
  sum += (uint32)(((int64)x * y) >> 19);
  sum ^= (uint32)(__builtin_popcount((uint32)x) + __builtin_clz((uint32)y | 1));
  sum += __builtin_bswap32((uint32)x) ^ __builtin_bitreverse32((uint32)y);
  sum += __builtin_rotateleft32((uint32)x, (uint32)y & 31);
  sum += (uint32)(__builtin_elementwise_add_sat(x, y) ^
                  __builtin_elementwise_abs(x));
  uint64 wide = (uint64)(uint32)x * 0x9e3779b97f4a7c15ull;
  unsigned __int128 wider = (unsigned __int128)wide * wide;
  sum ^= (uint32)(wider >> 77) ^ (uint32)(wide % ((uint32)y | 1u));
  out[i] = (int)sum;
}

FUNCTION(narrow, uint16, uint16) {
  uint8 x = (uint8)a[i], y = (uint8)b[i];
  int8 s = (int8)(x * 3), t = (int8)(y >> 1);
  short u = (short)a[i];
  out[i] = (uint16)((s < t ? s * t : u / (t | 1)) + (x > y) + (u >> (y & 7)));
}

__attribute__((noinline)) static float horner(const float *coefficients,
                                              int count, float x) {
  float sum = 0;
  for (int k = 0; k < count; ++k)
    sum = sum * x + coefficients[k];
  return sum;
}

static const float tables[3][4] = {
    {1, 2, 3, 4}, {0.5f, -0.25f, 0.125f, 1}, {-1, 0, 1, 0}};

FUNCTION(calls, float, float) {
  float kept[5];
  for (int k = 0; k < 5; ++k)
    kept[k] = a[i] * k - b[i];
  int row = (int)(b[i] < 0 ? -b[i] : b[i]) % 3;
  switch (row + (a[i] > 0 ? 3 : 0)) {
  case 0:
    out[i] = horner(kept, 5, b[i]);
    break;
  case 1:
    out[i] = horner(tables[row], 4, a[i]);
    break;
  case 2:
    out[i] = kept[(int)b[i] & 3];
    break;
  case 3:
    out[i] = -kept[1];
    break;
  case 4:
    out[i] = horner(kept + 1, 3, 0.5f);
    break;
  default:
    out[i] = tables[row][i & 3];
  }
}

FUNCTION(doubles, double, double) {
  double x = a[i], y = b[i];
  float narrow = (float)(x * y);
  int64 whole = x > -1e9 && x < 1e9 ? (int64)(x * 1000) : 77;
  out[i] = __builtin_fma(x, y, (double)narrow) / (y * y + 1) +
           (double)(uint64)whole + __builtin_sqrt(x * x) + (double)(int)i;
}

FUNCTION(tile, float, float) {
  // A tile of 4 by 4 of a product of 16 by 24 and 24 by 16.
  int row = i / 4 % 4 * 4, column = i % 4 * 4;
  float sums[4][4] = {};
  for (int k = 0; k < 24; ++k)
    for (int m = 0; m < 4; ++m)
      for (int n = 0; n < 4; ++n)
        sums[m][n] = __builtin_fmaf(a[(row + m) * 24 + k],
                                    b[k * 16 + column + n], sums[m][n]);
  for (int m = 0; m < 4; ++m)
    for (int n = 0; n < 4; ++n)
      out[i * 16 + m * 4 + n] = sums[m][n];
}
