/* The tables of commands that only the test kernel has, see <kernel/command.h>. */
#ifndef TESTS_TEST_COMMANDS_H
#define TESTS_TEST_COMMANDS_H

#include <kernel/command.h>

extern const struct command bench_commands[];	  /* load/bench.c */
extern const struct command failalloc_commands[]; /* failalloc.c */
extern const struct command fault_commands[];	  /* fault.c */
extern const struct command ktest_commands[];	  /* ktest.c */
extern const struct command shares_commands[];	  /* load/shares.c */
extern const struct command torture_commands[];	  /* load/torture.c */
#ifdef WITH_PROCESSES
extern const struct command uprobe_commands[]; /* ktest_uprobe.c */
#define TEST_UPROBE_COMMANDS uprobe_commands,
#else
#define TEST_UPROBE_COMMANDS
#endif

#endif
