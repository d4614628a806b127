/*
 * The shell: reads lines, parses them, runs the tree.
 *
 *   bytes --line_edit--> line --sh_lex--> tokens --sh_parse--> tree --sh_exec--> commands
 *                                                                  |
 *                                  words --sh_expand--> fields <---'
 *
 * One interactive shell owns the console. Commands in a pipe, in the background, in ( ) and in
 * $( ) run in subshells: threads with a copy of the shell's state.
 *
 * Context:   thread.
 * Locking:   none: a struct shell is used by one thread at a time. While a command runs in a thread
 *            of its own the shell waits for it and touches nothing.
 * Ownership: sh_create() of sh.h makes a struct shell, sh_destroy() frees it. The tree of a line
 *            lives in one arena, which is freed as a whole.
 */
#ifndef KERNEL_SHELL_H
#define KERNEL_SHELL_H

#include <kernel/base.h>

struct shell;

/*
 * The function of the thread of the console's shell, started after vfs_init() and command_init().
 * It runs the commands of the boot parameter `run`, if there is one, and then serves the console
 * for ever; with the boot parameter `exit` it powers the machine off instead.
 */
int shell_main(void *unused);
/* The directory of the shell that runs a command in this thread, until that ends; "/" if none does. Any context. */
const char *shell_thread_cwd(void);

#endif
