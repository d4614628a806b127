/* The list of scripts with a name: see script_named.h. */
#include <trace/platform.h>
#include "script_named.h"
#include "text/str.h"

static struct {
	struct trace_plat_lock lock;
	struct trace_plat_lock names_lock; /* inside; changes of places need both */
	struct script_named *places[SCRIPTS_MAX];
	uint64_t last_number;
	_Atomic uint64_t version;
} script_list = { .version = 1 };

void trace_scripts_lock(void)
{
	trace_plat_lock(&script_list.lock);
}

void trace_scripts_unlock(void)
{
	trace_plat_unlock(&script_list.lock);
}

uint64_t trace_script_named_version(void)
{
	return script_list.version;
}

struct script_named *trace_script_named_of(uint64_t number)
{
	for (size_t i = 0; i < SCRIPTS_MAX; i++) {
		if (script_list.places[i] && script_list.places[i]->number == number)
			return script_list.places[i];
	}
	return NULL;
}

bool trace_script_named_at(size_t index, char *out_name, uint64_t *out_number, size_t *out_place)
{
	const struct script_named *named = NULL;

	trace_plat_lock(&script_list.names_lock);
	for (size_t place = 0; place < SCRIPTS_MAX && !named; place++) {
		if (!script_list.places[place] || index--)
			continue;
		named = script_list.places[place];
		trace_strcpy(out_name, named->name, SCRIPT_NAME_BYTES);
		*out_number = named->number;
		*out_place = place;
	}
	trace_plat_unlock(&script_list.names_lock);
	return named;
}

/* ---- Making and removing ---- */

/* The place of a name, or with NULL one that is free; SCRIPTS_MAX: none. */
static size_t script_named_place(const char *name)
{
	size_t i = 0;

	for (; i < SCRIPTS_MAX; i++) {
		const struct script_named *named = script_list.places[i];

		if (name ? named && trace_strcmp(named->name, name) == 0 : !named)
			break;
	}
	return i;
}

static void script_named_put(size_t place, struct script_named *named)
{
	trace_plat_lock(&script_list.names_lock);
	script_list.places[place] = named;
	script_list.version++;
	trace_plat_unlock(&script_list.names_lock);
}

static int script_named_add(const char *name)
{
	size_t place = script_named_place(NULL);
	struct script_named *named;

	if (script_named_place(name) < SCRIPTS_MAX)
		return -EEXIST;
	if (place == SCRIPTS_MAX)
		return -ENOSPC;
	named = trace_plat_alloc(sizeof(*named));
	if (!named)
		return -ENOMEM;
	trace_strcpy(named->name, name, sizeof(named->name));
	named->number = ++script_list.last_number;
	script_named_put(place, named);
	return 0;
}

int trace_script_named_make(const char *name)
{
	int err;

	if (trace_strnlen(name, SCRIPT_NAME_BYTES) == SCRIPT_NAME_BYTES)
		return -ENAMETOOLONG;
	for (const char *at = name; *at; at++) {
		if (*at == '/')
			return -EINVAL;
	}
	if (!*name)
		return -EINVAL;
	trace_scripts_lock();
	err = script_named_add(name);
	trace_scripts_unlock();
	return err;
}

static void script_named_free_text(struct script_named *named)
{
	if (named->text)
		trace_plat_free(named->text, named->text_bytes);
	named->text = NULL;
}

int trace_script_named_remove(const char *name)
{
	struct script_named *named = NULL;
	size_t place;
	int err = 0;

	trace_scripts_lock();
	place = script_named_place(name);
	if (place < SCRIPTS_MAX)
		named = script_list.places[place];
	if (!named)
		err = -ENOENT;
	else if (named->nr_open || trace_script_named_is_on(named))
		err = -EBUSY;
	if (!err) {
		script_named_put(place, NULL);
		trace_script_free(named->script);
		script_named_free_text(named);
		trace_plat_free(named, sizeof(*named));
	}
	trace_scripts_unlock();
	return err;
}

/* ---- Programs ---- */

bool trace_script_named_is_on(const struct script_named *named)
{
	return named->script && named->script->state == SCRIPT_STARTED;
}

int trace_script_named_write(struct script_named *named, const char *text,
			     struct trace_script_error *out_error)
{
	size_t bytes = trace_strlen(text) + 1;
	struct trace_script *script;
	char *copy;
	int err;

	*out_error = (struct trace_script_error){ 0 };
	if (trace_script_named_is_on(named) || named->nr_printing)
		return -EBUSY;
	copy = trace_plat_alloc(bytes);
	if (!copy)
		return -ENOMEM;
	err = trace_script_create(text, NULL, &script, out_error);
	if (err) {
		trace_plat_free(copy, bytes);
		return err;
	}
	memcpy(copy, text, bytes);
	trace_script_free(named->script);
	script_named_free_text(named);
	named->script = script;
	named->text = copy;
	named->text_bytes = bytes;
	return 0;
}

/* Have a script that has not run yet. */
static int script_named_renew(struct script_named *named)
{
	struct trace_script_error error;
	struct trace_script *script;
	int err;

	if (named->script && named->script->state == SCRIPT_MADE)
		return 0;
	if (named->nr_printing)
		return -EBUSY;
	err = trace_script_create(named->text, NULL, &script, &error);
	if (err)
		return err;
	trace_script_free(named->script);
	named->script = script;
	return 0;
}

int trace_script_named_switch(struct script_named *named, bool on)
{
	int err;

	if (on == trace_script_named_is_on(named))
		return 0;
	if (!on) {
		trace_script_stop(named->script);
		return 0;
	}
	if (!named->text)
		return -ENODATA;
	err = script_named_renew(named);
	if (err)
		return err;
	named->script->named = named;
	err = trace_script_start(named->script);
	if (err) {
		trace_script_free(named->script);
		named->script = NULL;
	}
	return err;
}
