/*
 * The three files of a command, and redirecting them. See sh.h.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "sh.h"

void sh_complain(const struct sh_io *io, const char *fmt, ...)
{
	char text[SH_ERROR_LEN + VFS_PATH_MAX];
	size_t len = trace_scnprintf(text, sizeof(text), "sh: ");
	va_list args;
	int more;

	va_start(args, fmt);
	more = trace_vsnprintf(text + len, sizeof(text) - len - 1, fmt, args);
	va_end(args);
	len += more < (int)(sizeof(text) - len - 1) ? (size_t)more : sizeof(text) - len - 2;
	text[len++] = '\n';
	file_write(io->fd[2], text, len);
}

void sh_io_get(struct sh_io *to, const struct sh_io *from)
{
	for (int i = 0; i < SH_NR_FDS; i++)
		to->fd[i] = get_file(from->fd[i]);
}

int sh_io_put(struct sh_io *io)
{
	int first = 0;

	for (int i = 0; i < SH_NR_FDS; i++) {
		int err = fput(io->fd[i]);

		io->fd[i] = NULL;
		first = first ? first : err;
	}
	return first;
}

static void redir_complain_open(const struct sh_io *io, const char *path, bool creates, int err)
{
	if (err != -ENOENT && err != -ENOTDIR)
		sh_complain(io, "can't %s %s: %s", creates ? "create" : "open", path,
			    command_strerror(err));
	else if (creates)
		sh_complain(io, "can't create %s: nonexistent directory", path);
	else
		sh_complain(io, "can't open %s: no such file", path);
}

static int redir_dup(const struct sh_redir *redir, const char *target, struct sh_io *io)
{
	if (target[0] < '0' || target[0] >= '0' + SH_NR_FDS || target[1]) {
		sh_complain(io, "%s: bad file descriptor", target);
		return -EBADF;
	}
	get_file(io->fd[target[0] - '0']);
	fput(io->fd[redir->fd]);
	io->fd[redir->fd] = io->fd[target[0] - '0'];
	return 0;
}

static int redir_open(const struct sh_expansion *ex, const struct sh_redir *redir, const char *path,
		      struct sh_io *io)
{
	static const uint32_t flags[] = {
		[SH_REDIR_READ] = VFS_READ,
		[SH_REDIR_WRITE] = VFS_WRITE | VFS_CREATE | VFS_TRUNCATE,
		[SH_REDIR_APPEND] = VFS_WRITE | VFS_CREATE | VFS_APPEND,
	};
	struct file *file;
	int err = vfs_open(ex->sh->cwd, path, flags[redir->op], &file);

	if (err) {
		redir_complain_open(io, path, redir->op != SH_REDIR_READ, err);
		return err;
	}
	fput(io->fd[redir->fd]);
	io->fd[redir->fd] = file;
	return 0;
}

static int redir_one(const struct sh_expansion *ex, const struct sh_redir *redir, struct sh_io *io)
{
	char *target;
	int err = sh_expand_text(ex, redir->target, strlen(redir->target), &target);

	if (err) {
		if (err != -EINTR)
			sh_complain(io, "%s", err == -EINVAL ? ex->error : command_strerror(err));
		return err;
	}
	if (redir->fd >= SH_NR_FDS) {
		sh_complain(io, "%u: bad file descriptor", redir->fd);
		return -EBADF;
	}
	if (redir->op == SH_REDIR_DUP)
		return redir_dup(redir, target, io);
	return redir_open(ex, redir, target, io);
}

int sh_redirect(const struct sh_expansion *ex, const struct sh_redir *redirs,
		const struct sh_io *in, struct sh_io *out)
{
	int err = 0;

	sh_io_get(out, in);
	for (; redirs && !err; redirs = redirs->next)
		err = redir_one(ex, redirs, out);
	if (err)
		sh_io_put(out);
	return err;
}
