/*
 * Redirections: what they open, and what is said when one fails.
 * links: kernel/shell/sh/sh_lex.c kernel/shell/sh/sh_arena.c kernel/shell/sh/sh_expand.c
 * links: kernel/shell/sh/sh_arith.c kernel/shell/sh/sh_match.c kernel/shell/sh/sh_glob.c
 * links: kernel/shell/sh/sh_var.c kernel/shell/sh/sh_redir.c tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <string.h>
#include <kernel/command.h>
#include "kernel/host.h"
#include "shell/sh/sh.h"

static struct shell sh;
static struct file console, opened;
static char said[512], opened_path[64];
static int open_err, capture_err;

struct file *get_file(struct file *file)
{
	file->refs++;
	return file;
}

int fput(struct file *file)
{
	if (file)
		file->refs--;
	return 0;
}

ssize_t vfs_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	assert_ptr_equal(file, &console);
	assert_null(pos);
	snprintf(said, sizeof(said), "%.*s", (int)len, (const char *)buf);
	return (ssize_t)len;
}

int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)
{
	assert_string_equal(cwd, "/");
	assert_int_equal(flags, VFS_WRITE | VFS_CREATE | VFS_TRUNCATE);
	if (open_err)
		return open_err;
	snprintf(opened_path, sizeof(opened_path), "%s", path);
	*out_file = get_file(&opened);
	return 0;
}

int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	(void)cwd;
	(void)path;
	(void)out_stat;
	return -ENOENT;
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	(void)cwd;
	(void)path;
	(void)index;
	(void)out_name;
	return -ENOENT;
}

int sh_capture(const struct sh_expansion *ex, const char *text, size_t len, char **out_text)
{
	(void)ex;
	(void)text;
	(void)len;
	(void)out_text;
	return capture_err;
}

const char *command_strerror(int err)
{
	return err == -ENOMEM ? "no memory" : "another error";
}

static int redirect(const char *target)
{
	struct sh_arena arena = { 0 };
	struct sh_io in = { { &console, &console, &console } }, out;
	struct sh_expansion ex = { .sh = &sh, .io = &in, .arena = &arena, .error = sh.error };
	struct sh_redir redir = { .op = SH_REDIR_WRITE,
				  .fd = 1,
				  .target = (char *)(uintptr_t)target };
	int err;

	strcpy(sh.cwd, "/");
	said[0] = opened_path[0] = '\0';
	err = sh_redirect(&ex, &redir, &in, &out);
	if (!err) {
		assert_ptr_equal(out.fd[1], &opened);
		sh_io_put(&out);
	}
	sh_arena_free(&arena);
	assert_int_equal(console.refs + opened.refs, 0);
	assert_int_equal(host_live, 0);
	return err;
}

static void test_redirect(void **state)
{
	(void)state;
	assert_int_equal(redirect("/tmp/'a b'"), 0);
	assert_string_equal(opened_path, "/tmp/a b");
	assert_string_equal(said, "");
}

/* No failure is silent, but for that of a user who has interrupted. */
static void test_failures(void **state)
{
	(void)state;
	open_err = -ENOENT;
	assert_int_equal(redirect("/no/such"), -ENOENT);
	assert_string_equal(said, "sh: can't create /no/such: nonexistent directory\n");
	open_err = 0;
	assert_int_equal(redirect("${x"), -EINVAL);
	assert_string_equal(said, "sh: syntax error: unterminated quoted string\n");

	host_fail_at = 0;
	assert_int_equal(redirect("file"), -ENOMEM);
	host_fail_at = -1;
	assert_string_equal(said, "sh: no memory\n");
	capture_err = -ENOMEM;
	assert_int_equal(redirect("$(name)"), -ENOMEM);
	assert_string_equal(said, "sh: no memory\n");
	capture_err = -EINTR;
	assert_int_equal(redirect("$(name)"), -EINTR);
	assert_string_equal(said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_redirect),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
