/*
 * Sentences of `why` about events of system calls: another call may be the one that programs make. See
 * syscall_event.h.
 */
#include <trace/fmt.h>
#include "syscall_event.h"
#include "events/event_file.h"
#include "text/str.h"

#define NAMES_BYTES 96

/* Calls that do the same for a program; C libraries make the later ones of a row. */
static const char *const alike[][4] = {
	{ "open", "creat", "openat", "openat2" },
	{ "newstat", "newlstat", "newfstatat", "statx" },
	{ "fork", "vfork", "clone", "clone3" },
	{ "access", "faccessat", "faccessat2" },
	{ "dup", "dup2", "dup3" },
	{ "pipe", "pipe2" },
	{ "read", "readv", "pread64", "preadv" },
	{ "write", "writev", "pwrite64", "pwritev" },
	{ "poll", "ppoll", "select", "pselect6" },
	{ "nanosleep", "clock_nanosleep" },
	{ "rename", "renameat", "renameat2" },
	{ "mkdir", "mkdirat" },
	{ "rmdir", "unlink", "unlinkat" },
	{ "chmod", "fchmod", "fchmodat" },
	{ "readlink", "readlinkat" },
	{ "kill", "tkill", "tgkill" },
	{ "wait4", "waitid" },
	{ "exit", "exit_group" },
};

static bool syscall_why_is_there(const char *name)
{
	const struct trace_syscall_host *host = trace_plat_syscalls();

	for (uint32_t nr = 0; nr < host->nr_calls; nr++) {
		if (host->calls[nr] && trace_streq(host->calls[nr]->name, name))
			return true;
	}
	return false;
}

/* Write the names of the row without `name`, as far as the host has them. False: there are none. */
static bool syscall_why_others(const char *const row[4], const char *name, char *out_names)
{
	size_t len = 0;

	for (uint32_t i = 0; i < 4 && row[i]; i++) {
		if (trace_streq(row[i], name) || !syscall_why_is_there(row[i]))
			continue;
		len += (size_t)trace_scnprintf(out_names + len, NAMES_BYTES - len, "%s%s",
					       len ? ", " : "", row[i]);
	}
	return len;
}

static bool syscall_why_has(const char *const row[4], const char *name)
{
	for (uint32_t i = 0; i < 4 && row[i]; i++) {
		if (trace_streq(row[i], name))
			return true;
	}
	return false;
}

static void syscall_why_say_missing(struct trace_why *why, const char *name)
{
	char others[NAMES_BYTES];

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(alike); i++) {
		if (syscall_why_has(alike[i], name) && syscall_why_others(alike[i], name, others))
			trace_why_note(why,
				       "Programs that do not call %s may call %s: echo 1 > "
				       "events/syscalls/sys_enter_NAME/enable.",
				       name, others);
	}
}

/* Is the event on, with none in the buffer? */
static bool syscall_why_is_missing(const struct trace_why *why, const struct trace_event_file *file)
{
	return trace_event_is_on(file) && file->type < TRACE_WHY_TYPES &&
	       !why->types[file->type].nr;
}

static void look_at_syscalls(struct trace_why *why)
{
	const char *names[TRACE_WHY_MAX_NAMED];
	const struct trace_event_file *file;
	uint32_t nr = 0;

	if (!why->has_types)
		return;
	trace_plat_preempt_disable();
	for (file = trace_events_of(why->tr)->files; file && nr < TRACE_WHY_MAX_NAMED;
	     file = file->next_of_array) {
		if (file->call->event_class == &trace_syscall_enter_class &&
		    syscall_why_is_missing(why, file))
			names[nr++] = trace_syscall_of_enter(&file->call->event)->call->name;
	}
	trace_plat_preempt_enable();
	for (uint32_t i = 0; i < nr; i++)
		syscall_why_say_missing(why, names[i]);
}

const struct trace_why_check trace_syscall_whys[] = {
	{ TRACE_WHY_EVENTS, look_at_syscalls },
	{ .say = NULL },
};
