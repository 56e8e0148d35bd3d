/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plugin of qemu-riscv64: how many instructions ran in each block of code, a
 * line for each on standard error: the address of the first and the count.
 * QEMU's header is not installed everywhere; what stands here is all that is
 * needed of it. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct qemu_plugin_tb;
enum { NO_REGISTERS = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t,
                                           void (*)(uint64_t,
                                                    struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *,
                                          void (*)(unsigned, void *), int,
                                          void *);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *),
                                    void *);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_VERSION;

/* A block ends where the core has no such instruction, which counts. */
struct block {
  struct block *next;
  uint64_t address, instructions, times;
};
static struct block *blocks;

static void count(unsigned cpu, void *block) {
  (void)cpu;
  ++((struct block *)block)->times;
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  struct block *block = calloc(1, sizeof(*block));
  *block = (struct block){blocks, qemu_plugin_tb_vaddr(tb),
                          qemu_plugin_tb_n_insns(tb), 0};
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, count, NO_REGISTERS, block);
}

static void print(uint64_t id, void *data) {
  (void)id, (void)data;
  for (struct block *block = blocks; block; block = block->next)
    if (block->times)
      fprintf(stderr, "count %" PRIx64 " %" PRIu64 "\n", block->address,
              block->instructions * block->times);
}

__attribute__((visibility("default"))) int
qemu_plugin_install(uint64_t id, const void *info, int count_, char **values) {
  (void)info, (void)count_, (void)values;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, print, NULL);
  return 0;
}
