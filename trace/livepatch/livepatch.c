/*
 * Patches and their transitions: see <trace/livepatch.h>, livepatch_private.h.
 *
 * A transition to the new side begins with all threads on the old one, and the other way round. A
 * thread's side matters only to functions whose patch is in transition, so between transitions it
 * can be set to anything.
 */
#include "livepatch_private.h"
#include "text/str.h"
#include "feature/feature.h"

#define RETRY_NS 20000000ull /* between two looks at the stacks */

DEFINE_TRACE(livepatch_transition_begin, TP_PROTO(const char *patch, bool is_to_new),
	     TP_ARGS(patch, is_to_new));
DEFINE_TRACE(livepatch_transition_end, TP_PROTO(const char *patch, bool is_to_new),
	     TP_ARGS(patch, is_to_new));

struct trace_plat_lock klp_lock;

struct klp_patch *klp_patches;
static _Atomic uint32_t nr_patches;

/* The transition that runs; patch NULL: none. Guarded by klp_lock. */
static struct {
	struct klp_patch *patch;
	enum klp_side side; /* the side that threads move to */
	struct klp_ranges ranges;
	struct trace_plat_later retry;
} moving;

bool klp_is_moving(const struct klp_patch *patch)
{
	return moving.patch == patch;
}

static void set_side(int32_t pid, struct trace_thread *thread, void *arg)
{
	(void)pid;
	klp_set_side(thread, *(const enum klp_side *)arg);
}

static void set_all_sides(enum klp_side side)
{
	trace_plat_each_thread(set_side, &side);
}

static void set_moving(struct klp_patch *patch, bool is_moving)
{
	for (size_t i = 0; i < patch->nr_funcs; i++)
		atomic_store_explicit(&patch->funcs[i].is_moving, is_moving, memory_order_release);
}

/* Let all sites of the patch jump. One that cannot goes on calling the callback: same result. */
static void settle_all(const struct klp_patch *patch)
{
	for (size_t i = 0; i < patch->nr_funcs; i++)
		(void)klp_site_settle(&patch->funcs[i], true);
}

/* Let no site of the patch jump. 0, or -ENODEV: some may still do so. */
static int unsettle_all(const struct klp_patch *patch)
{
	int err = 0;

	for (size_t i = 0; i < patch->nr_funcs && !err; i++)
		err = klp_site_settle(&patch->funcs[i], false);
	return err;
}

static void livepatch_list_remove(struct klp_patch *patch)
{
	struct klp_patch **link = &klp_patches;

	while (*link != patch)
		link = &(*link)->next;
	*link = patch->next;
	patch->next = NULL;
	patch->is_active = false;
	atomic_fetch_sub(&nr_patches, 1);
}

static void list_append(struct klp_patch *patch)
{
	struct klp_patch **link = &klp_patches;

	while (*link)
		link = &(*link)->next;
	*link = patch;
	patch->next = NULL;
	patch->is_active = true;
	atomic_fetch_add(&nr_patches, 1);
}

/* All threads have moved. */
static void livepatch_finish(void)
{
	struct klp_patch *patch = moving.patch;

	moving.patch = NULL;
	klp_ranges_free(&moving.ranges);
	if (moving.side == KLP_NEW) {
		set_moving(patch, false);
		trace_plat_synchronize_preempt(); /* no callback looks at a side any more */
		set_all_sides(KLP_OLD);
		settle_all(patch);
		trace_livepatch_transition_end(patch->name, true);
		trace_plat_log("livepatch: '%s': patching complete", patch->name);
		return;
	}
	for (size_t i = 0; i < patch->nr_funcs; i++)
		klp_site_pop(&patch->funcs[i]);
	livepatch_list_remove(patch);
	trace_livepatch_transition_end(patch->name, false);
	trace_plat_log("livepatch: '%s': unpatching complete", patch->name);
}

static void try_complete_locked(void)
{
	if (!moving.patch)
		return;
	if (klp_move_threads(&moving.ranges, moving.side))
		trace_plat_call_later(&moving.retry, klp_try_complete_transition, RETRY_NS);
	else
		livepatch_finish();
}

void klp_try_complete_transition(void)
{
	trace_plat_lock(&klp_lock);
	try_complete_locked();
	trace_plat_unlock(&klp_lock);
}

/* Begin a transition of the patch to `side`. Its functions are marked as moving already. */
static int livepatch_start(struct klp_patch *patch, enum klp_side side)
{
	int err = klp_ranges_make(&moving.ranges, patch, side);

	if (err)
		return err;
	moving.patch = patch;
	moving.side = side;
	patch->is_enabled = side == KLP_NEW;
	trace_livepatch_transition_begin(patch->name, side == KLP_NEW);
	trace_plat_log("livepatch: '%s': starting %spatching transition", patch->name,
		       side == KLP_NEW ? "" : "un");
	return 0;
}

static int turn_round(enum klp_side side)
{
	struct klp_ranges old = moving.ranges;
	int err = livepatch_start(moving.patch, side);

	if (err)
		moving.ranges = old;
	else
		klp_ranges_free(&old);
	return err;
}

static bool is_known(const struct klp_patch *patch)
{
	const struct klp_patch *other = klp_patches;

	while (other && other != patch && !trace_streq(other->name, patch->name))
		other = other->next;
	return other != NULL;
}

static int livepatch_check(const struct klp_patch *patch)
{
	if (!patch->name || !patch->name[0] || trace_strlen(patch->name) >= KLP_NAME_LEN ||
	    !patch->funcs || !patch->nr_funcs)
		return -EINVAL;
	for (size_t i = 0; i < patch->nr_funcs; i++) {
		if (!patch->funcs[i].old_name)
			return -EINVAL;
		for (size_t j = 0; j < i; j++) {
			if (trace_streq(patch->funcs[i].old_name, patch->funcs[j].old_name))
				return -EINVAL;
		}
	}
	if (is_known(patch))
		return -EEXIST;
	return moving.patch ? -EBUSY : 0;
}

static void pop_first(struct klp_patch *patch, size_t nr)
{
	while (nr--)
		klp_site_pop(&patch->funcs[nr]);
}

static int push_all(struct klp_patch *patch)
{
	for (size_t i = 0; i < patch->nr_funcs; i++) {
		int err = klp_site_push(&patch->funcs[i]);

		if (err) {
			pop_first(patch, i);
			return err;
		}
	}
	return 0;
}

int klp_enable_patch(struct klp_patch *patch)
{
	int err;

	trace_plat_lock(&klp_lock);
	err = livepatch_check(patch);
	if (err)
		goto unlock;
	err = push_all(patch);
	if (err)
		goto unlock;
	err = livepatch_start(patch, KLP_NEW);
	if (err)
		goto pop;
	list_append(patch);
	try_complete_locked();
	goto unlock;
pop:
	pop_first(patch, patch->nr_funcs);
unlock:
	trace_plat_unlock(&klp_lock);
	return err;
}

/*
 * Begin to disable a patch that is in no transition. The jumps have to go first, because a site
 * that jumps does not look at sides. Then all threads are put on the new side, and only then are
 * the functions marked as moving, so that callbacks look at sides.
 */
static int start_disable(struct klp_patch *patch)
{
	int err = unsettle_all(patch);

	if (!err)
		err = livepatch_start(patch, KLP_OLD);
	if (err) {
		settle_all(patch);
		return err;
	}
	set_all_sides(KLP_NEW);
	set_moving(patch, true);
	return 0;
}

int klp_disable_locked(struct klp_patch *patch)
{
	int err;

	if (!patch->is_active || !patch->is_enabled)
		err = -EINVAL;
	else if (ftrace_is_dead())
		err = -ENODEV;
	else if (moving.patch == patch)
		err = turn_round(KLP_OLD);
	else
		err = moving.patch ? -EBUSY : start_disable(patch);
	if (!err)
		try_complete_locked();
	return err;
}

int klp_reenable_locked(struct klp_patch *patch)
{
	int err = -EINVAL;

	if (klp_is_moving(patch) && !patch->is_enabled)
		err = turn_round(KLP_NEW);
	if (!err)
		try_complete_locked();
	return err;
}

int klp_force_locked(struct klp_patch *patch)
{
	if (!klp_is_moving(patch))
		return -EINVAL;
	trace_plat_log("livepatch: '%s': transition forced", patch->name);
	set_all_sides(moving.side);
	livepatch_finish();
	return 0;
}

static int locked(int (*fn)(struct klp_patch *patch), struct klp_patch *patch)
{
	int err;

	trace_plat_lock(&klp_lock);
	err = fn(patch);
	trace_plat_unlock(&klp_lock);
	return err;
}

int klp_disable_patch(struct klp_patch *patch)
{
	return locked(klp_disable_locked, patch);
}

int klp_reenable_patch(struct klp_patch *patch)
{
	return locked(klp_reenable_locked, patch);
}

int klp_force_transition(struct klp_patch *patch)
{
	return locked(klp_force_locked, patch);
}

bool klp_patch_is_active(const struct klp_patch *patch)
{
	bool is_active;

	trace_plat_lock(&klp_lock);
	is_active = patch->is_active;
	trace_plat_unlock(&klp_lock);
	return is_active;
}

bool klp_patch_in_transition(const struct klp_patch *patch)
{
	bool in_transition;

	trace_plat_lock(&klp_lock);
	in_transition = klp_is_moving(patch);
	trace_plat_unlock(&klp_lock);
	return in_transition;
}

/* Parent and child may work on the same data, so the child must call the same functions. */
void klp_thread_created(struct trace_thread *thread)
{
	if (!atomic_load(&nr_patches))
		return;
	trace_plat_lock(&klp_lock);
	klp_set_side(thread, klp_side_of(trace_plat_current()));
	trace_plat_unlock(&klp_lock);
}

/* ---- The feature ---- */

static void livepatch_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	(void)parent_pid;
	(void)pid;
	klp_thread_created(thread);
}

const struct trace_feature trace_feature_livepatch = {
	.name = "livepatch",
	.thread_created = livepatch_created,
};
