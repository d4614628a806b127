/* The loops of the benchmark; see kernel/load/bench.h. Nothing here has a call site. */
#include <trace/ring_buffer.h>
#include <trace/trace.h>
#include "bench.h"

struct ring_buffer *bench_ring;

/* With a frame, as -pg makes the compiler give the traced twin one: they differ by the site. */
TRACE_NOINLINE void bench_target_untraced(void)
{
	__asm__ volatile("movl $0x12345678, %%eax"
			 :
			 : "r"(__builtin_frame_address(0))
			 : "eax", "memory");
}

TRACE_NOINLINE void bench_callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				   struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

TRACE_NOINLINE int bench_fprobe_entry(struct fprobe *fp, uintptr_t entry_ip, uintptr_t ret_ip,
				      struct ftrace_regs *regs, void *entry_data)
{
	(void)fp;
	(void)entry_ip;
	(void)ret_ip;
	(void)regs;
	(void)entry_data;
	return 0;
}

TRACE_NOINLINE void bench_fprobe_exit(struct fprobe *fp, uintptr_t entry_ip, uintptr_t ret_ip,
				      struct ftrace_regs *regs, void *entry_data)
{
	(void)fp;
	(void)entry_ip;
	(void)ret_ip;
	(void)regs;
	(void)entry_data;
}

TRACE_NOINLINE int bench_kretprobe(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	(void)ri;
	(void)regs;
	return 0;
}

TRACE_NOINLINE void bench_direct_call(void)
{
}

/* Keep the compiler from merging or dropping rounds. */
static TRACE_ALWAYS_INLINE void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

void bench_loop_empty(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		barrier();
}

void bench_loop_calibrate(uint32_t n)
{
	__asm__ volatile("1: nop; nop; nop; nop; nop; nop; nop; nop; nop; nop\n\t"
			 "decl %0\n\tjnz 1b"
			 : "+r"(n)
			 :
			 : "cc");
}

void bench_loop_target(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bench_target();
		barrier();
	}
}

/* Its frame as above. */
TRACE_NOINLINE void bench_target_args_untraced(const void *object, size_t size, uint32_t flags)
{
	__asm__ volatile(""
			 :
			 : "r"(object), "r"(size), "r"(flags), "r"(__builtin_frame_address(0)));
}

void bench_loop_args(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bench_target_args(&bench_ring, 64, 2);
		barrier();
	}
}

void bench_loop_args_untraced(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bench_target_args_untraced(&bench_ring, 64, 2);
		barrier();
	}
}

void bench_loop_untraced(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bench_target_untraced();
		barrier();
	}
}

static TRACE_ALWAYS_INLINE void print_round(uint32_t i)
{
	trace_printk("round %u\n", i);
}

void bench_loop_printk(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		print_round(i);
		barrier();
	}
}

void bench_loop_ring(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t *data = ring_buffer_lock_reserve(bench_ring, 16);

		if (!data)
			continue;
		data[0] = i;
		data[1] = i;
		ring_buffer_unlock_commit(bench_ring, data);
		barrier();
	}
}
