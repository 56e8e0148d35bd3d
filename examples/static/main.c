/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model.h"
#include <stdio.h>

static _Alignas(ASHLAR_ALIGNMENT) unsigned char scratch[ASHLAR_SCRATCH_BYTES];
static _Alignas(
    ASHLAR_ALIGNMENT) float image[ASHLAR_INPUT_0_BYTES / sizeof(float)];
static _Alignas(
    ASHLAR_ALIGNMENT) float scores[ASHLAR_OUTPUT_0_BYTES / sizeof(float)];

int main(void) {
  const void *inputs[] = {image};
  void *outputs[] = {scores};
  int status = ashlar_main(inputs, outputs, scratch);
  printf("%d: %f\n", status, scores[0]);
  return status;
}
