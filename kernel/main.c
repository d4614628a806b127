/* The kernel's start: from the hand-over of arch/ to the shell. */
#include <arch/acpi.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/handover.h>
#include <arch/boot_info.h>
#include <arch/paging.h>
#include <arch/power.h>
#include <arch/smp.h>
#include <trace/arch_text.h>
#include <arch/timer.h>
#include <arch/tsc.h>
#include <kernel/boot_stats.h>
#include <kernel/command.h>
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/ninep.h>
#include <kernel/params.h>
#include <kernel/printk.h>
#include <kernel/pstore.h>
#include <kernel/shell.h>
#include <kernel/thread.h>
#include <kernel/upcall.h>
#include <kernel/version.h>
#include <kernel/vfs.h>
#include <trace/events/initcall.h>
#include <trace/ftrace.h>
#include <trace/trace.h>
#include "kernel_init.h"
#include "sched/sched.h"
#include "sched/softirq_priv.h"
#include "sched/thread_list.h"

struct boot_stats boot_stats;

static void main_banner(void)
{
	pr_info("Fathom %s (%s)\n", KERNEL_VERSION, KERNEL_COMPILER);
	pr_info("Command line: %s\n", boot_command_line());
	pr_info("CPU: %s\n", cpu_features.brand[0] ? cpu_features.brand : cpu_features.vendor);
}

static void main_ftrace_init_timed(void)
{
	uint64_t start = trace_plat_cycles();

	ftrace_init();
	boot_stats.ftrace_cycles = trace_plat_cycles() - start;
}

/* Interrupt controllers, clocks, and how many CPUs there are. Interrupts are off. */
static void main_devices_init(void)
{
	size_t len = 0;
	const void *rsdp = boot_info_rsdp(&len);

	if (acpi_init(rsdp, (uint32_t)len))
		pr_warn("ACPI: no usable tables\n");
	power_init();
	apic_init(!boot_param_is_set("nox2apic"));
	tsc_init();
	arch_timer_init();
	smp_init((unsigned long)boot_param_number("maxcpus", 0, INT64_MAX, MAX_CPUS));
}

static void main_start_shell(void)
{
	if (!thread_create("sh", shell_main, NULL, THREAD_DETACHED))
		panic("out of memory for the shell");
}

static void main_start_cpus(void)
{
	smp_start_all();
	atomic_store(&cpu_active_mask, smp_online_mask());
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

static void main_start_cpu_threads(void)
{
	if (softirq_start_threads() || work_start_threads())
		panic("out of memory for the threads of each CPU");
}

static void main_init_vfs(void)
{
	if (vfs_init())
		panic("out of memory for the file tree");
}

/* A step of the start. It cannot fail, or else it panics. */
static void main_step(void (*fn)(void))
{
	trace_initcall_start((unsigned long)fn);
	fn();
	trace_initcall_finish((unsigned long)fn, 0);
}

/* Thread 1, on CPU 0 until the other CPUs run. */
static int init(void *unused)
{
	(void)unused;
	threads_start_reaper();
	console_init();
	params_give_to_trace();
	profile_init();
	noise_init();
	if (trace_init())
		pr_err("trace: out of memory, tracing is off\n");
	trace_boot_start();
	main_step(main_start_cpus);
	main_step(main_start_cpu_threads);
	main_step(trace_defer_init);
	if (arch_check_wx())
		panic("memory is writable and executable");
	main_step(command_init);
	main_step(main_init_vfs);
	main_step(pstore_init);
	main_step(ninep_init);
	printk_set_console_level(
		(enum log_level)boot_param_number("loglevel", 0, INT32_MAX, LOG_WARN));
	trace_boot_finish();
	main_start_shell();
	return 0;
}

void kernel_main(const struct handover *handover)
{
	(void)handover; /* arch/ has read it */
	boot_stats.entry_cycles = trace_plat_cycles();
	params_init(boot_info_cmdline());
	console_early_init();
	main_banner();
	panic_init();
	mm_init();
	threads_init();
	text_poke_selftest();
	main_ftrace_init_timed();
	main_devices_init();
	timers_init();
	if (!thread_create_on(1, "init", init, NULL, THREAD_DETACHED))
		panic("out of memory for the first thread");
	for (;;)
		sched_idle_loop(); /* CPU 0 stays */
}
