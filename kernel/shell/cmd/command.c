/*
 * The list of all commands. See <kernel/command.h>.
 */
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "command_tables.h"

static const struct command *const tables[] = {
	bt_commands,	    chrt_commands,	 copy_commands,	    cpu_commands,
	cut_commands,	    date_commands,	 deadlock_commands, echo_commands,
	file_commands,	    filter_commands,	 find_commands,	    grep_commands,
	hackbench_commands, help_commands,	 job_commands,	    less_commands,
	livepatch_commands, machine_commands,	 memory_commands,   mount_commands,
	ops_commands,	    preemptirq_commands, print_commands,    profile_commands,
	recurse_commands,   run_commands,	 sort_commands,	    stat_commands,
	state_commands,	    stress_commands,	 sysctl_commands,   test_commands,
	thread_commands,    time_commands,	 why_commands,
};

static const struct command **sorted;
static uint32_t nr_commands;

static void command_insert_sorted(const struct command *command)
{
	uint32_t at = nr_commands++;

	while (at && strcmp(sorted[at - 1]->name, command->name) > 0) {
		sorted[at] = sorted[at - 1];
		at--;
	}
	if (at && strcmp(sorted[at - 1]->name, command->name) == 0)
		panic("two commands are named %s", command->name);
	sorted[at] = command;
}

/* Table `index` of all; NULL behind the last one. */
static const struct command *command_table(size_t index)
{
	if (index < ARRAY_SIZE(tables))
		return tables[index];
	return command_tables_more ? command_tables_more[index - ARRAY_SIZE(tables)] : NULL;
}

void command_init(void)
{
	const struct command *table;
	uint32_t nr = 0;

	for (size_t i = 0; (table = command_table(i)); i++) {
		for (const struct command *c = table; c->name; c++)
			nr++;
	}
	sorted = kcalloc(nr, sizeof(void *));
	if (!sorted)
		panic("no memory for the list of commands");
	for (size_t i = 0; (table = command_table(i)); i++) {
		for (const struct command *c = table; c->name; c++)
			command_insert_sorted(c);
	}
}

const struct command *command_find(const char *name)
{
	uint32_t low = 0, high = nr_commands;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(sorted[middle]->name, name);

		if (!order)
			return sorted[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct command *command_at(uint32_t index)
{
	return index < nr_commands ? sorted[index] : NULL;
}
