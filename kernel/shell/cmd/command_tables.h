/*
 * The tables of commands, each in a file of its area.
 */
#ifndef KERNEL_COMMAND_TABLES_H
#define KERNEL_COMMAND_TABLES_H

#include <kernel/command.h>

#ifdef WITH_PROCESSES
extern const struct command bt_commands[]; /* cmd_bt.c */
#else
static const struct command bt_commands[] = { { 0 } }; /* no scripts */
#endif
extern const struct command chrt_commands[];	   /* cmd_chrt.c */
extern const struct command copy_commands[];	   /* cmd_copy.c */
extern const struct command cpu_commands[];	   /* cmd_cpu.c */
extern const struct command cut_commands[];	   /* cmd_cut.c */
extern const struct command date_commands[];	   /* cmd_date.c */
extern const struct command deadlock_commands[];   /* work_deadlock.c */
extern const struct command echo_commands[];	   /* cmd_echo.c */
extern const struct command file_commands[];	   /* cmd_file.c */
extern const struct command filter_commands[];	   /* cmd_filter.c */
extern const struct command find_commands[];	   /* cmd_find.c */
extern const struct command grep_commands[];	   /* cmd_grep.c */
extern const struct command hackbench_commands[];  /* work_hackbench.c */
extern const struct command help_commands[];	   /* cmd_help.c */
extern const struct command job_commands[];	   /* sh_builtin_job.c */
extern const struct command less_commands[];	   /* cmd_less.c */
extern const struct command livepatch_commands[];  /* livepatch_demo.c */
extern const struct command machine_commands[];	   /* cmd_machine.c */
extern const struct command memory_commands[];	   /* cmd_memory.c */
extern const struct command mount_commands[];	   /* cmd_mount.c */
extern const struct command ops_commands[];	   /* ops.c */
extern const struct command preemptirq_commands[]; /* work_preemptirq.c */
extern const struct command print_commands[];	   /* cmd_printf.c */
extern const struct command profile_commands[];	   /* cmd_profile.c */
extern const struct command recurse_commands[];	   /* work_recurse.c */
extern const struct command run_commands[];	   /* sh_builtin_run.c */
extern const struct command sort_commands[];	   /* cmd_sort.c */
extern const struct command stat_commands[];	   /* cmd_stat.c */
extern const struct command state_commands[];	   /* sh_builtin.c */
extern const struct command stress_commands[];	   /* work_stress.c */
extern const struct command sysctl_commands[];	   /* cmd_sysctl.c */
extern const struct command test_commands[];	   /* cmd_test.c */
extern const struct command thread_commands[];	   /* cmd_thread.c */
extern const struct command time_commands[];	   /* cmd_time.c */
extern const struct command why_commands[];	   /* cmd_why.c */

#endif
