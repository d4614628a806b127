/*
 * Any text as a line of the shell: parsed, then every word of the tree expanded. The rest of the
 * kernel is played: a few file names, $( ) that gives its own text.
 * links: kernel/shell/sh/sh_lex.c kernel/shell/sh/sh_parse.c kernel/shell/sh/sh_arena.c
 * kernel/shell/sh/sh_expand.c kernel/shell/sh/sh_arith.c links: kernel/shell/sh/sh_match.c
 * kernel/shell/sh/sh_glob.c kernel/shell/sh/sh_var.c tests/unit/kernel/host.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/thread.h>
#include "kernel/host.h"
#include "shell/sh/sh.h"

/* Each $( ) in a word costs a parse: texts that only pile them up are left to run out. */
#define CAPTURES_MAX 50

static uint32_t nr_captures;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

bool thread_interrupted(void)
{
	return nr_captures > CAPTURES_MAX;
}

int sh_capture(const struct sh_expansion *ex, const char *text, size_t len, char **out_text)
{
	char error[SH_ERROR_LEN];
	struct sh_node *tree;

	if (nr_captures++ > CAPTURES_MAX)
		return -EINTR;
	sh_parse(ex->arena, text, len, &tree, error);
	*out_text = sh_copy(ex->arena, text, len);
	return *out_text ? 0 : -ENOMEM;
}

int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	(void)cwd;
	out_stat->type = strchr(path, '/') ? VFS_REGULAR : VFS_DIRECTORY;
	return strchr(path, 'x') ? -ENOENT : 0;
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	static const char *const names[] = { "a", "cpu0", "cpu1", ".b", "x*" };

	(void)cwd;
	if (index >= ARRAY_SIZE(names) || strlen(path) > 20)
		return -ENOENT;
	strcpy(out_name, names[index]);
	return 0;
}

static void check(int err)
{
	if (err != 0 && err != -EINVAL && err != -EINTR)
		abort();
}

static void expand_node(const struct sh_expansion *ex, const struct sh_node *node)
{
	struct sh_fields fields;
	char *text;

	check(sh_expand_words(ex, node->words, &fields));
	for (const struct sh_word *word = node->assigns; word; word = word->next)
		check(sh_expand_text(ex, word->text, strlen(word->text), &text));
	for (const struct sh_redir *redir = node->redirs; redir; redir = redir->next)
		check(sh_expand_text(ex, redir->target, strlen(redir->target), &text));
	for (node = node->child; node; node = node->next)
		expand_node(ex, node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct sh_arena arena = { 0 };
	struct shell sh = { .cwd = "/" };
	struct sh_io io = { 0 };
	const struct sh_expansion ex = { .sh = &sh, .io = &io, .arena = &arena, .error = sh.error };
	struct sh_node *tree;
	int err;

	nr_captures = 0;
	list_init(&sh.vars);
	sh_var_set(&sh, "x", 1, "a b*");
	err = sh_parse(&arena, (const char *)data, len, &tree, sh.error);
	if (err != 0 && err != -EINVAL && err != -EAGAIN)
		abort();
	if (tree && !memchr(data, '\0', len))
		expand_node(&ex, tree);
	sh_arena_free(&arena);
	sh_var_free_all(&sh);
	if (host_live != 0)
		abort();
	return 0;
}
