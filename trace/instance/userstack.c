/* Stacks of programs behind events: see stacktrace.h. */
#include <trace/ring_buffer.h>
#include <trace/thread.h>
#include <trace/trace.h>
#include "entry.h"
#include "stacktrace.h"

/* A frame of a program that was compiled with frame pointers. */
struct user_frame {
	uint64_t next;
	uint64_t ret;
};

static uint64_t userstack_caller(const struct trace_plat_user *user, uint64_t ret, uint64_t slot)
{
	return user->caller ? user->caller(user, ret, slot) : ret;
}

/* Frames lie further and further up the stack; the one of the first function has no caller. */
static TRACE_NOINLINE uint32_t userstack_follow(const struct trace_plat_user *user,
						uint64_t *out_callers)
{
	uint64_t fp = user->fp, above = user->sp;
	struct user_frame frame;
	uint32_t nr = 1;

	while (nr < TRACE_USER_STACK_MAX && fp >= above) {
		if (!trace_plat_read_user(&frame, (const void *)(uintptr_t)fp, sizeof(frame)) ||
		    !frame.ret)
			break;
		out_callers[nr++] =
			userstack_caller(user, frame.ret, fp + offsetof(struct user_frame, ret));
		above = fp + sizeof(frame);
		fp = frame.next;
	}
	return nr;
}

static TRACE_ALWAYS_INLINE uint32_t userstack_walk(struct trace_plat_user *user,
						   uint64_t *out_callers)
{
	out_callers[0] = user->ip;
	if (TRACE_LIKELY(user->frames))
		return 1 + user->frames(user, out_callers + 1, TRACE_USER_STACK_MAX - 1);
	return userstack_follow(user, out_callers);
}

uint32_t trace_userstack_get(uint32_t *out_tgid, uint64_t *out_callers)
{
	struct trace_plat_user user;

	if (!trace_plat_user_get(&user))
		return 0;
	*out_tgid = (uint32_t)user.tgid;
	return userstack_walk(&user, out_callers);
}

void trace_userstack_record(struct ring_buffer *buffer, uint32_t tgid, const uint64_t *callers,
			    uint32_t own_depth)
{
	uint32_t state = trace_plat_preempt_word() - (TRACE_DEPTH_BASE + own_depth);
	struct trace_user_stack_entry *entry;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry));
	if (!entry)
		return;
	if (TRACE_LIKELY(state < TRACE_STATE_MAX_DEPTH))
		trace_entry_put(&entry->ent,
				trace_entry_word(TRACE_ENTRY_BASE(TRACE_TYPE_USER_STACK), state));
	else
		trace_entry_init(&entry->ent, TRACE_TYPE_USER_STACK, own_depth + 1);
	entry->tgid = tgid;
	entry->unused = 0;
	__builtin_memcpy(entry->caller, callers, sizeof(entry->caller));
	ring_buffer_unlock_commit(buffer, entry);
}

/* An event waits already, and this one has the same stack: the thread has not been in its program since. */
static bool userstack_is_due(const struct trace_thread *thread, const struct trace_array *tr)
{
	return thread->user_stacks_due & tr->user_stack_bit;
}

void trace_userstack_write(struct trace_array *tr, uint32_t own_depth)
{
	uint64_t callers[TRACE_USER_STACK_MAX] = { 0 };
	struct trace_thread *thread = trace_plat_current();
	struct trace_plat_user user;

	if (TRACE_UNLIKELY(userstack_is_due(thread, tr)) || !trace_plat_user_get(&user))
		return;
	userstack_walk(&user, callers);
	if (user.is_cut)
		thread->user_stacks_due |= tr->user_stack_bit;
	else
		trace_userstack_record(tr->buffer, (uint32_t)user.tgid, callers, own_depth);
}

/* No lock is needed: an instance that is removed is freed only after a grace period. */
static void userstack_record_due(uint32_t bits, uint32_t tgid, const uint64_t *callers)
{
	struct trace_array *tr;

	trace_plat_preempt_disable();
	for (tr = trace_global_array(); tr; tr = tr->next) {
		if (tr->user_stack_bit & bits && trace_userstack_wanted(tr))
			trace_userstack_record(tr->buffer, tgid, callers, 1);
	}
	trace_plat_preempt_enable();
}

void trace_userstack_return(void)
{
	uint32_t bits = trace_atomic_exchange(&trace_plat_current()->user_stacks_due, 0);
	uint64_t callers[TRACE_USER_STACK_MAX] = { 0 };
	uint32_t tgid;

	/* Without bits, too: what comes now is there for the histogram that has met a stack that was cut. */
	if (trace_userstack_get(&tgid, callers) && bits)
		userstack_record_due(bits, tgid, callers);
}

uint32_t trace_userstack_take_bit(void)
{
	static uint32_t nr_given;

	return 1u << (nr_given++ % 32);
}
