/*
 * mount SOCKET TREE DIR [-f]: the kernel's directory TREE at DIR, over the machine channel of a
 * QEMU. Returns once it is there, and serves it in the background, or with -f in the foreground,
 * until DIR is unmounted or the machine ends. tools/fathom calls it; the exit codes are its.
 */
#include "files.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

enum exit_code {
	DONE,
	FAILED,
	USAGE,
	NOT_RUNNING,
	BUSY,
	DIED = 7,
};

/* One round of poll: bytes of the line. False when the machine has gone. */
static bool serve_line(short events)
{
	if (events & (POLLIN | POLLHUP | POLLERR) && !client_input())
		return false;
	return !client_has_output() || client_output();
}

static bool attach(int line, const char *tree)
{
	files_attach(tree);
	while (files_attached() < 0) {
		struct pollfd one = { .fd = line, .events = POLLIN };

		if (client_has_output() && !client_output())
			return false;
		if (poll(&one, 1, -1) > 0 && !client_input())
			return false;
	}
	return true;
}

/* Until it is unmounted, or the machine has gone. */
static enum exit_code serve(struct fuse_session *session, int line)
{
	struct fuse_buf buf = { 0 };
	enum exit_code code = DONE;

	while (!fuse_session_exited(session)) {
		struct pollfd both[] = {
			{ .fd = fuse_session_fd(session), .events = POLLIN },
			{ .fd = line, .events = POLLIN },
		};

		if (client_has_output())
			both[1].events |= POLLOUT;
		if (poll(both, 2, -1) < 0)
			continue; /* a signal: the session knows */
		if (!serve_line(both[1].revents)) {
			code = DIED;
			break;
		}
		if (!both[0].revents)
			continue;
		if (fuse_session_receive_buf(session, &buf) <= 0)
			continue;
		fuse_session_process_buf(session, &buf);
	}
	free(buf.mem);
	return code;
}

static enum exit_code mount_and_serve(const char *dir, int line, int is_foreground)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char options[64];
	struct fuse_session *session;
	enum exit_code code = FAILED;

	snprintf(options, sizeof(options), "-ofsname=fathom,subtype=9p,max_read=%u", CLIENT_IO_MAX);
	if (fuse_opt_add_arg(&args, "fathom") || fuse_opt_add_arg(&args, options))
		return FAILED;
	session = fuse_session_new(&args, &files_ops, sizeof(files_ops), NULL);
	if (!session)
		return FAILED;
	if (!fuse_set_signal_handlers(session) && !fuse_session_mount(session, dir)) {
		if (!fuse_daemonize(is_foreground))
			code = serve(session, line);
		fuse_session_unmount(session);
	}
	fuse_remove_signal_handlers(session);
	fuse_session_destroy(session);
	fuse_opt_free_args(&args);
	return code;
}

int main(int argc, char **argv)
{
	int line;

	if (argc != 4 && !(argc == 5 && strcmp(argv[4], "-f") == 0)) {
		fprintf(stderr, "usage: mount SOCKET TREE DIR [-f]\n");
		return USAGE;
	}
	line = client_connect(argv[1]);
	if (line == -1) {
		fprintf(stderr, "no machine listens on %s\n", argv[1]);
		return NOT_RUNNING;
	}
	if (line < 0) {
		fprintf(stderr,
			"no answer from %s: another program has the channel, or the kernel hangs\n",
			argv[1]);
		return BUSY;
	}
	if (!attach(line, argv[2])) {
		fprintf(stderr, "the machine has ended\n");
		return DIED;
	}
	if (files_attached()) {
		fprintf(stderr, "%s: %s\n", argv[2], strerror(files_attached()));
		return FAILED;
	}
	return mount_and_serve(argv[3], line, argc == 5);
}
