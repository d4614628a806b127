/*
 * Waiting until every thread has left some code: see ftrace_grace.h.
 */
#include <trace/thread.h>
#include "ftrace_frame.h"
#include "ftrace_grace.h"
#include "text/str.h"

#define NR_SLOTS       32u	      /* bits of trace_thread.grace */
#define NR_NAMED       4u	      /* threads that the log names for each slot */
#define WAIT_NS	       2000000ull     /* between two looks of a thread that waits: 2 ms */
#define WORKER_NS      10000000ull    /* between two looks of the worker: 10 ms */
#define SLOW_WORKER_NS 100000000ull   /* the same after the first second: 100 ms */
#define PATIENCE_NS    10000000000ull /* 10 s until the log names the threads inside */
#define NAMELESS_BYTES 4096u	      /* taken for the size of code without a symbol */
#define SEVERAL	       (-1)	      /* in place of the pid of the thread that began a wait */

struct slot {
	struct ftrace_wait *waits; /* in the order in which they began; NULL: free */
	uint64_t since_ns;
	bool is_named; /* the log has said who is inside */
};

static struct trace_plat_lock look_lock;	    /* one look at a time */
static struct trace_plat_later ftrace_grace_worker; /* guarded by look_lock */

/*
 * Guards what follows. `slots` change with both locks held, so either one is enough to read them.
 */
static struct trace_plat_lock grace_lock;
static struct ftrace_wait *queue; /* in the order in which they began */
static struct slot slots[NR_SLOTS];
static struct ftrace_after *afters; /* ascending numbers */
static uint64_t last_number;

/* ---- Code ---- */

struct ftrace_code ftrace_code_at(uintptr_t addr)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	if (trace_plat_symbol(addr, name, &start, &bytes))
		return (struct ftrace_code){ start, start + bytes - 1 };
	return (struct ftrace_code){ addr, addr + NAMELESS_BYTES - 1 };
}

bool ftrace_code_has(struct ftrace_code code, uintptr_t addr)
{
	return addr >= code.start && addr <= code.end && code.end;
}

bool ftrace_code_in_shadow(struct ftrace_code code, const struct trace_thread *thread)
{
	const struct fgraph_frame *top =
		atomic_load_explicit(&thread->graph_top, memory_order_relaxed);

	if (!thread->graph_base)
		return false;
	for (const struct fgraph_frame *frame = thread->graph_base + 1; frame < top; frame++) {
		if (ftrace_code_has(code, trace_plat_ip_unpack(frame->ret)))
			return true;
	}
	return false;
}

/* ---- Lists; grace_lock held ---- */

static void ftrace_grace_append(struct ftrace_wait **list, struct ftrace_wait *wait)
{
	while (*list)
		list = &(*list)->next;
	wait->next = NULL;
	*list = wait;
}

void ftrace_wait_begin(struct ftrace_wait *wait, void (*done)(struct ftrace_wait *wait))
{
	int32_t pid = trace_plat_current_pid();

	trace_plat_lock(&grace_lock);
	wait->done = done;
	wait->number = ++last_number;
	wait->pid = wait->state == FTRACE_WAIT_IDLE || wait->pid == pid ? pid : SEVERAL;
	if (wait->state == FTRACE_WAIT_IDLE) {
		wait->state = FTRACE_WAIT_QUEUED;
		ftrace_grace_append(&queue, wait);
	} else if (wait->state == FTRACE_WAIT_IN_SLOT) {
		wait->state = FTRACE_WAIT_AGAIN;
	}
	trace_plat_unlock(&grace_lock);
}

/* Is there one in the list that thread `pid` may have begun since it took `mark`? */
static bool list_has(const struct ftrace_wait *wait, uint64_t mark, int32_t pid)
{
	while (wait && !(wait->number >= mark && (wait->pid == pid || wait->pid == SEVERAL)))
		wait = wait->next;
	return wait;
}

static bool is_pending(uint64_t mark, int32_t pid)
{
	bool found = list_has(queue, mark, pid);

	for (uint32_t i = 0; i < NR_SLOTS && !found; i++)
		found = list_has(slots[i].waits, mark, pid);
	return found;
}

static uint64_t oldest_of(const struct ftrace_wait *wait, uint64_t oldest)
{
	for (; wait; wait = wait->next) {
		if (wait->number < oldest)
			oldest = wait->number;
	}
	return oldest;
}

/* The smallest number of all pending waits; UINT64_MAX when nothing is pending. */
static uint64_t oldest_number(void)
{
	uint64_t oldest = oldest_of(queue, UINT64_MAX);

	for (uint32_t i = 0; i < NR_SLOTS; i++)
		oldest = oldest_of(slots[i].waits, oldest);
	return oldest;
}

/* ---- A look; look_lock held ---- */

static void be_inside(int32_t pid, struct trace_thread *thread, void *arg)
{
	(void)pid;
	__atomic_fetch_or(&thread->grace, *(const uint32_t *)arg, __ATOMIC_RELAXED);
}

static uint32_t busy_slots(void)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i < NR_SLOTS; i++)
		busy |= slots[i].waits ? 1u << i : 0;
	return busy;
}

/* The first wait of the queue, or with `all` every one. grace_lock held. */
static struct ftrace_wait *take_queued(bool all)
{
	struct ftrace_wait *first = queue, *last = first;

	first->state = FTRACE_WAIT_IN_SLOT;
	for (; all && last->next; last = last->next)
		last->next->state = FTRACE_WAIT_IN_SLOT;
	queue = last->next;
	last->next = NULL;
	return first;
}

/*
 * Move waits from the queue to free slots, one to each; the last free slot takes all that remain.
 */
static void fill_slots(void)
{
	uint64_t now = trace_plat_clock_mono_ns();
	uint32_t left, bits = 0;

	trace_plat_lock(&grace_lock);
	for (left = ~busy_slots(); left && queue; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		slots[i] = (struct slot){ take_queued(!(left & (left - 1))), now, false };
		bits |= 1u << i;
	}
	trace_plat_unlock(&grace_lock);
	if (bits)
		trace_plat_each_thread(be_inside, &bits);
}

static bool holds_any(struct ftrace_code code, const uintptr_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (ftrace_code_has(code, words[i]))
			return true;
	}
	return false;
}

/*
 * For struct trace_plat_look: a bit for each slot that the thread is still asked about and whose
 * code one of the words points into. Interrupts may be off; look_lock, held by whoever looks, keeps
 * the slots as they are.
 */
static uint32_t find_code(struct trace_thread *thread, const uintptr_t *words, size_t nr, void *arg)
{
	uint32_t left = __atomic_load_n(&thread->grace, __ATOMIC_RELAXED), found = 0;

	(void)arg;
	for (; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		for (const struct ftrace_wait *wait = slots[i].waits; wait; wait = wait->next) {
			if (holds_any(wait->code[0], words, nr) ||
			    holds_any(wait->code[1], words, nr))
				found |= 1u << i;
		}
	}
	return found;
}

static uint32_t find_in_shadow(const struct trace_thread *thread, uint32_t left)
{
	uint32_t found = 0;

	for (; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		for (const struct ftrace_wait *wait = slots[i].waits; wait; wait = wait->next) {
			if (ftrace_code_in_shadow(wait->code[0], thread) ||
			    ftrace_code_in_shadow(wait->code[1], thread))
				found |= 1u << i;
		}
	}
	return found;
}

static void seen(struct trace_thread *thread, uint32_t found, void *arg)
{
	uint32_t left = __atomic_load_n(&thread->grace, __ATOMIC_RELAXED);

	(void)arg;
	if (left)
		__atomic_fetch_and(&thread->grace, found | find_in_shadow(thread, left),
				   __ATOMIC_RELAXED);
}

/* Threads that have not been seen outside yet. */
struct left {
	uint32_t slots;		/* bits of all slots that wait for a thread */
	uint32_t asked;		/* bits of the slots whose threads are to be counted */
	int32_t pids[NR_NAMED]; /* the first of these threads */
	uint32_t nr;		/* number of them */
};

static void ftrace_grace_collect(int32_t pid, struct trace_thread *thread, void *arg)
{
	uint32_t bits = __atomic_load_n(&thread->grace, __ATOMIC_RELAXED);
	struct left *left = arg;

	left->slots |= bits;
	if (!(bits & left->asked))
		return;
	if (left->nr < NR_NAMED)
		left->pids[left->nr] = pid;
	left->nr++;
}

static struct left who_is_left(uint32_t asked)
{
	struct left left = { .asked = asked };

	trace_plat_each_thread(ftrace_grace_collect, &left);
	return left;
}

typedef void (*done_fn)(struct ftrace_wait *wait);

/*
 * Take the first wait out of the slot; NULL when it has none. A wait that was begun again meanwhile
 * goes back to the queue, and *out_done is NULL: its done() is called after the next round.
 */
static struct ftrace_wait *take_wait(struct slot *slot, done_fn *out_done)
{
	struct ftrace_wait *wait;

	*out_done = NULL;
	trace_plat_lock(&grace_lock);
	wait = slot->waits;
	if (wait) {
		slot->waits = wait->next;
		if (wait->state == FTRACE_WAIT_AGAIN) {
			wait->state = FTRACE_WAIT_QUEUED;
			ftrace_grace_append(&queue, wait);
		} else {
			wait->state = FTRACE_WAIT_IDLE;
			*out_done = wait->done;
		}
	}
	trace_plat_unlock(&grace_lock);
	return wait;
}

static void close_slot(struct slot *slot)
{
	struct ftrace_wait *wait;
	done_fn done;

	while ((wait = take_wait(slot, &done))) {
		if (done)
			done(wait);
	}
}

static void name_thread(int32_t pid)
{
	char comm[TRACE_COMM_LEN];

	if (!trace_plat_thread_comm(pid, true, comm))
		trace_strcpy(comm, pid ? "<...>" : "<idle>", sizeof(comm));
	trace_plat_log("ftrace: %s-%d has been inside code that is to go for 10 s", comm, pid);
}

/* Once for each slot, say in the log who is inside, if the slot has been busy for 10 s. */
static void name_late(uint32_t busy)
{
	uint64_t now = trace_plat_clock_mono_ns();

	for (; busy; busy &= busy - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(busy);
		struct left left;

		if (slots[i].is_named || now - slots[i].since_ns < PATIENCE_NS)
			continue;
		slots[i].is_named = true;
		left = who_is_left(1u << i);
		for (uint32_t n = 0; n < left.nr && n < NR_NAMED; n++)
			name_thread(left.pids[n]);
		if (left.nr > NR_NAMED)
			trace_plat_log("ftrace: and %u other threads", left.nr - NR_NAMED);
	}
}

static void run_afters(void)
{
	struct ftrace_after *after;

	for (;;) {
		trace_plat_lock(&grace_lock);
		after = afters && afters->number < oldest_number() ? afters : NULL;
		if (after)
			afters = after->next;
		trace_plat_unlock(&grace_lock);
		if (!after)
			return;
		after->fn(after);
	}
}

static void look_at_stacks(uint32_t busy)
{
	const struct trace_plat_look look = { .find = find_code, .seen = seen };
	uint32_t left;

	trace_plat_each_stack(&look);
	left = who_is_left(0).slots;
	for (uint32_t i = 0; i < NR_SLOTS; i++) {
		if (busy & ~left & 1u << i)
			close_slot(&slots[i]);
	}
	name_late(busy & left);
}

static void worker_looks(void);

static void look_locked(void)
{
	uint64_t now, since;
	uint32_t busy;

	fill_slots();
	busy = busy_slots();
	if (busy)
		look_at_stacks(busy);
	run_afters();
	trace_plat_lock(&grace_lock);
	busy = busy_slots();
	since = busy ? slots[__builtin_ctz(busy)].since_ns : 0;
	busy |= queue != NULL;
	trace_plat_unlock(&grace_lock);
	if (!busy)
		return;
	now = trace_plat_clock_mono_ns();
	trace_plat_call_later(&ftrace_grace_worker, worker_looks,
			      now - since < PATIENCE_NS / 10 ? WORKER_NS : SLOW_WORKER_NS);
}

void ftrace_grace_look(void)
{
	trace_plat_lock(&look_lock);
	look_locked();
	trace_plat_unlock(&look_lock);
}

static void worker_looks(void)
{
	ftrace_grace_look();
}

/* ---- Waiting ---- */

uint64_t ftrace_grace_mark(void)
{
	uint64_t mark;

	trace_plat_lock(&grace_lock);
	mark = last_number + 1;
	trace_plat_unlock(&grace_lock);
	return mark;
}

/*
 * Look, and return whether a wait of this thread since `mark` is still pending. Takes look_lock to
 * ask, because until it is free, done() of another thread's look may be running.
 */
static bool look_and_ask(uint64_t mark)
{
	int32_t pid = trace_plat_current_pid();
	bool pending;

	trace_plat_lock(&look_lock);
	trace_plat_lock(&grace_lock);
	pending = is_pending(mark, pid);
	trace_plat_unlock(&grace_lock);
	if (pending)
		look_locked();
	trace_plat_lock(&grace_lock);
	pending = is_pending(mark, pid);
	trace_plat_unlock(&grace_lock);
	trace_plat_unlock(&look_lock);
	return pending;
}

int ftrace_grace_wait(uint64_t mark, bool may_interrupt)
{
	int err = 0;

	if (ftrace_grace_mark() == mark)
		return 0; /* nothing has begun at all */
	while (!err && look_and_ask(mark))
		err = trace_plat_pause(WAIT_NS, may_interrupt);
	return err;
}

static void append_after(struct ftrace_after *after)
{
	struct ftrace_after **link = &afters;

	trace_plat_lock(&grace_lock);
	after->number = last_number;
	after->next = NULL;
	while (*link)
		link = &(*link)->next;
	*link = after;
	trace_plat_unlock(&grace_lock);
}

void ftrace_call_after(struct ftrace_after *after)
{
	append_after(after);
	ftrace_grace_look();
}
