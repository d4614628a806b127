/*
 * Running a tree. See sh.h.
 *
 * Everything here returns an exit status. A list is left early in two cases: sh->flow says so
 * (break, continue, exit), or the thread was interrupted; loops and lists ask exec_is_leaving().
 */
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "sh.h"

/*
 * Running a tree is recursive. Functions that are not inlined into their caller keep its stack
 * frame small: a level of nesting takes what its own kind of node needs, not what all kinds need.
 */
#define NESTED TRACE_NOINLINE

static bool exec_is_leaving(const struct shell *sh)
{
	return sh->flow != SH_FLOW_NONE || thread_interrupted();
}

/*
 * Start one command of a pipe. Its input is `*in`, or that of `io` for the first; this reference is
 * given up, and `*in` becomes the input of the next command, NULL behind the last. 0 or -ENOMEM.
 */
static int exec_start_stage(struct shell *sh, const struct sh_node *node, const struct sh_io *io,
			    struct file **in, struct sh_job **out_job)
{
	const struct sh_task task = { .name = "sh", .node = node };
	struct sh_io stage = *io;
	struct file *next = NULL;
	int err = 0;

	*out_job = NULL;
	if (*in)
		stage.fd[0] = *in;
	if (node->next)
		err = pipe_create(&next, &stage.fd[1]);
	if (!err)
		*out_job = sh_start(sh, &task, &stage);
	fput(*in);
	if (next)
		fput(stage.fd[1]);
	*in = next;
	return *out_job ? 0 : -ENOMEM;
}

static struct sh_job **exec_create_stages(const struct sh_node *node)
{
	size_t nr = 0;

	for (node = node->child; node; node = node->next)
		nr++;
	return kcalloc(nr, sizeof(struct sh_job *));
}

static NESTED int exec_stages(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	struct sh_job **jobs = exec_create_stages(node);
	struct file *in = NULL;
	uint32_t nr = 0;
	int status = 1;

	for (node = node->child; node; node = node->next) {
		if (!jobs || exec_start_stage(sh, node, io, &in, &jobs[nr])) {
			sh_complain(io, "can't start a pipe: %s", command_strerror(ENOMEM));
			break;
		}
		nr++;
	}
	fput(in);
	for (uint32_t i = 0; i < nr; i++)
		status = sh_wait(jobs[i]);
	kfree(jobs);
	return node ? 1 : status;
}

static NESTED void exec_print_real(const struct sh_io *io, uint64_t ns)
{
	uint64_t ms = ns / NSEC_PER_MSEC;
	char text[48];
	size_t len;

	len = trace_scnprintf(text, sizeof(text), "real\t%lum%lu.%03lus\n",
			      (unsigned long)(ms / 60000), (unsigned long)(ms / 1000 % 60),
			      (unsigned long)(ms % 1000));
	file_write(io->fd[2], text, len);
}

static NESTED int exec_pipe(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	uint64_t start_ns = ktime_get_ns();
	int status;

	if (node->child->next)
		status = exec_stages(sh, node, io);
	else
		status = sh_exec(sh, node->child, io);
	if (node->is_timed)
		exec_print_real(io, ktime_get_ns() - start_ns);
	return node->is_negated ? !status : status;
}

static NESTED int exec_andor(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	int status = 0;

	for (node = node->child; node && !exec_is_leaving(sh); node = node->next) {
		if (node->connect == SH_CONNECT_AND && status)
			continue;
		if (node->connect == SH_CONNECT_OR && !status)
			continue;
		status = sh_exec(sh, node, io);
	}
	return status;
}

static NESTED int exec_seq(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	int status = 0, err;

	for (node = node->child; node && !exec_is_leaving(sh); node = node->next) {
		if (!node->is_background) {
			status = sh_exec(sh, node, io);
			continue;
		}
		err = sh_start_background(sh, node->source, node->source_len, io);
		status = err ? 1 : 0;
		if (err)
			sh_complain(io, "can't start a job: %s", command_strerror(err));
	}
	return status;
}

static NESTED int exec_if(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	const struct sh_node *part = node->child;

	while (part && part->next) {
		int status = sh_exec(sh, part, io);

		if (exec_is_leaving(sh))
			return status;
		if (!status)
			return sh_exec(sh, part->next, io);
		part = part->next->next;
	}
	return part ? sh_exec(sh, part, io) : 0;
}

/*
 * Asked after the body of a loop: does the loop go on? Counts a loop that break or continue leaves.
 */
static bool exec_loop_goes_on(struct shell *sh)
{
	cond_resched();
	if (sh->flow == SH_FLOW_EXIT || thread_interrupted())
		return false;
	if (sh->flow == SH_FLOW_NONE)
		return true;
	if (--sh->flow_loops)
		return false;
	if (sh->flow == SH_FLOW_BREAK) {
		sh->flow = SH_FLOW_NONE;
		return false;
	}
	sh->flow = SH_FLOW_NONE;
	return true;
}

static NESTED int exec_while(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	const struct sh_node *condition = node->child;
	int status = 0;

	sh->loop_depth++;
	do {
		int result = sh_exec(sh, condition, io);

		if (!exec_is_leaving(sh) && (result == 0) == node->is_negated)
			break;
		if (!exec_is_leaving(sh))
			status = sh_exec(sh, condition->next, io);
	} while (exec_loop_goes_on(sh));
	sh->loop_depth--;
	return status;
}

static NESTED int exec_for(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	struct sh_arena arena = { 0 };
	const struct sh_expansion ex = { .sh = sh, .io = io, .arena = &arena, .error = sh->error };
	struct sh_fields items;
	int err = sh_expand_words(&ex, node->words, &items);
	int status = err ? sh_fail_status(sh, io, err) : 0;

	sh->loop_depth++;
	for (struct sh_word *item = items.first; item && !err; item = item->next) {
		err = sh_var_set(sh, node->name, strlen(node->name), item->text);
		status = err ? sh_fail_status(sh, io, err) : sh_exec(sh, node->child, io);
		if (!exec_loop_goes_on(sh))
			break;
	}
	sh->loop_depth--;
	sh_arena_free(&arena);
	return status;
}

static NESTED int exec_subshell(struct shell *sh, const struct sh_node *node,
				const struct sh_io *io)
{
	const struct sh_task task = { .name = "sh", .node = node->child };
	struct sh_job *job = sh_start(sh, &task, io);

	if (job)
		return sh_wait(job);
	sh_complain(io, "can't start a subshell: %s", command_strerror(ENOMEM));
	return 1;
}

static int exec_type(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	switch (node->type) {
	case SH_SIMPLE:
		return sh_exec_simple(sh, node, io);
	case SH_PIPE:
		return exec_pipe(sh, node, io);
	case SH_ANDOR:
		return exec_andor(sh, node, io);
	case SH_SEQ:
		return exec_seq(sh, node, io);
	case SH_IF:
		return exec_if(sh, node, io);
	case SH_WHILE:
		return exec_while(sh, node, io);
	case SH_FOR:
		return exec_for(sh, node, io);
	case SH_SUBSHELL:
		return exec_subshell(sh, node, io);
	default:
		return sh_exec(sh, node->child, io);
	}
}

/* Run a compound command with its redirections. */
static NESTED int exec_redirected(struct shell *sh, const struct sh_node *node,
				  const struct sh_io *io)
{
	struct sh_arena arena = { 0 };
	const struct sh_expansion ex = { .sh = sh, .io = io, .arena = &arena, .error = sh->error };
	struct sh_io files;
	int err = sh_redirect(&ex, node->redirs, io, &files);
	int status;

	sh_arena_free(&arena);
	if (err)
		return err == -EINTR ? COMMAND_SIGINT : 1;
	status = exec_type(sh, node, &files);
	return sh_close_status(io, sh_io_put(&files), status);
}

/* When the thread was interrupted the exit status is 130, whatever was running. */
int sh_exec(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	if (thread_interrupted())
		sh->status = COMMAND_SIGINT;
	else if (node->redirs && node->type != SH_SIMPLE)
		sh->status = exec_redirected(sh, node, io);
	else
		sh->status = exec_type(sh, node, io);
	if (thread_interrupted())
		sh->status = COMMAND_SIGINT;
	return sh->status;
}
