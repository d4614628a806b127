/*
 * Filters being edited through set_ftrace_filter and set_ftrace_notrace: see
 * <trace/ftrace_files.h>.
 */
#include "ftrace_grace.h"
#include "ftrace_private.h"
#include "text/str.h"
#include <trace/fmt.h>
#include <trace/ftrace_files.h>

#define WORD_MAX 640u /* longest word, NUL included; Linux's limit */
#define WHY_MAX	 320u

struct ftrace_edit {
	struct ftrace_ops *ops;
	struct trace_array *tr;	  /* the instance that commands are for; NULL: none are taken */
	struct ftrace_hash *hash; /* the copy that is being changed */
	bool notrace;
	/* ftrace_edit_open_set(): no commands; a removal by `!` has to find its function */
	bool is_set;
	bool continues; /* the last write ended inside `word`, which the next one continues */
	size_t len;
	char word[WORD_MAX];
	char why[WHY_MAX];
	size_t why_pos;
};

int ftrace_edit_open(struct ftrace_ops *ops, bool notrace, bool truncate,
		     struct ftrace_edit **out_edit)
{
	struct ftrace_edit *edit;

	if (ftrace_is_dead() || (ops->flags & FTRACE_OPS_FL_DELETED))
		return -ENODEV;
	edit = trace_plat_alloc(sizeof(*edit));
	if (!edit)
		return -ENOMEM;
	edit->ops = ops;
	edit->notrace = notrace;
	trace_plat_lock(&ftrace_lock);
	edit->hash = ftrace_hash_copy(truncate ? NULL : ftrace_ops_hash_of(ops, notrace));
	trace_plat_unlock(&ftrace_lock);
	if (!edit->hash) {
		trace_plat_free(edit, sizeof(*edit));
		return -ENOMEM;
	}
	*out_edit = edit;
	return 0;
}

int ftrace_edit_open_set(struct ftrace_ops *set, bool notrace, bool truncate,
			 struct ftrace_edit **out_edit)
{
	int err = ftrace_edit_open(set, notrace, truncate, out_edit);

	if (!err)
		(*out_edit)->is_set = true;
	return err;
}

void ftrace_edit_allow_commands(struct ftrace_edit *edit, struct trace_array *tr)
{
	edit->tr = tr;
}

static bool ftrace_edit_is_end(char c)
{
	return !c || trace_is_space(c);
}

/* Cut `text` at its first colon. Returns the rest, or NULL when there is none. */
static char *ftrace_edit_cut_at_colon(char *text)
{
	for (; *text; text++) {
		if (*text == ':') {
			*text = '\0';
			return text + 1;
		}
	}
	return NULL;
}

/*
 * Say in edit->why which word was refused and for what reason. `name` is a copy of the word,
 * because parsing has changed the word itself. `module` is NULL when none was given; since there
 * are no modules, a function in a module never exists, and that is the reason then.
 */
static void explain(struct ftrace_edit *edit, const char *name, const char *module)
{
	size_t len;

	if (module && *module != '!') {
		trace_scnprintf(edit->why, sizeof(edit->why), "%.*s: no such module", TRACE_SYM_LEN,
				module);
		return;
	}
	len = trace_scnprintf(edit->why, sizeof(edit->why), "%.*s: ", TRACE_SYM_LEN, name);
	if (*name == '!')
		name++;
	if (trace_plat_why_not(name, edit->why + len, sizeof(edit->why) - len))
		trace_scnprintf(edit->why + len, sizeof(edit->why) - len, "no function matches");
}

/* NAME:COMMAND[:PARAM], cut at its colons. */
static int take_command(struct ftrace_edit *edit, const char *command, const char *param)
{
	struct ftrace_command_args args = {
		.tr = edit->tr, .glob = edit->word, .param = param, .enable = !edit->notrace
	};
	int err;

	if (edit->is_set) {
		args.why = "no such command";
		args.where = command;
		err = -EINVAL;
	} else {
		err = ftrace_run_command(command, &args);
	}
	if (!err)
		return 0;
	if (!args.where)
		args.where = edit->word;
	edit->why_pos = (size_t)(args.where - edit->word);
	trace_scnprintf(edit->why, sizeof(edit->why), "%.*s: %s", TRACE_SYM_LEN, args.where,
			args.why ? args.why : "the command failed");
	return err;
}

/* NAME or NAME:mod:MODULE. */
static int take_names(struct ftrace_edit *edit, char *module)
{
	uint32_t before = edit->hash->nr;
	char name[TRACE_SYM_LEN];
	int found;

	trace_strcpy(name, edit->word, sizeof(name));
	found = ftrace_match_records(&edit->hash, edit->word, module);
	if (found < 0)
		return found;
	if (found && edit->is_set && *name == '!' && edit->hash->nr == before) {
		trace_scnprintf(edit->why, sizeof(edit->why), "%.*s: not in the set", TRACE_SYM_LEN,
				name + 1);
		return -EINVAL;
	}
	if (found)
		return 0;
	explain(edit, name, module);
	return -EINVAL;
}

static int ftrace_edit_take_word(struct ftrace_edit *edit)
{
	char *command = ftrace_edit_cut_at_colon(edit->word);
	char *rest = command ? ftrace_edit_cut_at_colon(command) : NULL;

	edit->why[0] = '\0';
	edit->why_pos = 0;
	if (command && !trace_streq(command, "mod"))
		return take_command(edit, command, rest);
	return take_names(edit, rest);
}

static int finish_word(struct ftrace_edit *edit)
{
	int err;

	edit->word[edit->len] = '\0';
	err = ftrace_edit_take_word(edit);
	edit->len = 0;
	edit->continues = false;
	return err;
}

int64_t ftrace_edit_write(struct ftrace_edit *edit, const char *text, size_t len)
{
	size_t at = 0;
	int err;

	if (!edit->continues) {
		while (at < len && trace_is_space(text[at]))
			at++;
		edit->len = 0;
		if (at < len && !text[at])
			at++; /* as Linux does: a NUL in front ends an empty word */
	}
	while (at < len && !ftrace_edit_is_end(text[at])) {
		if (edit->len == sizeof(edit->word) - 1)
			return -EINVAL;
		edit->word[edit->len++] = text[at++];
	}
	if (at == len) {
		edit->continues = edit->len > 0;
		return (int64_t)at;
	}
	at++;
	if (!edit->len)
		return (int64_t)at;
	err = finish_word(edit);
	return err ? err : (int64_t)at;
}

const char *ftrace_edit_why(const struct ftrace_edit *edit)
{
	return edit->why;
}

size_t ftrace_edit_why_pos(const struct ftrace_edit *edit)
{
	return edit->why_pos;
}

int ftrace_edit_close(struct ftrace_edit *edit)
{
	int err;

	if (edit->len)
		finish_word(edit);
	trace_plat_lock(&ftrace_lock);
	err = ftrace_ops_replace_hash(edit->ops, edit->notrace, edit->hash);
	trace_plat_unlock(&ftrace_lock);
	ftrace_grace_look();
	trace_plat_free(edit, sizeof(*edit));
	return err;
}
