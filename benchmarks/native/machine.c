/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What this machine can do, measured: the line that the pictures of GEMM have,
 * the floors that a missed figure is explained with, and the source of figures
 * in machine models. Prints one JSON object. To be compiled for the processor
 * it runs on: -O3 -march=native.
 *
 *   machine [SECONDS]       of each figure, default 0.2
 */
#include "measure.h"
#include <string.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
enum { LANES = VECTOR_BYTES / 4, CHAINS = 12 };
typedef float vector __attribute__((vector_size(VECTOR_BYTES)));

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

static double seconds = 0.2;

/* The best of short rounds: a peak is what the machine can do undisturbed. */
#define BEST_RATE(work, body)                                                  \
  do {                                                                         \
    double begin = seconds_now();                                              \
    do {                                                                       \
      double start = seconds_now();                                            \
      body;                                                                    \
      double rate = (work) / (seconds_now() - start);                          \
      if (rate > best)                                                         \
        best = rate;                                                           \
    } while (seconds_now() - begin < seconds);                                 \
  } while (0)

/* Twelve independent chains hide the latency of every machine so far. */
static double peak_fma(void) {
  vector accumulators[CHAINS], x, y;
  for (int l = 0; l < LANES; ++l)
    x[l] = 0.999f, y[l] = 1e-3f * (float)l;
  memset(accumulators, 0, sizeof(accumulators));
  enum { STEPS = 100000 };
  double best = 0;
  BEST_RATE(
      2.0 * LANES * CHAINS * STEPS, for (int i = 0; i < STEPS; ++i) {
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; ++c)
            accumulators[c] = accumulators[c] * x + y;
      });
  float sum = 0;
  for (int c = 0; c < CHAINS; ++c)
    sum += accumulators[c][0];
  return sum == 42 ? 0 : best;
}

#if defined(__AVX512BF16__)
static double peak_dot_bf16(void) {
  __m512 accumulators[CHAINS];
  __m512bh x, y;
  uint16_t values[32];
  for (int i = 0; i < 32; ++i)
    values[i] = (uint16_t)(0x3f80 + 37 * i);
  memcpy(&x, values, 64);
  memcpy(&y, values, 64);
  memset(accumulators, 0, sizeof(accumulators));
  enum { STEPS = 100000 };
  double best = 0;
  BEST_RATE(
      4.0 * 16 * CHAINS * STEPS, for (int i = 0; i < STEPS; ++i) {
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; ++c)
            accumulators[c] = _mm512_dpbf16_ps(accumulators[c], x, y);
      });
  float sum = 0;
  for (int c = 0; c < CHAINS; ++c)
    sum += accumulators[c][0];
  return sum == 42 ? 0 : best;
}
#endif

/* Bytes a second, reading `bytes` again and again in order. */
static double read_rate(const char *memory, size_t bytes) {
  size_t rounds = 1 + ((size_t)4 << 20) / bytes;
  vector sums[8] = {0};
  double best = 0;
  BEST_RATE((double)(bytes * rounds), for (size_t r = 0; r < rounds; ++r) {
    for (size_t at = 0; at + 8 * VECTOR_BYTES <= bytes; at += 8 * VECTOR_BYTES)
      for (int c = 0; c < 8; ++c)
        sums[c] += *(const vector *)(memory + at + c * VECTOR_BYTES);
    __asm__ volatile("" ::: "memory");
  });
  float sum = 0;
  for (int c = 0; c < 8; ++c)
    sum += sums[c][0];
  return sum == 42 ? 0 : best;
}

static double write_rate(char *memory, size_t bytes) {
  size_t rounds = 1 + ((size_t)4 << 20) / bytes;
  double best = 0;
  BEST_RATE((double)(bytes * rounds), for (size_t r = 0; r < rounds; ++r) {
    vector value = {(float)r};
    for (size_t at = 0; at + VECTOR_BYTES <= bytes; at += VECTOR_BYTES)
      *(vector *)(memory + at) = value;
    __asm__ volatile("" ::: "memory");
  });
  return best;
}

/* Seconds per access: every line once, in an order nothing can foresee. */
static double latency(char *memory, size_t bytes) {
  size_t lines = bytes / 64;
  size_t *order = malloc(lines * sizeof(*order));
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < lines; ++i)
    order[i] = i;
  for (size_t i = lines - 1; i > 0; --i) { /* Sattolo: a single cycle */
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    size_t j = state % i, other = order[i];
    order[i] = order[j], order[j] = other;
  }
  for (size_t i = 0; i < lines; ++i)
    *(void **)(memory + 64 * order[i]) = memory + 64 * order[(i + 1) % lines];
  free(order);
  enum { STEPS = 200000 };
  void **at = (void **)memory;
  double best = 0;
  BEST_RATE(STEPS, for (int i = 0; i < STEPS; ++i) at = (void **)*at;
            __asm__ volatile("" : "+r"(at)));
  return 1 / best;
}

/* Cycles of the core: a chain of additions takes one each. */
static double clock_rate(void) {
  enum { STEPS = 1000000 };
  double best = 0;
  BEST_RATE(
      STEPS, uint64_t x = 1; for (int i = 0; i < STEPS / 10; ++i) {
        for (int k = 0; k < 10; ++k)
          __asm__ volatile(
#if defined(__aarch64__)
              "add %0, %0, #1"
#else
              "add $1, %0"
#endif
              : "+r"(x));
      });
  return best;
}

int main(int argc, char **argv) {
  if (argc > 1)
    seconds = atof(argv[1]);
  printf("{\"vector_bytes\": %d, \"clock_hz\": %.4g,\n \"fma_f32_gflops\": "
         "%.1f",
         VECTOR_BYTES, clock_rate(), peak_fma() * 1e-9);
#if defined(__AVX512BF16__)
  printf(",\n \"dot_bf16_gflops\": %.1f", peak_dot_bf16() * 1e-9);
#endif
  const size_t sizes[] = {16 << 10,  24 << 10,         128 << 10, 256 << 10,
                          512 << 10, 4 << 20,          8 << 20,   16 << 20,
                          64 << 20,  (size_t)256 << 20};
  size_t count = sizeof(sizes) / sizeof(*sizes);
  char *memory = allocate(sizes[count - 1]);
  memset(memory, 0, sizes[count - 1]);
  printf(",\n \"memory\": [");
  for (size_t i = 0; i < count; ++i) {
    double read = read_rate(memory, sizes[i]);
    double write = write_rate(memory, sizes[i]);
    printf("%s\n  {\"bytes\": %zu, \"read_bytes_per_second\": %.3g, "
           "\"write_bytes_per_second\": %.3g, \"latency_ns\": %.2f}",
           i ? "," : "", sizes[i], read, write,
           latency(memory, sizes[i]) * 1e9);
  }
  printf("\n ]}\n");
  free(memory);
  return 0;
}
