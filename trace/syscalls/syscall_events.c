/*
 * The events of system calls: made from the host's table, switched by diverting calls. See
 * syscall_event.h.
 */
#include <trace/platform.h>
#include "syscall_event.h"
#include "events/event_call.h"
#include "feature/feature.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "text/str.h"

#define ENTER_PREFIX "sys_enter_"
#define EXIT_PREFIX  "sys_exit_"
#define VAL_PREFIX   "__"
#define VAL_SUFFIX   "_val"

_Atomic uint32_t trace_syscall_user_bytes = SYSCALL_USER_DEFAULT;

struct syscall_event **trace_syscall_events;

/* ---- Switching ---- */

static void syscall_divert(const struct syscall_event *event)
{
	unsigned int parts = (event->enter.nr_users ? TRACE_SYSCALL_ENTER : 0) |
			     (event->exit.nr_users ? TRACE_SYSCALL_EXIT : 0) |
			     (trace_syscall_latency_call.nr_users ? TRACE_SYSCALL_LATENCY : 0);

	trace_plat_syscalls()->divert(event->nr, parts);
}

static void syscall_divert_all(void)
{
	const struct trace_syscall_host *host = trace_plat_syscalls();

	for (uint32_t i = 0; i < host->nr_calls; i++) {
		if (trace_syscall_events[i])
			syscall_divert(trace_syscall_events[i]);
	}
}

/* One function for all three kinds, so that events that change together take one call of it. */
static void syscall_change(struct trace_event_change *changes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct trace_event *event = &changes[i].call->event;

		if (changes[i].call == &trace_syscall_latency_call)
			syscall_divert_all();
		else if (changes[i].call->event_class == &trace_syscall_enter_class)
			syscall_divert(trace_syscall_of_enter(event));
		else
			syscall_divert(trace_syscall_of_exit(event));
	}
}

const struct trace_event_class trace_syscall_enter_class = {
	.system = "syscalls",
	.change = syscall_change,
	.own_depth = 1,
};

static const struct trace_event_class syscall_exit_class = {
	.system = "syscalls",
	.change = syscall_change,
	.own_depth = 1,
};

static const struct trace_event_class syscall_latency_class = {
	.system = "latency",
	.change = syscall_change,
	.own_depth = 1,
};

/* ---- Making ---- */

#define SYSCALL_FIELD(name_, type_, at, sign)                                                      \
	{                                                                                          \
		.name = (name_), .type = #type_, .offset = (at), .size = sizeof(type_),            \
		.element_size = sizeof(type_), .is_signed = (sign)                                 \
	}
#define SYSCALL_NR_FIELD SYSCALL_FIELD("__syscall_nr", int, SYSCALL_NR_AT, true)

static const struct trace_event_field syscall_nr_field = SYSCALL_NR_FIELD;

static const struct trace_event_field syscall_exit_fields[] = {
	SYSCALL_NR_FIELD,
	SYSCALL_FIELD("ret", long, SYSCALL_ARGS_AT, true),
};

static const struct trace_event_field syscall_latency_fields[] = {
	SYSCALL_NR_FIELD,
	SYSCALL_FIELD("lat", uint64_t, SYSCALL_LAT_AT, false),
	SYSCALL_FIELD("ret", long, SYSCALL_LAT_RET_AT, true),
	{
		.name = "name",
		.type = "char",
		.offset = SYSCALL_LAT_NAME_AT,
		.size = SYSCALL_NAME_BYTES,
		.element_size = 1,
		.is_signed = true,
	},
};

struct trace_event_call trace_syscall_latency_call = {
	.event = {
		.name = "syscall_latency",
		.system = "latency",
		.nr_fields = TRACE_ARRAY_SIZE(syscall_latency_fields),
		.fields = syscall_latency_fields,
		.print_fmt = "\"%s lat=%llu ret=%ld\", REC->name, REC->lat, REC->ret",
		.funcs = &trace_syscall_latency_funcs,
	},
	.event_class = &syscall_latency_class,
};

/* Find the arguments whose memory the event holds: <trace/syscalls.h> says which. */
static void syscall_find_vals(struct syscall_event *event)
{
	const struct trace_syscall *call = event->call;

	while (event->nr_args < TRACE_SYSCALL_ARGS && call->types[event->nr_args])
		event->nr_args++;
	for (uint8_t i = 0; i < event->nr_args && event->nr_vals < SYSCALL_VALS; i++) {
		bool is_counted =
			i + 1 < event->nr_args && trace_streq(call->types[i + 1], "size_t");

		if (trace_streq(call->types[i], "const char *"))
			event->vals[event->nr_vals++] = (struct syscall_val){ i, !is_counted };
	}
	event->user_at = (uint16_t)(SYSCALL_ARGS_AT + event->nr_args * sizeof(uint64_t));
	event->fixed_bytes = (uint16_t)(event->user_at + event->nr_vals * sizeof(uint32_t));
}

static size_t syscall_names_bytes(const struct syscall_event *event)
{
	size_t bytes =
		sizeof(ENTER_PREFIX) + sizeof(EXIT_PREFIX) + 2 * trace_strlen(event->call->name);

	for (uint32_t i = 0; i < event->nr_vals; i++)
		bytes += trace_strlen(event->call->args[event->vals[i].arg]) + sizeof(VAL_PREFIX) +
			 sizeof(VAL_SUFFIX);
	return bytes;
}

/* Put a name together at *room, which moves behind it. */
static const char *syscall_name(char **room, const char *prefix, const char *name,
				const char *suffix)
{
	char *at = *room;
	size_t parts[] = { trace_strlen(prefix), trace_strlen(name), trace_strlen(suffix) };

	memcpy(at, prefix, parts[0]);
	memcpy(at + parts[0], name, parts[1]);
	memcpy(at + parts[0] + parts[1], suffix, parts[2] + 1);
	*room = at + parts[0] + parts[1] + parts[2] + 1;
	return at;
}

static void syscall_fill_fields(struct syscall_event *event, char **names)
{
	const struct trace_syscall *call = event->call;
	struct trace_event_field *field = event->fields;

	*field++ = syscall_nr_field;
	for (uint32_t i = 0; i < event->nr_args; i++)
		*field++ = (struct trace_event_field){
			.name = call->args[i],
			.type = call->types[i],
			.offset = (uint32_t)(SYSCALL_ARGS_AT + i * sizeof(uint64_t)),
			.size = sizeof(uint64_t),
			.element_size = sizeof(uint64_t),
		};
	for (uint32_t i = 0; i < event->nr_vals; i++)
		*field++ = (struct trace_event_field){
			.name = syscall_name(names, VAL_PREFIX, call->args[event->vals[i].arg],
					     VAL_SUFFIX),
			.type = "char",
			.offset = (uint32_t)(event->user_at + i * sizeof(uint32_t)),
			.size = sizeof(uint32_t),
			.element_size = 1,
			.kind = TRACE_FIELD_DATA_LOC,
		};
}

static int syscall_register(struct syscall_event *event, char *names)
{
	struct trace_event *enter = &event->enter.event, *exit = &event->exit.event;
	int err;

	syscall_fill_fields(event, &names);
	*enter = (struct trace_event){
		.name = syscall_name(&names, ENTER_PREFIX, event->call->name, ""),
		.system = trace_syscall_enter_class.system,
		.nr_fields = 1u + event->nr_args + event->nr_vals,
		.fields = event->fields,
		.funcs = &trace_syscall_enter_funcs,
	};
	*exit = (struct trace_event){
		.name = syscall_name(&names, EXIT_PREFIX, event->call->name, ""),
		.system = syscall_exit_class.system,
		.nr_fields = TRACE_ARRAY_SIZE(syscall_exit_fields),
		.fields = syscall_exit_fields,
		.print_fmt = "\"0x%lx\", REC->ret",
		.funcs = &trace_syscall_exit_funcs,
	};
	event->enter.event_class = &trace_syscall_enter_class;
	event->exit.event_class = &syscall_exit_class;
	err = trace_event_call_add(&event->enter);
	return err ? err : trace_event_call_add(&event->exit);
}

/* Make the events of a call. They stay, whether or not a later one can be made. */
static int syscall_make(const struct trace_syscall *call, uint32_t nr)
{
	struct syscall_event form = { .call = call, .nr = nr }, *event;
	size_t fields_bytes;

	syscall_find_vals(&form);
	fields_bytes = (1u + form.nr_args + form.nr_vals) * sizeof(struct trace_event_field);
	form.bytes = sizeof(form) + fields_bytes + syscall_names_bytes(&form);
	event = trace_plat_alloc(form.bytes);
	if (!event)
		return -ENOMEM;
	memcpy(event, &form, sizeof(form));
	trace_strcpy(event->name, call->name, sizeof(event->name));
	event->fields = (struct trace_event_field *)(event + 1);
	trace_syscall_events[nr] = event;
	return syscall_register(event, (char *)event->fields + fields_bytes);
}

static int syscall_make_all(const struct trace_syscall_host *host)
{
	size_t bytes = host->nr_calls * sizeof(struct syscall_event *);
	int err;

	trace_syscall_events = trace_plat_alloc(bytes);
	if (!trace_syscall_events)
		return -ENOMEM;
	memset(trace_syscall_events, 0, bytes);
	err = trace_event_call_add(&trace_syscall_latency_call);
	for (uint32_t nr = 0; nr < host->nr_calls && !err; nr++) {
		if (host->calls[nr])
			err = syscall_make(host->calls[nr], nr);
	}
	return err;
}

/* ---- syscall_user_buf_size: bytes of each argument's memory ---- */

static int user_buf_size_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_printf(seq, "%u\n", (unsigned int)trace_syscall_user_bytes);
	return 0;
}

static int user_buf_size_store(struct trace_handle *handle, char *text)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	if (err)
		return err;
	trace_syscall_user_bytes = value < SYSCALL_USER_MAX ? (uint32_t)value : SYSCALL_USER_MAX;
	return 0;
}

static const struct trace_file user_buf_size_file = {
	.name = "syscall_user_buf_size",
	.mode = TRACE_MODE_WRITE,
	.root_only = true,
	.show = user_buf_size_show,
	.store = user_buf_size_store,
	.store_max = 64,
};

static const struct trace_file *const syscall_files[] = { &user_buf_size_file };
static const struct trace_file_table syscall_file_table = {
	.files = syscall_files,
	.nr = TRACE_ARRAY_SIZE(syscall_files),
};
static struct trace_files syscall_file_entry = { .table = &syscall_file_table };
static struct trace_whys syscall_why_entry = { .checks = trace_syscall_whys };

/* ---- The feature ---- */

static bool syscalls_are_there(void)
{
	return trace_plat_syscalls();
}

static int syscalls_init(void)
{
	const struct trace_syscall_host *host = trace_plat_syscalls();

	if (!host)
		return 0;
	trace_files_register(&syscall_file_entry);
	trace_whys_register(&syscall_why_entry);
	return syscall_make_all(host);
}

const struct trace_feature trace_feature_syscalls = {
	.name = "syscalls",
	.is_there = syscalls_are_there,
	.init = syscalls_init,
};
