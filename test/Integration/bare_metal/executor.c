/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Gemmini's commands, as its public description has them (ucb-bar/gemmini,
 * README, "ISA", default configuration of September 2025; where they differ,
 * the Chisel sources), one after the other. Written for
 * tests, apart from the simulator in the runtime: nothing is shared with it,
 * not even names. What is read must have been written, and what the description
 * leaves open ends the program. */
#include "executor.h"

enum { DIM = 16, SP_ROWS = 16384, ACC_ROWS = 1024, MAX_BYTES = 64 };

static int8_t spad[SP_ROWS][DIM];
static int32_t accumulator[ACC_ROWS][DIM];
static uint16_t spad_written[SP_ROWS], acc_written[ACC_ROWS]; /* by column */

static struct {
  uint64_t stride;
  float scale;
  uint32_t block_stride;
  int shrunk, is_set;
} load_state[3];
static uint64_t store_stride;
static float store_scale;
static int store_relu, store_is_set;
static uint32_t a_stride, c_stride;
static int weight_stationary, a_transpose, b_transpose, ex_is_set;

/* The array: what is stationary in it, and what preload announced. */
static int32_t array[DIM][DIM];
static uint32_t next_address, c_address;
static uint32_t next_rows, next_columns, c_rows, c_columns;
static int preload_is_set;
static uint64_t commands;

static float as_float(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

static uint32_t field(uint64_t value, int from, int count) {
  return (uint32_t)(value >> from & ((1ull << count) - 1));
}

static void demand(int holds, const char *what) {
  if (!holds)
    executor_stop(what, commands);
}

/* The description's macro: the nearest integer, the even one of two. */
static int64_t round_near_even(float x) {
  int64_t whole = (int64_t)x, next = x < 0 ? whole - 1 : whole + 1;
  double rest = (double)x - (double)whole;
  if (rest < 0)
    rest = -rest;
  return rest < 0.5 ? whole : rest > 0.5 ? next : whole % 2 == 0 ? whole : next;
}

/* AccumulatorScale.scala: the activation comes before the scale. */
static int8_t scale_and_saturate(int32_t value, float scale, int relu) {
  float scaled = (float)(relu && value < 0 ? 0 : value) * scale;
  if (scaled > 1e9f)
    scaled = 1e9f;
  if (scaled < -1e9f)
    scaled = -1e9f;
  int64_t y = round_near_even(scaled);
  y = y > 127 ? 127 : y < -128 ? -128 : y;
  return (int8_t)y;
}

/* Configs.scala and PE.scala: what passes through the array has 20 bits. */
static int32_t in_the_array(uint32_t sum) { return (int32_t)(sum << 12) >> 12; }

static int8_t read_spad(uint32_t row, uint32_t column) {
  demand(row < SP_ROWS && column < DIM, "scratchpad address out of range");
  demand(spad_written[row] >> column & 1, "scratchpad read before written");
  return spad[row][column];
}

static void write_spad(uint32_t row, uint32_t column, int8_t value) {
  demand(row < SP_ROWS && column < DIM, "scratchpad address out of range");
  spad[row][column] = value;
  spad_written[row] |= (uint16_t)(1u << column);
}

static int32_t read_acc(uint32_t row, uint32_t column) {
  demand(row < ACC_ROWS && column < DIM, "accumulator address out of range");
  demand(acc_written[row] >> column & 1, "accumulator read before written");
  return accumulator[row][column];
}

static void write_acc(uint32_t row, uint32_t column, int32_t value, int adds) {
  if (adds)
    value = (int32_t)((uint32_t)value + (uint32_t)read_acc(row, column));
  demand(row < ACC_ROWS && column < DIM, "accumulator address out of range");
  accumulator[row][column] = value;
  acc_written[row] |= (uint16_t)(1u << column);
}

static void config(uint64_t rs1, uint64_t rs2) {
  switch (field(rs1, 0, 2)) {
  case 0:
    demand(field(rs1, 3, 2) == 0, "config_ex: no activation is expected");
    a_stride = field(rs1, 16, 16);
    c_stride = field(rs2, 48, 16);
    if (field(rs1, 7, 1))
      return;
    weight_stationary = (int)field(rs1, 2, 1);
    a_transpose = (int)field(rs1, 8, 1);
    b_transpose = (int)field(rs1, 9, 1);
    demand(field(rs2, 0, 32) == 0, "config_ex: no shift is expected");
    ex_is_set = 1;
    return;
  case 1: {
    uint32_t id = field(rs1, 3, 2);
    demand(id < 3, "config_ld: there are three kinds of mvin");
    demand(field(rs1, 8, 8) <= 1, "config_ld: one pixel is expected");
    load_state[id].shrunk = (int)field(rs1, 2, 1);
    load_state[id].block_stride = field(rs1, 16, 16);
    load_state[id].scale = as_float(field(rs1, 32, 32));
    load_state[id].stride = rs2;
    load_state[id].is_set = 1;
    return;
  }
  case 2:
    demand(rs1 >> 4 == 0, "config_st: no pooling is expected");
    demand(field(rs1, 2, 2) < 2, "config_st: no activation or relu");
    store_relu = field(rs1, 2, 2) == 1;
    store_stride = field(rs2, 0, 32);
    store_scale = as_float(field(rs2, 32, 32));
    store_is_set = 1;
    return;
  default:
    demand(0, "config: norms are not expected");
  }
}

static void mvin(int id, uint64_t rs1, uint64_t rs2) {
  uint32_t address = field(rs2, 0, 32), columns = field(rs2, 32, 16);
  uint32_t rows = field(rs2, 48, 16);
  int is_acc = address >> 31, adds = address >> 30 & 1;
  uint32_t row0 = address & 0x1fffffff;
  demand(load_state[id].is_set, "mvin before its config");
  uint32_t element = is_acc && !load_state[id].shrunk ? 4 : 1;
  demand(rows && rows <= DIM && columns, "mvin: rows or columns");
  demand(columns <= DIM || columns * element <= MAX_BYTES, "mvin: columns");
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < columns; ++j) {
      const uint8_t *from = (const uint8_t *)(uintptr_t)rs1 +
                            i * load_state[id].stride + (uint64_t)j * element;
      uint32_t row = row0 + i + j / DIM * load_state[id].block_stride;
      int32_t value = 0;
      if (rs1 && element == 4)
        __builtin_memcpy(&value, from, 4);
      else if (rs1)
        value = (int8_t)*from;
      if (load_state[id].scale != 1.0f) {
        demand(element == 1, "mvin: a scale of wide numbers is not expected");
        value = scale_and_saturate(value, load_state[id].scale, 0);
      }
      if (is_acc)
        write_acc(row, j % DIM, value, adds);
      else
        write_spad(row, j % DIM, (int8_t)value);
    }
}

static void mvout(uint64_t rs1, uint64_t rs2) {
  uint32_t address = field(rs2, 0, 32), columns = field(rs2, 32, 16);
  uint32_t rows = field(rs2, 48, 16), row0 = address & 0x1fffffff;
  int is_acc = address >> 31, is_full = address >> 29 & 1;
  demand(store_is_set, "mvout before its config");
  demand(rows && rows <= DIM && columns && columns <= DIM, "mvout: a tile");
  demand(rs1 != 0, "mvout to nowhere");
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < columns; ++j) {
      uint8_t *to = (uint8_t *)(uintptr_t)rs1 + i * store_stride;
      if (!is_acc) {
        to[j] = (uint8_t)read_spad(row0 + i, j);
      } else if (is_full) {
        int32_t value = read_acc(row0 + i, j);
        __builtin_memcpy(to + 4 * j, &value, 4);
      } else {
        to[j] = (uint8_t)scale_and_saturate(read_acc(row0 + i, j), store_scale,
                                            store_relu);
      }
    }
}

static void preload(uint64_t rs1, uint64_t rs2) {
  next_address = field(rs1, 0, 32);
  next_columns = field(rs1, 32, 16);
  next_rows = field(rs1, 48, 16);
  c_address = field(rs2, 0, 32);
  c_columns = field(rs2, 32, 16);
  c_rows = field(rs2, 48, 16);
  demand(next_rows <= DIM && next_columns <= DIM, "preload: a tile");
  demand(c_rows <= DIM && c_columns <= DIM, "preload: a tile of results");
  preload_is_set = 1;
}

static int8_t element(uint32_t address, uint32_t step, int transpose,
                      uint32_t i, uint32_t j, uint32_t rows, uint32_t columns) {
  uint32_t row = transpose ? j : i, column = transpose ? i : j;
  if (address == 0xffffffffu || row >= rows || column >= columns)
    return 0;
  demand(!(address >> 31), "operands come from the scratchpad");
  return read_spad((address & 0x1fffffff) + row * step, column);
}

static void write_result(uint32_t i, uint32_t j, int32_t value) {
  if (c_address == 0xffffffffu || i >= c_rows || j >= c_columns)
    return;
  uint32_t row = (c_address & 0x1fffffff) + i * c_stride;
  if (c_address >> 31)
    write_acc(row, j, value, c_address >> 30 & 1);
  else
    write_spad(row, j, scale_and_saturate(value, 1.0f, 0));
}

static void compute(uint64_t rs1, uint64_t rs2, int is_preloaded) {
  uint32_t a = field(rs1, 0, 32), a_columns = field(rs1, 32, 16);
  uint32_t a_rows = field(rs1, 48, 16);
  uint32_t bd = field(rs2, 0, 32), bd_columns = field(rs2, 32, 16);
  uint32_t bd_rows = field(rs2, 48, 16);
  demand(ex_is_set && preload_is_set, "compute before config or preload");
  if (is_preloaded)
    for (uint32_t i = 0; i < DIM; ++i)
      for (uint32_t j = 0; j < DIM; ++j)
        array[i][j] = element(next_address, 1, weight_stationary && b_transpose,
                              i, j, next_rows, next_columns);
  for (uint32_t i = 0; i < DIM; ++i)
    for (uint32_t j = 0; j < DIM; ++j) {
      uint32_t sum;
      if (weight_stationary)
        sum = (uint32_t)element(bd, 1, 0, i, j, bd_rows, bd_columns);
      else
        sum = (uint32_t)array[i][j];
      for (uint32_t k = 0; k < DIM; ++k) {
        int32_t left =
            element(a, a_stride, a_transpose, i, k, a_rows, a_columns);
        int32_t right = weight_stationary ? array[k][j]
                                          : element(bd, 1, b_transpose, k, j,
                                                    bd_rows, bd_columns);
        sum += (uint32_t)(left * right);
      }
      if (!weight_stationary)
        array[i][j] = in_the_array(sum);
      write_result(i, j, in_the_array(sum));
    }
}

void executor_command(uint32_t funct, uint64_t rs1, uint64_t rs2) {
  ++commands;
  switch (funct) {
  case 0:
    return config(rs1, rs2);
  case 1:
    return mvin(1, rs1, rs2);
  case 2:
    return mvin(0, rs1, rs2);
  case 3:
    return mvout(rs1, rs2);
  case 4:
    return compute(rs1, rs2, 1);
  case 5:
    return compute(rs1, rs2, 0);
  case 6:
    return preload(rs1, rs2);
  case 7:
    return;
  case 14:
    return mvin(2, rs1, rs2);
  default:
    demand(0, "a command that is not expected");
  }
}

uint64_t executor_commands(void) { return commands; }
