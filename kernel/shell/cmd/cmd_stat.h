/*
 * The command perf stat: its rows, made by cmd_stat.c and shown by cmd_stat_show.c.
 *
 * Context: thread. Locking: none. Ownership: a struct stat belongs to the thread of its command.
 */
#ifndef KERNEL_CMD_STAT_H
#define KERNEL_CMD_STAT_H

#include <kernel/command.h>
#include <kernel/count.h>

#define STAT_RUNS_MAX 100u
#define STAT_NAME     64u

/* A value by run. */
struct stat_row {
	char name[STAT_NAME];
	bool is_time; /* in nanoseconds */
	bool is_lacking;
	uint64_t total; /* of all runs so far */
	uint64_t runs[STAT_RUNS_MAX];
};

struct stat {
	struct command_env *env;
	struct counts *counts;
	uint32_t flags;	  /* of count_open() */
	bool has_lines;	  /* for each CPU or thread */
	uint32_t nr_runs; /* wanted, and then those that were */
	uint32_t nr_rows;
	int nr_words;
	char **words; /* the command */
	struct stat_row elapsed;
	struct stat_row rows[COUNT_COLUMNS];
};

/* Print the rows of the runs so far, one at least, to standard error. */
void stat_show(const struct stat *stat);

#endif
