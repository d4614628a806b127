/*
 * The inside of the shell: its state, and the steps from words to running commands. The language is
 * in sh_tree.h, the public half in <kernel/shell.h>. An int that is returned is 0 or -errno unless
 * said otherwise.
 *
 * Context:   thread. A step that sleeps ends with -EINTR when its thread is interrupted.
 * Locking:   none: one thread uses a struct shell at a time (see <kernel/shell.h>).
 * Ownership: a struct sh_io that sh_io_get() or sh_redirect() has filled holds a reference to each
 *            of its files; sh_io_put() ends them.
 */
#ifndef KERNEL_SH_H
#define KERNEL_SH_H

#include <kernel/base.h>
#include <kernel/list.h>
#include <kernel/vfs.h>
#include "sh_tree.h"

struct command;
struct command_env;
struct thread;

#define SH_NR_FDS 3

/* The three files that a command runs with. */
struct sh_io {
	struct file *fd[SH_NR_FDS];
};

/* The reason why a list of commands is being left. */
enum sh_flow {
	SH_FLOW_NONE,
	SH_FLOW_BREAK,
	SH_FLOW_CONTINUE,
	SH_FLOW_EXIT
};

struct sh_var; /* sh_var.c */
struct sh_job; /* sh_job.c */

struct shell {
	struct list vars;
	struct list jobs;	 /* in the background, oldest first */
	int32_t pid;		 /* $$; subshells keep their parent's */
	int32_t last_background; /* $! */
	int status;		 /* $? */
	enum sh_flow flow;
	uint32_t flow_loops; /* the loops that break or continue still has to leave */
	uint32_t loop_depth; /* the loops that are running, one inside the other */
	uint32_t job_count;  /* number of the newest job */
	int capture_status;  /* of the last $( ) */
	bool is_interactive;
	bool runs_in_place;	  /* its thread runs just one command: do not make another for it */
	char error[SH_ERROR_LEN]; /* why the last expansion failed */
	char cwd[VFS_PATH_MAX];
};

/*
 * A new shell; a copy for a subshell, with its own variables and directory, and without jobs. NULL
 * when out of memory.
 */
struct shell *sh_create(void);
struct shell *sh_clone(const struct shell *sh);
/* Its jobs in the background go on without it. */
void sh_destroy(struct shell *sh);

/* Variables. A value stays valid until the variable changes. */
const char *sh_var_get(const struct shell *sh, const char *name, size_t name_len);
/* 0 or -ENOMEM. */
int sh_var_set(struct shell *sh, const char *name, size_t name_len, const char *value);
void sh_var_unset(struct shell *sh, const char *name);
/* 0 or -ENOMEM. */
int sh_var_copy_all(struct shell *to, const struct shell *from);
void sh_var_free_all(struct shell *sh);
void sh_var_each(const struct shell *sh, void (*fn)(const char *name, const char *value, void *arg),
		 void *arg);

/* A list of words in an arena, such as the fields after expansion. */
struct sh_fields {
	struct sh_word *first;
	struct sh_word **tail;
	uint32_t nr;
};

struct sh_expansion {
	struct shell *sh;
	const struct sh_io *io; /* for commands in $( ) */
	struct sh_arena *arena; /* memory for the results */
	char *error;		/* gets the message about a mistake: SH_ERROR_LEN bytes */
};

void sh_fields_init(struct sh_fields *fields);
int sh_fields_add(struct sh_fields *fields, struct sh_arena *arena, const char *text, size_t len);
/*
 * Make fields of words: replace variables, $( ) and $(( )), split at blanks, find file names, take
 * off quotes. -ENOMEM, -EINTR, or -EINVAL with a sentence in `error`.
 */
int sh_expand_words(const struct sh_expansion *ex, const struct sh_word *words,
		    struct sh_fields *out_fields);
/* The same without splitting and file names, for assignments and redirections: one text. */
int sh_expand_text(const struct sh_expansion *ex, const char *text, size_t len, char **out_text);
/* Compute the expression in $(( )). 0, or -EINVAL with a sentence in `error`. */
int sh_arith(struct shell *sh, const char *text, size_t len, int64_t *out_value, char *error);

/*
 * Does `name` match the pattern: * ? [a-z] [!a-z], backslash before a character that means itself?
 */
bool sh_match(const char *pattern, const char *name);
/* True when the pattern has an unquoted * ? or [. */
bool sh_is_pattern(const char *pattern);
/* Take the backslashes of a pattern off, in place. */
void sh_unquote(char *pattern);
/* Add the paths that match, sorted. 0, also when there is none; -ENOMEM, -EINTR. */
int sh_glob(const struct sh_expansion *ex, const char *pattern, struct sh_fields *fields);

/*
 * Fill `out` with the files of `in`, changed by the redirections. 0, or -errno: then `out` holds
 * nothing, and a message was printed unless expansion gave -EINTR.
 */
int sh_redirect(const struct sh_expansion *ex, const struct sh_redir *redirs,
		const struct sh_io *in, struct sh_io *out);
void sh_io_get(struct sh_io *to, const struct sh_io *from);
/* Close the files. 0, or the first error of closing. */
int sh_io_put(struct sh_io *io);

/* Run a tree. Returns its exit status, which is also sh->status afterwards. */
int sh_exec(struct shell *sh, const struct sh_node *node, const struct sh_io *io);
/* Run a node of type SH_SIMPLE. Returns its exit status. */
int sh_exec_simple(struct shell *sh, const struct sh_node *node, const struct sh_io *io);
/* Print the error that expansion gave, unless it is -EINTR. Returns the exit status for it. */
int sh_fail_status(const struct shell *sh, const struct sh_io *io, int err);
/*
 * The exit status of a command with `status` whose files were closed with `err`, which is printed.
 */
int sh_close_status(const struct sh_io *io, int err, int status);
/* Parse and run a text. Returns its exit status; messages go to io's error file. */
int sh_run_text(struct shell *sh, const char *text, size_t len, const struct sh_io *io);
/* Run a command with these arguments in this thread. Returns its exit status. */
int sh_run_command(struct shell *sh, const struct command *command, int argc, char **argv,
		   const struct sh_io *io);
/*
 * The command that runs the program of that name, which is argv[0] to it; NULL when there is none. A
 * word with a slash is always a program, and the command tells why it cannot be run.
 */
const struct command *sh_find_program(const struct shell *sh, const char *name);
/*
 * The shell's command of the name argv[0], or the one that runs the program of that name; NULL when there
 * is neither.
 */
const struct command *sh_find_command(const struct shell *sh, int argc, char **argv);
/* Run a program in place of the shell, until it ends: its exit status, or -errno. */
int sh_run_init(const struct shell *sh, const char *path, const struct sh_io *io);
/* Print a line that begins with "sh: " to the error file. */
void sh_complain(const struct sh_io *io, const char *fmt, ...) TRACE_PRINTF(2, 3);

/*
 * The task of a thread: one command, or a tree or a text, which a copy of the shell runs. All that
 * this points to must stay until the thread has ended; a background job gets a copy of its text.
 */
struct sh_task {
	const char *name; /* of the thread */
	/* One of these three is set. */
	const struct command *command;
	const struct sh_node *node;
	const char *text; /* not parsed yet */
	size_t text_len;
	int argc; /* for `command` */
	char **argv;
};

/* Start a task that the caller will wait for; NULL when out of memory. */
struct sh_job *sh_start(struct shell *sh, const struct sh_task *task, const struct sh_io *io);
/* Run the text in the background and remember the job. 0 or -errno. */
int sh_start_background(struct shell *sh, const char *text, size_t len, const struct sh_io *io);
/*
 * Wait for the end of the job and free it. When this thread is interrupted meanwhile it interrupts
 * the job's, and goes on waiting. Returns the exit status.
 */
int sh_wait(struct sh_job *job);
/* Has the task ended, so that sh_wait() would not wait? */
bool sh_has_ended(const struct sh_job *job);
/*
 * Wait for the background job `pid`, and forget it; 0: for all of them. Returns its exit status,
 * 127 when there is none, 0 for all; 130 when interrupted.
 */
int sh_wait_background(struct shell *sh, int32_t pid);
/* Forget the background jobs that have ended. */
void sh_reap(struct shell *sh);
/* Call `fn` for each background job, the oldest first; `text` is its command line. */
void sh_each_job(struct shell *sh,
		 void (*fn)(uint32_t number, int32_t pid, bool is_done, const char *text,
			    void *arg),
		 void *arg);
/*
 * Run a text and keep its output, without newlines at its end, in the arena. sh->capture_status is
 * its exit status. 0, -ENOMEM, -EINTR.
 */
int sh_capture(const struct sh_expansion *ex, const char *text, size_t len, char **out_text);

#endif
