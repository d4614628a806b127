/*
 * The triggers hist, enable_hist and disable_hist. See hist_trigger.h. Error messages have Linux's
 * words.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/event_file.h"
#include "hist_action.h"
#include "hist_trigger.h"
#include "hist_vars.h"
#include "instance/array.h"
#include "text/str.h"

/* The state of a histogram, behind it in the file `trigger`. */
#define STATE_ACTIVE "[active]"
#define STATE_PAUSED "[paused]"

static bool is_hist(const struct trace_trigger *trigger)
{
	return trigger->command == &trace_hist_triggers[0];
}

struct hist *trace_hist_of(const struct trace_trigger *trigger)
{
	return trigger->private;
}

struct trace_trigger *trace_hist_trigger_at(const struct trace_event_file *file, size_t index)
{
	struct trace_trigger *trigger = file->triggers;

	for (; trigger; trigger = trigger->next) {
		if (is_hist(trigger) && !index--)
			break;
	}
	return trigger;
}

void trace_hist_remove(struct hist *hist)
{
	const struct trace_event_file *file = trace_event_file_find(hist->tr, hist->call);
	struct trace_trigger *trigger;

	for (size_t i = 0; file && (trigger = trace_hist_trigger_at(file, i)); i++) {
		if (trace_hist_of(trigger) != hist)
			continue;
		trace_trigger_remove(trigger);
		return;
	}
}

/* ---- At each event ---- */

static void switch_target(struct trace_trigger *trigger, bool is_paused)
{
	struct trace_trigger *at;

	if (!trace_trigger_take(trigger))
		return;
	at = atomic_load_explicit(&trigger->target->triggers, memory_order_acquire);
	for (; at; at = atomic_load_explicit(&at->next, memory_order_acquire)) {
		if (is_hist(at))
			atomic_store(&trace_hist_of(at)->is_paused, is_paused);
	}
}

static void enable_func(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	(void)hit;
	switch_target(trigger, false);
}

static void disable_func(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	(void)hit;
	switch_target(trigger, true);
}

/* ---- Creation and removal ---- */

static int hist_prepare(struct trace_trigger *trigger)
{
	trigger->func = trace_hist_choose_run(trigger->private);
	if (trace_hist_of(trigger)->values->needs_head)
		trigger->marks |= TRACE_TRIGGER_HEAD;
	return 0;
}

static void hist_end(struct trace_trigger *trigger)
{
	struct hist **at = &trace_hist_first;

	while (*at && *at != trigger->private)
		at = &(*at)->next;
	if (*at)
		*at = (*at)->next;
}

/* Do other histograms read its variables? */
static bool hist_is_needed(const struct trace_trigger *trigger)
{
	return trace_hist_of(trigger)->nr_readers;
}

static void hist_free(struct trace_trigger *trigger)
{
	trace_hist_end_actions(trigger->private);
	trace_hist_put(trigger->private);
}

/* Pause or continue all histograms that count in the same table. */
static void set_paused(struct hist *hist, bool is_paused)
{
	atomic_store(&hist->is_paused, is_paused);
	for (struct hist *at = trace_hist_first; at; at = at->next) {
		if (at->map == hist->map)
			atomic_store(&at->is_paused, is_paused);
	}
}

/* Do other histograms read variables of those that count in this table? */
static bool is_read(const struct hist *hist)
{
	for (const struct hist *at = trace_hist_first; at; at = at->next) {
		if (at->map == hist->map && at->nr_readers)
			return true;
	}
	return false;
}

static void clear(struct hist *hist)
{
	bool was_paused = hist->is_paused;

	set_paused(hist, true);
	tracepoint_synchronize_unregister(); /* no event is being counted */
	/* A probe that has found a variable set reads its value before that is cleared. */
	if (is_read(hist)) {
		trace_hist_map_clear_word(hist->map, hist->set_at);
		tracepoint_synchronize_unregister();
	}
	trace_hist_map_clear(hist->map);
	trace_hist_clear_actions(hist);
	set_paused(hist, was_paused);
}

static struct hist *find_named(const struct hist *hist)
{
	struct hist *at = trace_hist_first;

	while (at && (at->tr != hist->tr || !at->name || !trace_streq(at->name, hist->name)))
		at = at->next;
	return at;
}

/* ---- The written text ---- */

/* Take `state`, with the blanks in front of it, off the end of `text`. Returns true if it was there. */
static bool take_state(struct expr_word *text, const char *state)
{
	size_t rest = text->len - trace_strlen(state);

	if (!trace_expr_ends(text, state) || !rest || !trace_is_space(text->at[rest - 1]))
		return false;
	*text = trace_expr_strip((struct expr_word){ text->at, rest });
	return true;
}

/*
 * Take the condition, ` if CONDITION`, with the blanks around it off the end of `text`, in which others
 * may be before. It is of length 0 when there is none.
 */
static struct expr_word take_condition(struct expr_word *text)
{
	for (size_t i = 0; i + 4 < text->len; i++) {
		struct expr_word rest = expr_behind(text, i + 1);

		if (!trace_is_space(rest.at[-1]) || !trace_expr_starts(&rest, "if") ||
		    !trace_is_space(rest.at[2]))
			continue;
		*text = trace_expr_strip((struct expr_word){ text->at, i });
		return trace_expr_strip(expr_behind(&rest, 2));
	}
	return (struct expr_word){ 0 };
}

static bool has_condition(const struct trace_trigger *trigger, const struct expr_word *condition)
{
	return trace_expr_is(condition, trigger->filter_text ? trigger->filter_text : "");
}

static struct trace_trigger *find_same(const struct trace_event_file *file, const struct hist *hist,
				       const struct expr_word *condition)
{
	struct trace_trigger *trigger;

	for (size_t i = 0; (trigger = trace_hist_trigger_at(file, i)); i++) {
		const struct hist *other = trigger->private;
		bool has_name = hist->name || other->name;

		if (has_name &&
		    (!hist->name || !other->name || !trace_streq(hist->name, other->name)))
			continue;
		if (has_condition(trigger, condition) && trace_hist_is_same(hist, other))
			break;
	}
	return trigger;
}

static int hist_trigger_change(struct trace_trigger *trigger, const struct hist_wish *wish)
{
	struct hist *hist = trigger->private;

	if (wish->is_removal) {
		if (hist->nr_readers)
			return -EBUSY;
		trace_trigger_remove(trigger);
		return 0;
	}
	if (wish->pause)
		set_paused(hist, true);
	else if (wish->cont)
		set_paused(hist, false);
	if (wish->clear)
		clear(hist);
	return 0;
}

/* Set the instance's clock, for good, so that times of all CPUs are comparable, as on Linux. */
static int hist_trigger_set_clock(struct hist *hist)
{
	const struct trace_clock *clock = trace_clock_find(hist->clock_name);
	int err;

	if (!hist->uses_time || hist->tr->clock == clock)
		return 0;
	err = trace_array_expand(hist->tr);
	if (!err)
		trace_array_set_clock(hist->tr, clock);
	return err;
}

static int hist_trigger_add(const struct trace_trigger_command *command,
			    struct trace_trigger_args *args, struct hist *hist,
			    const struct expr_word *condition)
{
	const struct trace_trigger_wish wish = { .count = TRACE_COUNT_UNLIMITED,
						 .condition = *condition,
						 .private = hist };
	struct hist *named = hist->name ? find_named(hist) : NULL;
	int err;

	if (named && !trace_hist_is_same(hist, named))
		return trace_trigger_blame(args, args->text.at,
					   "Named hist trigger doesn't match existing named "
					   "trigger (includes variables)",
					   -EINVAL);
	if (named) {
		trace_hist_share(hist, named);
		hist->is_paused = named->is_paused;
	}
	err = hist_trigger_set_clock(hist);
	if (!err)
		err = trace_hist_begin_actions(hist);
	if (err)
		return err;
	err = trace_trigger_set(command, args, &wish);
	if (err) {
		trace_hist_end_actions(hist);
		return err;
	}
	hist->next = trace_hist_first;
	trace_hist_first = hist;
	return 0;
}

/*
 * Carry out the command. `hist` remains the caller's when this fails, or when another histogram was
 * changed.
 */
static int hist_trigger_carry_out(const struct trace_trigger_command *command,
				  struct trace_trigger_args *args, struct hist *hist,
				  const struct hist_wish *wish, const struct expr_word *condition)
{
	struct trace_trigger *same = find_same(args->file, hist, condition);
	int err = 0;

	if (same && (wish->is_removal || wish->pause || wish->cont || wish->clear))
		err = hist_trigger_change(same, wish);
	else if (same)
		err = trace_trigger_blame(args, NULL, "Hist trigger already exists", -EEXIST);
	else if (wish->cont || wish->clear)
		err = trace_trigger_blame(
			args, NULL, "Can't clear or continue a nonexistent hist trigger", -ENOENT);
	else if (!wish->is_removal) {
		hist->is_paused = wish->pause;
		err = hist_trigger_add(command, args, hist, condition);
		if (!err)
			return 0;
	}
	trace_hist_put(hist);
	return err;
}

static int hist_write(const struct trace_trigger_command *command, struct trace_trigger_args *args)
{
	struct hist_wish wish = { .is_removal = args->is_removal };
	struct expr_word text = args->text, condition;
	struct expr_error error;
	struct hist *hist;
	int err;

	if (!text.len)
		return trace_trigger_blame(args, NULL, "A histogram has to have keys", -EINVAL);
	(void)take_state(&text, STATE_ACTIVE);
	wish.pause = take_state(&text, STATE_PAUSED);
	condition = take_condition(&text);
	err = trace_hist_create(args->file, &text, &hist, &wish, &error);
	if (err)
		return error.why ? trace_trigger_blame(args, text.at + error.pos, error.why, err)
				 : err;
	return hist_trigger_carry_out(command, args, hist, &wish, &condition);
}

void trace_hist_trigger_print(const struct trace_trigger *trigger, struct trace_seq *seq)
{
	const struct hist *hist = trigger->private;

	trace_hist_print_spec(hist, seq);
	if (trigger->filter_text)
		trace_seq_printf(seq, " if %s", trigger->filter_text);
	trace_seq_printf(seq, " %s\n", hist->is_paused ? STATE_PAUSED : STATE_ACTIVE);
}

const struct trace_trigger_command trace_hist_triggers[] = {
	{
		.name = "hist",
		.place = 90,
		.flags = TRACE_TRIGGER_LISTED_LAST | TRACE_TRIGGER_TRUNCATED |
			 TRACE_TRIGGER_NAMES_EVENT,
		.func = trace_hist_run,
		.run = hist_write,
		.prepare = hist_prepare,
		.print = trace_hist_trigger_print,
		.is_needed = hist_is_needed,
		.end = hist_end,
		.free = hist_free,
	},
	{
		.name = "enable_hist",
		.place = 70,
		.flags = TRACE_TRIGGER_HAS_TARGET,
		.kind = "hist",
		.func = enable_func,
	},
	{
		.name = "disable_hist",
		.place = 80,
		.flags = TRACE_TRIGGER_HAS_TARGET,
		.kind = "hist",
		.func = disable_func,
	},
	{ .name = NULL },
};
