/*
 * The rest of the functions that the library asks of its host. It has defaults for those that are
 * neither here, nor in cpus.c or include/. Nothing here is traced.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include <trace/fmt.h>
#include <trace/ftrace.h>
#include <trace/platform.h>
#include <trace/trace.h>
#include <unistd.h>
#include "process.h"

#define LINE_BYTES     256
#define NS_PER_SECOND  1000000000ull
#define CALIBRATION_NS 20000000ull

uint64_t process_ns_per_cycle;

/* ---- Start ---- */

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* The cycle counter is the clock, because clock_gettime() takes twice as long. */
static void measure_cycles(void)
{
	uint64_t begin_ns = now_ns(), begin = trace_plat_cycles(), ns;

	do
		ns = now_ns() - begin_ns;
	while (ns < CALIBRATION_NS);
	process_ns_per_cycle = (ns << 32) / (trace_plat_cycles() - begin);
}

bool process_start(void)
{
	if (!text_init())
		return false;
	trap_init();
	measure_cycles();
	cpus_init();
	symbols_init();
	ftrace_init();
	if (ftrace_is_dead() || trace_init())
		die("no tracing");
	trace_boot_start();
	text_poke_selftest();
	trace_boot_finish();
	return true;
}

/* ---- Messages ---- */

/* Called from anywhere, also from signal handlers and callbacks, so it does not use stdio. */
static void print_line(const char *fmt, va_list args)
{
	char line[LINE_BYTES];
	struct iovec parts[] = { { line, 0 }, { "\n", 1 } };

	trace_vsnprintf(line, sizeof(line), fmt, args);
	parts[0].iov_len = strlen(line);
	if (writev(STDERR_FILENO, parts, 2) < 0)
		return; /* there is no other way to tell */
}

void trace_plat_log(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line(fmt, args);
	va_end(args);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line(fmt, args);
	va_end(args);
	abort();
}

void trace_arch_broken(const char *what)
{
	die("%s", what);
}

/* ---- Memory, locks, waiting ---- */

void *trace_plat_alloc(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void trace_plat_free(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct trace_plat_lock), "the lock has room");

/* A zeroed lock is a valid pthread mutex: PTHREAD_MUTEX_INITIALIZER is all zeros. */
void trace_plat_lock(struct trace_plat_lock *lock)
{
	pthread_mutex_lock((pthread_mutex_t *)(void *)lock);
}

void trace_plat_unlock(struct trace_plat_lock *lock)
{
	pthread_mutex_unlock((pthread_mutex_t *)(void *)lock);
}

int trace_plat_pause(uint64_t ns, bool may_interrupt)
{
	struct timespec left = { (time_t)(ns / NS_PER_SECOND), (long)(ns % NS_PER_SECOND) };

	while (nanosleep(&left, &left) && errno == EINTR) {
		if (may_interrupt)
			return -EINTR;
	}
	return 0;
}
