/*
 * The shell on the console. See <kernel/shell.h>.
 */
#include <arch/power.h>
#include <kernel/boot_stats.h>
#include <kernel/command.h>
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/params.h>
#include <kernel/shell.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/platform.h>
#include "shell/line/line.h"
#include "sh.h"
#include "sh_complete.h"
#include "shell/line/terminal.h"

#define PROMPT	       "fathom# "
#define PROMPT_MORE    "> "
#define HOME	       "/sys/kernel/tracing"
#define TEXT_BYTES_MAX 65536u
#define PASTE_GAP_NS   (100 * NSEC_PER_MSEC) /* after this silence no more of a paste will come */

/* The lines of one command that were read so far. */
struct input {
	char *text;
	size_t len;
};

static struct sh_io console_io;

static int sh_open_console_io(void)
{
	struct file *console = console_file_open();

	if (!console)
		return -ENOMEM;
	for (int i = 0; i < SH_NR_FDS; i++)
		console_io.fd[i] = i ? get_file(console) : console;
	return 0;
}

static struct shell *sh_create_console_shell(void)
{
	struct shell *sh = sh_create();
	struct vfs_stat stat;

	if (!sh)
		panic("no memory for the shell");
	sh->is_interactive = true;
	if (!vfs_stat("/", HOME, &stat))
		strlcpy(sh->cwd, HOME, sizeof(sh->cwd));
	return sh;
}

static int sh_append_line(struct input *input, const char *line, size_t len)
{
	size_t size = input->len + len + 2;
	char *bigger;

	if (size > TEXT_BYTES_MAX)
		return -E2BIG;
	bigger = kmalloc(size);
	if (!bigger)
		return -ENOMEM;
	if (input->len) {
		memcpy(bigger, input->text, input->len);
		bigger[input->len++] = '\n';
	}
	memcpy(bigger + input->len, line, len);
	input->len += len;
	kfree(input->text);
	input->text = bigger;
	return 0;
}

/*
 * Read and append one more line. 0, an error of line_read(), or -E2BIG: the text would be too long.
 */
static int sh_read_more(struct shell *sh, struct input *input)
{
	const struct line_options options = {
		.prompt = input->len ? PROMPT_MORE : PROMPT,
		.has_history = true,
		.complete = sh_complete,
		.arg = sh,
	};
	char *line = NULL;
	int len = line_read(&options, &line);
	int err = len < 0 ? len : 0;

	if (!line)
		return err;
	if (!err)
		history_add(line);
	len = sh_append_line(input, line, strlen(line));
	kfree(line);
	return err ? err : len;
}

/* The text is not run, because of `err`. Will the user go on typing lines that belong to it? */
static bool sh_is_unfinished(const struct input *input, int err)
{
	struct sh_arena arena = { 0 };
	char error[SH_ERROR_LEN];
	struct sh_node *tree;
	int parse_err;

	if (err != -EMSGSIZE)
		return input->len || err == -EIO;
	parse_err = sh_parse(&arena, input->text, input->len, &tree, error);
	sh_arena_free(&arena);
	return parse_err == -EAGAIN;
}

/*
 * Say why the text is not run. When it is only the beginning of something, such as a loop, the rest
 * may be coming in from a paste and would be run by itself: throw that away, too.
 */
static void sh_refuse(struct shell *sh, const struct input *input, int err)
{
	if (err == -EINVAL)
		sh_complain(&console_io, "%s", sh->error);
	else if (err == -EMSGSIZE)
		sh_complain(&console_io, "line of more than %u bytes: not run", LINE_BYTES_MAX - 2);
	else if (err == -E2BIG)
		sh_complain(&console_io, "command of more than %u bytes: not run",
			    TEXT_BYTES_MAX - 2);
	else if (err == -EIO)
		sh_complain(&console_io, "typed faster than it could be read: not run");
	else
		sh_complain(&console_io, "%s", command_strerror(err));
	sh->status = err == -EINVAL ? 2 : 1;
	if (err == -EINVAL || !sh_is_unfinished(input, err))
		return;
	do {
		err = terminal_getc_timeout(PASTE_GAP_NS);
	} while (err >= 0 || err == -EIO);
}

/* Read as many lines as a tree takes. 0, or an error that was reported and is in sh->status. */
static int sh_read_tree(struct shell *sh, struct input *input, struct sh_arena *arena,
			struct sh_node **out_tree)
{
	int err = -EAGAIN;

	while (err == -EAGAIN) {
		sh_arena_free(arena);
		err = sh_read_more(sh, input);
		if (!err)
			err = sh_parse(arena, input->text, input->len, out_tree, sh->error);
	}
	if (err == -EINTR) {
		sh->status = COMMAND_SIGINT;
	} else if (err == -ENODATA) {
		console_write("\n", 1);
		sh->flow = input->len ? SH_FLOW_NONE : SH_FLOW_EXIT;
	} else if (err) {
		sh_refuse(sh, input, err);
	}
	return err;
}

static void sh_serve_line(struct shell *sh)
{
	struct sh_arena arena = { 0 };
	struct input input = { 0 };
	struct sh_node *tree;

	sh_reap(sh);
	thread_clear_interrupt();
	console_fresh_line();
	if (!sh_read_tree(sh, &input, &arena, &tree)) {
		if (tree)
			sh_exec(sh, tree, &console_io);
		if (thread_interrupted())
			file_write(console_io.fd[1], "^C\n", 3);
	}
	sh_arena_free(&arena);
	kfree(input.text);
}

/* Run the text of the boot parameter `run`. With `exit` the machine is powered off after it. */
static void sh_run_boot_text(struct shell *sh)
{
	const char *text = boot_param_get("run");

	if (!text)
		return;
	sh_run_text(sh, text, strlen(text), &console_io);
	if (boot_param_is_set("exit")) {
		console_fresh_line();
		console_drain();
		power_debug_exit((uint32_t)sh->status);
	}
}

/* Give the console to the program of the boot parameter `init` first. */
static void sh_run_boot_program(struct shell *sh)
{
	const char *path = boot_param_get("init");
	int status;

	if (!path)
		return;
	status = sh_run_init(sh, path, &console_io);
	console_fresh_line();
	if (status < 0)
		sh_complain(&console_io, "init=%s: %s", path, command_strerror(status));
	else
		sh_complain(&console_io, "init=%s has ended with status %d", path, status);
}

int shell_main(void *unused)
{
	struct thread *self = current_thread();
	struct shell *sh;

	(void)unused;
	if (sh_open_console_io())
		panic("no memory for the files of the shell");
	self->group = self->pid;
	thread_urgent_begin(); /* for good: real-time threads must not take the console away */
	console_set_sigint_target(self);
	sh = sh_create_console_shell();
	sh_run_boot_text(sh);
	sh_run_boot_program(sh);
	boot_stats.prompt_cycles = trace_plat_cycles();
	for (;;) {
		thread_set_name(self, "sh"); /* exec may have given it another name */
		sh->flow = SH_FLOW_NONE;
		while (sh->flow != SH_FLOW_EXIT)
			sh_serve_line(sh);
		sh_destroy(sh);
		sh = sh_create_console_shell();
	}
}
