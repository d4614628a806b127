/* Watchpoints on real debug registers: all CPUs, all contexts. */
#include <arch/percpu.h>
#include <arch/smp.h>
#include <stdatomic.h>
#include "ktest.h"
#include "nmi_call.h"
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/arch_watch.h>
#include <trace/platform.h>
#include <trace/recursion.h>
#include <trace/wprobe.h>

#define WRITES_AT_ONCE 16u

static volatile uint64_t watched[WPROBE_MAX + 1];

static struct {
	_Atomic uint64_t hits;
	_Atomic uint64_t cpus; /* a bit each */
	_Atomic uint64_t in_nmi;
	_Atomic uint64_t in_irq;
	_Atomic uint64_t old, value, rip, rax; /* of the last */
	bool writes;
} seen;

static TRACE_NOTRACE void note(struct wprobe *wp, struct ftrace_regs *regs, uint64_t old,
			       uint64_t value)
{
	uint32_t context = trace_recursion_context(trace_plat_preempt_count());

	(void)wp;
	atomic_fetch_add(&seen.hits, 1);
	atomic_fetch_or(&seen.cpus, 1ul << trace_plat_cpu_id());
	atomic_fetch_add(&seen.in_nmi, context == 3);
	atomic_fetch_add(&seen.in_irq, context == 2);
	atomic_store(&seen.old, old);
	atomic_store(&seen.value, value);
	atomic_store(&seen.rip, ftrace_regs_get_instruction_pointer(regs));
	atomic_store(&seen.rax, ftrace_regs_get_return_value(regs));
	if (seen.writes)
		watched[0] = 1;
}

static bool watch(struct wprobe *wp, uint32_t nr, uint32_t len, uint32_t type)
{
	memset(&seen, 0, sizeof(seen));
	*wp = (struct wprobe){
		.addr = (uintptr_t)&watched[nr], .len = len, .type = type, .handler = note
	};
	return register_wprobe(wp) == 0;
}

static TRACE_NOTRACE TRACE_NOINLINE void write_rax(volatile uint64_t *to, uint64_t value)
{
	__asm__ volatile("movq %1, %0" : "=m"(*to) : "a"(value));
}

static void test_wprobe_writes(void)
{
	struct wprobe wp;

	watched[0] = 5;
	if (!KTEST_NEED(watch(&wp, 0, 8, WPROBE_W)))
		return;
	write_rax(&watched[0], 0x123456789abcdef0);
	KTEST_CHECK(seen.hits == 1 && seen.old == 5 && seen.value == 0x123456789abcdef0);
	KTEST_CHECK(seen.rax == 0x123456789abcdef0);
	KTEST_CHECK(seen.rip > (uintptr_t)write_rax && seen.rip < (uintptr_t)write_rax + 32);
	KTEST_CHECK(watched[0] == 0x123456789abcdef0 && seen.hits == 1); /* a read */
	write_rax(&watched[1], 1);
	KTEST_CHECK(seen.hits == 1);
	((volatile uint8_t *)&watched[0])[7] = 0; /* one of the bytes */
	KTEST_CHECK(seen.hits == 2 && seen.value == 0x003456789abcdef0);
	unregister_wprobe(&wp);
	write_rax(&watched[0], 6);
	KTEST_CHECK(seen.hits == 2 && wp.nmissed == 0);
}

static void test_wprobe_reads(void)
{
	struct wprobe wp;

	watched[0] = 9;
	if (!KTEST_NEED(watch(&wp, 0, 8, WPROBE_RW)))
		return;
	(void)watched[0];
	KTEST_CHECK(seen.hits == 1 && seen.old == 9 && seen.value == 9);
	watched[0] = 10;
	KTEST_CHECK(seen.hits == 2 && seen.old == 9 && seen.value == 10);
	unregister_wprobe(&wp);
}

static void test_wprobe_lengths(void)
{
	volatile uint8_t *bytes = (volatile uint8_t *)watched;

	for (uint32_t len = 1; len <= 8; len *= 2) {
		struct wprobe wp;

		if (!KTEST_NEED(watch(&wp, 0, len, WPROBE_W)))
			return;
		for (uint32_t i = 0; i < 9; i++)
			bytes[i] = (uint8_t)i;
		KTEST_CHECK(seen.hits == len);
		unregister_wprobe(&wp);
	}
}

static bool is_refused(const volatile void *addr, const char *why)
{
	struct wprobe wp = {
		.addr = (uintptr_t)addr & ~7ul, .len = 8, .type = WPROBE_RW, .handler = note
	};
	char text[80] = "";

	return register_wprobe(&wp) == -EINVAL &&
	       wprobe_refusal(&wp, text, sizeof(text)) == -EINVAL && strstr(text, why);
}

/* Data that the processor, or the way to the handler, uses for each trap: a hit there would never end. */
static void test_wprobe_never_ends(void)
{
	struct {
		uint16_t limit;
		const uint64_t *base;
	} __attribute__((packed)) gdt, idt;

	__asm__ volatile("sgdt %0\n\tsidt %1" : "=m"(gdt), "=m"(idt));
	KTEST_CHECK(is_refused(&gdt.base[1], "the processor itself reads it"));
	KTEST_CHECK(is_refused(&idt.base[2], "the processor itself reads it"));
	KTEST_CHECK(is_refused(&idt, "it is on a stack"));
	KTEST_CHECK(is_refused(&cpu_local_of(0)->preempt_count, "every trap writes there"));
}

static void test_wprobe_limits(void)
{
	struct wprobe wps[WPROBE_MAX + 1];
	struct wprobe odd = {
		.addr = (uintptr_t)watched + 1, .len = 2, .type = WPROBE_W, .handler = note
	};
	struct wprobe nowhere = { .addr = 8, .len = 8, .type = WPROBE_W, .handler = note };
	struct wprobe endless = { .len = 8, .type = WPROBE_W, .handler = note };
	char why[80] = "";

	KTEST_CHECK(register_wprobe(&odd) == -EINVAL);
	KTEST_CHECK(register_wprobe(&nowhere) == -EFAULT);
	endless.addr = (uintptr_t)&endless.nmissed;
	KTEST_CHECK(register_wprobe(&endless) == -EINVAL);
	for (uint32_t i = 0; i < WPROBE_MAX; i++)
		KTEST_CHECK(watch(&wps[i], i, 8, WPROBE_W));
	KTEST_CHECK(!watch(&wps[WPROBE_MAX], WPROBE_MAX, 8, WPROBE_W));
	KTEST_CHECK(wprobe_refusal(&wps[WPROBE_MAX], why, sizeof(why)) == -EBUSY && why[0]);
	for (uint32_t i = 0; i <= WPROBE_MAX; i++)
		watched[i] = i;
	KTEST_CHECK(seen.hits == WPROBE_MAX);
	for (uint32_t i = 0; i <= WPROBE_MAX; i++)
		unregister_wprobe(&wps[i]);
	for (uint32_t i = 0; i <= WPROBE_MAX; i++)
		watched[i] = i;
	KTEST_CHECK(seen.hits == WPROBE_MAX);
}

static void write_in_interrupt(void *arg)
{
	atomic_fetch_add((_Atomic uint64_t *)arg, 1);
}

static TRACE_NOTRACE void write_in_nmi(const struct trap_frame *regs, void *arg)
{
	(void)regs;
	atomic_fetch_add((_Atomic uint64_t *)arg, 1);
}

/* Each CPU writes, in interrupts and in NMIs: all are seen. */
static void test_wprobe_cpus(void)
{
	uint32_t nr = smp_nr_online(), nr_nmis;
	struct wprobe wp;

	watched[0] = 0;
	if (!KTEST_NEED(watch(&wp, 0, 8, WPROBE_W)))
		return;
	on_each_cpu(write_in_interrupt, (void *)watched, true);
	KTEST_CHECK(seen.hits == nr && seen.cpus == smp_online_mask());
	KTEST_CHECK(seen.in_irq >= nr - 1); /* this CPU does it in a thread */
	nr_nmis = nmi_call_others(write_in_nmi, (void *)watched);
	KTEST_CHECK(nr_nmis == nr - 1 && seen.in_nmi == nr_nmis);
	KTEST_CHECK(seen.hits == nr + nr_nmis && watched[0] == nr + nr_nmis);
	unregister_wprobe(&wp);
	on_each_cpu(write_in_interrupt, (void *)watched, true);
	KTEST_CHECK(seen.hits == nr + nr_nmis && wp.nmissed == 0);
}

static TRACE_NOTRACE void come_online(void *arg)
{
	uint64_t nothing = 0x400;

	(void)arg;
	__asm__ volatile("mov %0, %%dr7" : : "r"(nothing));
	trace_watch_cpu_online();
}

/* A CPU that comes online watches what the others do. */
static void test_wprobe_online(void)
{
	uint32_t nr = smp_nr_online();
	struct wprobe wp;

	if (!KTEST_NEED(watch(&wp, 0, 8, WPROBE_W)))
		return;
	on_each_cpu(come_online, NULL, true);
	on_each_cpu(write_in_interrupt, (void *)watched, true);
	KTEST_CHECK(seen.hits == nr && seen.cpus == smp_online_mask());
	unregister_wprobe(&wp);
	on_each_cpu(come_online, NULL, true);
	on_each_cpu(write_in_interrupt, (void *)watched, true);
	KTEST_CHECK(seen.hits == nr);
}

/* A handler's own writes are missed, and counted. */
static void test_wprobe_missed(void)
{
	struct wprobe wp;

	if (!KTEST_NEED(watch(&wp, 0, 8, WPROBE_W)))
		return;
	seen.writes = true;
	watched[0] = 7;
	KTEST_CHECK(seen.hits == 1 && wp.nmissed == 1);
	seen.writes = false;
	watched[0] = 7;
	KTEST_CHECK(seen.hits == 2 && wp.nmissed == 1);
	unregister_wprobe(&wp);
}

static _Atomic bool stop;

static int write_often(void *arg)
{
	uint64_t nr = 0;

	while (!atomic_load(&stop)) {
		uint64_t start_ns = ktime_get_ns();

		for (uint32_t i = 0; i < WRITES_AT_ONCE; i++)
			atomic_fetch_add((_Atomic uint64_t *)arg, 1);
		nr += WRITES_AT_ONCE;
		ktest_rest(start_ns);
	}
	return (int)nr;
}

/* A watchpoint comes and goes: its handler is not called afterwards. Returns how often it was hit. */
static uint64_t come_and_go(void)
{
	struct wprobe wp;
	uint64_t hits;

	if (!KTEST_NEED(watch(&wp, 0, 8, WPROBE_W)))
		return 0;
	thread_sleep_ns(500000);
	unregister_wprobe(&wp);
	hits = seen.hits;
	thread_sleep_ns(100000);
	KTEST_CHECK(seen.hits == hits && wp.nmissed == 0);
	return hits;
}

/* It does so while threads write. Each CPU sees its next write then, whatever it was doing. */
static void test_wprobe_changes(void)
{
	uint64_t total = 0;

	for (uint32_t round = 0; round < 5; round++) {
		struct thread *threads[4];
		long written = 0;

		watched[0] = 0;
		atomic_store(&stop, false);
		for (uint32_t i = 0; i < ARRAY_SIZE(threads); i++)
			threads[i] = thread_create("writer", write_often, (void *)watched, 0);
		total += come_and_go();
		total += come_and_go();
		atomic_store(&stop, true);
		for (uint32_t i = 0; i < ARRAY_SIZE(threads); i++)
			written += threads[i] ? thread_join_wait(threads[i]) : 0;
		KTEST_CHECK((uint64_t)written == watched[0]);
		test_wprobe_cpus();
	}
	KTEST_CHECK(total > 0);
}

const struct ktest ktest_wprobe[] = {
	{ "wprobe_writes", test_wprobe_writes },   { "wprobe_reads", test_wprobe_reads },
	{ "wprobe_lengths", test_wprobe_lengths }, { "wprobe_never_ends", test_wprobe_never_ends },
	{ "wprobe_limits", test_wprobe_limits },   { "wprobe_cpus", test_wprobe_cpus },
	{ "wprobe_online", test_wprobe_online },   { "wprobe_missed", test_wprobe_missed },
	{ "wprobe_changes", test_wprobe_changes }, { 0 },
};
