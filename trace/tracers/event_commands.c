/*
 * The commands enable_event and disable_event of set_ftrace_filter, which switch a trace event
 * when a function is called: FUNCTION:enable_event:SYSTEM:EVENT[:COUNT]. See function_commands.h.
 *
 * A command sets one struct event_command for all its functions, so they share its count, as on
 * Linux. It is a soft user of the event (events/event_file.h), which can thus be switched in any
 * context. The event has a pointer to it, for the sentences of `why`.
 *
 * Locking: the config lock, held while such a command is set or removed, or all probes of an
 *          instance are removed. Probes use `file` and `count` without it.
 */
#include <trace/fmt.h>
#include "events/event_file.h"
#include "function_commands.h"
#include "text/str.h"
#include "feature/feature.h"

#define PARAM_MAX 256u

struct event_command {
	struct trace_event_switch of;
	uint32_t nr_functions; /* and one while it is being set */
};

static struct event_command *command_of(uint64_t data)
{
	return (struct event_command *)(uintptr_t)data;
}

static struct trace_event_switch *switch_of(uint64_t data)
{
	return &command_of(data)->of;
}

/* ---- Running commands: probe context ---- */

static void probe_enable(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	struct trace_event_switch *of = switch_of(trace_atomic_load_relaxed(hit->data));

	(void)ops;
	trace_event_switch_counted(of->file, &of->count, true);
}

static void probe_disable(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	struct trace_event_switch *of = switch_of(trace_atomic_load_relaxed(hit->data));

	(void)ops;
	trace_event_switch_counted(of->file, &of->count, false);
}

/* ---- Setting commands: thread context ---- */

static void event_switch_link(struct trace_event_switch *of)
{
	of->next = of->file->switches;
	atomic_store_explicit(&of->file->switches, of, memory_order_release);
}

static void event_switch_unlink(const struct trace_event_switch *of)
{
	struct trace_event_switch *_Atomic *link = &of->file->switches;

	while (*link != of)
		link = &(*link)->next;
	*link = of->next;
	tracepoint_synchronize_unregister(); /* `why` may be looking at it */
}

static void event_command_get(uint64_t data)
{
	command_of(data)->nr_functions++;
}

static void event_command_put(uint64_t data)
{
	struct event_command *command = command_of(data);

	if (--command->nr_functions)
		return;
	event_switch_unlink(&command->of);
	trace_event_soft_put(command->of.file);
	trace_plat_free(command, sizeof(*command));
}

static size_t event_commands_describe(const struct ftrace_probe_ops *ops, uint64_t data, char *text,
				      size_t size)
{
	const struct trace_event_switch *of = switch_of(data);
	const struct trace_event *event = &of->file->call->event;
	uint64_t count = of->count;

	if (count == TRACE_COUNT_UNLIMITED)
		return trace_scnprintf(text, size, "%s:%s:%s:unlimited", ops->name, event->system,
				       event->name);
	return trace_scnprintf(text, size, "%s:%s:%s:count=%llu", ops->name, event->system,
			       event->name, (unsigned long long)count);
}

/* The words behind the name of the command: SYSTEM:EVENT[:COUNT]. */
struct event_words {
	char text[PARAM_MAX];
	char *system, *event;
	char *count; /* NULL without the second colon */
};

/* `at` is in words->text, or NULL: the function is meant. */
static int event_commands_blame(struct ftrace_command_args *args, const struct event_words *words,
				const char *at, const char *why, int err)
{
	args->why = why;
	args->where = at ? args->param + (at - words->text) : args->glob;
	return err;
}

/* End `text` at its first colon. Returns the rest, NULL when there is none. */
static char *event_commands_cut(char *text)
{
	while (*text && *text != ':')
		text++;
	if (!*text)
		return NULL;
	*text = '\0';
	return text + 1;
}

static int parse_words(struct ftrace_command_args *args, struct event_words *words)
{
	words->text[0] = '\0';
	if (args->param && trace_strnlen(args->param, PARAM_MAX) < PARAM_MAX)
		trace_strcpy(words->text, args->param, PARAM_MAX);
	words->system = words->text;
	words->event = event_commands_cut(words->system);
	if (!words->event)
		return event_commands_blame(args, words, NULL, "SYSTEM:EVENT is missing", -EINVAL);
	words->count = event_commands_cut(words->event);
	if (words->count)
		(void)event_commands_cut(words->count); /* text behind it is ignored, as on Linux */
	return 0;
}

static int event_commands_parse_count(struct ftrace_command_args *args,
				      const struct event_words *words, uint64_t *out_count)
{
	int err;

	*out_count = TRACE_COUNT_UNLIMITED;
	if (!words->count)
		return 0;
	err = trace_parse_u64(words->count, 0, out_count);
	if (err)
		event_commands_blame(
			args, words, words->count,
			err == -ERANGE ? "count is too large" : "count is not a number", err);
	return err;
}

static int set_switch(struct ftrace_command_args *args, struct trace_event_call *call,
		      const struct ftrace_probe_ops *ops, uint64_t count)
{
	struct event_command *command = trace_plat_alloc(sizeof(*command));
	struct trace_event_switch *of;
	int err;

	if (!command)
		return -ENOMEM;
	of = &command->of;
	of->count = count;
	of->on = ops->func == probe_enable;
	command->nr_functions = 1;
	of->file = trace_event_file_get(args->tr, call);
	err = of->file ? trace_event_soft_get(of->file) : -ENOMEM;
	if (err) {
		trace_plat_free(command, sizeof(*command));
		return err;
	}
	event_switch_link(of);
	err = register_ftrace_function_probe(args->glob, args->tr, ops, (uintptr_t)command);
	event_command_put((uintptr_t)command);
	if (err == -EINVAL)
		args->why = "no function matches that has not got the command";
	return err;
}

/* As on Linux the command goes whatever its event, which only has to be there. */
static int remove_switch(struct ftrace_command_args *args, const struct ftrace_probe_ops *ops)
{
	int err = unregister_ftrace_function_probe_func(args->glob + 1, args->tr, ops);

	if (err == -ENODEV)
		args->why = ops->is_counted ? "no such command with a count is set"
					    : "no such command without a count is set";
	else if (err == -EINVAL)
		args->why = "the command is not set for such a function";
	return err;
}

static int run_locked(const struct trace_command *of, struct ftrace_command_args *args,
		      const struct event_words *words)
{
	bool is_removal = args->glob[0] == '!', is_counted;
	struct trace_event_call *call = trace_event_call_find(words->system, words->event);
	const struct ftrace_probe_ops *ops;
	uint64_t count;
	int err;

	if (!call)
		return event_commands_blame(args, words, words->system, "there is no such event",
					    -EINVAL);
	is_counted = is_removal ? trace_command_has_count(words->count) : words->count != NULL;
	ops = is_counted ? &of->counted : &of->unlimited;
	if (is_removal)
		return remove_switch(args, ops);
	err = event_commands_parse_count(args, words, &count);
	return err ? err : set_switch(args, call, ops, count);
}

static int event_commands_run(const struct ftrace_func_command *command,
			      struct ftrace_command_args *args)
{
	struct event_words words;
	int err;

	if (!args->enable)
		return event_commands_blame(args, NULL, NULL,
					    "function commands go into set_ftrace_filter", -EINVAL);
	err = parse_words(args, &words);
	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = run_locked(command->private, args, &words);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

#define EVENT_PROBE(word, does, counted)                                                           \
	{                                                                                          \
		.name = (word), .func = (does), .is_counted = (counted),                           \
		.data_get = event_command_get, .data_put = event_command_put,                      \
		.describe = event_commands_describe                                                \
	}

static struct trace_command trace_event_commands[] = {
	{ .command = { .name = "enable_event", .func = event_commands_run },
	  .unlimited = EVENT_PROBE("enable_event", probe_enable, false),
	  .counted = EVENT_PROBE("enable_event", probe_enable, true) },
	{ .command = { .name = "disable_event", .func = event_commands_run },
	  .unlimited = EVENT_PROBE("disable_event", probe_disable, false),
	  .counted = EVENT_PROBE("disable_event", probe_disable, true) },
	{ .command = { .name = NULL } },
};

/* ---- The feature ---- */

static int event_commands_init(void)
{
	return trace_commands_register(trace_event_commands);
}

const struct trace_feature trace_feature_event_commands = {
	.name = "event_commands",
	.init = event_commands_init,
};
