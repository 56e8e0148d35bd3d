/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * run_stores IMAGE.so CASES DATA
 *
 * Calls kernels with one operand, one result and perhaps a size, and compares
 * the result, byte by byte, with what is expected. Each line of CASES is
 *
 *   name groups scratch bytes-of-operand bytes-of-result size
 *
 * DATA holds, for one after the other, the operand and the result expected, in
 * which bytes that nothing is stored at are 0x5a. All buffers end at a page
 * that may not be touched, if their bytes are a multiple of 64. */
#include <ashlar/runtime/kernel_abi.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { Untouched = 0x5a };

struct Case {
  char name[80];
  long groups, scratch, operand, result, size;
};

/* Memory aligned at 64 bytes, in front of a page of no access. */
struct Buffer {
  unsigned char *pages, *memory;
  size_t whole, page;
};

static struct Buffer new_buffer(size_t bytes) {
  struct Buffer buffer;
  buffer.page = (size_t)sysconf(_SC_PAGESIZE);
  buffer.whole = (bytes + 64 + buffer.page - 1) / buffer.page * buffer.page;
  buffer.pages = mmap(NULL, buffer.whole + buffer.page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer.pages == MAP_FAILED ||
      mprotect(buffer.pages + buffer.whole, buffer.page, PROT_NONE)) {
    perror("mmap");
    exit(2);
  }
  memset(buffer.pages, Untouched, buffer.whole);
  buffer.memory = buffer.pages + (buffer.whole - bytes) / 64 * 64;
  return buffer;
}

static void free_buffer(struct Buffer *buffer) {
  munmap(buffer->pages, buffer->whole + buffer->page);
}

static int differs(const struct Case *c, const struct Buffer *out,
                   const unsigned char *expected) {
  for (const unsigned char *p = out->pages; p != out->memory; ++p)
    if (*p != Untouched) {
      printf("FAIL %s: wrote %ld bytes before its result\n", c->name,
             (long)(out->memory - p));
      return 1;
    }
  for (long i = 0; i < c->result; ++i)
    if (out->memory[i] != expected[i]) {
      printf("FAIL %s: byte %ld is 0x%02x, expected 0x%02x\n", c->name, i,
             out->memory[i], expected[i]);
      return 1;
    }
  return 0;
}

static int run(const struct Case *c, void *image, FILE *data) {
  ashlar_kernel_function_t kernel;
  void *symbol = dlsym(image, c->name);
  struct Buffer in = new_buffer((size_t)c->operand);
  struct Buffer out = new_buffer((size_t)c->result);
  struct Buffer scratch = new_buffer((size_t)c->scratch);
  unsigned char *expected = malloc((size_t)c->result + 1);
  if (!symbol || !expected ||
      fread(in.memory, 1, (size_t)c->operand, data) != (size_t)c->operand ||
      fread(expected, 1, (size_t)c->result, data) != (size_t)c->result) {
    fprintf(stderr, "%s: not in the image, or no data\n", c->name);
    exit(2);
  }
  memcpy(&kernel, &symbol, sizeof(kernel));
  void *buffers[] = {in.memory, out.memory};
  int64_t sizes[] = {c->size};
  int failed = 0;
  for (long group = c->groups - 1; group >= 0; --group)
    failed |= kernel(buffers, sizes, scratch.memory, group, group + 1) !=
              ASHLAR_KERNEL_OK;
  if (failed)
    printf("FAIL %s: the kernel returned an error\n", c->name);
  else
    failed = differs(c, &out, expected);
  free(expected);
  free_buffer(&in), free_buffer(&out), free_buffer(&scratch);
  return failed;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: run_stores IMAGE.so CASES DATA\n");
    return 2;
  }
  void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  FILE *cases = fopen(argv[2], "r"), *data = fopen(argv[3], "rb");
  if (!image || !cases || !data) {
    fprintf(stderr, "%s\n", image ? "no cases or no data" : dlerror());
    return 2;
  }
  struct Case c;
  int failed = 0;
  while (fscanf(cases, "%79s %ld %ld %ld %ld %ld", c.name, &c.groups,
                &c.scratch, &c.operand, &c.result, &c.size) == 6) {
    /* Says where it was, should a kernel fault. */
    fprintf(stderr, "%s\n", c.name);
    failed |= run(&c, image, data);
  }
  return failed;
}
