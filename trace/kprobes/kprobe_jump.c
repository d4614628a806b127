/*
 * Optimised probes: a jump to a detour in place of the breakpoint. See kprobe_private.h, and
 * <trace/arch_probe.h> about detours.
 *
 *   NO     --> WAITS   the detour is made; breakpoints go on behind all the instructions that the
 *                      jump will take the place of, so that no CPU comes to the later ones any more
 *   WAITS  --> READY   every thread has been seen outside of these
 *   READY  --> DONE    the jump is written
 *   any    --> NO      another probe comes to one of these instructions, or a post handler, the
 *                      place is disarmed, or the switch goes off
 *
 * A worker does the first three, for all places at once, some time after probes have changed. Only
 * one that is armed and has no post handler is tried.
 */
#include "kprobe_private.h"

/* 10 ms: registering many probes one by one need not wait in between */
#define LATER_NS 10000000ull

static struct trace_plat_later kprobe_jump_worker; /* kprobe_lock */
static _Atomic bool kprobe_jump_is_off;		   /* the switch; changes with kprobe_lock held */

/* ---- One place ---- */

void kprobe_jump_set(struct kprobe_place *place, enum kprobe_jump jump)
{
	place->jump = (uint8_t)jump;
	for (struct kprobe *p = place->first; p; p = p->next) {
		uint32_t flags = p->flags & ~(uint32_t)KPROBE_FLAG_OPTIMIZED;

		if (jump == KPROBE_JUMP_DONE)
			flags |= KPROBE_FLAG_OPTIMIZED;
		__atomic_store_n(&p->flags, flags, __ATOMIC_RELAXED);
	}
	if (jump == KPROBE_JUMP_NO)
		trace_plat_probe_jump_use(&place->code, false);
}

void kprobe_jump_undo(struct kprobe_place *place)
{
	if (place->is_site || place->jump == KPROBE_JUMP_NO)
		return;
	if (place->jump == KPROBE_JUMP_DONE)
		kprobe_arm_no_jump(place);
	else
		kprobe_jump_set(place, KPROBE_JUMP_NO);
}

void kprobe_jump_make_room(uintptr_t addr)
{
	for (uintptr_t at = addr - 1; at > addr - TRACE_PROBE_JUMP_MAX; at--) {
		struct kprobe_place *place = kprobe_place_find(at);

		if (place && place->jump_bytes > addr - at)
			kprobe_jump_undo(place);
	}
}

/* Is another probe at one of the instructions that it would copy? */
static bool is_crowded(const struct kprobe_place *place)
{
	for (uintptr_t at = place->addr + 1; at < place->addr + place->jump_bytes; at++) {
		if (kprobe_place_find(at))
			return true;
	}
	return false;
}

/* ---- From one state to the next ---- */

/* The bytes, looked for once. */
static bool find_bytes(struct kprobe_place *place)
{
	struct trace_probe_place at = { .addr = place->addr };
	char name[TRACE_SYM_LEN];
	size_t bytes = 0;

	if (place->jump_bytes)
		return true;
	if (trace_plat_symbol(place->addr, name, &at.func, &at.bytes))
		bytes = trace_plat_probe_jump_bytes(&at);
	place->never_jumps = !bytes;
	place->jump_bytes = (uint8_t)bytes;
	return bytes;
}

static bool has_detour(struct kprobe_place *place)
{
	if (!place->has_detour)
		place->has_detour = !trace_plat_probe_jump_create(&place->code, place->jump_bytes);
	return place->has_detour;
}

struct beginning {
	bool has_begun;
	bool is_late; /* one could not begin yet */
};

/*
 * Not while threads may be in copies of places that have gone: these lead into the function, too.
 */
static void kprobe_jump_begin(struct kprobe_place *place, void *arg)
{
	struct beginning *beginning = arg;

	if (place->is_site || !place->is_armed || place->never_jumps ||
	    place->jump != KPROBE_JUMP_NO || atomic_load(&place->wants_post))
		return;
	if (!find_bytes(place) || is_crowded(place) || !has_detour(place))
		return;
	if (kprobe_places_leave()) {
		beginning->is_late = true;
		return;
	}
	trace_plat_probe_jump_use(&place->code, true);
	place->jump = KPROBE_JUMP_WAITS;
	place->has_begun = true;
	beginning->has_begun = true;
}

static void work(void);

/* Note that no thread is inside any more. Places undone meanwhile are not ready. */
static void is_left(struct ftrace_wait *wait)
{
	struct kprobe_place *place =
		(struct kprobe_place *)(void *)((char *)wait -
						__builtin_offsetof(struct kprobe_place, jump_wait));
	uint8_t jump = KPROBE_JUMP_WAITS;

	atomic_compare_exchange_strong(&place->jump, &jump, KPROBE_JUMP_READY);
	if (jump == KPROBE_JUMP_WAITS || jump == KPROBE_JUMP_READY)
		trace_plat_call_later(&kprobe_jump_worker, work, 0);
}

/* A wait that was begun before the place was undone, and begun again, may have ended in between. */
bool kprobe_jump_is_ready(const struct kprobe_place *place)
{
	return place->jump == KPROBE_JUMP_READY && place->jump_wait.state == FTRACE_WAIT_IDLE;
}

/* Threads may be in the copies of one instruction that they were led to before, or behind these. */
static void wait_for(struct kprobe_place *place, void *arg)
{
	struct ftrace_wait *wait = &place->jump_wait;

	(void)arg;
	if (!place->has_begun)
		return;
	place->has_begun = false;
	wait->code[0] =
		(struct ftrace_code){ place->addr + 1, place->addr + place->jump_bytes - 1 };
	trace_plat_probe_code(&place->code, false, &wait->code[1].start, &wait->code[1].end);
	ftrace_wait_begin(wait, is_left);
}

static bool kprobe_jump_begin_all(void)
{
	struct beginning beginning = { 0 };

	kprobe_table_each(kprobe_jump_begin, &beginning);
	if (beginning.is_late)
		kprobe_jump_later();
	if (!beginning.has_begun)
		return false;
	trace_plat_synchronize_preempt(); /* for breakpoints that still lead to the one copy */
	kprobe_table_each(wait_for, NULL);
	return true;
}

static void work(void)
{
	bool has_begun = false;

	trace_plat_lock(&kprobe_lock);
	if (!kprobe_jump_is_off && !ftrace_is_dead()) {
		kprobe_arm_jumps(true);
		has_begun = kprobe_jump_begin_all();
	}
	trace_plat_unlock(&kprobe_lock);
	if (has_begun)
		ftrace_grace_look();
}

void kprobe_jump_later(void)
{
	if (!kprobe_jump_is_off && kprobe_table_nr())
		trace_plat_call_later(&kprobe_jump_worker, work, LATER_NS);
}

/* ---- The switch ---- */

static void undo_waiting(struct kprobe_place *place, void *arg)
{
	(void)arg;
	if (place->jump != KPROBE_JUMP_DONE)
		kprobe_jump_undo(place);
}

int kprobes_set_optimization(bool on)
{
	int err = 0;

	trace_plat_lock(&kprobe_lock);
	kprobe_jump_is_off = !on;
	if (!on) {
		kprobe_table_each(undo_waiting, NULL);
		err = kprobe_arm_jumps(false);
	}
	kprobe_jump_later();
	trace_plat_unlock(&kprobe_lock);
	return err;
}

bool kprobes_optimization(void)
{
	return !kprobe_jump_is_off;
}
