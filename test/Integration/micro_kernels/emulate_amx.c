/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Preloaded, it does what AMX instructions do on a processor without them: it
 * catches SIGILL, reads the instruction, acts on tiles of its own and goes on
 * behind it. What the processor would refuse (a tile that is not configured,
 * shapes that do not belong together) ends the program with 77 and a line that
 * says what. A reading of Intel's manual is not a processor: it finds what
 * breaks the manual's rules, and wrong numbers; where there is a processor with
 * AMX, kernels run on that instead.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 1, 18 and volume 2, the instructions' own pages.
 */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { Tiles = 8, MaximumRows = 16, MaximumBytes = 64 };

static _Thread_local struct {
  int configured;
  unsigned rows[Tiles], bytes[Tiles];
  uint8_t data[Tiles][MaximumRows][MaximumBytes];
} state;

static void refuse(const char *what, unsigned tile) {
  char line[160];
  int length = snprintf(line, sizeof(line), "AMX: %s (tile %u)\n", what, tile);
  (void)!write(2, line, (size_t)length);
  _exit(77);
}

static void configure(const uint8_t *memory) {
  if (memory[0] == 0) {
    state.configured = 0;
    return;
  }
  if (memory[0] != 1 || memory[1] != 0)
    refuse("a palette or start row that there is not", memory[0]);
  memset(&state, 0, sizeof(state));
  state.configured = 1;
  for (unsigned t = 0; t != 16; ++t) {
    unsigned bytes = memory[16 + 2 * t] | memory[17 + 2 * t] << 8;
    unsigned rows = memory[48 + t];
    if ((bytes != 0 || rows != 0) && t >= Tiles)
      refuse("more tiles than there are", t);
    if (bytes > MaximumBytes || rows > MaximumRows || !bytes != !rows)
      refuse("a shape that no tile has", t);
    if (t < Tiles) {
      state.bytes[t] = bytes;
      state.rows[t] = rows;
    }
  }
}

static void check_tile(unsigned t) {
  if (!state.configured || t >= Tiles || state.rows[t] == 0)
    refuse("not configured", t);
  if (state.bytes[t] % 4 != 0)
    refuse("rows are not in words", t);
}

/* Beyond its shape a tile is zero. */
static void clear(unsigned t) {
  memset(state.data[t], 0, sizeof(state.data[t]));
}

static float widened(const uint8_t *bfloat) {
  uint32_t bits = (uint32_t)(bfloat[0] | bfloat[1] << 8) << 16;
  float value;
  memcpy(&value, &bits, 4);
  return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static int32_t byte_product(const uint8_t *a, const uint8_t *b, int a_signed,
                            int b_signed) {
  int32_t x = a_signed ? (int8_t)*a : *a, y = b_signed ? (int8_t)*b : *b;
  return x * y;
}

/* `kind`: the instruction's mandatory prefix; 4 for bf16. */
static void multiply(unsigned c, unsigned a, unsigned b, unsigned kind) {
  check_tile(a), check_tile(b), check_tile(c);
  if (a == b || a == c || b == c)
    refuse("one tile twice in a product", c);
  if (state.rows[a] != state.rows[c] || state.bytes[b] != state.bytes[c] ||
      state.bytes[a] / 4 != state.rows[b])
    refuse("shapes that are no product", c);
  for (unsigned m = 0; m != state.rows[c]; ++m)
    for (unsigned n = 0; n != state.bytes[c] / 4; ++n) {
      uint8_t *sum = &state.data[c][m][4 * n];
      float floats[2] = {0, 0};
      uint32_t integer;
      memcpy(&integer, sum, 4);
      for (unsigned k = 0; k != state.rows[b]; ++k) {
        const uint8_t *x = &state.data[a][m][4 * k];
        const uint8_t *y = &state.data[b][k][4 * n];
        if (kind == 4)
          for (unsigned i = 0; i != 2; ++i)
            floats[i] = fmaf(widened(x + 2 * i), widened(y + 2 * i), floats[i]);
        else
          for (unsigned i = 0; i != 4; ++i)
            integer += (uint32_t)byte_product(x + i, y + i, kind >= 2,
                                              kind == 3 || kind == 1);
      }
      if (kind == 4) {
        float value;
        memcpy(&value, sum, 4);
        value += floats[0] + floats[1];
        memcpy(sum, &value, 4);
      } else {
        memcpy(sum, &integer, 4);
      }
    }
}

static const int register_of[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

struct Operand {
  uint8_t *base;   /* without the index */
  int64_t stride;  /* the index, scaled */
  unsigned length; /* bytes from ModRM on */
};

static struct Operand decode(const uint8_t *modrm, int index_high,
                             int base_high, const greg_t *registers) {
  unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
  unsigned base = rm | (unsigned)base_high << 3, index = 4, scale = 0;
  struct Operand result = {0, 0, 1};
  int64_t address = 0, displacement = 0;
  if (rm == 4) {
    scale = modrm[1] >> 6;
    index = (modrm[1] >> 3 & 7) | (unsigned)index_high << 3;
    base = (modrm[1] & 7) | (unsigned)base_high << 3;
    result.length = 2;
  }
  int no_base = mod == 0 && (base & 7) == 5;
  if (mod == 1) {
    displacement = (int8_t)modrm[result.length];
    result.length += 1;
  } else if (mod == 2 || no_base) {
    int32_t wide;
    memcpy(&wide, modrm + result.length, 4);
    displacement = wide;
    result.length += 4;
  }
  if (!no_base)
    address = registers[register_of[base]];
  else if (rm == 5) /* from the next instruction on */
    address = (int64_t)(intptr_t)(modrm + result.length);
  if (rm == 4 && index != 4)
    result.stride = registers[register_of[index]] << scale;
  result.base = (uint8_t *)(intptr_t)(address + displacement);
  return result;
}

static void on_illegal(int signal, siginfo_t *info, void *context) {
  (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)(intptr_t)registers[REG_RIP];
  if (code[0] != 0xc4 || (code[1] & 31) != 2) {
    /* Not ours: it ends the program where it was met. */
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
    return;
  }
  int base_high = !(code[1] & 0x20), index_high = !(code[1] & 0x40);
  unsigned prefix = code[2] & 3, source = ~(code[2] >> 3) & 15;
  const uint8_t *modrm = code + 4;
  unsigned first = modrm[0] >> 3 & 7, second = modrm[0] & 7;
  int in_memory = modrm[0] >> 6 != 3;
  struct Operand place = {0, 0, 1};
  if (in_memory)
    place = decode(modrm, index_high, base_high, registers);
  switch (code[3]) {
  case 0x49:
    if (in_memory && prefix == 0) {
      configure(place.base);
    } else if (!in_memory && prefix == 0) {
      state.configured = 0;
    } else if (!in_memory && prefix == 3) {
      check_tile(first);
      clear(first);
    } else {
      refuse("an instruction that is not emulated", code[3]);
    }
    break;
  case 0x4b:
    check_tile(first);
    if (prefix != 2)
      clear(first);
    for (unsigned row = 0; row != state.rows[first]; ++row) {
      uint8_t *memory = place.base + (int64_t)row * place.stride;
      if (prefix == 2)
        memcpy(memory, state.data[first][row], state.bytes[first]);
      else
        memcpy(state.data[first][row], memory, state.bytes[first]);
    }
    break;
  case 0x5c:
    if (prefix != 2)
      refuse("an instruction that is not emulated", code[3]);
    multiply(first, second, source, 4);
    break;
  case 0x5e:
    multiply(first, second, source, prefix);
    break;
  default:
    refuse("an instruction that is not emulated", code[3]);
  }
  registers[REG_RIP] = (greg_t)(intptr_t)(modrm + place.length);
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {.sa_sigaction = on_illegal,
                             .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGILL, &action, NULL);
}
