/*
 * Unit tests that run inside the kernel: the shell command `ktest`. The tests are in tests/kernel/.
 *
 * Context:   thread. A test returns; failed checks are counted and printed.
 * Locking:   one run at a time.
 */
#ifndef KERNEL_KTEST_H
#define KERNEL_KTEST_H

#include <kernel/base.h>
#include <stdatomic.h>

struct ktest {
	const char *name;
	void (*fn)(void);
};

/* Count a failed check and print the first few of a test. Any thread. */
void ktest_failed(const char *file, int line, const char *text);
extern _Atomic uint64_t ktest_nr_checks; /* made in this run */

static TRACE_ALWAYS_INLINE bool ktest_check(bool holds, const char *file, int line,
					    const char *text)
{
	atomic_fetch_add_explicit(&ktest_nr_checks, 1, memory_order_relaxed);
	if (!holds)
		ktest_failed(file, line, text);
	return holds;
}

/* True when `cond` holds: for what the rest of a test cannot do without. */
#define KTEST_NEED(cond)  ktest_check((cond), __FILE__, __LINE__, #cond)
#define KTEST_CHECK(cond) ((void)KTEST_NEED(cond))

/*
 * Run fn(arg) in `nr` threads at once and wait for all; the sum of what they return, -1 when they
 * could not be started.
 */
long ktest_threads(unsigned int nr, int (*fn)(void *arg), void *arg);

/*
 * For threads that are the load while another one changes something: sleep three times as long as
 * they have worked since `start_ns`, a millisecond at most. Changes wait for every CPU, and an
 * emulator has fewer processors than the guest.
 */
void ktest_rest(uint64_t start_ns);

/* Tables end with an entry without a name. */
extern const struct ktest ktest_data[];
extern const struct ktest ktest_mm[];
void ktest_mm_prepare(void); /* makes what stays for good: no test shall count it as lost */
extern const struct ktest ktest_lock[];
extern const struct ktest ktest_timer[];
extern const struct ktest ktest_thread[];
extern const struct ktest ktest_rt[];
extern const struct ktest ktest_printk[];
extern const struct ktest ktest_smp[];
extern const struct ktest ktest_stack[];
extern const struct ktest ktest_trace[];
/* Memory that the tracer keeps from its first snapshot on shall not count as lost by a test. */
void ktest_trace_prepare(void);
extern const struct ktest ktest_events[];
void ktest_events_prepare(void); /* the same */
extern const struct ktest ktest_arch[];
extern const struct ktest ktest_nmi[];
extern const struct ktest ktest_breakpoint[];
extern const struct ktest ktest_kprobe[];
extern const struct ktest ktest_kprobe_load[];
extern const struct ktest ktest_kprobe_forms[];
extern const struct ktest ktest_unwind[];
extern const struct ktest ktest_unwind_chain[];
extern const struct ktest ktest_fgraph[];
extern const struct ktest ktest_fprobe[];
extern const struct ktest ktest_wprobe[];
extern const struct ktest ktest_ops[];
extern const struct ktest ktest_ops_load[];
extern const struct ktest ktest_ops_context[];
extern const struct ktest ktest_ops_span[];
extern const struct ktest ktest_grace[];

/*
 * Run the tests whose name contains `filter` (NULL: all), telling `print` each result, at the end
 * how much was checked, and last "N passed, N failed". After each test memory in use must be what
 * it was before, unless `others_allocate`. Returns the number of failed tests; -EBUSY when a run is
 * under way; -EINTR after Ctrl-C.
 */
int ktest_run(const char *filter, bool others_allocate, void (*print)(const char *line, void *arg),
	      void *arg);

#endif
