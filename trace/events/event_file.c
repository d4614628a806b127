/* Trace events in instances. See event_file.h. */
#include <trace/platform.h>
#include "event_file.h"
#include "event_stack.h"
#include "event_filter.h"
#include "event_marker.h"
#include "event_printk.h"
#include "event_scratch.h"
#include "trigger.h"
#include "instance/entry.h"
#include "instance/event_private.h"
#include "print/output.h"
#include "text/str.h"

struct trace_event_file *trace_event_file_find(const struct trace_array *tr,
					       const struct trace_event_call *call)
{
	struct trace_event_file *file = call->files;

	while (file && file->tr != tr)
		file = file->next_of_call;
	return file;
}

/*
 * Set the front that probes look at. The release pairs with the acquire of trace_event_front_of().
 */
static void set_front(struct trace_event_call *call)
{
	struct trace_event_file *first = call->files;
	struct trace_event_front *front =
		first && !first->next_of_call ? &first->front : &call->several;

	/* An event that no instance has is useless. */
	atomic_store(&call->several.flags, first ? TRACE_EVENT_SHARED : 0);
	atomic_store_explicit(&call->front, front, memory_order_release);
}

void trace_event_front_init(struct trace_event_call *call)
{
	call->several = (struct trace_event_front){ .call = call, .test = &trace_event_any };
	set_front(call);
}

static uint16_t own_depth_of(const struct trace_event_call *call)
{
	while (call->event_class && call->event_class->source)
		call = call->event_class->source(call);
	if (call->tp)
		return call->tp->own_depth;
	return call->event_class ? call->event_class->own_depth : 0;
}

static TRACE_NOINLINE struct trace_event_file *make_file(struct trace_array *tr,
							 struct trace_event_call *call)
{
	struct trace_array_events *events = trace_events_of(tr);
	struct trace_event_file *file;

	if (!trace_event_scratch_make())
		return NULL;
	file = trace_plat_alloc(sizeof(*file));
	if (!file)
		return NULL;
	file->call = call;
	file->tr = tr;
	file->own_depth = own_depth_of(call);
	file->has_place = trace_event_has_place(call);
	file->has_stacks = file->has_place || trace_userstack_wanted(tr);
	if (call == &trace_marker_call)
		trace_event_marker_begin(file);
	file->type = call->event.type;
	file->entry_base = TRACE_ENTRY_BASE(file->type);
	file->front.call = call;
	file->front.depth_base = TRACE_DEPTH_BASE + file->own_depth;
	file->own.pid_mask = tr->event_pid_mask;
	file->front.test = &trace_event_any;
	file->own.is_off = ring_buffer_off_word(tr->buffer);
	trace_event_flag(file, TRACE_EVENT_STACK, tr->options & TRACE_STACK_OPTIONS);
	trace_event_flag(file, TRACE_EVENT_PRINTS, trace_event_printk_is_on());
	trace_event_flag(file, TRACE_EVENT_PIDS, tr->event_pid_mask);
	trace_event_flag_early(file);
	file->next_of_call = call->files;
	/* Pairs with the acquire in first_file_to_write() of event_write.c. */
	atomic_store_explicit(&call->files, file, memory_order_release);
	set_front(call);
	file->next_of_array = events->files;
	events->files = file;
	return file;
}

struct trace_event_file *trace_event_file_get(struct trace_array *tr, struct trace_event_call *call)
{
	struct trace_event_file *file = trace_event_file_find(tr, call);

	return file ? file : make_file(tr, call);
}

/* The next two functions are part of the loop that switches events, which may be thousands. */
static TRACE_ALWAYS_INLINE bool is_chosen(const struct trace_event_choice *choice,
					  const struct trace_event *event)
{
	if (choice->call)
		return choice->call == event->call;
	if (choice->match)
		return trace_glob_match(choice->match, event->name) ||
		       trace_glob_match(choice->match, event->system);
	return (!choice->system || trace_glob_match(choice->system, event->system)) &&
	       (!choice->name || trace_glob_match(choice->name, event->name));
}

static TRACE_ALWAYS_INLINE struct trace_event_call *
next_chosen(const struct trace_event_choice *choice, size_t *at)
{
	const struct trace_event *event;

	while ((event = trace_event_at(*at))) {
		++*at;
		if (trace_event_is_switched(event) && is_chosen(choice, event))
			return event->call;
	}
	return NULL;
}

struct trace_event_call *trace_event_next_chosen(const struct trace_event_choice *choice,
						 size_t *at)
{
	return next_chosen(choice, at);
}

struct trace_event_call *trace_event_call_find(const char *system, const char *name)
{
	struct trace_event_call *call = NULL;
	size_t at;

	trace_events_lock();
	at = trace_event_place(system, name);
	if (at < trace_nr_events()) {
		struct trace_event *event = trace_event_at(at);

		if (trace_streq(event->system, system) && trace_streq(event->name, name) &&
		    trace_event_is_switched(event))
			call = event->call;
	}
	trace_events_unlock();
	return call;
}

/* Is this one of the events that stay off when all are switched on? */
static bool is_left_out(const struct trace_event_choice *choice,
			const struct trace_event_call *call)
{
	return call->event_class->ignore_enable && !choice->call && !choice->match &&
	       !choice->system && !choice->name;
}

struct trace_event_call *trace_event_call_named(const struct expr_word *system,
						const struct expr_word *name)
{
	struct trace_event_call *call = NULL;
	const struct trace_event *event;

	trace_events_lock();
	for (size_t at = 0; !call && (event = trace_event_at(at)); at++) {
		if (trace_expr_is(name, event->name) && trace_expr_is(system, event->system))
			call = event->call;
	}
	trace_events_unlock();
	return call;
}

static int switch_one(struct trace_array *tr, struct trace_event_call *call, bool on)
{
	struct trace_event_file *file;

	file = on ? trace_event_file_get(tr, call) : trace_event_file_find(tr, call);
	if (!file)
		return on ? -ENOMEM : 0;
	trace_event_flag(file, TRACE_EVENT_RECORDS, on);
	return 0;
}

int trace_events_switch(struct trace_array *tr, const struct trace_event_choice *choice, bool on)
{
	struct trace_event_call *call;
	size_t at = 0;
	bool is_any = false;
	int err = on ? trace_array_expand(tr) : 0;
	int update_err;

	trace_events_lock();
	while (!err && (call = next_chosen(choice, &at))) {
		is_any = true;
		err = on && is_left_out(choice, call) ? 0 : switch_one(tr, call, on);
	}
	trace_events_unlock();
	update_err = trace_event_update_probes(tr);
	if (!err && !is_any)
		err = -EINVAL;
	return err ? err : update_err;
}

int trace_event_soft_get(struct trace_event_file *file)
{
	int err = file->nr_soft++ ? 0 : trace_array_expand(file->tr);

	if (!err)
		err = trace_event_update_probes(file->tr);
	if (err)
		file->nr_soft--;
	return err;
}

void trace_event_soft_put(struct trace_event_file *file)
{
	file->nr_soft--;
	(void)trace_event_update_probes(file->tr);
}

static const char *state_of_one(const struct trace_event_file *file)
{
	if (!file || !file->nr_soft)
		return file && trace_event_is_on(file) ? "1" : "0";
	return trace_event_is_on(file) ? "1*" : "0*";
}

const char *trace_events_state(const struct trace_array *tr,
			       const struct trace_event_choice *choice)
{
	bool is_any_on = false, is_any_off = false;
	const struct trace_event_file *file;
	struct trace_event_call *call;
	size_t at = 0;

	if (choice->call)
		return state_of_one(trace_event_file_find(tr, choice->call));
	trace_events_lock();
	while ((call = trace_event_next_chosen(choice, &at))) {
		file = trace_event_file_find(tr, call);
		if (file && file->is_registered)
			is_any_on = true;
		else if (!is_left_out(choice, call))
			is_any_off = true;
	}
	trace_events_unlock();
	if (is_any_on && is_any_off)
		return "X";
	if (!is_any_on && !is_any_off)
		return "?";
	return is_any_on ? "1" : "0";
}

void trace_events_option_changed(struct trace_array *tr, uint32_t option, bool on)
{
	struct trace_event_file *file;

	(void)on; /* the other option may still be on */
	if (!(TRACE_OPT_BIT(option) & TRACE_STACK_OPTIONS))
		return;
	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		file->has_stacks = file->has_place || trace_userstack_wanted(tr);
		trace_event_flag(file, TRACE_EVENT_STACK, tr->options & TRACE_STACK_OPTIONS);
	}
}

/* Take the file out of the list that probes walk. */
static void unlink_file(struct trace_event_file *file)
{
	struct trace_event_file *_Atomic *at = &file->call->files;

	while (*at != file)
		at = &(*at)->next_of_call;
	atomic_store(at, file->next_of_call);
	set_front(file->call);
}

static void free_file(struct trace_event_file *file)
{
	trace_event_filter_free(file);
	trace_plat_free(file, sizeof(*file));
}

bool trace_event_files_are_used(const struct trace_event_call *call)
{
	const struct trace_event_file *file = call->files;

	while (file && !file->is_registered && !file->nr_soft)
		file = file->next_of_call;
	return file;
}

static void take_from_array(struct trace_event_file *file)
{
	struct trace_event_file **at = &trace_events_of(file->tr)->files;

	while (*at != file)
		at = &(*at)->next_of_array;
	*at = file->next_of_array;
}

/*
 * Files that have left, whose lists probes may still walk. Guarded by the config lock; linked by
 * `next_of_array`.
 */
static struct trace_event_file *leaving_files;

void trace_event_files_leave(struct trace_event_call *call)
{
	struct trace_event_file *file = call->files;

	call->files = NULL;
	set_front(call);
	for (; file; file = file->next_of_call) {
		take_from_array(file);
		file->next_of_array = leaving_files;
		leaving_files = file;
	}
}

void trace_event_files_left(void)
{
	struct trace_event_file *file;

	while ((file = leaving_files)) {
		leaving_files = file->next_of_array;
		free_file(file);
	}
}

void trace_events_array_gone(struct trace_array *tr)
{
	struct trace_event_file *file;

	trace_triggers_array_gone(tr); /* first: they may switch events */
	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		file->nr_soft = 0;
		trace_event_flag(file, UINT32_MAX, false);
	}
	(void)trace_event_update_probes(tr);
	for (file = trace_events_of(tr)->files; file; file = file->next_of_array)
		unlink_file(file);
}

void trace_events_array_free(struct trace_array *tr)
{
	struct trace_event_file *file, *next;

	tracepoint_synchronize_unregister(); /* probes may still walk the lists */
	for (file = trace_events_of(tr)->files; file; file = next) {
		next = file->next_of_array;
		free_file(file);
	}
	trace_events_of(tr)->files = NULL;
}
