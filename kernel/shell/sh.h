/*
 * The inside of the shell: its state, and the steps from words to running commands. The language
 * is in sh_tree.h, the public half in <kernel/shell.h>.
 *
 * Context:   thread. A step that sleeps ends with -EINTR when its thread is interrupted.
 * Locking:   none: one thread uses a struct shell at a time (see <kernel/shell.h>).
 * Ownership: a struct sh_io holds a reference to each of its files.
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

/* Why a list of commands is being left. */
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
	uint32_t flow_loops; /* loops that break or continue still has to leave */
	uint32_t loop_depth;
	uint32_t job_count; /* number of the newest job */
	int capture_status; /* of the last $( ) */
	bool is_interactive;
	bool runs_in_place;	  /* its thread has nothing to do but one command */
	char error[SH_ERROR_LEN]; /* why the last expansion failed */
	char cwd[VFS_PATH_MAX];
};

/* NULL when out of memory. A copy has its own variables and directory, and no jobs. */
struct shell *sh_create(void);
struct shell *sh_clone(const struct shell *sh);
/* Jobs in the background go on without it. */
void sh_destroy(struct shell *sh);

/* Variables. A value stays valid until the variable changes. */
const char *sh_var_get(const struct shell *sh, const char *name, size_t name_len);
/* 0 or -ENOMEM. */
int sh_var_set(struct shell *sh, const char *name, size_t name_len, const char *value);
void sh_var_unset(struct shell *sh, const char *name);
int sh_var_copy_all(struct shell *to, const struct shell *from);
void sh_var_free_all(struct shell *sh);
void sh_var_each(const struct shell *sh, void (*fn)(const char *name, const char *value, void *arg),
		 void *arg);

/* Fields after expansion, in an arena. */
struct sh_fields {
	struct sh_word *first;
	struct sh_word **tail;
	uint32_t nr;
};

struct sh_expansion {
	struct shell *sh;
	const struct sh_io *io; /* for $( ) */
	struct sh_arena *arena;
	char *error; /* SH_ERROR_LEN bytes */
};

void sh_fields_init(struct sh_fields *fields);
int sh_fields_add(struct sh_fields *fields, struct sh_arena *arena, const char *text, size_t len);
/*
 * Variables, $( ), splitting at blanks, file names, quotes taken off: the words become fields.
 * -ENOMEM, -EINTR, or -EINVAL with a sentence in `error`.
 */
int sh_expand_words(const struct sh_expansion *ex, const struct sh_word *words,
		    struct sh_fields *out_fields);
/* One text, not split, no file names: for assignments and redirections. */
int sh_expand_text(const struct sh_expansion *ex, const char *text, size_t len, char **out_text);
/* The value of $(( )). -EINVAL with a sentence in `error`. */
int sh_arith(struct shell *sh, const char *text, size_t len, int64_t *out_value, char *error);

/*
 * Does `name` match the pattern: * ? [a-z] [!a-z], backslash before a character that means itself?
 */
bool sh_match(const char *pattern, const char *name);
/* True when the pattern has an unquoted * ? or [. */
bool sh_is_pattern(const char *pattern);
/* Take the backslashes of a pattern off, in place. */
void sh_unquote(char *pattern);
/* Add the paths that match, sorted; none: 0 with nothing added. -ENOMEM, -EINTR. */
int sh_glob(const struct sh_expansion *ex, const char *pattern, struct sh_fields *fields);

/* Redirections: `out` is `in` with the node's applied; it holds references. Prints on failure. */
int sh_redirect(const struct sh_expansion *ex, const struct sh_redir *redirs,
		const struct sh_io *in, struct sh_io *out);
void sh_io_get(struct sh_io *to, const struct sh_io *from);
/* Returns the first error that closing gave. */
int sh_io_put(struct sh_io *io);

/* Run a tree. Returns the status, which is also sh->status afterwards. */
int sh_exec(struct shell *sh, const struct sh_node *node, const struct sh_io *io);
int sh_exec_simple(struct shell *sh, const struct sh_node *node, const struct sh_io *io);
/* The status that an error of expansion or redirection makes; it is said, once. */
int sh_fail_status(const struct shell *sh, const struct sh_io *io, int err);
/* The status of a command after its files were closed with `err`. */
int sh_close_status(const struct sh_io *io, int err, int status);
/* Parse and run a text; complaints go to io's error file. */
int sh_run_text(struct shell *sh, const char *text, size_t len, const struct sh_io *io);
/* Run a command with these arguments in this thread. */
int sh_run_command(struct shell *sh, const struct command *command, int argc, char **argv,
		   const struct sh_io *io);
/* A line to the error file: "sh: ..." */
void sh_complain(const struct sh_io *io, const char *fmt, ...) TRACE_PRINTF(2, 3);

/*
 * What runs in a thread of its own. `node` is run by a copy of the shell; or `command` by itself.
 * All of it must stay until the thread has ended, but for a background job, which gets copies.
 */
struct sh_task {
	const char *name;	       /* of the thread */
	const struct command *command; /* or */
	const struct sh_node *node;    /* or */
	const char *text;	       /* not parsed yet */
	size_t text_len;
	int argc;
	char **argv;
};

/* Start a task that the caller will wait for; NULL when out of memory. */
struct sh_job *sh_start(struct shell *sh, const struct sh_task *task, const struct sh_io *io);
/* Start the text in the background and remember it. 0, -ENOMEM. */
int sh_start_background(struct shell *sh, const char *text, size_t len, const struct sh_io *io);
/* Wait for its end and free it. An interrupt of this thread is passed on to the job's. */
int sh_wait(struct sh_job *job);
/* Wait for background job with pid, 0 for all. Returns its status, 127 for none. */
int sh_wait_background(struct shell *sh, int32_t pid);
/* Forget the background jobs that have ended. */
void sh_reap(struct shell *sh);
void sh_each_job(struct shell *sh,
		 void (*fn)(uint32_t number, int32_t pid, bool is_done, const char *text,
			    void *arg),
		 void *arg);
/* Output of a text of commands, trailing newlines cut, into the arena. 0, -ENOMEM, -EINTR. */
int sh_capture(const struct sh_expansion *ex, const char *text, size_t len, char **out_text);

#endif
