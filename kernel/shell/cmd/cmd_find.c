/*
 * find: prints the paths below a directory that meet all conditions.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "command_tables.h"
#include "shell/sh/sh.h"
#include "tree.h"

enum find_test {
	FIND_NAME,
	FIND_PATH,
	FIND_TYPE,
	FIND_MINDEPTH,
	FIND_MAXDEPTH,
	FIND_PRINT,
	NR_FIND_TESTS
};

static const struct {
	const char *word;
	bool has_value;
} find_words[NR_FIND_TESTS] = {
	[FIND_NAME] = { "-name", true },	 [FIND_PATH] = { "-path", true },
	[FIND_TYPE] = { "-type", true },	 [FIND_MINDEPTH] = { "-mindepth", true },
	[FIND_MAXDEPTH] = { "-maxdepth", true }, [FIND_PRINT] = { "-print", false },
};

#define FIND_CONDITIONS_MAX 16

struct find_condition {
	enum find_test test;
	bool is_negated;
	const char *value;
};

struct find {
	struct command_env *env;
	struct find_condition conditions[FIND_CONDITIONS_MAX];
	uint32_t nr;
	uint64_t min_depth;
	uint64_t max_depth;
	struct tree tree;
};

static char find_letter(enum vfs_type type)
{
	static const char letters[] = {
		[VFS_REGULAR] = 'f', [VFS_DIRECTORY] = 'd', [VFS_DEVICE] = 'c', [VFS_PIPE] = 'p',
		[VFS_LINK] = 'l',    [VFS_SOCKET] = 's',    [VFS_BLOCK] = 'b',
	};

	return letters[type];
}

/*
 * For -name: tree->name of the start is its whole path. The last part of it is looked at, or all of
 * it when it ends in a slash, such as `/sys/`.
 */
static bool find_matches_one(const struct find_condition *condition, const struct tree *tree)
{
	const char *slash = strrchr(tree->name, '/');

	switch (condition->test) {
	case FIND_NAME:
		return sh_match(condition->value, slash && slash[1] ? slash + 1 : tree->name);
	case FIND_PATH:
		return sh_match(condition->value, tree->path);
	default:
		return strchr(condition->value, find_letter(tree->stat.type)) != NULL;
	}
}

static bool find_matches(const struct find *find)
{
	for (uint32_t i = 0; i < find->nr; i++) {
		const struct find_condition *condition = &find->conditions[i];

		if (find_matches_one(condition, &find->tree) == condition->is_negated)
			return false;
	}
	return find->tree.depth >= find->min_depth;
}

static enum find_test find_test_of(const char *word)
{
	enum find_test test = 0;

	while (test < NR_FIND_TESTS && strcmp(find_words[test].word, word) != 0)
		test++;
	return test;
}

/* Add a condition to `find`. False, after a message, for a wrong value or too many. */
static bool find_add(struct find *find, enum find_test test, bool is_negated, const char *value)
{
	bool ok = true;

	if (test == FIND_MAXDEPTH) {
		ok = command_parse_u64(value, &find->max_depth);
	} else if (test == FIND_MINDEPTH) {
		ok = command_parse_u64(value, &find->min_depth);
	} else if (test == FIND_TYPE && (!value[0] || value[1] || !strchr("fdcp", value[0]))) {
		ok = false;
	} else if (test != FIND_PRINT) {
		if (find->nr == FIND_CONDITIONS_MAX) {
			command_error(find->env, "more than %u conditions", FIND_CONDITIONS_MAX);
			return false;
		}
		find->conditions[find->nr++] = (struct find_condition){ test, is_negated, value };
	}
	if (!ok)
		command_error(find->env, "%s: invalid argument '%s'", find_words[test].word, value);
	return ok;
}

/* Parse the words behind the paths. False after a message. */
static bool find_parse(struct find *find, char **argv)
{
	bool is_negated = false;

	for (; *argv; argv++) {
		enum find_test test = find_test_of(*argv);

		if (strcmp(*argv, "!") == 0 || strcmp(*argv, "-not") == 0) {
			is_negated = !is_negated;
			continue;
		}
		if (test == NR_FIND_TESTS || (find_words[test].has_value && !argv[1])) {
			command_error(find->env,
				      test == NR_FIND_TESTS ? "%s is not there" : "%s what?",
				      *argv);
			return false;
		}
		argv += find_words[test].has_value;
		if (!find_add(find, test, is_negated, *argv))
			return false;
		is_negated = false;
	}
	return true;
}

static int find_walk(struct find *find, const char *start)
{
	int err = tree_start(&find->tree, command_cwd(find->env), start);

	if (err) {
		command_perror(find->env, start, err);
		return 1;
	}
	if (find->max_depth < find->tree.max_depth)
		find->tree.max_depth = (uint32_t)find->max_depth;
	while (!command_stopped(find->env) && tree_next(&find->tree)) {
		if (find_matches(find))
			command_printf(find->env, "%s\n", find->tree.path);
	}
	if (find->tree.is_cut)
		command_perror(find->env, start, -ENAMETOOLONG);
	return find->tree.is_cut;
}

static int find_run(struct find *find, char **argv)
{
	int nr_paths = 0, status = 0;

	while (argv[nr_paths] && argv[nr_paths][0] != '-' && strcmp(argv[nr_paths], "!") != 0)
		nr_paths++;
	if (!find_parse(find, argv + nr_paths))
		return 1;
	if (!nr_paths)
		return find_walk(find, ".");
	for (int i = 0; i < nr_paths; i++)
		status |= find_walk(find, argv[i]);
	return status;
}

static int cmd_find(struct command_env *env, int argc, char **argv)
{
	struct find *find = kzalloc(sizeof(*find));
	int status;

	(void)argc;
	if (!find) {
		command_error(env, "%s", command_strerror(ENOMEM));
		return 1;
	}
	find->env = env;
	find->max_depth = UINT32_MAX;
	status = find_run(find, argv + 1);
	kfree(find);
	return status;
}

const struct command find_commands[] = {
	{ "find",
	  "[PATH]... [-maxdepth N] [-mindepth N] [[!] -name PATTERN | -path PATTERN | -type "
	  "fdcp]...",
	  "list the files of a tree that fit", cmd_find, 0 },
	{ 0 },
};
