/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the programs beside this file measure with.
 */
#ifndef ASHLAR_BENCHMARKS_MEASURE_H
#define ASHLAR_BENCHMARKS_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts its argument. */
static inline double median(double *values, size_t count) {
  qsort(values, count, sizeof(double), compare_doubles);
  return count ? values[count / 2] : 0;
}

/* Page-aligned; ends the program where there is no memory. */
static inline void *allocate(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!memory) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(1);
  }
  return memory;
}

/* Uniform in [-1, 1): data that is all alike flatters the multiply units. */
static inline void fill_random(float *values, size_t count, uint64_t seed) {
  uint64_t state = seed * 2862933555777941757u + 3037000493u;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values[i] = (float)((double)(state >> 11) / 4503599627370496.0 - 1.0);
  }
}

#endif
