/*
 * The definitions of the kernel's own events, on the fake machine: the line in `trace` of each, and
 * that libtraceevent makes the same of the raw event by what `format` says. Built where
 * libtraceevent is installed.
 */
#include "unit.h"
#include "tracefs.h"
#include "trace/events/event_parse.h"
#include <kernel/timer.h>
#include <kernel/work.h>
#include <trace/livepatch.h>
#include <trace/platform.h>

#define CREATE_TRACE_POINTS
#include <trace/events/error_report.h>
#include <trace/events/exceptions.h>
#include <trace/events/initcall.h>
#include <trace/events/ipi.h>
#include <trace/events/irq.h>
#include <trace/events/irq_vectors.h>
#include <trace/events/kmem.h>
#include <trace/events/livepatch.h>
#include <trace/events/lock.h>
#include <trace/events/printk.h>
#include <trace/events/raw_syscalls.h>
#include <trace/events/timer.h>
#include <trace/events/workqueue.h>
#include <trace/events/exec.h> /* the last, as in kernel/process/process_events.c */

#define OBJECT ((void *)0x123456789abcdeful)
#define P      "0123456789abcdef" /* as %p shows it */

static void interrupts(void **state)
{
	(void)state;
	event_on("irq/irq_handler_entry");
	trace_irq_handler_entry(4, "uart");
	event_is("irq_handler_entry: irq=4 name=uart");
	event_on("irq/irq_handler_exit");
	trace_irq_handler_exit(4, 1);
	event_is("irq_handler_exit: irq=4 ret=handled");
	event_on("irq/irq_handler_exit");
	trace_irq_handler_exit(3, 0);
	event_is("irq_handler_exit: irq=3 ret=unhandled");
	event_on("irq/softirq_raise");
	trace_softirq_raise(SOFTIRQ_TIMER);
	event_is("softirq_raise: vec=0 [action=TIMER]");
	event_on("irq/softirq_entry");
	trace_softirq_entry(SOFTIRQ_CONSOLE);
	event_is("softirq_entry: vec=1 [action=CONSOLE]");
	event_on("irq/softirq_exit");
	trace_softirq_exit(SOFTIRQ_TRACE);
	event_is("softirq_exit: vec=3 [action=TRACE]");
}

static void vectors(void **state)
{
	(void)state;
	event_on("irq_vectors/local_timer_entry");
	trace_local_timer_entry(236);
	event_is("local_timer_entry: vector=236");
	event_on("irq_vectors/local_timer_exit");
	trace_local_timer_exit(236);
	event_is("local_timer_exit: vector=236");
	event_on("irq_vectors/reschedule_entry");
	trace_reschedule_entry(242);
	event_is("reschedule_entry: vector=242");
	event_on("irq_vectors/reschedule_exit");
	trace_reschedule_exit(242);
	event_is("reschedule_exit: vector=242");
	event_on("irq_vectors/call_function_entry");
	trace_call_function_entry(243);
	event_is("call_function_entry: vector=243");
	event_on("irq_vectors/call_function_exit");
	trace_call_function_exit(243);
	event_is("call_function_exit: vector=243");
}

static void other_cpus(void **state)
{
	const unsigned long mask = 6;

	(void)state;
	event_on("ipi/ipi_send_cpu");
	trace_ipi_send_cpu(3, fake_func(DO_WORK) + 5, NULL);
	event_is("ipi_send_cpu: cpu=3 callsite=do_work+0x5/0x10 callback=0x0");
	event_on("ipi/ipi_send_cpumask");
	trace_ipi_send_cpumask(&mask, fake_func(DO_WORK) + 5, (void *)fake_func(KFREE));
	event_is_for("ipi_send_cpumask: cpumask=00000000,00000006 callsite=do_work+0x5/0x10 "
		     "callback=kfree+0x0/0x10",
		     "ipi_send_cpumask: cpumask=1-2 callsite=do_work+0x5 callback=kfree+0x0");
	event_on("ipi/ipi_send_cpumask");
	trace_ipi_send_cpumask(&mask, fake_func(DO_WORK) + 5, (void *)fake_func(KFREE));
	assert_int_equal(echo("bitmask-list", "trace_options"), 0);
	event_is_for(
		"ipi_send_cpumask: cpumask=1-2 callsite=do_work+0x5/0x10 callback=kfree+0x0/0x10",
		"ipi_send_cpumask: cpumask=1-2 callsite=do_work+0x5 callback=kfree+0x0");
	assert_int_equal(echo("nobitmask-list", "trace_options"), 0);
}

/* With hash-ptr an address is a number of 32 bits, the same each time, and NULL is NULL. */
static void hashed(void **state)
{
	char first[16], second[16];

	(void)state;
	event_on("timer/timer_init");
	trace_timer_init(OBJECT);
	trace_timer_init(OBJECT);
	trace_timer_init(NULL);
	assert_int_equal(echo("hash-ptr", "trace_options"), 0);
	assert_int_equal(sscanf(strstr(cat("trace"), "timer=00000000"),
				"timer=00000000%8[0-9a-f]\n%*[^=]=00000000%8[0-9a-f]\n", first,
				second),
			 2);
	assert_string_equal(first, second);
	assert_string_not_equal(first, P + 8);
	assert_string_not_equal(first, "00000000");
	assert_non_null(strstr(cat("trace"), "timer=0000000000000000\n"));
	assert_int_equal(echo("nohash-ptr", "trace_options"), 0);
	assert_non_null(strstr(cat("trace"), "timer_init: timer=" P));
}

static void timers(void **state)
{
	struct timer timer = { .fn = (void (*)(struct timer *))fake_func(DO_WORK),
			       .node.key = 5000 };
	char want[200];

	(void)state;
	event_on("timer/timer_init");
	trace_timer_init(OBJECT);
	event_is("timer_init: timer=" P);
	event_on("timer/timer_start");
	trace_timer_start(&timer, 6000, 2);
	snprintf(want, sizeof(want),
		 "timer_start: timer=%016lx function=do_work expires=5000 [timeout=-1000] cpu=2",
		 (unsigned long)&timer);
	event_is(want);
	event_on("timer/timer_expire_entry");
	trace_timer_expire_entry(&timer, 7000);
	snprintf(want, sizeof(want), "timer_expire_entry: timer=%016lx function=do_work now=7000",
		 (unsigned long)&timer);
	event_is(want);
	event_on("timer/timer_expire_exit");
	trace_timer_expire_exit(OBJECT);
	event_is("timer_expire_exit: timer=" P);
	event_on("timer/timer_cancel");
	trace_timer_cancel(OBJECT);
	event_is("timer_cancel: timer=" P);
	event_on("timer/tick_stop");
	trace_tick_stop(1, 0);
	event_is("tick_stop: success=1 dependency=NONE");
}

static void works(void **state)
{
	struct work work = { .fn = (void (*)(struct work *))fake_func(KFREE) };
	char want[200];

	(void)state;
	event_on("workqueue/workqueue_queue_work");
	trace_workqueue_queue_work(3, &work);
	snprintf(want, sizeof(want),
		 "workqueue_queue_work: work struct=%016lx function=kfree cpu=3",
		 (unsigned long)&work);
	event_is(want);
	event_on("workqueue/workqueue_activate_work");
	trace_workqueue_activate_work(OBJECT);
	event_is("workqueue_activate_work: work struct " P);
	event_on("workqueue/workqueue_execute_start");
	trace_workqueue_execute_start(&work);
	snprintf(want, sizeof(want), "workqueue_execute_start: work struct %016lx: function kfree",
		 (unsigned long)&work);
	event_is(want);
	event_on("workqueue/workqueue_execute_end");
	trace_workqueue_execute_end(OBJECT, (void *)fake_func(KFREE));
	event_is("workqueue_execute_end: work struct " P ": function kfree");
}

static void memory(void **state)
{
	(void)state;
	event_on("kmem/kmalloc");
	trace_kmalloc(fake_func(DO_WORK) + 3, OBJECT, 40, 64);
	event_is("kmalloc: call_site=do_work+0x3/0x10 ptr=" P " bytes_req=40 bytes_alloc=64");
	event_on("kmem/kmem_cache_alloc");
	trace_kmem_cache_alloc(fake_func(DO_WORK) + 3, OBJECT, 696, 704);
	event_is("kmem_cache_alloc: call_site=do_work+0x3/0x10 ptr=" P
		 " bytes_req=696 bytes_alloc=704");
	event_on("kmem/kfree");
	trace_kfree(fake_func(YIELD) + 1, OBJECT);
	event_is("kfree: call_site=yield+0x1/0x10 ptr=" P);
	event_on("kmem/kmem_cache_free");
	trace_kmem_cache_free(fake_func(YIELD) + 1, OBJECT, "thread");
	event_is("kmem_cache_free: call_site=yield+0x1/0x10 ptr=" P " name=thread");
	event_on("kmem/mm_page_alloc");
	trace_mm_page_alloc(OBJECT, 0x3ff, 2);
	event_is("mm_page_alloc: page=" P " pfn=0x3ff order=2");
	event_on("kmem/mm_page_free");
	trace_mm_page_free(OBJECT, 0x3ff, 2);
	event_is("mm_page_free: page=" P " pfn=0x3ff order=2");
}

static void locks(void **state)
{
	(void)state;
	event_on("lock/contention_begin");
	trace_contention_begin(OBJECT, LCB_F_SPIN);
	event_is("contention_begin: " P " (flags=SPIN)");
	event_on("lock/contention_begin");
	trace_contention_begin(OBJECT, LCB_F_MUTEX);
	event_is("contention_begin: " P " (flags=MUTEX)");
	event_on("lock/contention_end");
	trace_contention_end(OBJECT, -4);
	event_is("contention_end: " P " (ret=-4)");
}

static void messages(void **state)
{
	char text[700], want[800];

	(void)state;
	event_on("printk/console");
	trace_console("hello world", 5);
	event_is("console: hello");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	event_on("printk/console");
	trace_console(text, sizeof(text) - 1);
	snprintf(want, sizeof(want), "console: %s", text);
	event_is(want);
}

static void errors(void **state)
{
	(void)state;
	event_on("exceptions/page_fault_kernel");
	trace_page_fault_kernel(0x10, fake_func(DO_WORK) + 2, 2);
	event_is("page_fault_kernel: address=0x10 ip=do_work error_code=0x2");
	event_on("error_report/error_report_end");
	trace_error_report_end(ERROR_DETECTOR_PANIC, 0xffffffff80001234);
	event_is_for("error_report_end: [panic] ffffffff80001234",
		     "error_report_end: [panic] ffffffff80001234");
}

static void programs(void **state)
{
	struct trap_frame regs = {
		.rdi = 1, .rsi = 0x7ffe0000, .rdx = 3, .r10 = 4, .r8 = 5, .r9 = 0x80000000
	};

	(void)state;
	event_on("raw_syscalls/sys_enter");
	trace_sys_enter(&regs, 257);
	event_is("sys_enter: NR 257 (1, 7ffe0000, 3, 4, 5, 80000000)");
	event_on("raw_syscalls/sys_exit");
	trace_sys_exit(257, -2);
	event_is("sys_exit: NR 257 = -2");
	event_on("sched/sched_process_exec");
	trace_sched_process_exec("/bin/ls", 41, 40, 0x555555554000);
	event_is("sched_process_exec: filename=/bin/ls pid=41 old_pid=40");
}

static void start(void **state)
{
	(void)state;
	event_on("initcall/initcall_start");
	trace_initcall_start(fake_func(DO_WORK));
	event_is("initcall_start: func=do_work+0x0/0x10");
	event_on("initcall/initcall_finish");
	trace_initcall_finish(fake_func(DO_WORK), -12);
	event_is("initcall_finish: func=do_work+0x0/0x10 ret=-12");
}

static void patches(void **state)
{
	(void)state;
	event_on("livepatch/livepatch_transition_begin");
	trace_livepatch_transition_begin("demo", true);
	event_is("livepatch_transition_begin: patch=demo to=patched");
	event_on("livepatch/livepatch_transition_end");
	trace_livepatch_transition_end("demo", false);
	event_is("livepatch_transition_end: patch=demo to=unpatched");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, event_reset, event_all_off)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(interrupts), TEST(vectors), TEST(other_cpus), TEST(hashed),   TEST(timers),
		TEST(works),	  TEST(memory),	 TEST(locks),	   TEST(messages), TEST(errors),
		TEST(start),	  TEST(patches), TEST(programs),
	};

	return cmocka_run_group_tests(tests, event_setup, event_teardown);
}
