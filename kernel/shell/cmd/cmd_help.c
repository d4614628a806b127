/*
 * help and history.
 */
#include <kernel/string.h>
#include "command_tables.h"
#include "shell/line/line.h"

static int help_one(struct command_env *env, const char *name)
{
	const struct command *command = command_find(name);

	if (!command) {
		command_error(env, "no such command: %s", name);
		return 1;
	}
	command_printf(env, "usage: %s%s%s\n%s\n", command->name, *command->usage ? " " : "",
		       command->usage, command->help);
	return 0;
}

static int cmd_help(struct command_env *env, int argc, char **argv)
{
	const struct command *command;
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= help_one(env, argv[i]);
	for (uint32_t i = 0; argc == 1 && (command = command_at(i)) != NULL; i++)
		command_printf(env, "%-10s %s\n", command->name, command->help);
	return status;
}

static int cmd_history(struct command_env *env, int argc, char **argv)
{
	uint32_t number = history_first_number();

	if (argc == 2 && strcmp(argv[1], "-c") == 0) {
		history_clear();
		return 0;
	}
	if (argc > 1)
		return COMMAND_USAGE;
	for (uint32_t back = history_count(); back && !command_stopped(env); back--) {
		const char *line = history_get(back);

		if (line)
			command_printf(env, "%5u  %s\n", number++, line);
	}
	return 0;
}

/* The words that the parser knows are listed with the commands; they have no function. */
const struct command help_commands[] = {
	{ "!", "COMMAND", "turn the exit status round", NULL, COMMAND_KEYWORD },
	{ "for", "NAME in WORD...; do LIST; done", "run a list for each word", NULL,
	  COMMAND_KEYWORD },
	{ "help", "[COMMAND]...", "list the commands, show how one is used", cmd_help,
	  COMMAND_BUILTIN },
	{ "history", "[-c]", "list the lines typed before, or forget them", cmd_history,
	  COMMAND_BUILTIN },
	{ "if", "LIST; then LIST; [elif LIST; then LIST;] [else LIST;] fi",
	  "run a list when another succeeds", NULL, COMMAND_KEYWORD },
	{ "time", "COMMAND", "say how long a command takes", NULL, COMMAND_KEYWORD },
	{ "until", "LIST; do LIST; done", "run a list until another succeeds", NULL,
	  COMMAND_KEYWORD },
	{ "while", "LIST; do LIST; done", "run a list while another succeeds", NULL,
	  COMMAND_KEYWORD },
	{ 0 },
};
