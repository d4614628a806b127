/*
 * The code that the benchmark measures: two equal functions, one with a call site, and the loops that call
 * them. The loops have no site; each runs `n` rounds.
 *
 * Context: thread; the caller turns interrupts off.
 */
#ifndef KERNEL_BENCH_H
#define KERNEL_BENCH_H

#include <kernel/base.h>
#include <trace/kretprobe.h>

struct ring_buffer;

/* Traced, and its untraced twin. */
void bench_target(void);
void bench_target_untraced(void);
void bench_target_args(const void *object, size_t size, uint32_t flags);
void bench_target_args_untraced(const void *object, size_t size, uint32_t flags);

void bench_loop_empty(uint32_t n);
void bench_loop_calibrate(uint32_t n); /* 12 instructions a round */
void bench_loop_target(uint32_t n);
void bench_loop_args(uint32_t n);
void bench_loop_args_untraced(uint32_t n);
void bench_loop_untraced(uint32_t n);
void bench_loop_printk(uint32_t n); /* trace_printk() with the number of the round */
/* Reserve and commit 16 bytes a round in `bench_ring`. */
void bench_loop_ring(uint32_t n);
extern struct ring_buffer *bench_ring;

/*
 * Hit a tracepoint a round: of an event with an int; two ints and 16 bytes, the ints of `few` from 0
 * to 7 and to 3; a text of 25; 128 bytes; of two events with an int from 0 to 7, the same in both.
 */
void bench_loop_event_int(uint32_t n);
void bench_loop_event_three(uint32_t n);
void bench_loop_event_few(uint32_t n);
void bench_loop_event_text(uint32_t n);
void bench_loop_event_label(uint32_t n);
void bench_loop_event_pair(uint32_t n);
/* Register an empty probe with the first of them, or unregister it. 0 or -errno. */
int bench_event_probe(bool on);

struct ftrace_ops;
struct ftrace_regs;
void bench_callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs);
/* Empty handlers. */
int bench_fprobe_entry(struct fprobe *fp, uintptr_t entry_ip, uintptr_t ret_ip,
		       struct ftrace_regs *regs, void *entry_data);
void bench_fprobe_exit(struct fprobe *fp, uintptr_t entry_ip, uintptr_t ret_ip,
		       struct ftrace_regs *regs, void *entry_data);
int bench_kretprobe(struct kretprobe_instance *ri, struct ftrace_regs *regs);
/* The target of a direct call: returns. */
void bench_direct_call(void);

#endif
