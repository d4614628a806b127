/* See test_commands.h. */
#include "test_commands.h"

const struct command *const command_tables_more[] = { bench_commands,		fault_commands,
						      failalloc_commands,	ktest_commands,
						      shares_commands,		torture_commands,
						      TEST_UPROBE_COMMANDS NULL };
