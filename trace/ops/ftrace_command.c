/*
 * The commands of set_ftrace_filter by name: see <trace/ftrace_probe.h>.
 */
#include <trace/ftrace_probe.h>
#include "ftrace_probe_private.h"
#include "text/str.h"

static struct trace_plat_lock commands_lock;
static struct ftrace_func_command *ftrace_commands; /* newest first */

static struct ftrace_func_command **ftrace_command_find(const char *name)
{
	struct ftrace_func_command **link = &ftrace_commands;

	while (*link && !trace_streq((*link)->name, name))
		link = &(*link)->next;
	return link;
}

int register_ftrace_command(struct ftrace_func_command *command)
{
	int err = 0;

	trace_plat_lock(&commands_lock);
	if (*ftrace_command_find(command->name)) {
		err = -EBUSY;
	} else {
		command->next = ftrace_commands;
		ftrace_commands = command;
	}
	trace_plat_unlock(&commands_lock);
	return err;
}

int unregister_ftrace_command(struct ftrace_func_command *command)
{
	struct ftrace_func_command **link;
	int err = -ENODEV;

	trace_plat_lock(&commands_lock);
	link = ftrace_command_find(command->name);
	if (*link == command) {
		*link = command->next;
		err = 0;
	}
	trace_plat_unlock(&commands_lock);
	return err;
}

bool ftrace_has_command(const char *name)
{
	bool found;

	trace_plat_lock(&commands_lock);
	found = *ftrace_command_find(name);
	trace_plat_unlock(&commands_lock);
	return found;
}

/* func runs with the lock held, so that no command is running when its unregister returns. */
int ftrace_run_command(const char *name, struct ftrace_command_args *args)
{
	struct ftrace_func_command *command;
	int err = -EINVAL;

	trace_plat_lock(&commands_lock);
	command = *ftrace_command_find(name);
	if (command && !args->tr) {
		err = -ENODEV;
		args->why = "function commands go into set_ftrace_filter";
	} else if (command) {
		err = command->func(command, args);
	} else {
		args->why = "no such command";
		args->where = name;
	}
	trace_plat_unlock(&commands_lock);
	return err;
}
