/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program of one model's object file for qemu-riscv64, without any library:
 * harness INPUT... OUTPUT... reads the inputs' bytes from files, calls
 * ashlar_main twice, and writes the outputs. A custom-3 instruction is illegal
 * there; its signal goes to the executor, and the program goes on behind it. */
#include "executor.h"
#include "sizes.h" /* input_bytes, output_bytes, from the model's header */

typedef unsigned long size;

static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long a7 __asm__("a7") = number, a0 __asm__("a0") = a,
                   a1 __asm__("a1") = b, a2 __asm__("a2") = c,
                   a3 __asm__("a3") = d, a4 __asm__("a4") = e,
                   a5 __asm__("a5") = f;
  __asm__ volatile("ecall"
                   : "+r"(a0)
                   : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                   : "memory");
  return a0;
}
enum {
  OPENAT = 56,
  CLOSE = 57,
  READ = 63,
  WRITE = 64,
  EXIT = 94,
  SIGACTION = 134,
  MMAP = 222,
  MPROTECT = 226
};

void *memcpy(void *to, const void *from, size bytes) {
  for (size i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *to, int value, size bytes) {
  for (size i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = (char)value;
  return to;
}

static void say(const char *text) {
  size length = 0;
  while (text[length])
    ++length;
  call(WRITE, 2, (long)text, (long)length, 0, 0, 0);
}
static void say_number(uint64_t number) {
  char digits[21];
  int at = 20;
  digits[at] = 0;
  do
    digits[--at] = (char)('0' + number % 10);
  while (number /= 10);
  say(digits + at);
}
static void stop(const char *why) {
  say("harness: ");
  say(why);
  say("\n");
  call(EXIT, 1, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}
void executor_stop(const char *why, uint64_t command) {
  say("command ");
  say_number(command);
  say(": ");
  stop(why);
}

/* Linux's for riscv64: the program counter, then x1 to x31. */
struct context {
  unsigned char before[176];
  uint64_t registers[32];
};
static void handle(int signal, void *info, struct context *context) {
  (void)signal, (void)info;
  uint32_t word;
  memcpy(&word, (const void *)context->registers[0], 4);
  if ((word & 0x7f) != 0x7b || (word >> 12 & 7) != 3 || (word >> 7 & 31) != 0)
    stop("an illegal instruction that is no custom-3 of two sources");
  uint32_t rs1 = word >> 15 & 31, rs2 = word >> 20 & 31;
  executor_command(word >> 25, rs1 ? context->registers[rs1] : 0,
                   rs2 ? context->registers[rs2] : 0);
  context->registers[0] += 4;
}

/* Aligned memory whose end, but for less than the alignment, is followed by a
 * page that may not be touched, and is preceded by one. */
static char *allocate(size bytes) {
  size room = (bytes + 63) / 64 * 64, page = 4096;
  size whole = (room + page - 1) / page * page;
  long at = call(MMAP, 0, (long)(whole + 2 * page), 3, 0x22, -1, 0);
  if (at < 0 && at > -4096)
    stop("no memory");
  call(MPROTECT, at, (long)page, 0, 0, 0, 0);
  call(MPROTECT, at + (long)(page + whole), (long)page, 0, 0, 0, 0);
  char *begin = (char *)at + page + whole - room;
  memset(begin, 0x5a, room);
  return begin;
}

static void transfer(int number, const char *path, char *data, size bytes) {
  int writes = number == WRITE;
  long file = call(OPENAT, -100, (long)path, writes ? 0x241 : 0, 0644, 0, 0);
  if (file < 0)
    stop("cannot open a file");
  for (size done = 0; done < bytes;) {
    long count =
        call(number, file, (long)(data + done), (long)(bytes - done), 0, 0, 0);
    if (count <= 0)
      stop("a file of another size");
    done += (size)count;
  }
  call(CLOSE, file, 0, 0, 0, 0, 0);
}

__attribute__((used)) static int run(long *stack) {
  char **arguments = (char **)(stack + 2);
  if (stack[0] != 1 + ASHLAR_INPUT_COUNT + ASHLAR_OUTPUT_COUNT)
    stop("expected a file for each input and output");
  struct {
    void (*handler)(int, void *, struct context *);
    uint64_t flags, mask;
  } action = {handle, 4 /* SA_SIGINFO */, 0};
  call(SIGACTION, 4 /* SIGILL */, (long)&action, 0, 8, 0, 0);
  const void *inputs[ASHLAR_INPUT_COUNT + 1];
  void *outputs[ASHLAR_OUTPUT_COUNT + 1];
  char *data;
  for (int i = 0; i < ASHLAR_INPUT_COUNT; ++i) {
    inputs[i] = data = allocate(input_bytes[i]);
    transfer(READ, arguments[i], data, input_bytes[i]);
  }
  for (int i = 0; i < ASHLAR_OUTPUT_COUNT; ++i)
    outputs[i] = allocate(output_bytes[i]);
  char *scratch = allocate(ASHLAR_SCRATCH_BYTES);
  for (int turn = 0; turn < 2; ++turn)
    if (ashlar_main(inputs, outputs, scratch) != 0)
      stop("ashlar_main failed");
  for (int i = 0; i < ASHLAR_OUTPUT_COUNT; ++i)
    transfer(WRITE, arguments[ASHLAR_INPUT_COUNT + i], outputs[i],
             output_bytes[i]);
  say_number(executor_commands() / 2);
  say(" commands\n");
  call(EXIT, 0, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

__asm__(".globl _start\n_start:\n  .option push\n  .option norelax\n"
        "  la gp, __global_pointer$\n  .option pop\n  mv a0, sp\n"
        "  andi sp, sp, -16\n  call run\n");
