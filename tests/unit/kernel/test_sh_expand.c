/*
 * Words to fields: quotes, variables, splitting, patterns, arithmetic, with a small fake tree.
 * links: kernel/shell/sh/sh_lex.c kernel/shell/sh/sh_arena.c kernel/shell/sh/sh_expand.c
 * links: kernel/shell/sh/sh_arith.c kernel/shell/sh/sh_match.c kernel/shell/sh/sh_glob.c
 * links: kernel/shell/sh/sh_var.c tests/unit/kernel/host.c
 */
#include "unit.h"
#include <asm/prctl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <kernel/thread.h>
#include "kernel/host.h"
#include "shell/sh/sh.h"

#define FUZZ_ROUNDS 40000

static struct shell sh;
static char error[SH_ERROR_LEN];
static char shown[4096];

/* ---- The rest of the kernel, as the expansion needs it ---- */

/* The thread that the inline functions of <kernel/thread.h> read: without interrupts. */
static int set_up_thread(void **state)
{
	static struct thread thread;
	static struct cpu_local cpu = { .current = &thread };

	(void)state;
	return (int)syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu);
}

/* The output of a command is its text in brackets, with blanks that are to be split. */
int sh_capture(const struct sh_expansion *ex, const char *text, size_t len, char **out_text)
{
	*out_text = sh_alloc(ex->arena, len + 3);
	if (!*out_text)
		return -ENOMEM;
	snprintf(*out_text, len + 3, "<%.*s>", (int)len, text);
	return 0;
}

static const char *const tree[] = { "per_cpu/",	     "per_cpu/cpu0/",	   "per_cpu/cpu0/stats",
				    "per_cpu/cpu1/", "per_cpu/cpu1/stats", "per_cpu/.hidden",
				    "trace",	     "trace_pipe",	   "tracing_on" };

int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	size_t len = strlen(path);

	assert_string_equal(cwd, "/");
	while (len && path[len - 1] == '/')
		len--;
	for (size_t i = 0; i < ARRAY_SIZE(tree); i++) {
		bool is_dir = tree[i][strlen(tree[i]) - 1] == '/';

		if (strlen(tree[i]) - is_dir != len || memcmp(tree[i], path, len))
			continue;
		out_stat->type = is_dir ? VFS_DIRECTORY : VFS_REGULAR;
		return 0;
	}
	return -ENOENT;
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	size_t base = strcmp(path, ".") ? strlen(path) : 0;

	assert_string_equal(cwd, "/");
	for (size_t i = 0; i < ARRAY_SIZE(tree); i++) {
		const char *name = tree[i] + base;
		size_t len = strlen(tree[i]) > base ? strcspn(name, "/") : 0;

		if (!len || strncmp(tree[i], path, base) || (name[len] && name[len + 1]))
			continue;
		if (index--)
			continue;
		snprintf(out_name, VFS_NAME_MAX, "%.*s", (int)len, name);
		return 0;
	}
	return -ENOENT;
}

/* ---- */

static void set(const char *name, const char *value)
{
	assert_int_equal(sh_var_set(&sh, name, strlen(name), value), 0);
}

static int setup(void **state)
{
	(void)state;
	list_init(&sh.vars);
	strcpy(sh.cwd, "/");
	sh.status = 42;
	sh.pid = 7;
	set("x", "value");
	set("two", "a  b");
	set("empty", "");
	set("star", "trace*");
	set("n", "5");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sh_var_free_all(&sh);
	assert_int_equal(host_live, 0);
	return 0;
}

/* One word, as text; its fields, each in brackets, are in `shown`. */
static int expand(const char *text)
{
	struct sh_arena arena = { 0 };
	struct sh_io io = { 0 };
	struct sh_expansion ex = { .sh = &sh, .io = &io, .arena = &arena, .error = error };
	struct sh_word word = { .text = (char *)(uintptr_t)text };
	struct sh_fields fields;
	int err = sh_expand_words(&ex, &word, &fields);
	uint32_t nr = 0;

	shown[0] = '\0';
	for (struct sh_word *field = fields.first; field && !err; field = field->next, nr++) {
		strcat(shown, "[");
		strncat(shown, field->text, 200);
		strcat(shown, "]");
	}
	if (!err)
		assert_int_equal(nr, fields.nr);
	sh_arena_free(&arena);
	return err;
}

struct pair {
	const char *text;
	const char *fields;
};

static const struct pair pairs[] = {
	{ "plain", "[plain]" },
	{ "'single $x \\ \"'", "[single $x \\ \"]" },
	{ "\"double $x\"", "[double value]" },
	{ "\"a \\\" \\$x \\\\ \\n\"", "[a \" $x \\ \\n]" },
	{ "a\\ b\\$x", "[a b$x]" },
	{ "a'b'\"c\"d", "[abcd]" },
	{ "''", "[]" },
	{ "\"\"", "[]" },
	{ "$empty", "" },
	{ "\"$empty\"", "[]" },
	{ "$nosuch", "" },
	{ "a$nosuch", "[a]" },
	{ "$x", "[value]" },
	{ "${x}y", "[valuey]" },
	{ "$x.y", "[value.y]" },
	{ "$two", "[a][b]" },
	{ "\"$two\"", "[a  b]" },
	{ "1$two'2'", "[1a][b2]" },
	{ "$?", "[42]" },
	{ "$$", "[7]" },
	{ "$", "[$]" },
	{ "a$", "[a$]" },
	{ "$%", "[$%]" },
	{ "${x:-other}", "[value]" },
	{ "${nosuch:-other}", "[other]" },
	{ "${nosuch:-$x}", "[value]" },
	{ "${nosuch:-a b}", "[a b]" },
	{ "${empty:-e}", "[e]" },
	{ "${empty-e}", "" },
	{ "${x:+set}", "[set]" },
	{ "${nosuch:+set}", "" },
	{ "${#x}", "[5]" },
	{ "$(cmd)", "[<cmd>]" },
	{ "$(a b)", "[<a][b>]" },
	{ "\"$(a b)\"", "[<a b>]" },
	{ "`a b`", "[<a][b>]" },
	{ "`a \\`b\\``", "[<a][`b`>]" },
	{ "$((1 + 2))", "[3]" },
	{ "$((n * 2))", "[10]" },
	{ "$(($n * 2 + nosuch))", "[10]" },
	{ "trace*", "[trace][trace_pipe]" },
	{ "tr?ce", "[trace]" },
	{ "[st]race", "[trace]" },
	{ "[!t]race", "[[!t]race]" },
	{ "'trace*'", "[trace*]" },
	{ "\"trace\"*", "[trace][trace_pipe]" },
	{ "trace\\*", "[trace*]" },
	{ "$star", "[trace][trace_pipe]" },
	{ "\"$star\"", "[trace*]" },
	{ "*sched*", "[*sched*]" },
	{ "per_cpu/cpu*/stats", "[per_cpu/cpu0/stats][per_cpu/cpu1/stats]" },
	{ "per_cpu/*", "[per_cpu/cpu0][per_cpu/cpu1]" },
	{ "per_cpu/.*", "[per_cpu/.hidden]" },
	{ "*/cpu[1-9]/", "[per_cpu/cpu1/]" },
	{ "per_cpu//cpu0", "[per_cpu//cpu0]" },
};

static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		assert_int_equal(expand(pairs[i].text), 0);
		assert_string_equal(shown, pairs[i].fields);
	}
	assert_int_equal(expand("${assigned:=now}"), 0);
	assert_string_equal(sh_var_get(&sh, "assigned", 8), "now");
}

static void test_mistakes(void **state)
{
	(void)state;
	assert_int_equal(expand("${x:?}"), -EINVAL);
	assert_string_equal(error, "bad substitution");
	assert_int_equal(expand("${}"), -EINVAL);
	assert_int_equal(expand("${1x}"), -EINVAL);
	assert_int_equal(expand("$((1 / 0))"), -EINVAL);
	assert_string_equal(error, "divide by zero");
	assert_int_equal(expand("$((1 +))"), -EINVAL);
	assert_int_equal(expand("$((1 2))"), -EINVAL);
}

struct sum {
	const char *text;
	int64_t value;
};

static const struct sum sums[] = {
	{ "", 0 },
	{ "1", 1 },
	{ "1+2*3", 7 },
	{ "(1+2)*3", 9 },
	{ "10-3-2", 5 },
	{ "100/10/5", 2 },
	{ "7%4", 3 },
	{ "-7/2", -3 },
	{ "-(-3)", 3 },
	{ "!0", 1 },
	{ "!5", 0 },
	{ "~0", -1 },
	{ "1<<10", 1024 },
	{ "1024>>3", 128 },
	{ "1<2", 1 },
	{ "2<=1", 0 },
	{ "3>2>1", 0 },
	{ "2>=2", 1 },
	{ "1==1", 1 },
	{ "1!=1", 0 },
	{ "6&3", 2 },
	{ "6|3", 7 },
	{ "6^3", 5 },
	{ "1&&0", 0 },
	{ "0||2", 1 },
	{ "0x1f", 31 },
	{ "010", 8 },
	{ "n+1", 6 },
	{ "1|2&3^4", 7 },
	{ "1+1<<2", 8 },
	{ "5-4 == 1", 1 },
	{ " 1\t+ 1 ", 2 },
	{ "9223372036854775807+1", INT64_MIN },
	{ "-9223372036854775807-1", INT64_MIN },
	{ "(-9223372036854775807-1)/-1", INT64_MIN },
};

static void test_arithmetic(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		int64_t value = -99;

		assert_int_equal(sh_arith(&sh, sums[i].text, strlen(sums[i].text), &value, error),
				 0);
		assert_int_equal(value, sums[i].value);
	}
}

/* Patterns, held against the C library's fnmatch(). */
static void test_match(void **state)
{
	char pattern[12], name[12];

	(void)state;
	srand(2);
	for (int i = 0; i < 300000; i++) {
		size_t len = (size_t)rand() % (sizeof(pattern) - 1);
		size_t name_len = (size_t)rand() % 7;

		for (size_t c = 0; c < len; c++)
			pattern[c] = "aab*?c"[rand() % 6];
		pattern[len] = '\0';
		if (len > 4 && rand() % 3 == 0)
			memcpy(pattern + 1, rand() % 2 ? "[ab]" : "[!a]", 4);
		for (size_t c = 0; c < name_len; c++)
			name[c] = "abc"[rand() % 3];
		name[name_len] = '\0';
		if (sh_match(pattern, name) != (fnmatch(pattern, name, 0) == 0))
			print_message("'%s' '%s'\n", pattern, name);
		assert_int_equal(sh_match(pattern, name), fnmatch(pattern, name, 0) == 0);
	}
	assert_true(sh_match("[a-c]x", "bx"));
	assert_true(sh_match("[]]", "]"));
	assert_true(sh_match("a\\*", "a*"));
	assert_false(sh_match("a\\*", "ab"));
	assert_true(sh_match("[", "["));
	assert_true(sh_match("[^a]", "b"));
}

static void test_out_of_memory(void **state)
{
	long live = host_live;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		int err = -ENOMEM;

		for (long fail_at = 0; err; fail_at++) {
			host_fail_at = fail_at;
			err = expand(pairs[i].text);
			host_fail_at = -1;
			assert_true(err == 0 || err == -ENOMEM);
			assert_int_equal(host_live, live);
		}
	}
}

static void test_random_words(void **state)
{
	static const char *const pieces[] = {
		"$",  "${", "}", "x", "two", ":-",    "=", "#",	  "'",	"\"",
		"\\", "*",  "?", "[", "]",   "(",     ")", "$((", "))", "1",
		"+",  "/",  "0", "`", " ",   "trace", "/", "-",	  "!",	"$(",
	};
	char text[128];

	(void)state;
	srand(4);
	for (int i = 0; i < FUZZ_ROUNDS; i++) {
		size_t nr = (size_t)rand() % 12;
		int err;

		text[0] = '\0';
		while (nr--)
			strcat(text, pieces[(size_t)rand() % ARRAY_SIZE(pieces)]);
		err = expand(text);
		assert_true(err == 0 || err == -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mistakes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arithmetic, setup, teardown),
		cmocka_unit_test_setup_teardown(test_match, setup, teardown),
		cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_words, setup, teardown),
	};

	return cmocka_run_group_tests(tests, set_up_thread, NULL);
}
