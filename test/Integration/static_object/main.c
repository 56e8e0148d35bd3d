/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program of one model's object file, in plain C without our runtime:
 * main INPUT... OUTPUT... reads the inputs' bytes from files, calls ashlar_main
 * twice, and writes the outputs. */
#include "sizes.h" /* input_bytes, output_bytes, from the model's header */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
  perror(what);
  exit(2);
}

static void *allocate(size_t bytes) {
  size_t rounded =
      (bytes + ASHLAR_ALIGNMENT) / ASHLAR_ALIGNMENT * ASHLAR_ALIGNMENT;
  void *memory = aligned_alloc(ASHLAR_ALIGNMENT, rounded);
  if (!memory)
    fail("memory");
  memset(memory, 0xA5, rounded);
  return memory;
}

int main(int argc, char **argv) {
  void *inputs[ASHLAR_INPUT_COUNT + 1], *outputs[ASHLAR_OUTPUT_COUNT + 1];
  void *scratch = allocate(ASHLAR_SCRATCH_BYTES);
  if (argc != 1 + ASHLAR_INPUT_COUNT + ASHLAR_OUTPUT_COUNT)
    return 2;
  for (int i = 0; i < ASHLAR_INPUT_COUNT; ++i) {
    FILE *file = fopen(argv[1 + i], "rb");
    inputs[i] = allocate(input_bytes[i]);
    if (!file || fread(inputs[i], 1, input_bytes[i], file) != input_bytes[i])
      fail(argv[1 + i]);
    fclose(file);
  }
  for (int i = 0; i < ASHLAR_OUTPUT_COUNT; ++i)
    outputs[i] = allocate(output_bytes[i]);
  for (int run = 0; run < 2; ++run) {
    memset(scratch, run ? 0xFF : 0xA5, ASHLAR_SCRATCH_BYTES);
    int status = ashlar_main((const void *const *)inputs,
                             (void *const *)outputs, scratch);
    if (status != 0) {
      printf("ashlar_main returned %d\n", status);
      return 1;
    }
  }
  for (int i = 0; i < ASHLAR_OUTPUT_COUNT; ++i) {
    const char *name = argv[1 + ASHLAR_INPUT_COUNT + i];
    FILE *file = fopen(name, "wb");
    if (!file ||
        fwrite(outputs[i], 1, output_bytes[i], file) != output_bytes[i] ||
        fclose(file))
      fail(name);
  }
  return 0;
}
