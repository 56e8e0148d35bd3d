/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * run_kernels IMAGE.so CASES SEED
 *
 * Calls the kernels of an image on random operands and compares what they
 * store with loops in long double (integers: exactly). Each line of CASES is
 *
 *   name groups scratch a b sum out            element types
 *   parallel reduced size...                   counts of dims, then sizes
 *   start stride...                            of a, in elements
 *   start stride... panel distance             of b: the last parallel dim is
 *                                              in panels, unless panel is 0
 *   start stride...                            of the result, parallel dims
 *   elements of a, of b, of the result
 *
 * in one line. Kernels add a bias, one element of the sum's type per index of
 * the last parallel dim, before they store. Elements of the result that no
 * point is stored at become one. Buffers end at a page that may not
 * be touched, as near as their alignment allows; what lies around the result
 * must stay as it was.
 *
 * A sum of n products in a type of unit roundoff u may be off by
 * (n + 2) * u * (sum of |a * b| + |bias|), what is stored in a narrower type by
 * half of its last place more.
 */
#include <ashlar/runtime/kernel_abi.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MaximumDims = 8 };

struct Operand {
  long start, stride[MaximumDims], elements;
};

struct Case {
  char name[64], a_type[8], b_type[8], sum_type[8], out_type[8];
  long groups, scratch;
  int parallel, reduced;
  long size[MaximumDims];
  struct Operand a, b, c;
  long panel, distance;
};

static unsigned long long state;
static unsigned next_random(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33);
}

static int bits_of(const char *type) {
  return atoi(type + strcspn(type, "0123456789"));
}
static int is_float(const char *type) {
  return type[0] == 'f' || type[0] == 'b';
}

static float float_of_bits(unsigned bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static long double half_value(unsigned short half) {
  int exponent = half >> 10 & 31;
  double mantissa = half & 1023;
  double value = exponent == 0    ? ldexp(mantissa, -24)
                 : exponent == 31 ? (mantissa == 0 ? HUGE_VAL : NAN)
                                  : ldexp(1024 + mantissa, exponent - 25);
  return half >> 15 ? -value : value;
}

static long double value_at(const char *type, const void *memory, long i) {
  if (!strcmp(type, "f32"))
    return ((const float *)memory)[i];
  if (!strcmp(type, "f64"))
    return ((const double *)memory)[i];
  if (!strcmp(type, "f16"))
    return half_value(((const unsigned short *)memory)[i]);
  if (!strcmp(type, "bf16"))
    return float_of_bits((unsigned)((const unsigned short *)memory)[i] << 16);
  if (!strcmp(type, "i8"))
    return ((const signed char *)memory)[i];
  if (!strcmp(type, "u8"))
    return ((const unsigned char *)memory)[i];
  return ((const int *)memory)[i];
}

/* Finite, of both signs, of magnitudes between 2^-7 and 2. */
static void fill(const char *type, void *memory, long count) {
  for (long i = 0; i < count; ++i) {
    unsigned r = next_random();
    unsigned sign = r & 1, exponent = 120 + (r >> 1) % 8;
    unsigned single = sign << 31 | exponent << 23 | (r >> 8);
    if (!strcmp(type, "f32"))
      ((float *)memory)[i] = float_of_bits(single);
    else if (!strcmp(type, "f64"))
      ((double *)memory)[i] =
          float_of_bits(single) * (1 + next_random() * 0x1p-53);
    else if (!strcmp(type, "bf16"))
      ((unsigned short *)memory)[i] = (unsigned short)(single >> 16);
    else if (!strcmp(type, "f16"))
      ((unsigned short *)memory)[i] =
          (unsigned short)(sign << 15 | (exponent - 112) << 10 |
                           (single >> 13 & 1023));
    else if (bits_of(type) == 8)
      ((unsigned char *)memory)[i] = (unsigned char)r;
    else
      ((int *)memory)[i] = (int)(next_random() * 2u);
  }
}

static double unit_roundoff(const char *type) {
  if (!strcmp(type, "f64"))
    return 0x1p-53;
  if (!strcmp(type, "f32"))
    return 0x1p-24;
  return !strcmp(type, "f16") ? 0x1p-11 : 0x1p-8;
}

struct Buffer {
  unsigned char *pages, *memory;
  size_t length, bytes;
};

static struct Buffer new_buffer(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t whole = (bytes + 64 + page - 1) / page * page;
  struct Buffer buffer;
  buffer.length = whole + page;
  buffer.bytes = bytes;
  buffer.pages = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer.pages == MAP_FAILED ||
      mprotect(buffer.pages + whole, page, PROT_NONE)) {
    perror("mmap");
    exit(1);
  }
  memset(buffer.pages, 0x5a, whole);
  buffer.memory = buffer.pages + (whole - bytes) / 64 * 64;
  return buffer;
}

static int is_clean(const struct Buffer *buffer) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (unsigned char *p = buffer->pages;
       p < buffer->pages + buffer->length - page; ++p)
    if ((p < buffer->memory || p >= buffer->memory + buffer->bytes) &&
        *p != 0x5a)
      return 0;
  return 1;
}

static void free_buffer(struct Buffer *buffer) {
  munmap(buffer->pages, buffer->length);
}

static long place(const struct Operand *operand, const long *point, int dims) {
  long at = operand->start;
  for (int d = 0; d < dims; ++d)
    at += operand->stride[d] * point[d];
  return at;
}

static long place_of_b(const struct Case *c, const long *point) {
  int dims = c->parallel + c->reduced, last = c->parallel - 1;
  if (c->panel == 0)
    return place(&c->b, point, dims);
  long local[MaximumDims];
  memcpy(local, point, sizeof(local));
  local[last] %= c->panel;
  return place(&c->b, local, dims) + point[last] / c->panel * c->distance;
}

static int advance(long *point, const long *size, int count) {
  for (int d = count - 1; d >= 0; --d) {
    if (++point[d] < size[d])
      return 1;
    point[d] = 0;
  }
  return 0;
}

static int differs(const struct Case *c, const void *a, const void *b,
                   const void *bias, const void *out) {
  long point[MaximumDims] = {0};
  do {
    long term[MaximumDims];
    memcpy(term, point, sizeof(term));
    long double sum = value_at(c->sum_type, bias, point[c->parallel - 1]);
    long double magnitude = fabsl(sum);
    unsigned wrapped = (unsigned)(long long)(is_float(c->sum_type) ? 0 : sum);
    long count = 0;
    do {
      long double x =
          value_at(c->a_type, a, place(&c->a, term, c->parallel + c->reduced));
      long double y = value_at(c->b_type, b, place_of_b(c, term));
      sum += x * y;
      magnitude += fabsl(x * y);
      wrapped += (unsigned)(long long)(is_float(c->sum_type) ? 0 : x * y);
      ++count;
    } while (advance(term + c->parallel, c->size + c->parallel, c->reduced));
    long at = place(&c->c, point, c->parallel);
    if (!is_float(c->sum_type)) {
      int found = (int)value_at(c->out_type, out, at);
      int expected =
          bits_of(c->out_type) == 8 ? (signed char)wrapped : (int)wrapped;
      if (found == expected)
        continue;
      printf("FAIL %s: element %ld is %d, expected %d\n", c->name, at, found,
             expected);
      return 1;
    }
    long double found = value_at(c->out_type, out, at);
    long double allowed = (count + 2) * unit_roundoff(c->sum_type) * magnitude;
    if (strcmp(c->sum_type, c->out_type))
      allowed += unit_roundoff(c->out_type) * fabsl(sum) + 0x1p-25L;
    if (fabsl(found - sum) <= allowed)
      continue;
    printf("FAIL %s: element %ld is %.9Lg, expected %.9Lg within %.3Lg\n",
           c->name, at, found, sum, allowed);
    return 1;
  } while (advance(point, c->size, c->parallel));
  return 0;
}

/* Whether what no point is stored at is one. */
static int has_other_border(const struct Case *c, const void *out) {
  unsigned char *stored = calloc((size_t)c->c.elements, 1);
  long point[MaximumDims] = {0};
  int failed = stored == NULL;
  if (!failed)
    do
      stored[place(&c->c, point, c->parallel)] = 1;
    while (advance(point, c->size, c->parallel));
  for (long i = 0; i < c->c.elements && !failed; ++i)
    if (!stored[i] && value_at(c->out_type, out, i) != 1) {
      printf("FAIL %s: element %ld of the border is %Lg, expected 1\n", c->name,
             i, value_at(c->out_type, out, i));
      failed = 1;
    }
  free(stored);
  return failed;
}

static int run(const struct Case *c, void *image) {
  ashlar_kernel_function_t kernel;
  void *symbol = dlsym(image, c->name);
  if (!symbol) {
    printf("FAIL %s: not in the image\n", c->name);
    return 1;
  }
  memcpy(&kernel, &symbol, sizeof(kernel));
  long columns = c->size[c->parallel - 1];
  struct Buffer a =
      new_buffer((size_t)(c->a.elements * bits_of(c->a_type) / 8));
  struct Buffer b =
      new_buffer((size_t)(c->b.elements * bits_of(c->b_type) / 8));
  struct Buffer bias = new_buffer((size_t)(columns * bits_of(c->sum_type) / 8));
  struct Buffer out =
      new_buffer((size_t)(c->c.elements * bits_of(c->out_type) / 8));
  struct Buffer scratch = new_buffer((size_t)c->scratch);
  fill(c->a_type, a.memory, c->a.elements);
  fill(c->b_type, b.memory, c->b.elements);
  fill(c->sum_type, bias.memory, columns);
  void *buffers[] = {a.memory, b.memory, bias.memory, out.memory};
  int failed = 0;
  /* Groups in any order, one call each. */
  for (long group = c->groups - 1; group >= 0; --group)
    failed |= kernel(buffers, NULL, scratch.memory, group, group + 1) !=
              ASHLAR_KERNEL_OK;
  if (failed)
    printf("FAIL %s: the kernel returned an error\n", c->name);
  else
    failed = differs(c, a.memory, b.memory, bias.memory, out.memory) ||
             has_other_border(c, out.memory);
  if (!failed && !(is_clean(&out) && is_clean(&scratch))) {
    printf("FAIL %s: wrote outside of its result\n", c->name);
    failed = 1;
  }
  free_buffer(&a), free_buffer(&b), free_buffer(&bias), free_buffer(&out),
      free_buffer(&scratch);
  return failed;
}

static int read_operand(FILE *file, struct Operand *operand, int dims) {
  int read = fscanf(file, "%ld", &operand->start);
  for (int d = 0; d < dims; ++d)
    read += fscanf(file, "%ld", &operand->stride[d]);
  return read == dims + 1;
}

static int read_case(FILE *file, struct Case *c) {
  if (fscanf(file, "%63s %ld %ld %7s %7s %7s %7s %d %d", c->name, &c->groups,
             &c->scratch, c->a_type, c->b_type, c->sum_type, c->out_type,
             &c->parallel, &c->reduced) != 9)
    return 0;
  int dims = c->parallel + c->reduced, read = 0;
  if (c->parallel < 1 || c->reduced < 0 || dims > MaximumDims)
    return 0;
  for (int d = 0; d < dims; ++d)
    read += fscanf(file, "%ld", &c->size[d]);
  return read == dims && read_operand(file, &c->a, dims) &&
         read_operand(file, &c->b, dims) &&
         fscanf(file, "%ld %ld", &c->panel, &c->distance) == 2 &&
         read_operand(file, &c->c, c->parallel) &&
         fscanf(file, "%ld %ld %ld", &c->a.elements, &c->b.elements,
                &c->c.elements) == 3;
}

/* Linux, Documentation/arch/x86/xstate.rst: tile registers are there once a
 * process has asked for them. Where there are none, it says no. */
static void ask_for_tiles(void) {
#if defined(__x86_64__)
  enum { request = 0x1023, tile_data = 18 };
  (void)syscall(SYS_arch_prctl, request, tile_data);
#endif
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: run_kernels IMAGE.so CASES SEED\n");
    return 2;
  }
  void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  FILE *file = fopen(argv[2], "r");
  if (!image || !file) {
    printf("FAIL %s\n", image ? argv[2] : dlerror());
    return 1;
  }
  ask_for_tiles();
  state = strtoull(argv[3], NULL, 10);
  struct Case c;
  long passed = 0, failed = 0;
  while (read_case(file, &c)) {
    /* Says where it was, should a kernel fault. */
    fprintf(stderr, "%s\n", c.name);
    if (run(&c, image))
      ++failed;
    else
      ++passed;
  }
  int whole = feof(file);
  fclose(file);
  if (!whole)
    printf("FAIL %s: cannot be read behind %ld cases\n", argv[2],
           passed + failed);
  printf("%ld passed, %ld failed\n", passed, failed);
  return failed != 0 || !whole;
}
