/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Three models in one program of C or C++, each with names of its own. */
#include "negate.h"
#include "plain.h"
#include "twice.h"
#include <stdio.h>

/* Neither C99 nor all of C++ has one way to say it. */
#define ALIGNED __attribute__((aligned(ASHLAR_ALIGNMENT)))

static unsigned char ALIGNED scratch[ASHLAR_SCRATCH_BYTES];
static unsigned char ALIGNED twice_scratch[TWICE_2_SCRATCH_BYTES];
static unsigned char ALIGNED negate_scratch[NEGATE_SCRATCH_BYTES];
static float ALIGNED x[ASHLAR_INPUT_0_BYTES / sizeof(float)];
static float ALIGNED squares[ASHLAR_OUTPUT_0_BYTES / sizeof(float)];
static float ALIGNED doubles[TWICE_2_OUTPUT_0_BYTES / sizeof(float)];
static float ALIGNED opposites[NEGATE_OUTPUT_0_BYTES / sizeof(float)];

int main(void) {
  const void *inputs[1];
  void *outputs[1];
  int i, wrong = 0;
  inputs[0] = x;
  for (i = 0; i < 4; ++i)
    x[i] = (float)(i + 3);
  outputs[0] = squares;
  wrong |= ashlar_main(inputs, outputs, scratch);
  outputs[0] = doubles;
  wrong |= twice_2_main(inputs, outputs, twice_scratch);
  outputs[0] = opposites;
  wrong |= negate_main(inputs, outputs, negate_scratch);
  for (i = 0; i < 4; ++i)
    wrong |= squares[i] != x[i] * x[i] || doubles[i] != x[i] + x[i] ||
             opposites[i] != -x[i];
  printf(wrong ? "wrong\n" : "three models\n");
  return wrong;
}
