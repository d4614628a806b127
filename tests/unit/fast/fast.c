/*
 * See fast.h. What the ring buffer needs of the platform, for one thread.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "fast.h"

#define WEAK		__attribute__((weak)) /* a test may link the kernel's own */
#define TRAP_FLAG	0x100
#define INT3		0xcc
#define FAST_MAX_POINTS 4

struct cpu_local fast_cpu;
long fast_alloc_out;
uint64_t fast_nr_bugs;

/* Start and end of the program's own text. */
extern uint8_t __executable_start[], etext[];

/* fast_trace() in progress. */
static struct {
	uint8_t **insns;
	size_t max;
	size_t nr;
	uint64_t steps;
	bool is_on;
} tracing;

/* One level of fast_run_at(). */
struct level {
	const struct fast_point *points;
	uint8_t old[FAST_MAX_POINTS];
	bool is_hit[FAST_MAX_POINTS];
	size_t nr;
};
static struct level *current;

static void note_step(uint8_t *insn)
{
	tracing.steps++;
	if (insn < __executable_start || insn >= etext || tracing.nr == tracing.max)
		return;
	for (size_t i = 0; i < tracing.nr; i++)
		if (tracing.insns[i] == insn)
			return;
	tracing.insns[tracing.nr++] = insn;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct level *mine = current;
	size_t i = 0;

	(void)signal;
	(void)info;
	if (tracing.is_on) {
		note_step((uint8_t *)regs[REG_RIP]);
		return;
	}
	while (i < mine->nr && mine->points[i].insn + 1 != (uint8_t *)regs[REG_RIP])
		i++;
	if (i == mine->nr || mine->is_hit[i])
		abort();
	*mine->points[i].insn = mine->old[i];
	mine->is_hit[i] = true;
	regs[REG_RIP]--;
	mine->points[i].irq();
}

/* For any following instruction; the flags of the caller are its own. */
static inline void set_trap_flag(bool on)
{
	if (on)
		__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq"
				 :
				 : "i"(TRAP_FLAG)
				 : "memory", "cc");
	else
		__asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq"
				 :
				 : "i"(~TRAP_FLAG)
				 : "memory", "cc");
}

uint64_t fast_trace(void (*op)(void *arg), void *arg, uint8_t **out_insns, size_t max,
		    size_t *out_nr)
{
	tracing.insns = out_insns;
	tracing.max = max;
	tracing.nr = 0;
	tracing.steps = 0;
	tracing.is_on = true;
	set_trap_flag(true);
	op(arg);
	set_trap_flag(false);
	tracing.is_on = false;
	*out_nr = tracing.nr;
	return tracing.steps;
}

void fast_untraced(void (*op)(void))
{
	if (tracing.is_on)
		set_trap_flag(false);
	op();
	if (tracing.is_on)
		set_trap_flag(true);
}

/* Put in, or take out, those breakpoints of `level` that were not hit. */
static void set_breakpoints(struct level *level, bool in)
{
	for (size_t i = 0; level && i < level->nr; i++)
		if (!level->is_hit[i])
			*(volatile uint8_t *)level->points[i].insn = in ? INT3 : level->old[i];
}

size_t fast_run_at(void (*op)(void *arg), void *arg, const struct fast_point *points, size_t nr)
{
	struct level mine = { .points = points, .nr = nr };
	struct level *outer = current;
	size_t nr_hit = 0;

	set_breakpoints(outer, false);
	for (size_t i = 0; i < nr; i++)
		mine.old[i] = *points[i].insn;
	current = &mine;
	set_breakpoints(&mine, true);
	op(arg);
	set_breakpoints(&mine, false);
	current = outer;
	set_breakpoints(outer, true);
	for (size_t i = 0; i < nr; i++)
		nr_hit += mine.is_hit[i];
	return nr_hit;
}

/* Page by page: a linker may leave pages out in front of the text. */
static bool make_writable(uintptr_t start, uintptr_t end)
{
	for (uintptr_t at = start; at < end; at += 4096) {
		if (mprotect((void *)at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) &&
		    errno != ENOMEM)
			return false;
	}
	return true;
}

void fast_init(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_NODEFER | SA_SIGINFO };
	uintptr_t start = (uintptr_t)__executable_start & ~4095ul;
	uintptr_t end = ((uintptr_t)etext + 4095) & ~4095ul;

	fast_cpu.self = &fast_cpu;
	fast_cpu.preempt_count = PREEMPT_INITIAL;
	fast_cpu.tsc_mult = 1ull << 32;
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, &fast_cpu) != 0 || !make_writable(start, end) ||
	    sigaction(SIGTRAP, &action, NULL) != 0) {
		perror("fast_init");
		exit(1);
	}
}

WEAK void trace_plat_preempt_schedule(void)
{
}

WEAK uint32_t trace_plat_nr_cpus(void)
{
	return 1;
}

WEAK void *trace_plat_alloc(size_t bytes)
{
	void *memory = NULL;

	if (posix_memalign(&memory, 4096, bytes) != 0)
		abort();
	fast_alloc_out++;
	return memset(memory, 0, bytes);
}

WEAK void trace_plat_free(void *memory, size_t bytes)
{
	(void)bytes;
	if (memory)
		fast_alloc_out--;
	free(memory);
}

WEAK void trace_plat_lock(struct trace_plat_lock *lock)
{
	lock->opaque[0]++;
}

WEAK void trace_plat_unlock(struct trace_plat_lock *lock)
{
	lock->opaque[0]--;
}

WEAK void trace_plat_synchronize_preempt(void)
{
}

WEAK void trace_plat_bug(const char *fmt, ...)
{
	va_list args;

	fast_nr_bugs++;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
}

/* Tracing has stopped for good: as bad here. */
WEAK void trace_plat_alert(const char *fmt, ...)
{
	va_list args;

	fast_nr_bugs++;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
}
