/*
 * The shell's state and its variables. See sh.h.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "sh.h"

struct sh_var {
	struct list link;
	char *value; /* allocated by itself, so that it can be replaced */
	char name[];
};

static struct sh_var *var_find(const struct shell *sh, const char *name, size_t name_len)
{
	struct list *pos;

	list_for_each(pos, &sh->vars) {
		struct sh_var *var = list_entry(pos, struct sh_var, link);

		if (strncmp(var->name, name, name_len) == 0 && var->name[name_len] == '\0')
			return var;
	}
	return NULL;
}

const char *sh_var_get(const struct shell *sh, const char *name, size_t name_len)
{
	struct sh_var *var = var_find(sh, name, name_len);

	return var ? var->value : NULL;
}

int sh_var_set(struct shell *sh, const char *name, size_t name_len, const char *value)
{
	struct sh_var *var = var_find(sh, name, name_len);
	char *copy = kstrdup(value);

	if (!copy)
		return -ENOMEM;
	if (!var) {
		var = kzalloc(sizeof(*var) + name_len + 1);
		if (!var) {
			kfree(copy);
			return -ENOMEM;
		}
		memcpy(var->name, name, name_len);
		list_add_tail(&sh->vars, &var->link);
	}
	kfree(var->value);
	var->value = copy;
	return 0;
}

static void var_free(struct sh_var *var)
{
	list_remove(&var->link);
	kfree(var->value);
	kfree(var);
}

void sh_var_unset(struct shell *sh, const char *name)
{
	struct sh_var *var = var_find(sh, name, strlen(name));

	if (var)
		var_free(var);
}

int sh_var_copy_all(struct shell *to, const struct shell *from)
{
	struct list *pos;

	list_for_each(pos, &from->vars) {
		struct sh_var *var = list_entry(pos, struct sh_var, link);
		int err = sh_var_set(to, var->name, strlen(var->name), var->value);

		if (err)
			return err;
	}
	return 0;
}

void sh_var_free_all(struct shell *sh)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &sh->vars)
		var_free(list_entry(pos, struct sh_var, link));
}

void sh_var_each(const struct shell *sh, void (*fn)(const char *name, const char *value, void *arg),
		 void *arg)
{
	struct list *pos;

	list_for_each(pos, &sh->vars) {
		struct sh_var *var = list_entry(pos, struct sh_var, link);

		fn(var->name, var->value, arg);
	}
}
