/*
 * Memory, locks, waiting, threads and the log of the fake machine; see fake.h.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fake.h"
#include "fake_internal.h"

long fake_alloc_budget = -1;
bool fake_alloc_fails_once;
size_t fake_alloc_max_bytes;
_Atomic long fake_alloc_out;
_Atomic uint64_t fake_alloc_calls;
void (*fake_on_alloc)(void);
long fake_host_budget = -1;
uint64_t fake_nr_refused;
bool fake_interrupted;
bool fake_names_held;
const void *fake_bad_page;
bool fake_reads_anywhere, fake_reads_user;
const void *fake_user_page;
void (*fake_on_wait)(void);
void (*fake_on_lock)(void);
void (*fake_on_unlock)(const struct trace_plat_lock *lock);
void (*fake_on_each_thread)(void);
void (*fake_on_each_stack)(void);
uint64_t fake_nr_bugs, fake_nr_panics;
void (*fake_on_log_event)(void);
bool fake_log_echo;

static char log_text[1 << 16];
static size_t log_len;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

struct fake_thread {
	int32_t pid;
	struct trace_thread trace;
	char comm[TRACE_COMM_LEN];
	uintptr_t stack[8]; /* what stands on it */
	size_t stack_nr;
	bool is_missed;
};
static struct fake_thread threads[256];
static size_t nr_threads;
#define MAX_LATER 4u
static void (*later_fns[MAX_LATER])(void); /* of trace_plat_call_later(), the oldest first */
static size_t nr_later;
static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;

#define MAX_PAUSES 100000u
_Atomic uint64_t fake_nr_looks, fake_nr_pauses;
void (*fake_on_pause)(void);

/* The contents of a struct trace_plat_lock; all zero is unlocked. */
struct fake_lock {
	pthread_mutex_t mutex;
	_Atomic pthread_t owner;
};
_Static_assert(sizeof(struct fake_lock) <= sizeof(struct trace_plat_lock), "opaque is too small");

void fake_thread_reset(void)
{
	fake_alloc_max_bytes = 0;
	fake_alloc_budget = -1;
	fake_alloc_fails_once = false;
	fake_alloc_calls = 0;
	fake_host_budget = -1;
	fake_nr_refused = 0;
	fake_on_alloc = NULL;
	fake_interrupted = false;
	fake_names_held = false;
	fake_bad_page = NULL;
	fake_reads_anywhere = fake_reads_user = false;
	fake_user_page = NULL;
	fake_user = NULL;
	fake_on_wait = NULL;
	fake_on_lock = NULL;
	fake_on_unlock = NULL;
	fake_on_each_thread = NULL;
	fake_on_each_stack = NULL;
	fake_nr_bugs = 0;
	fake_nr_panics = 0;
	fake_on_log_event = NULL;
	log_len = 0;
	log_text[0] = '\0';
	nr_threads = 0;
	memset(fake_stacks, 0, sizeof(fake_stacks));
	nr_later = 0;
	fake_nr_looks = fake_nr_pauses = 0;
	fake_on_pause = NULL;
}

void fake_reset(void)
{
	fake_cpu_reset();
	fake_thread_reset();
	fake_text_reset();
	fake_probe_reset();
}

bool fake_host_fails(void)
{
	if (fake_host_budget < 0)
		return false;
	if (fake_host_budget-- > 0)
		return false;
	fake_nr_refused++;
	return true;
}

void *trace_plat_alloc(size_t bytes)
{
	void (*hook)(void) = fake_on_alloc;
	void *memory;

	if (hook) {
		fake_on_alloc = NULL;
		hook();
		fake_on_alloc = hook;
	}
	atomic_fetch_add(&fake_alloc_calls, 1);
	if (fake_alloc_budget == 0 || (fake_alloc_max_bytes && bytes > fake_alloc_max_bytes)) {
		fake_nr_refused++;
		if (fake_alloc_fails_once)
			fake_alloc_budget = -1;
		return NULL;
	}
	if (fake_alloc_budget > 0)
		fake_alloc_budget--;
	if (posix_memalign(&memory,
			   bytes >= 4096 ? 4096
			   : bytes % 64	 ? 16
					 : 64,
			   bytes ? bytes : 1) != 0)
		return NULL;
	memset(memory, 0, bytes);
	atomic_fetch_add(&fake_alloc_out, 1);
	return memory;
}

void trace_plat_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	memset(memory, 0x5a, bytes); /* a wrong size is found by the sanitiser */
	atomic_fetch_sub(&fake_alloc_out, 1);
	free(memory);
}

bool fake_lock_held(const struct trace_plat_lock *lock)
{
	const struct fake_lock *fake = (const struct fake_lock *)(const void *)lock;

	return pthread_equal(atomic_load(&fake->owner), pthread_self());
}

void trace_plat_lock(struct trace_plat_lock *lock)
{
	struct fake_lock *fake = (struct fake_lock *)(void *)lock;
	void (*hook)(void) = fake_on_lock;

	if (hook) {
		fake_on_lock = NULL;
		hook();
		fake_on_lock = hook;
	}
	if (fake_lock_held(lock) || trace_plat_preempt_count()) {
		fprintf(stderr, "fake: lock taken twice, or in atomic context\n");
		abort();
	}
	pthread_mutex_lock(&fake->mutex);
	atomic_store(&fake->owner, pthread_self());
}

void trace_plat_unlock(struct trace_plat_lock *lock)
{
	struct fake_lock *fake = (struct fake_lock *)(void *)lock;
	void (*hook)(const struct trace_plat_lock *lock) = fake_on_unlock;

	if (!fake_lock_held(lock)) {
		fprintf(stderr, "fake: unlock by somebody else\n");
		abort();
	}
	atomic_store(&fake->owner, 0);
	pthread_mutex_unlock(&fake->mutex);
	if (hook) {
		fake_on_unlock = NULL;
		hook(lock);
		fake_on_unlock = hook;
	}
}

int trace_plat_wait(struct trace_plat_waitq *queue, bool (*done)(void *arg), void *arg)
{
	(void)queue;
	for (;;) {
		if (fake_on_wait)
			fake_on_wait();
		if (done(arg))
			return 0;
		if (fake_interrupted)
			return -EINTR;
		usleep(100);
	}
}

struct trace_sched_thread fake_sched;
char fake_sched_comm[TRACE_COMM_LEN];

void trace_plat_current_sched(struct trace_sched_thread *out_thread)
{
	*out_thread = fake_sched;
	out_thread->thread = trace_plat_current();
	out_thread->pid = trace_plat_current_pid();
	out_thread->cpu = trace_plat_cpu_id();
	out_thread->comm = fake_sched_comm;
}

struct trace_stack fake_stacks[FAKE_MAX_STACKS];

bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack)
{
	for (size_t i = 0; i < FAKE_MAX_STACKS; i++) {
		*out_stack = fake_stacks[i];
		if (addr >= out_stack->lo && addr < out_stack->base)
			return true;
	}
	return false;
}

void trace_plat_wake(struct trace_plat_waitq *queue)
{
	(void)queue; /* waiters poll */
}

static struct fake_thread *find_thread(int32_t pid)
{
	for (size_t i = 0; i < nr_threads; i++)
		if (threads[i].pid == pid)
			return &threads[i];
	return NULL;
}

void fake_thread_add(int32_t pid, const char *comm)
{
	struct fake_thread *thread = find_thread(pid);

	if (!thread) {
		thread = &threads[nr_threads++];
		thread->pid = pid;
		thread->trace = (struct trace_thread){ 0 };
		thread->stack_nr = 0;
		thread->is_missed = false;
	}
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
}

void fake_run(int32_t pid)
{
	struct fake_thread *thread = find_thread(pid);

	fake_this->current = thread ? &thread->trace : NULL;
	fake_this->pid = thread ? pid : 0;
}

void fake_thread_stack(int32_t pid, const uintptr_t *words, size_t nr)
{
	struct fake_thread *thread = find_thread(pid);

	for (size_t i = 0; i < nr; i++)
		thread->stack[i] = words[i];
	thread->stack_nr = nr;
}

void fake_thread_missed(int32_t pid, bool missed)
{
	find_thread(pid)->is_missed = missed;
}

void fake_thread_exit(int32_t pid)
{
	struct fake_thread *thread = find_thread(pid);

	*thread = threads[--nr_threads];
}

/* Piece by piece: here every word is one. */
void trace_plat_each_stack(const struct trace_plat_look *look)
{
	atomic_fetch_add(&fake_nr_looks, 1);
	if (fake_on_each_stack)
		fake_on_each_stack();
	for (size_t i = 0; i < nr_threads; i++) {
		struct fake_thread *thread = &threads[i];
		uint32_t found = 0;

		if (thread->is_missed)
			continue;
		for (size_t word = 0; word < thread->stack_nr; word++)
			found |= look->find(&thread->trace, &thread->stack[word], 1, look->arg);
		look->seen(&thread->trace, found, look->arg);
	}
	if (fake_on_each_stack)
		fake_on_each_stack();
}

int trace_plat_pause(uint64_t ns, bool may_interrupt)
{
	(void)ns;
	if (trace_plat_preempt_count() || trace_plat_irqs_disabled()) {
		fprintf(stderr, "fake: pause with preemption or interrupts off\n");
		abort();
	}
	if (may_interrupt && fake_interrupted)
		return -EINTR;
	if (atomic_fetch_add(&fake_nr_pauses, 1) > MAX_PAUSES) {
		fprintf(stderr, "fake: a wait does not end\n");
		abort();
	}
	if (fake_on_pause)
		fake_on_pause();
	return 0;
}

void trace_plat_call_later(struct trace_plat_later *later, void (*fn)(void), uint64_t delay_ns)
{
	size_t i = 0;

	(void)later;
	(void)delay_ns;
	pthread_mutex_lock(&later_lock);
	while (i < nr_later && later_fns[i] != fn)
		i++;
	if (i == nr_later)
		later_fns[nr_later++] = fn;
	pthread_mutex_unlock(&later_lock);
}

bool fake_run_later(void)
{
	void (*fn)(void) = NULL;

	pthread_mutex_lock(&later_lock);
	if (nr_later) {
		fn = later_fns[0];
		memmove(&later_fns[0], &later_fns[1], --nr_later * sizeof(later_fns[0]));
	}
	pthread_mutex_unlock(&later_lock);
	if (fn)
		fn();
	return fn != NULL;
}

struct trace_thread *fake_thread_of(int32_t pid)
{
	struct fake_thread *thread = find_thread(pid);

	return thread ? &thread->trace : NULL;
}

bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	struct fake_thread *thread = find_thread(pid);

	if (fake_names_held && may_wait) {
		fprintf(stderr, "fake: waits for the names of threads\n");
		abort();
	}
	if (fake_names_held)
		return false;
	if (thread)
		memcpy(out_comm, thread->comm, TRACE_COMM_LEN);
	return thread != NULL;
}

void trace_plat_current_comm(char *out_comm)
{
	struct fake_thread *thread = find_thread(trace_plat_current_pid());

	memset(out_comm, 0, TRACE_COMM_LEN);
	if (thread)
		memcpy(out_comm, thread->comm, TRACE_COMM_LEN);
}

const uint32_t fake_comm_at = offsetof(struct fake_thread, comm);

const char *trace_plat_thread_type(size_t *out_offset)
{
	*out_offset = offsetof(struct fake_thread, trace);
	return "fake_thread";
}

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	if (fake_on_each_thread)
		fake_on_each_thread();
	for (size_t i = 0; i < nr_threads; i++)
		fn(threads[i].pid, &threads[i].trace, arg);
	if (fake_on_each_thread)
		fake_on_each_thread();
}

/* The host's printf would not know %pS; the trace_ formatter is used when it is linked. */
int trace_vsnprintf(char *buf, size_t size, const char *fmt, va_list args) __attribute__((weak));

static void log_line(const char *fmt, va_list args)
{
	char line[512];

	if (trace_vsnprintf)
		trace_vsnprintf(line, sizeof(line), fmt, args);
	else
		vsnprintf(line, sizeof(line), fmt, args);
	pthread_mutex_lock(&log_lock);
	if (log_len + strlen(line) + 2 <= sizeof(log_text))
		log_len += (size_t)sprintf(log_text + log_len, "%s\n", line);
	pthread_mutex_unlock(&log_lock);
	if (fake_log_echo)
		fprintf(stderr, "log: %s\n", line);
}

void trace_plat_log(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

void trace_plat_alert(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

void trace_plat_log_event(const char *line, size_t len)
{
	if (fake_on_log_event)
		fake_on_log_event();
	trace_plat_log("%.*s", (int)len, line);
}

void trace_plat_panic(const char *fmt, ...)
{
	va_list args;

	fake_nr_panics++;
	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

void trace_plat_bug(const char *fmt, ...)
{
	va_list args;

	fake_nr_bugs++;
	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

const char *fake_log(void)
{
	return log_text;
}

static struct trace_plat_deferred *deferred_list;

/* Tests run what was deferred when they like. */
void trace_plat_defer(struct trace_plat_deferred *deferred)
{
	deferred->next = deferred_list;
	deferred_list = deferred;
}

void fake_run_deferred(void)
{
	struct trace_plat_deferred *deferred = deferred_list;

	deferred_list = NULL;
	while (deferred) {
		struct trace_plat_deferred *next = deferred->next;

		deferred->fn(deferred);
		deferred = next;
	}
}
