/*
 * NMIs that come while an NMI is handled: each handler calls a traced function whose site is being
 * patched, so it hits int3s, whose IRET lets the next NMI in. One CPU sends, one is hit, one
 * patches.
 */
#include <stdatomic.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/smp.h>
#include <arch/trap.h>
#include <kernel/ktest.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/ftrace.h>

#define VICTIM 1u
#define SENDER 2u
#define ROUNDS 60u

static struct {
	_Atomic bool stop;
	_Atomic uint64_t nr_sent;
	_Atomic uint64_t nr_handled; /* runs of the handler on the victim */
	_Atomic uint64_t nr_traced;  /* calls that the tracer saw */
	_Atomic uint32_t nr_inside;  /* handlers running now: more than one is wrong */
	_Atomic uint32_t nr_wrong;
	volatile uint64_t work; /* done by the victim's thread */
} storm;

static TRACE_NOINLINE void storm_target(void)
{
	__asm__ volatile("" : : : "memory");
}

/* NMI, on the victim only. */
static void storm_nmi(struct trap_frame *regs)
{
	(void)regs;
	if (cpu_local_read(id) != VICTIM || atomic_fetch_add(&storm.nr_inside, 1) != 0)
		atomic_fetch_add(&storm.nr_wrong, 1);
	for (int i = 0; i < 20; i++)
		storm_target();
	atomic_fetch_add(&storm.nr_handled, 1);
	atomic_fetch_sub(&storm.nr_inside, 1);
}

static void storm_callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	atomic_fetch_add_explicit(&storm.nr_traced, 1, memory_order_relaxed);
}

static int victim_thread(void *arg)
{
	uint64_t sum = 0;

	(void)arg;
	for (uint64_t i = 0; !atomic_load(&storm.stop); i++) {
		storm_target();
		sum += i;
		if (sum != i * (i + 1) / 2) /* registers survive */
			atomic_fetch_add(&storm.nr_wrong, 1);
		storm.work = i;
		cond_resched();
	}
	return 0;
}

static int sender_thread(void *arg)
{
	uint32_t apic_id = cpu_local_of(VICTIM)->apic_id;

	(void)arg;
	while (!atomic_load(&storm.stop)) {
		uint64_t handled = atomic_load(&storm.nr_handled);

		apic_send_nmi(apic_id);
		atomic_fetch_add(&storm.nr_sent, 1);
		/* Often the next comes while this one is handled, but the victim also gets on. */
		for (int i = 0; i < 2000 && atomic_load(&storm.nr_handled) == handled; i++)
			arch_cpu_relax();
		cond_resched();
	}
	return 0;
}

static void switch_on_and_off(void)
{
	static struct ftrace_ops ops = { .func = storm_callback };

	KTEST_CHECK(ftrace_set_filter_ip(&ops, (uintptr_t)storm_target, false, true) == 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (!KTEST_NEED(register_ftrace_function(&ops) == 0))
			break;
		unregister_ftrace_function(&ops);
	}
	ftrace_free_filter(&ops);
}

static void test_storm(void)
{
	struct thread *victim, *sender;
	trap_fn before;

	if (smp_nr_online() < 3 || thread_set_affinity(current_thread(), 1) != 0)
		return;
	atomic_store(&storm.stop, false);
	atomic_store(&storm.nr_sent, 0);
	atomic_store(&storm.nr_handled, 0);
	atomic_store(&storm.nr_traced, 0);
	before = arch_nmi_register(storm_nmi);
	victim = thread_create_on(1ull << VICTIM, "victim", victim_thread, NULL, 0);
	sender = thread_create_on(1ull << SENDER, "sender", sender_thread, NULL, 0);
	if (KTEST_NEED(victim && sender))
		switch_on_and_off();
	atomic_store(&storm.stop, true);
	if (sender)
		thread_join_wait(sender);
	if (victim)
		thread_join_wait(victim);
	thread_sleep_ns(20 * NSEC_PER_MSEC); /* the last NMI is not left to the usual handler */
	arch_nmi_register(before);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);

	KTEST_CHECK(atomic_load(&storm.nr_handled) > ROUNDS);
	KTEST_CHECK(atomic_load(&storm.nr_handled) <= atomic_load(&storm.nr_sent));
	KTEST_CHECK(atomic_load(&storm.nr_traced) > 0);
	KTEST_CHECK(atomic_load(&storm.nr_wrong) == 0 && atomic_load(&storm.nr_inside) == 0);
	KTEST_CHECK(storm.work > 0);
}

const struct ktest ktest_nmi[] = {
	{ "nmi_storm", test_storm },
	{ 0 },
};
