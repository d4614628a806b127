/*
 * Commands of the shell: how one is declared, and what it may use while it runs.
 *
 * Each file with commands has one table that ends with an entry without a name:
 *
 *   const struct command hackbench_commands[] = {
 *           { .name = "hackbench", .usage = "[GROUPS] [MESSAGES]", .help = "pass messages",
 *             .run = hackbench_run },
 *           {}
 *   };
 *
 * and one line in the list of kernel/shell/cmd/command.c. A command runs in a thread of its own that
 * has its name, unless it is marked as a builtin of the shell. It returns its exit status: 0
 * success, 1 failure, COMMAND_USAGE after wrong arguments (the shell then prints the usage line).
 *
 * Context:   thread, preemption on. A command that runs long asks command_stopped() now and then,
 *            which tells of Ctrl-C and of output whose reader has gone. Ctrl-C also ends every
 *            interruptible wait with -EINTR.
 * Locking:   none; an environment belongs to the thread that runs the command.
 * Ownership: argv and the files belong to the shell; the command frees what it made itself.
 */
#ifndef KERNEL_COMMAND_H
#define KERNEL_COMMAND_H

#include <kernel/base.h>
#include <kernel/vfs.h>

struct shell;

#define COMMAND_USAGE	  -1 /* wrong arguments; ends as status 2 */
#define COMMAND_NOT_FOUND 127
#define COMMAND_SIGINT	  130 /* ended by Ctrl-C */
#define COMMAND_SIGPIPE	  141 /* its output has no reader */

#define COMMAND_BUILTIN 0x1u /* runs in the shell's own thread and may change its state */
#define COMMAND_KEYWORD 0x2u /* known to the parser; listed for `help` only, run is NULL */
/* It takes one first argument alone, which the usage begins with: with others a program of that name is run. */
#define COMMAND_ONE_WORD 0x4u

#define COMMAND_OUT_BYTES 1900 /* bytes of output that are collected before they are written */

struct command_env {
	struct file *in;
	struct file *out;
	struct file *err;
	struct shell *shell; /* builtins change it, others only read its directory */
	const char *name;    /* argv[0], for messages */
	int write_err;	     /* first failed write to out, -errno; later output is dropped */
	bool is_builtin;     /* runs as a builtin: error messages begin with `sh: ` */
	uint32_t out_len;    /* bytes in out_buf that are not written yet */
	char out_buf[COMMAND_OUT_BYTES];
};

struct command {
	const char *name;
	const char *usage; /* arguments only, "" for none */
	const char *help;  /* one line, no full stop */
	int (*run)(struct command_env *env, int argc, char **argv);
	uint32_t flags;
};

/*
 * Output of the command. It is collected and written when the buffer is full, when the command
 * ends, and at each end of a line if it goes to the console. Errors are kept in write_err.
 */
void command_printf(struct command_env *env, const char *fmt, ...) TRACE_PRINTF(2, 3);
void command_write(struct command_env *env, const void *buf, size_t len);
void command_puts(struct command_env *env, const char *text);
void command_putc(struct command_env *env, char c);
/* Write the collected output. 0, or the first write error of this command, as -errno. */
int command_flush(struct command_env *env);
/* `NAME: text` with a newline, to standard error; `sh: NAME: text` when it is a builtin. */
void command_error(struct command_env *env, const char *fmt, ...) TRACE_PRINTF(2, 3);
/* An error message with the text of `err`: `NAME: what: No such file or directory`. */
void command_perror(struct command_env *env, const char *what, int err);
/* True when the command should end: Ctrl-C, kill, or its output cannot be written any more. */
bool command_stopped(struct command_env *env);

/*
 * Open `path` for reading, as seen from the shell's directory; `-` is standard input. The caller
 * gives the file back with fput(). On failure an error message is printed; NULL.
 */
struct file *command_open(struct command_env *env, const char *path);
/* The directory that relative paths start from. */
const char *command_cwd(const struct command_env *env);

/*
 * Read `text` as a number, decimal or with 0x in front, with nothing behind it. False when it is
 * none or does not fit: *out_value is left alone.
 */
bool command_parse_u64(const char *text, uint64_t *out_value);
/* The usual text of an errno, positive or negative. */
const char *command_strerror(int err);

/* The command of that name, NULL for none. */
const struct command *command_find(const char *name);
/* Command `index` of all in alphabetic order; NULL behind the last one. */
const struct command *command_at(uint32_t index);
/* Once, before the first shell: sorts the index. Panics when two commands share a name. */
void command_init(void);

/*
 * Tables of the further commands of a kernel that has more, such as the test kernel; the last entry
 * is NULL. In other kernels the array does not exist: its address is NULL.
 */
extern const struct command *const command_tables_more[] __attribute__((weak));

#endif
