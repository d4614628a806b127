/*
 * Shared by the tests of probes at instructions: ktest_kprobe.c.
 *
 * Context: thread.
 */
#ifndef KERNEL_KTEST_KPROBE_H
#define KERNEL_KTEST_KPROBE_H

#include "ktest.h"
#include <trace/kprobe.h>

#define KPROBE_MAX    128
#define KPROBE_ROUNDS 100ul

/* Functions that are probed: short; with a table of addresses; with loops and branches. */
uint64_t kprobe_leaf(uint64_t a, uint64_t b);
uint64_t kprobe_work(uint64_t nr);
uint64_t kprobe_sort(uint64_t seed);
uint64_t kprobe_split(uint64_t seed);

extern struct kprobe kprobe_probes[KPROBE_MAX];
extern struct kprobe *kprobe_pointers[KPROBE_MAX];
/* Make them a probe for each instruction of the function; how many. */
size_t kprobe_fill(uintptr_t func);
/* A post handler. */
void kprobe_count_post(struct kprobe *p, struct ftrace_regs *regs, uint64_t flags);

#endif
