/* See process.h. */
#define _GNU_SOURCE
#include <arch/cpu_local.h>
#include <asm/prctl.h>
#include <kernel/base.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include <trace/arch_trampoline.h>
#include <trace/ftrace.h>
#include <trace/thread.h>
#include <unistd.h>
#include "process.h"

#define CALIBRATION_NS 50000000ull

bool process_has_room = true;

static struct cpu_local cpu;
static struct trace_thread thread;

uint64_t process_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* ns in a cycle, as cpu_local.tsc_mult has it. */
static uint64_t measure_tsc_mult(void)
{
	uint64_t begin_ns = process_now_ns(), begin = trace_plat_cycles(), ns;

	do
		ns = process_now_ns() - begin_ns;
	while (ns < CALIBRATION_NS);
	return (ns << 32) / (trace_plat_cycles() - begin);
}

static void make_target(void)
{
	static const uint8_t body[] = { 0x48, 0x8d, 0x47, 0x01,
					0xc3 }; /* lea rax, [rdi + 1]; ret */
	uintptr_t site = (uintptr_t)process_target;
	uint8_t *code = trace_arch_view_of(site);

	trace_plat_insn_call(site, trace_plat_fentry(), code);
	memcpy(code + TRACE_INSN_SIZE, body, sizeof(body));
	trace_arch_serialise();
}

void process_init(void)
{
	cpu.self = &cpu;
	cpu.preempt_count = PREEMPT_INITIAL;
	cpu.trace_thread = &thread;
	cpu.current_pid = 1;
	cpu.tsc_mult = measure_tsc_mult();
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu))
		panic("cannot set GS");
	make_target();
	ftrace_init();
	if (ftrace_is_dead())
		panic("no call site");
}

/* ---- <trace/platform.h> ---- */

void *trace_plat_alloc(size_t bytes)
{
	void *memory = NULL;

	if (posix_memalign(&memory, PAGE_SIZE, bytes))
		return NULL;
	return memset(memory, 0, bytes);
}

void trace_plat_free(void *memory, size_t bytes)
{
	(void)bytes;
	free(memory);
}

uint32_t trace_plat_nr_cpus(void)
{
	return 1;
}

/* Nobody wants a reschedule. */
void trace_plat_preempt_schedule(void)
{
	panic("rescheduled");
}

void trace_plat_lost(void)
{
	panic("a return address is lost");
}

const uintptr_t *trace_plat_sites(size_t *out_nr)
{
	static const uintptr_t sites[] = { (uintptr_t)process_target };

	*out_nr = ARRAY_SIZE(sites);
	return sites;
}

int trace_plat_poke_batch(const struct trace_poke *pokes, size_t nr,
			  struct trace_poke_error *out_error)
{
	return text_poke_batch(pokes, nr, out_error);
}

int trace_plat_trampoline_create(const struct trace_trampoline_call *calls, size_t nr,
				 bool with_regs, struct trace_trampoline *out_trampoline)
{
	if (!process_has_room)
		return -ENOMEM;
	return trampoline_create(calls, nr, with_regs, out_trampoline);
}

int trace_plat_trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func)
{
	return trampoline_retarget(tramp, index, func);
}

void trace_plat_trampoline_destroy(struct trace_trampoline *tramp)
{
	trampoline_destroy(tramp);
}

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	(void)addr;
	(void)out_name;
	(void)out_start;
	(void)out_size;
	return false;
}

void trace_plat_lock(struct trace_plat_lock *lock)
{
	(void)lock;
}

void trace_plat_unlock(struct trace_plat_lock *lock)
{
	(void)lock;
}

bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	(void)pid;
	(void)may_wait;
	(void)out_comm;
	return false;
}

/* There is nobody to wait for. */
int trace_plat_pause(uint64_t ns, bool may_interrupt)
{
	(void)ns;
	(void)may_interrupt;
	panic("waits");
}

void trace_plat_call_later(struct trace_plat_later *later, void (*fn)(void), uint64_t delay_ns)
{
	(void)later;
	(void)fn;
	(void)delay_ns;
	panic("waits");
}

int trace_plat_static_branches_update(void)
{
	panic("static branches");
}

uint64_t trace_plat_clock_mono_ns(void)
{
	return trace_plat_clock_ns();
}

uint64_t trace_plat_uptime_ticks(void)
{
	return 0;
}

void trace_plat_synchronize_preempt(void)
{
}

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	fn(cpu.current_pid, &thread, arg);
}

void trace_plat_each_stack(const struct trace_plat_look *look)
{
	look->seen(&thread, 0, look->arg);
}

void trace_plat_log(const char *fmt, ...)
{
	(void)fmt;
}

static void complain(const char *fmt, va_list args)
{
	vfprintf(stderr, fmt, args);
	panic(": stopped");
}

void trace_plat_alert(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
}

void trace_plat_bug(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args);
	va_end(args);
}
