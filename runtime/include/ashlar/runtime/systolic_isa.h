/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where the compiler and the systolic device meet: the instructions of the
 * systolic machines and the image that holds them. docs/systolic.md says what
 * each of them does; this header says how they are written down.
 *
 * An instruction is a RoCC command, {funct, rs1, rs2}. Numbers below 64, and
 * 126, are Gemmini's own (github.com/ucb-bar/gemmini, "ISA"), bit for bit;
 * those from 64 to 98 are ours, which Gemmini leaves free. All integers are
 * little endian.
 */
#ifndef ASHLAR_RUNTIME_SYSTOLIC_ISA_H
#define ASHLAR_RUNTIME_SYSTOLIC_ISA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Instructions -----------------------------------------------------===*/

enum ashlar_systolic_funct_t {
  /* Gemmini's. */
  ASHLAR_SYSTOLIC_CONFIG = 0, /* rs1[1:0]: one of ASHLAR_SYSTOLIC_CONFIG_* */
  ASHLAR_SYSTOLIC_MVIN2 = 1,
  ASHLAR_SYSTOLIC_MVIN = 2,
  ASHLAR_SYSTOLIC_MVOUT = 3,
  ASHLAR_SYSTOLIC_COMPUTE_PRELOADED = 4,
  ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED = 5,
  ASHLAR_SYSTOLIC_PRELOAD = 6,
  ASHLAR_SYSTOLIC_FLUSH = 7,
  ASHLAR_SYSTOLIC_MVIN3 = 14,

  /* Ours, for machines with ASHLAR_SYSTOLIC_EXTENDED. */
  ASHLAR_SYSTOLIC_CONFIG_STREAM = 64,
  ASHLAR_SYSTOLIC_CONFIG_COLUMNS = 65,
  ASHLAR_SYSTOLIC_CONFIG_VECTOR = 66,
  ASHLAR_SYSTOLIC_TABLE = 67, /* of the vector unit, loaded from memory */

  /* Ours, for every machine: they talk to whatever issues the commands and
   * reach no engine. On Gemmini that is the RISC-V core: sync is its fence,
   * loops are its loops. */
  ASHLAR_SYSTOLIC_SYNC = 72,
  ASHLAR_SYSTOLIC_REGION = 73,
  ASHLAR_SYSTOLIC_LOOP = 74,
  ASHLAR_SYSTOLIC_END = 75,
  ASHLAR_SYSTOLIC_ADVANCE = 76,

  /* The vector unit's, of machines with ASHLAR_SYSTOLIC_EXTENDED. */
  ASHLAR_SYSTOLIC_VECTOR_FIRST = 80,
  ASHLAR_SYSTOLIC_COPY = 80,
  ASHLAR_SYSTOLIC_ADD = 81,
  ASHLAR_SYSTOLIC_SUBTRACT = 82,
  ASHLAR_SYSTOLIC_MULTIPLY = 83,
  ASHLAR_SYSTOLIC_MAXIMUM = 84,
  ASHLAR_SYSTOLIC_MINIMUM = 85,
  ASHLAR_SYSTOLIC_FILL = 86, /* from here on with an immediate */
  ASHLAR_SYSTOLIC_ADD_IMMEDIATE = 87,
  ASHLAR_SYSTOLIC_MULTIPLY_IMMEDIATE = 88,
  ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE = 89,
  ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE = 90,
  ASHLAR_SYSTOLIC_EXP = 91, /* from here on of one operand */
  ASHLAR_SYSTOLIC_RECIPROCAL = 92,
  ASHLAR_SYSTOLIC_RECIPROCAL_ROOT = 93,
  ASHLAR_SYSTOLIC_LOOKUP = 94,     /* the immediate is the table's number */
  ASHLAR_SYSTOLIC_TO_FLOAT = 95,   /* s32 to f32, whatever the type is set to */
  ASHLAR_SYSTOLIC_TO_INTEGER = 96, /* f32 to s32, likewise */
  ASHLAR_SYSTOLIC_ROW_MAXIMUM = 97,
  ASHLAR_SYSTOLIC_ROW_SUM = 98,
  ASHLAR_SYSTOLIC_VECTOR_LAST = 98
};

/* One instruction as it is stored. Reserved bytes are zero. */
typedef struct ashlar_systolic_command_t {
  uint8_t funct;
  uint8_t unit; /* preload, compute: which array. advance: which loop, 0 for
                   the innermost. Otherwise zero. */
  uint16_t reserved0;
  uint32_t reserved1;
  uint64_t rs1;
  uint64_t rs2;
} ashlar_systolic_command_t;

/* What executes instructions, each in the order they were issued in. */
enum ashlar_systolic_queue_t {
  ASHLAR_SYSTOLIC_LOAD = 0,
  ASHLAR_SYSTOLIC_STORE = 1,
  ASHLAR_SYSTOLIC_VECTOR = 2,
  ASHLAR_SYSTOLIC_EXECUTE = 3, /* array i is queue EXECUTE + i */
  ASHLAR_SYSTOLIC_MAX_ARRAYS = 4,
  ASHLAR_SYSTOLIC_MAX_QUEUES = 7
};
/* A sync's mask of queues; bits of arrays that the machine lacks are ignored.
 */
#define ASHLAR_SYSTOLIC_ALL_QUEUES 0x7fu

/*===-- Addresses --------------------------------------------------------===*/

/* On chip: a row. Bits 31, 30 and 29 are Gemmini's. */
#define ASHLAR_SYSTOLIC_ACCUMULATOR 0x80000000u
/* A write to the accumulator, or a vector's result, adds to what is there. */
#define ASHLAR_SYSTOLIC_ACCUMULATE 0x40000000u
/* mvout of an accumulator row: 32 bits an element, unscaled. Gemmini's bits 28
 * to 26 are its norm_cmd: no machine of ours has so many rows there. */
#define ASHLAR_SYSTOLIC_FULL_WIDTH 0x20000000u
#define ASHLAR_SYSTOLIC_ROW_MASK 0x1fffffffu
/* No matrix: zeros for B and D, no write for C. */
#define ASHLAR_SYSTOLIC_GARBAGE 0xffffffffu

/* In memory: binding i of the dispatch at a byte offset; 0 is a null address,
 * which mvin reads as zeros. Whoever issues the commands on a machine with
 * pointers replaces the upper half by the binding's own address. */
#define ASHLAR_SYSTOLIC_BINDING_SHIFT 48
#define ASHLAR_SYSTOLIC_MAX_BINDINGS 0xffffu
static inline uint64_t ashlar_systolic_address(uint32_t binding,
                                               uint64_t offset) {
  return ((uint64_t)(binding + 1) << ASHLAR_SYSTOLIC_BINDING_SHIFT) | offset;
}

/* rs2 of mvin and mvout, both registers of preload and compute, rs1 of a vector
 * instruction. */
static inline uint64_t ashlar_systolic_matrix(uint32_t address, uint32_t rows,
                                              uint32_t columns) {
  return (uint64_t)rows << 48 | (uint64_t)(columns & 0xffffu) << 32 | address;
}

/*===-- Fields -----------------------------------------------------------===*/

enum {
  ASHLAR_SYSTOLIC_CONFIG_EX = 0,
  ASHLAR_SYSTOLIC_CONFIG_LD = 1,
  ASHLAR_SYSTOLIC_CONFIG_ST = 2
};
enum {
  ASHLAR_SYSTOLIC_OUTPUT_STATIONARY = 0,
  ASHLAR_SYSTOLIC_WEIGHT_STATIONARY
};
enum { ASHLAR_SYSTOLIC_NO_ACTIVATION = 0, ASHLAR_SYSTOLIC_RELU = 1 };

/* config_ex, rs1: dataflow [2], activation towards the scratchpad [4:3], only
 * strides [7], A transposed [8], B transposed [9], A's row stride [31:16]; rs2:
 * shift on the way to the scratchpad [31:0], C's row stride [63:48]. */
static inline uint64_t ashlar_systolic_config_ex1(uint32_t dataflow,
                                                  uint32_t activation,
                                                  uint32_t a_transposed,
                                                  uint32_t b_transposed,
                                                  uint32_t a_stride) {
  return (uint64_t)0x3f800000u << 32 | (uint64_t)a_stride << 16 |
         b_transposed << 9 | a_transposed << 8 | activation << 3 |
         dataflow << 2 | ASHLAR_SYSTOLIC_CONFIG_EX;
}
static inline uint64_t ashlar_systolic_config_ex2(uint32_t shift,
                                                  uint32_t c_stride) {
  return (uint64_t)c_stride << 48 | shift;
}

/* config_ld, rs1: input type into the accumulator [2], which mvin [4:3], pixel
 * repeats [15:8], block stride [31:16], scale as f32 [63:32]; rs2: stride in
 * bytes. */
static inline uint64_t ashlar_systolic_config_ld1(uint32_t id, uint32_t narrow,
                                                  uint32_t block_stride,
                                                  uint32_t scale_bits) {
  return (uint64_t)scale_bits << 32 | (uint64_t)block_stride << 16 | 1u << 8 |
         id << 3 | narrow << 2 | ASHLAR_SYSTOLIC_CONFIG_LD;
}

/* config_st, rs1: activation [3:2], pooling stride [5:4] and size [7:6], upper
 * [9:8] and left padding [11:10], pooled width [31:24], pooled rows [39:32] and
 * columns [47:40] to write, rows [55:48] and columns [63:56] there are; rs2:
 * stride in bytes [31:0], scale as f32 [63:32]. */
static inline uint64_t ashlar_systolic_config_st1(uint32_t activation) {
  return activation << 2 | ASHLAR_SYSTOLIC_CONFIG_ST;
}
static inline uint64_t ashlar_systolic_config_st2(uint32_t stride,
                                                  uint32_t scale_bits) {
  return (uint64_t)scale_bits << 32 | stride;
}

/* Sequences of rows that an instruction walks. */
enum ashlar_systolic_stream_t {
  ASHLAR_SYSTOLIC_STREAM_A = 0,
  ASHLAR_SYSTOLIC_STREAM_C = 1,
  ASHLAR_SYSTOLIC_STREAM_LEFT = 2, /* of a vector instruction */
  ASHLAR_SYSTOLIC_STREAM_RIGHT = 3,
  ASHLAR_SYSTOLIC_STREAM_RESULT = 4,
  ASHLAR_SYSTOLIC_STREAM_MVIN = 5, /* + 1, + 2: of mvin2, mvin3 */
  ASHLAR_SYSTOLIC_STREAM_MVOUT = 8,
  ASHLAR_SYSTOLIC_STREAMS = 9,
  ASHLAR_SYSTOLIC_LEVELS = 4
};
/* config_stream, rs1: stream [7:0], level [15:8], count [31:16], step in rows
 * [63:32], signed; rs2: step in bytes of memory, signed, for DMA alone. Level 0
 * is innermost; setting it clears the others; a count of 0 there turns the
 * stream off. */
static inline uint64_t ashlar_systolic_config_stream1(uint32_t stream,
                                                      uint32_t level,
                                                      uint32_t count,
                                                      int32_t step) {
  return (uint64_t)(uint32_t)step << 32 | (uint64_t)count << 16 | level << 8 |
         stream;
}
/* config_columns, rs1: stream of mvin, mvin2, mvin3 or mvout; rs2: first column
 * [15:0], block stride of mvout in rows [63:32], 0 for the array's size. */

/* config_vector, rs1: type [0], how the right operand is read [2:1]; rs2: 0. */
enum { ASHLAR_SYSTOLIC_F32 = 0, ASHLAR_SYSTOLIC_S32 = 1 };
enum {
  ASHLAR_SYSTOLIC_EACH_ROW = 0,
  ASHLAR_SYSTOLIC_ONE_ROW = 1,   /* the same row every time: a bias */
  ASHLAR_SYSTOLIC_ONE_COLUMN = 2 /* column 0 stands for the whole row */
};
static inline uint64_t ashlar_systolic_config_vector1(uint32_t type,
                                                      uint32_t right) {
  return right << 1 | type;
}
/* A vector instruction, rs1: the result's matrix; rs2: the left operand's row
 * [31:0], the right operand's row or the immediate [63:32]. */

/* table, rs1: where in memory; rs2: its number [7:0]. */
enum { ASHLAR_SYSTOLIC_TABLES = 8, ASHLAR_SYSTOLIC_TABLE_SEGMENTS = 256 };
/* Polynomials of degree 2 over equal parts of a range. Where x lies outside,
 * the first or the last part goes on. */
typedef struct ashlar_systolic_table_t {
  float first;
  float parts_per_unit; /* 256 / (last - first) */
  float coefficients[ASHLAR_SYSTOLIC_TABLE_SEGMENTS][3]; /* of 1, t, t * t */
} ashlar_systolic_table_t;

/* sync, rs1: queues to wait for, rs2: queues that wait; masks.
 * region, rs1: index into the kernel's regions.
 * loop, rs1: how often, at least once; nests to this depth. */
#define ASHLAR_SYSTOLIC_MAX_LOOPS 8
/* advance, rs1, rs2: what each iteration of loop `unit` adds to the registers
 * of the next instruction; several may stand before one instruction. */

/*===-- The image --------------------------------------------------------===*/

enum ashlar_systolic_input_t {
  ASHLAR_SYSTOLIC_S8 = 0,  /* accumulates in s32 */
  ASHLAR_SYSTOLIC_BF16 = 1 /* accumulates in f32 */
};

enum ashlar_systolic_flag_t {
  /* Hazards in on-chip memory are ordered by hardware. */
  ASHLAR_SYSTOLIC_INTERLOCKED = 1,
  /* The stationary operand is loaded while the one before is in use. */
  ASHLAR_SYSTOLIC_SHADOW = 2,
  /* Instructions 64 to 71 and the vector unit's are there. */
  ASHLAR_SYSTOLIC_EXTENDED = 4,
  /* Sums never stay in the array: there is no output-stationary dataflow. */
  ASHLAR_SYSTOLIC_WEIGHTS_STAY = 8,
  /* The accumulator is read narrowed alone: no mvout of 32 bits. */
  ASHLAR_SYSTOLIC_NARROW_RESULTS = 16
};

/* All that the simulator knows of a machine. Cycles are the machine's own. */
typedef struct ashlar_systolic_machine_t {
  char name[32]; /* ends with a zero */
  uint64_t clock_hz;
  uint64_t memory_bytes;     /* of the device */
  uint32_t dim;              /* rows and columns of an array */
  uint32_t arrays;           /* 1 to 4, sharing both memories */
  uint32_t input;            /* ashlar_systolic_input_t */
  uint32_t flags;            /* ashlar_systolic_flag_t */
  uint32_t scratchpad_rows;  /* of dim inputs */
  uint32_t accumulator_rows; /* of dim times 32 bits */
  uint32_t scratchpad_banks; /* of consecutive rows, equally many */
  uint32_t accumulator_banks;
  uint32_t bank_rows_per_cycle; /* read and written, together */
  uint32_t command_rows;        /* at most, in one mvin, mvout, compute */
  uint32_t command_row_bytes;   /* at most, in one row of a mvin; 0: any */
  uint32_t issue_cycles;        /* from one command to the next */
  uint32_t queue_depth;         /* commands that wait in one queue */
  uint32_t memory_latency;      /* cycles from a request to its last byte */
  uint32_t memory_bytes_per_1024_cycles; /* loads and stores together */
  uint32_t memory_burst_bytes;           /* the least that moves, aligned */
  uint32_t vector_lanes;                 /* elements a cycle */
  uint32_t special_lanes;                /* of exp, reciprocals and lookups */
  uint32_t vector_latency;
  uint32_t array_sum_bits;     /* of sums in the array; 0: the accumulator's */
  uint32_t least_depth;        /* cycles of an output-stationary compute */
  uint32_t requests_in_flight; /* of loads, and as many of stores; 0: any */
  uint32_t request_bytes;      /* of one of them at most, aligned; 0: any */
  uint32_t reserved[7];        /* zero */
} ashlar_systolic_machine_t;

/* 0x93 keeps an image from passing as text. */
#define ASHLAR_SYSTOLIC_MAGIC                                                  \
  "\x93"                                                                       \
  "SYSTOL"
#define ASHLAR_SYSTOLIC_VERSION 1u
/* What a module calls the image's format. */
#define ASHLAR_SYSTOLIC_FORMAT "systolic"

/* An image is this header, the kernels, regions and commands, each where the
 * header says, and texts that end with a zero. Places are bytes from the
 * beginning of the image, multiples of 8. */
typedef struct ashlar_systolic_header_t {
  uint8_t magic[8]; /* with its zero */
  uint32_t version;
  uint32_t header_bytes; /* sizeof(ashlar_systolic_header_t) */
  uint64_t image_bytes;
  uint64_t kernels_at, kernel_count;
  uint64_t regions_at, region_count;
  uint64_t commands_at, command_count;
  uint64_t texts_at, texts_bytes;
  ashlar_systolic_machine_t machine;
} ashlar_systolic_header_t;

/* A kernel starts with idle queues, nothing in memories on the chip, all
 * configuration at its default, and ends when all queues are idle. */
typedef struct ashlar_systolic_kernel_t {
  uint64_t first_command, command_count;
  uint64_t first_region, region_count;
  uint64_t issued; /* commands, with every loop unrolled; loop, end and advance
                      do not count */
  uint32_t name;   /* byte in the texts */
  uint32_t bindings;
} ashlar_systolic_kernel_t;

enum ashlar_systolic_region_kind_t {
  ASHLAR_SYSTOLIC_OTHER = 0,
  ASHLAR_SYSTOLIC_CONTRACTION = 1,
  ASHLAR_SYSTOLIC_DEPTHWISE = 2
};
/* What stays in the array while a region's other matrices go by. */
enum ashlar_systolic_dataflow_t {
  ASHLAR_SYSTOLIC_KEEPS_NOTHING = 0, /* no product, or not said */
  ASHLAR_SYSTOLIC_KEEPS_WEIGHTS = 1,
  ASHLAR_SYSTOLIC_KEEPS_INPUTS = 2,
  ASHLAR_SYSTOLIC_KEEPS_SUMS = 3
};
/* What a part of a kernel is for: counters are kept by region. */
typedef struct ashlar_systolic_region_t {
  uint64_t multiply_adds; /* that the model asks for, without any padding */
  uint32_t name;          /* byte in the texts */
  uint16_t kind;          /* ashlar_systolic_region_kind_t */
  uint16_t dataflow;      /* ashlar_systolic_dataflow_t */
} ashlar_systolic_region_t;

#ifdef __cplusplus
#define ASHLAR_LAYOUT_ASSERT(condition) static_assert(condition, #condition)
#else
#define ASHLAR_LAYOUT_ASSERT(condition) _Static_assert(condition, #condition)
#endif

ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_systolic_command_t) == 24);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_systolic_command_t, rs1) == 8);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_systolic_table_t) == 8 + 256 * 12);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_systolic_machine_t) == 168);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_systolic_header_t) == 256);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_systolic_header_t, machine) == 88);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_systolic_kernel_t) == 48);
ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_systolic_region_t) == 16);

#undef ASHLAR_LAYOUT_ASSERT

#ifdef __cplusplus
}
#endif
#endif /* ASHLAR_RUNTIME_SYSTOLIC_ISA_H */
