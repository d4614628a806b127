/* Output and input of commands. See <kernel/command.h>. */
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fmt.h>
#include "shell/sh/sh.h"

#define MESSAGE_BYTES 320

/* Write all of `buf`. 0, or the first error. */
static int command_write_all(struct file *file, const char *buf, size_t len)
{
	while (len) {
		ssize_t put = file_write(file, buf, len);

		if (put <= 0)
			return put ? (int)put : -EIO;
		buf += put;
		len -= (size_t)put;
	}
	return 0;
}

int command_flush(struct command_env *env)
{
	if (!env->write_err && env->out_len)
		env->write_err = command_write_all(env->out, env->out_buf, env->out_len);
	env->out_len = 0;
	return env->write_err;
}

void command_write(struct command_env *env, const void *buf, size_t len)
{
	const char *text = buf;

	if (len > COMMAND_OUT_BYTES - env->out_len)
		command_flush(env);
	if (env->write_err || !len)
		return;
	if (len > COMMAND_OUT_BYTES) {
		env->write_err = command_write_all(env->out, text, len);
		return;
	}
	memcpy(env->out_buf + env->out_len, text, len);
	env->out_len += (uint32_t)len;
	if (env->out->ops->is_console && memchr(text, '\n', len))
		command_flush(env);
}

void command_puts(struct command_env *env, const char *text)
{
	command_write(env, text, strlen(text));
}

void command_putc(struct command_env *env, char c)
{
	command_write(env, &c, 1);
}

/*
 * Print a text of `len` bytes, which is too long for the stack. It is never cut: -ENOMEM in
 * write_err.
 */
static void command_print_long(struct command_env *env, size_t len, const char *fmt, va_list args)
{
	char *text = kmalloc(len + 1);

	if (!text) {
		env->write_err = env->write_err ? env->write_err : -ENOMEM;
		return;
	}
	trace_vsnprintf(text, len + 1, fmt, args);
	command_write(env, text, len);
	kfree(text);
}

void command_printf(struct command_env *env, const char *fmt, ...)
{
	char text[MESSAGE_BYTES];
	va_list args;
	int len;

	va_start(args, fmt);
	len = trace_vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (len < MESSAGE_BYTES) {
		command_write(env, text, (size_t)len);
		return;
	}
	va_start(args, fmt);
	command_print_long(env, (size_t)len, fmt, args);
	va_end(args);
}

void command_error(struct command_env *env, const char *fmt, ...)
{
	char text[MESSAGE_BYTES];
	size_t len = trace_scnprintf(text, sizeof(text),
				     env->is_builtin ? "sh: %.32s: " : "%.32s: ", env->name);
	va_list args;

	command_flush(env);
	va_start(args, fmt);
	trace_vsnprintf(text + len, sizeof(text) - len - 1, fmt, args);
	va_end(args);
	len = strlen(text);
	text[len++] = '\n';
	command_write_all(env->err, text, len);
}

void command_perror(struct command_env *env, const char *what, int err)
{
	command_error(env, "%s: %s", what, command_strerror(err));
}

bool command_stopped(struct command_env *env)
{
	cond_resched();
	return env->write_err || thread_interrupted();
}

struct file *command_open(struct command_env *env, const char *path)
{
	struct file *file;
	int err;

	if (strcmp(path, "-") == 0)
		return get_file(env->in);
	err = vfs_open(env->shell->cwd, path, VFS_READ, &file);
	if (!err)
		return file;
	command_perror(env, path, err);
	return NULL;
}

const char *command_cwd(const struct command_env *env)
{
	return env->shell->cwd;
}

bool command_parse_u64(const char *text, uint64_t *out_value)
{
	unsigned int base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;

	return str_to_u64(base == 16 ? text + 2 : text, base, out_value) == 0;
}

struct errno_text {
	int err;
	const char *text;
};

static const struct errno_text errno_texts[] = {
	{ EPERM, "Operation not permitted" },
	{ ENOENT, "No such file or directory" },
	{ ESRCH, "No such process" },
	{ EINTR, "Interrupted system call" },
	{ EIO, "Input/output error" },
	{ ENXIO, "No such device or address" },
	{ E2BIG, "Argument list too long" },
	{ ENOEXEC, "Exec format error" },
	{ EBADF, "Bad file descriptor" },
	{ ECHILD, "No child processes" },
	{ EAGAIN, "Resource temporarily unavailable" },
	{ ENOMEM, "Cannot allocate memory" },
	{ EACCES, "Permission denied" },
	{ EFAULT, "Bad address" },
	{ EBUSY, "Device or resource busy" },
	{ EEXIST, "File exists" },
	{ EXDEV, "Invalid cross-device link" },
	{ ENODEV, "No such device" },
	{ ENOTDIR, "Not a directory" },
	{ EISDIR, "Is a directory" },
	{ EINVAL, "Invalid argument" },
	{ EMFILE, "Too many open files" },
	{ ENOTTY, "Inappropriate ioctl for device" },
	{ EFBIG, "File too large" },
	{ ENOSPC, "No space left on device" },
	{ ESPIPE, "Illegal seek" },
	{ EROFS, "Read-only file system" },
	{ EPIPE, "Broken pipe" },
	{ EDOM, "Numerical argument out of domain" },
	{ EILSEQ, "Invalid or incomplete multibyte or wide character" },
	{ ERANGE, "Numerical result out of range" },
	{ EDEADLK, "Resource deadlock avoided" },
	{ ENAMETOOLONG, "File name too long" },
	{ ENOSYS, "Function not implemented" },
	{ ENOTEMPTY, "Directory not empty" },
	{ ELOOP, "Too many levels of symbolic links" },
	{ ENODATA, "No data available" },
	{ ETIME, "Timer expired" },
	{ ELIBBAD, "Accessing a corrupted shared library" },
	{ ENOTSOCK, "Socket operation on non-socket" },
	{ EMSGSIZE, "Message too long" },
	{ EOVERFLOW, "Value too large for defined data type" },
	{ EOPNOTSUPP, "Operation not supported" },
	{ EAFNOSUPPORT, "Address family not supported by protocol" },
	{ EADDRINUSE, "Address already in use" },
	{ EADDRNOTAVAIL, "Cannot assign requested address" },
	{ ETIMEDOUT, "Connection timed out" },
};

const char *command_strerror(int err)
{
	for (size_t i = 0; i < ARRAY_SIZE(errno_texts); i++) {
		if (errno_texts[i].err == (err < 0 ? -err : err))
			return errno_texts[i].text;
	}
	return "Unknown error";
}
