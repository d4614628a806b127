/*
 * mount SOCKET TREE DIR [-f] [-p SECONDS]: the kernel's directory TREE at DIR, over the machine
 * channel of a QEMU. Returns once it is there, and serves it in the background, or with -f in the
 * foreground, until DIR is unmounted or the machine ends. A kernel that answers nothing for SECONDS
 * is taken for silent: see task.h. tools/fathom calls it; the exit codes are its.
 */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include "client.h"
#include "node.h"
#include "task.h"

#define PATIENCE_S 20

enum exit_code {
	DONE,
	FAILED,
	USAGE,
	NOT_RUNNING,
	BUSY,
	DIED = 7,
};

static struct {
	const char *guest;   /* its socket */
	char name[PATH_MAX]; /* the same for people, from wherever they look */
	const char *tree;
	const char *dir;
	bool is_foreground;
	unsigned int patience_s;
} options = { .patience_s = PATIENCE_S };

/* Where: standard error in the foreground, otherwise the system's log. */
static void say(const char *text, unsigned int seconds)
{
	if (options.is_foreground)
		fprintf(stderr, "%s at %s: %s (%u s)\n", options.name, options.dir, text, seconds);
	else
		syslog(LOG_WARNING, "%s at %s: %s (%u s)", options.name, options.dir, text,
		       seconds);
}

static void tell(uint64_t silent_ms)
{
	if (silent_ms)
		say("the kernel does not answer; its files say \"Host is down\"",
		    (unsigned int)(silent_ms / 1000));
	else
		say("the kernel answers again", 0);
	files_wake_polls();
}

/* One round of poll: bytes of the line. False when the machine has gone. */
static bool serve_line(short events)
{
	if (events & (POLLIN | POLLHUP | POLLERR) && !client_input())
		return false;
	fids_clunk();
	return !client_has_output() || client_output();
}

/* 0; BUSY: no answer; DIED: the machine has gone. */
static enum exit_code attach(int line)
{
	files_attach(options.tree, options.name);
	while (files_attached() < 0) {
		struct pollfd one = { .fd = line, .events = POLLIN };

		if (client_has_output() && !client_output())
			return DIED;
		if (poll(&one, 1, (int)TASK_GRACE_MS) > 0 && !client_input())
			return DIED;
		if (client_silent_ms() >= options.patience_s * 1000u)
			return BUSY;
	}
	return DONE;
}

static void serve_fuse(struct fuse_session *session, struct fuse_buf *buf)
{
	if (fuse_session_receive_buf(session, buf) > 0)
		fuse_session_process_buf(session, buf);
}

/* Until it is unmounted, or the machine has gone. */
static enum exit_code serve(struct fuse_session *session, int line)
{
	int fuse = fuse_session_fd(session);
	struct fuse_buf buf = { 0 };
	enum exit_code code = DONE;

	/* A request that poll() has seen may be gone again, because its program was killed. */
	if (fcntl(fuse, F_SETFL, fcntl(fuse, F_GETFL) | O_NONBLOCK))
		return FAILED;
	while (!fuse_session_exited(session)) {
		struct pollfd both[] = {
			{ .fd = fuse, .events = POLLIN },
			{ .fd = line, .events = POLLIN },
		};

		if (client_has_output())
			both[1].events |= POLLOUT;
		if (poll(both, 2, tasks_wait_ms()) < 0)
			continue; /* a signal: the session knows */
		if (!serve_line(both[1].revents)) {
			code = DIED;
			break;
		}
		if (both[0].revents)
			serve_fuse(session, &buf);
		tasks_tick();
	}
	free(buf.mem);
	return code;
}

/* The mount table names the machine, unless FUSE would misread its name. */
static void name_options(char *text, size_t size)
{
	bool is_plain = !strpbrk(options.name, ",\\");

	snprintf(text, size, "-ofsname=%.200s,subtype=9p,max_read=%u",
		 is_plain ? options.name : "fathom", CLIENT_IO_MAX);
}

static enum exit_code mount_and_serve(int line)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char words[300];
	struct fuse_session *session;
	enum exit_code code = FAILED;

	name_options(words, sizeof(words));
	if (fuse_opt_add_arg(&args, "fathom") || fuse_opt_add_arg(&args, words))
		return FAILED;
	session = fuse_session_new(&args, &files_ops, sizeof(files_ops), NULL);
	if (!session)
		return FAILED;
	if (!fuse_set_signal_handlers(session) && !fuse_session_mount(session, options.dir)) {
		if (!fuse_daemonize(options.is_foreground))
			code = serve(session, line);
		fuse_session_unmount(session);
	}
	fuse_remove_signal_handlers(session);
	fuse_session_destroy(session);
	fuse_opt_free_args(&args);
	return code;
}

static bool read_options(int argc, char **argv)
{
	if (argc < 4)
		return false;
	options.guest = argv[1];
	if (!realpath(options.guest, options.name))
		snprintf(options.name, sizeof(options.name), "%s", options.guest);
	options.tree = argv[2];
	options.dir = argv[3];
	for (int i = 4; i < argc; i++) {
		if (strcmp(argv[i], "-f") == 0)
			options.is_foreground = true;
		else if (strcmp(argv[i], "-p") == 0 && ++i < argc && atoi(argv[i]) > 0)
			options.patience_s = (unsigned int)atoi(argv[i]);
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	enum exit_code code;
	int line;

	if (!read_options(argc, argv)) {
		fprintf(stderr, "usage: mount SOCKET TREE DIR [-f] [-p SECONDS]\n");
		return USAGE;
	}
	openlog("fathom-mount", LOG_PID, LOG_DAEMON);
	tasks_init(options.patience_s * 1000u, tell);
	line = client_connect(options.guest, options.patience_s * 1000u);
	if (line == -1) {
		fprintf(stderr, "no machine listens on %s\n", options.guest);
		return NOT_RUNNING;
	}
	code = line < 0 ? BUSY : attach(line);
	if (code == BUSY)
		fprintf(stderr,
			"no answer from %s: another program has the channel, or the kernel hangs\n",
			options.guest);
	else if (code == DIED)
		fprintf(stderr, "the machine has ended\n");
	else if (files_attached())
		fprintf(stderr, "%s: %s\n", options.tree, strerror(files_attached()));
	else
		return mount_and_serve(line);
	return code ? code : FAILED;
}
