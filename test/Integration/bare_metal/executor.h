/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef EXECUTOR_H
#define EXECUTOR_H

#include <stdint.h>

/* One custom-3 instruction with the values of its two source registers. */
void executor_command(uint32_t funct, uint64_t rs1, uint64_t rs2);
/* How many there were. */
uint64_t executor_commands(void);
/* The program's: says why and at which command, and does not return. */
void executor_stop(const char *why, uint64_t command);

#endif
