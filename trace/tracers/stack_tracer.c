/*
 * The callback of the stack tracer, and its maxima: see <trace/stack_tracer.h>,
 * stack_tracer_private.h.
 *
 * Nearly every call is on a thread's stack that is not the deepest; a subtraction and a comparison
 * find that out. A deeper one is recorded with interrupts off and the lock of its kind held.
 * Readers take no lock; they read again if the sequence has changed.
 */
#include <trace/fgraph.h>
#include <trace/recursion.h>
#include "ops/ftrace_private.h"
#include "stack_tracer_private.h"

#define LOCK_TRIES (1u << 20)
#define NOT_THREAD (TRACE_HARDIRQ_MASK | TRACE_NMI_MASK)
/* If fewer bytes than this are left on a stack, the next interrupt may overflow it. */
#define NEARLY_FULL(bytes) ((bytes) / 8 + 1024)

struct stack_max {
	_Atomic bool is_locked;
	uint32_t ips[STACK_TRACER_ENTRIES]; /* for the lock's holder: callers not yet found on it */
	struct stack_tracer_max max;
};

static struct {
	struct trace_plat_lock lock;	 /* guards `value` and registration */
	int value;			 /* the result of stack_tracer_enabled() */
	struct stack_max *_Atomic kinds; /* TRACE_NR_STACK_KINDS of them; NULL until it is on */
	_Atomic uint32_t first_max;	 /* stack_max_size while `kinds` is NULL */
	_Atomic uint32_t thread_max;	 /* copy of kinds[THREAD].max.bytes, for the usual call */
	_Atomic bool has_warned;
} tracer;

/* A stack that was nearly full. A thread logs it later, because that needs stack, too. */
static struct {
	struct trace_plat_deferred deferred;
	_Atomic bool is_pending;
	uintptr_t ip;
	uintptr_t left;
	uintptr_t bytes;
	int32_t pid;
} warning;

static void stack_tracer_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);

struct ftrace_ops stack_tracer_ops = { .func = stack_tracer_call };

/* ---- Recording ---- */

static void set_bytes(struct stack_max *kind, uint32_t bytes)
{
	kind->max.bytes = bytes;
	if (kind == &tracer.kinds[TRACE_STACK_THREAD])
		tracer.thread_max = bytes;
}

/*
 * The place on the stack, from `slot` on, with the return address `ip`; stack->base if there is
 * none.
 */
static uintptr_t stack_tracer_find_slot(uint32_t ip, uintptr_t slot,
					const struct trace_stack *stack)
{
	const struct trace_thread *thread = trace_plat_current();
	uintptr_t addr = trace_plat_ip_unpack(ip);

	for (; slot < stack->base; slot += sizeof(slot)) {
		const uintptr_t *at = (const uintptr_t *)slot;

		if (ftrace_graph_ret_addr(thread, *at, at) == addr)
			break;
	}
	return slot;
}

/*
 * Find the place of each caller on the stack, to say how deep it is. The callers are on the stack
 * in the same order as in kind->ips. One that is not found is left out.
 */
static void find_slots(struct stack_max *kind, uint32_t nr, uintptr_t slot,
		       const struct trace_stack *stack)
{
	struct stack_tracer_max *max = &kind->max;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uintptr_t at = stack_tracer_find_slot(kind->ips[i], slot, stack);

		if (at >= stack->base)
			continue;
		max->ips[kept] = kind->ips[i];
		max->depths[kept++] = (uint32_t)(stack->base - at);
		slot = at + sizeof(at);
	}
	max->nr = kept;
	max->is_cut = nr == STACK_TRACER_ENTRIES;
}

/*
 * Take the lock of a kind. Its holder has interrupts off and does not sleep, so trying again is
 * enough; except in an NMI, which may have interrupted the holder: that gives up and returns false.
 */
static bool lock_kind(struct stack_max *kind)
{
	for (uint32_t tries = 0; tries < LOCK_TRIES; tries++) {
		if (!atomic_exchange_explicit(&kind->is_locked, true, memory_order_acquire))
			return true;
	}
	return false;
}

static void unlock_kind(struct stack_max *kind)
{
	atomic_store_explicit(&kind->is_locked, false, memory_order_release);
}

/* The lock is held. `slot` holds the return address into the traced function. */
static void record_locked(struct stack_max *kind, uintptr_t frame, uintptr_t slot,
			  const struct trace_stack *stack)
{
	struct stack_tracer_max *max = &kind->max;
	uint32_t nr;

	atomic_fetch_add(&max->sequence, 1);
	nr = (uint32_t)trace_plat_backtrace(frame, true, kind->ips, STACK_TRACER_ENTRIES);
	kind->ips[0] = trace_plat_ip_pack(*(const uintptr_t *)slot);
	nr += !nr; /* if there is no backtrace, at least the traced function is known */
	find_slots(kind, nr, slot, stack);
	max->cpu = trace_plat_cpu_id();
	set_bytes(kind, (uint32_t)(stack->base - slot));
	atomic_fetch_add(&max->sequence, 1);
}

static void stack_tracer_record(enum trace_stack_kind which, uintptr_t frame, uintptr_t slot,
				const struct trace_stack *stack)
{
	struct stack_max *kind = &tracer.kinds[which];
	uint64_t flags;

	if (stack->base - slot <= kind->max.bytes)
		return;
	flags = trace_plat_irq_save();
	if (lock_kind(kind)) {
		if (stack->base - slot > kind->max.bytes) /* it may be another one by now */
			record_locked(kind, frame, slot, stack);
		unlock_kind(kind);
	}
	trace_plat_irq_restore(flags);
}

static void print_warning(struct trace_plat_deferred *deferred)
{
	(void)deferred;
	trace_plat_log("stack tracer: %lu of %lu bytes of a stack left, pid %d in %pS",
		       (unsigned long)warning.left, (unsigned long)warning.bytes, warning.pid,
		       (void *)warning.ip);
	warning.is_pending = false;
}

/* Warns once, and again after stack_max_size was set. */
static void warn_when_full(uintptr_t ip, uintptr_t slot, const struct trace_stack *stack)
{
	uintptr_t left = slot - stack->lo, bytes = stack->hi - stack->lo;

	if (left >= NEARLY_FULL(bytes) || atomic_exchange(&tracer.has_warned, true) ||
	    atomic_exchange(&warning.is_pending, true))
		return;
	warning.ip = ip;
	warning.left = left;
	warning.bytes = bytes;
	warning.pid = trace_plat_current_pid();
	warning.deferred.fn = print_warning;
	trace_plat_defer(&warning.deferred);
}

static TRACE_NOINLINE void look_closer(uintptr_t ip, uintptr_t slot, uintptr_t frame)
{
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);
	struct trace_stack stack;

	if (bit < 0)
		return;
	if (trace_plat_stack_find(slot, &stack)) {
		stack_tracer_record(stack.kind, frame, slot, &stack);
		if (stack.kind == TRACE_STACK_IRQ) {
			stack.base = stack.hi; /* it is also a part of the thread's stack */
			stack_tracer_record(TRACE_STACK_THREAD, frame, slot, &stack);
		}
		warn_when_full(ip, slot, &stack);
	}
	trace_recursion_exit(bit);
}

static void stack_tracer_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	uintptr_t slot = ftrace_regs_get_stack_pointer(fregs) - sizeof(uintptr_t);

	(void)parent_ip;
	(void)ops;
	if (TRACE_LIKELY(trace_plat_stack_top() - slot <= tracer.thread_max) &&
	    !(trace_plat_preempt_count() & NOT_THREAD))
		return;
	look_closer(ip, slot, (uintptr_t)__builtin_frame_address(0));
}

/* ---- Switching ---- */

int stack_tracer_enabled(void)
{
	return tracer.value;
}

static int stack_tracer_prepare(void)
{
	struct stack_max *kinds = tracer.kinds;

	if (kinds)
		return 0;
	kinds = trace_plat_alloc(TRACE_NR_STACK_KINDS * sizeof(*kinds));
	if (!kinds)
		return -ENOMEM;
	for (uint32_t i = 0; i < TRACE_NR_STACK_KINDS; i++)
		kinds[i].max.bytes = tracer.first_max;
	tracer.thread_max = tracer.first_max;
	tracer.kinds = kinds;
	return 0;
}

int stack_tracer_enable(int value)
{
	int err = 0;

	trace_plat_lock(&tracer.lock);
	if (!value != !tracer.value) {
		if (!value) /* an error only means that tracing is dead: it is off in any case */
			ftrace_unregister(&stack_tracer_ops);
		else if (!(err = stack_tracer_prepare()))
			err = register_ftrace_function(&stack_tracer_ops);
	}
	if (!err)
		tracer.value = value;
	trace_plat_unlock(&tracer.lock);
	return err;
}

/* ---- Results for the files ---- */

uint64_t stack_tracer_max_bytes(void)
{
	return tracer.kinds ? tracer.thread_max : tracer.first_max;
}

static void forget_locked(struct stack_tracer_max *max)
{
	atomic_fetch_add(&max->sequence, 1);
	max->nr = 0;
	atomic_fetch_add(&max->sequence, 1);
}

/* Depths have 32 bits. A larger size becomes the largest depth, which no stack ever exceeds. */
void stack_tracer_set_max(uint64_t bytes)
{
	uint32_t cut = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	struct stack_max *kind;
	uint64_t flags;

	trace_plat_lock(&tracer.lock);
	tracer.first_max = cut;
	for (uint32_t i = 0; tracer.kinds && i < TRACE_NR_STACK_KINDS; i++) {
		kind = &tracer.kinds[i];
		flags = trace_plat_irq_save();
		if (lock_kind(kind)) {
			set_bytes(kind, cut);
			if (i != TRACE_STACK_THREAD)
				forget_locked(&kind->max);
			unlock_kind(kind);
		}
		trace_plat_irq_restore(flags);
	}
	tracer.has_warned = false;
	trace_plat_unlock(&tracer.lock);
}

static void copy_max(struct stack_tracer_max *to, const struct stack_tracer_max *from)
{
	to->bytes = from->bytes;
	to->nr = from->nr;
	to->cpu = from->cpu;
	to->is_cut = from->is_cut;
	for (uint32_t i = 0; i < to->nr; i++) {
		to->ips[i] = from->ips[i];
		to->depths[i] = from->depths[i];
	}
}

bool stack_tracer_read(enum trace_stack_kind kind, struct stack_tracer_max *out_max)
{
	const struct stack_tracer_max *max;
	uint32_t sequence;

	if (!tracer.kinds)
		return false;
	max = &tracer.kinds[kind].max;
	do {
		sequence = max->sequence & ~1u;
		copy_max(out_max, max);
		atomic_thread_fence(memory_order_acquire); /* copy first, then look again */
	} while (max->sequence != sequence);
	return out_max->nr != 0;
}

void stack_tracer_boot(const char *list)
{
	while (*list) {
		const char *pattern = list;

		while (*list && *list != ',')
			list++;
		if (list > pattern &&
		    ftrace_set_filter(&stack_tracer_ops, pattern, (size_t)(list - pattern), false))
			trace_plat_log("trace: stacktrace_filter: no function matches %.*s",
				       (int)(list - pattern), pattern);
		list += *list == ',';
	}
	if (stack_tracer_enable(1))
		trace_plat_log("trace: cannot start the stack tracer");
}
