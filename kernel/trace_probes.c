/*
 * Answers of this kernel to probes at instructions: <trace/platform_probes.h> and, for registers,
 * <trace/arch_host.h>. No call sites, because handlers of probes are called in between.
 */
#include <arch/paging.h>
#include <arch/percpu.h>
#include <arch/sections.h>
#include <arch/static_branch.h>
#include <arch/trap.h>
#include <kernel/lock.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/text.h>
#include <kernel/upcall.h>
#include <trace/arch_host.h>
#include <trace/arch_probe.h>
#include <trace/ftrace.h>

extern const char __notrace_text_start[], __notrace_text_end[];

/* A part that the compiler moved away from function NAME is called NAME.cold, or NAME.cold.0. */
static uintptr_t whole_function(const char *name, uintptr_t start)
{
	char whole[KSYM_NAME_LEN];
	const char *cold = strstr(name, ".cold");
	uintptr_t found;

	if (!cold)
		return start;
	strlcpy(whole, name, (size_t)(cold - name) + 1);
	found = symbols_find(whole);
	return found ? found : start;
}

#define USER_END (1ul << 47) /* the lower half of all addresses */

/* The reason why no probe can be put at `addr`, which is outside of the kernel's code. */
static const char *not_code(uintptr_t addr)
{
	if (addr < USER_END)
		return "it is an address of user space";
	if (addr >= (uintptr_t)rodata_start && addr < (uintptr_t)rodata_end)
		return "it is constant data, not code";
	if (addr >= (uintptr_t)data_start && addr < (uintptr_t)bss_end)
		return "it is data, not code";
	if (arch_exec_contains(addr))
		return "it is code that tracing has made itself";
	return "it is not in the kernel's code";
}

const char *trace_plat_probe_refusal(uintptr_t addr, size_t len)
{
	char name[KSYM_NAME_LEN];
	uintptr_t start;

	if (!arch_is_text(addr))
		return not_code(addr);
	if (addr >= (uintptr_t)__notrace_text_start && addr < (uintptr_t)__notrace_text_end)
		return "a probe or its handler may run through this function itself";
	if (!symbols_lookup(addr, name, &start, NULL))
		return "it is between two functions, where there is no instruction";
	if (!ftrace_location(whole_function(name, start)))
		return "the function is notrace: a handler may run through it";
	if (static_branch_overlaps(addr, len))
		return "the instruction is a static branch, which is changed by others";
	return NULL;
}

static bool is_on_stack(uintptr_t addr)
{
	uintptr_t lo, hi;

	return cpu_trap_stack_of(addr, &lo, &hi) || upcall_stack_range(addr, &lo, &hi);
}

/*
 * In cpu_local there is also the bit that ends a hit within a hit. When the processor's own reads
 * or writes for a trap hit a watchpoint, QEMU gives the trap up and tries again, for ever.
 */
const char *trace_plat_watch_refusal(uintptr_t addr, size_t len)
{
	if (cpu_local_overlaps(addr, len))
		return "every trap writes there itself: it would never end";
	if (cpu_tables_overlap(addr, len) || trap_table_overlaps(addr, len))
		return "the processor itself reads it for every trap";
	if (is_on_stack(addr))
		return "it is on a stack, where the processor itself writes for traps";
	if (arch_exec_contains(addr))
		return "it is code that tracing has made itself";
	return NULL;
}

int trace_plat_probe_create(struct trace_plat_probe *probe, uintptr_t addr, bool with_post)
{
	int err;

	mutex_lock(&text_mutex);
	err = trace_probe_create(probe, addr, with_post);
	mutex_unlock(&text_mutex);
	return err;
}

void trace_plat_probe_destroy(struct trace_plat_probe *probe)
{
	mutex_lock(&text_mutex);
	trace_probe_destroy(probe);
	mutex_unlock(&text_mutex);
}

int trace_plat_probe_jump_create(struct trace_plat_probe *probe, size_t bytes)
{
	int err;

	mutex_lock(&text_mutex);
	err = trace_probe_jump_create(probe, bytes);
	mutex_unlock(&text_mutex);
	return err;
}

bool trace_arch_has_frames(void)
{
	return true;
}

void trace_arch_frame_load(const void *frame, struct ftrace_regs *out_regs)
{
	const struct trap_frame *from = frame;

	out_regs->r15 = from->r15;
	out_regs->r14 = from->r14;
	out_regs->r13 = from->r13;
	out_regs->r12 = from->r12;
	out_regs->r11 = from->r11;
	out_regs->r10 = from->r10;
	out_regs->rbx = from->rbx;
	out_regs->rflags = from->rflags;
	out_regs->rsp = from->rsp;
	out_regs->r9 = from->r9;
	out_regs->r8 = from->r8;
	out_regs->rdi = from->rdi;
	out_regs->rsi = from->rsi;
	out_regs->rdx = from->rdx;
	out_regs->rcx = from->rcx;
	out_regs->rax = from->rax;
	out_regs->rbp = from->rbp;
}

void trace_arch_frame_store(void *frame, const struct ftrace_regs *regs)
{
	struct trap_frame *to = frame;

	to->r15 = regs->r15;
	to->r14 = regs->r14;
	to->r13 = regs->r13;
	to->r12 = regs->r12;
	to->r11 = regs->r11;
	to->r10 = regs->r10;
	to->rbx = regs->rbx;
	to->rflags = regs->rflags;
	to->rsp = regs->rsp;
	to->r9 = regs->r9;
	to->r8 = regs->r8;
	to->rdi = regs->rdi;
	to->rsi = regs->rsi;
	to->rdx = regs->rdx;
	to->rcx = regs->rcx;
	to->rax = regs->rax;
	to->rbp = regs->rbp;
	to->rip = regs->rip;
}
