/*
 * Probes of functions: see <trace/ftrace_probe.h>.
 *
 * The functions of a probe are recorded in two places: the filter of its ops decides which sites
 * call, and its map has the data word of each function. Adding changes the map first, removing
 * changes the filter first, so that a call usually finds its word. A call that finds none, because
 * it comes late, does nothing.
 */
#include <trace/fmt.h>
#include <trace/ftrace_probe.h>
#include <trace/recursion.h>
#include "ftrace_grace.h"
#include "ftrace_private.h"
#include "ftrace_probe_private.h"
#include "text/str.h"

#define GLOB_MAX 640u

struct ftrace_func_probe {
	struct ftrace_ops ops; /* its `private` points to this struct */
	const struct ftrace_probe_ops *probe_ops;
	struct trace_array *tr;
	struct probe_map *_Atomic map;
	struct probe_pool pool;
	struct ftrace_func_probe *next; /* the next older one, of any instance */
	struct ftrace_after after;	/* frees the probe after its removal */
	uint64_t id;			/* the larger the newer; from 1 */
};

/* taken before ftrace_lock; guards the variables below */
static struct trace_plat_lock probes_lock;
static struct ftrace_func_probe *probes; /* newest first */
static uint64_t ftrace_probe_last_id;

/* The map of a probe that was removed but may still be called. A search needs a free slot. */
static struct probe_map ftrace_probe_no_functions = { .mask = 1,
						      .shift = 31,
						      .slot = { NULL, NULL } };

static void function_trace_probe_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				      struct ftrace_regs *fregs)
{
	const struct ftrace_func_probe *probe = ops->private;
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);
	struct probe_entry *entry;

	(void)fregs;
	if (bit < 0)
		return;
	/* The acquire pairs with the release in switch_map(). */
	entry = probe_map_find(atomic_load_explicit(&probe->map, memory_order_acquire),
			       trace_plat_ip_pack(ip));
	if (entry) {
		struct ftrace_probe_hit hit = { ip, parent_ip, probe->tr, &entry->data };

		probe->probe_ops->func(&hit, probe->probe_ops);
	}
	trace_recursion_exit(bit);
}

static struct ftrace_func_probe *find_probe(const struct trace_array *tr,
					    const struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_func_probe *probe = probes;

	while (probe && (probe->tr != tr || probe->probe_ops != probe_ops))
		probe = probe->next;
	return probe;
}

static struct ftrace_func_probe *create_probe(struct trace_array *tr,
					      const struct ftrace_probe_ops *probe_ops)
{
	struct ftrace_func_probe *probe = trace_plat_alloc(sizeof(*probe));
	struct probe_map *map = trace_probe_map_create(0);

	if (!probe || !map) {
		trace_probe_map_free(map);
		if (probe)
			trace_plat_free(probe, sizeof(*probe));
		return NULL;
	}
	probe->ops.func = function_trace_probe_call;
	probe->ops.private = probe;
	probe->probe_ops = probe_ops;
	probe->tr = tr;
	probe->map = map;
	return probe;
}

/* The ops is not registered, and no thread is on its way to the callback. */
static void free_probe(struct ftrace_after *after)
{
	struct ftrace_func_probe *probe =
		(struct ftrace_func_probe *)(void *)((char *)after -
						     offsetof(struct ftrace_func_probe, after));

	ftrace_free_filter(&probe->ops);
	if (probe->map != &ftrace_probe_no_functions)
		trace_probe_map_free(probe->map);
	trace_probe_pool_release(&probe->pool);
	trace_plat_free(probe, sizeof(*probe));
}

/* ---- Add ---- */

static struct ftrace_hash *copy_filter(struct ftrace_func_probe *probe)
{
	struct ftrace_hash *hash;

	trace_plat_lock(&ftrace_lock);
	hash = ftrace_hash_copy(ftrace_ops_hash_of(&probe->ops, false));
	trace_plat_unlock(&ftrace_lock);
	return hash;
}

static int switch_filter(struct ftrace_func_probe *probe, struct ftrace_hash *hash)
{
	int err;

	trace_plat_lock(&ftrace_lock);
	err = ftrace_ops_replace_hash(&probe->ops, false, hash);
	trace_plat_unlock(&ftrace_lock);
	if (!err && !(probe->ops.flags & FTRACE_OPS_FL_ENABLED))
		err = register_ftrace_function(&probe->ops);
	return err;
}

/*
 * Callbacks see the new map from here on. Returns the old one, which the caller frees when no
 * callback can be looking at it.
 */
static struct probe_map *switch_map(struct ftrace_func_probe *probe, struct probe_map *map)
{
	struct probe_map *old = probe->map;

	atomic_store_explicit(&probe->map, map, memory_order_release);
	return old;
}

static struct probe_entry *make_entry(struct ftrace_func_probe *probe, uint32_t ip, uint64_t data)
{
	struct probe_entry *entry = trace_probe_entry_alloc(&probe->pool);

	if (!entry)
		return NULL;
	entry->ip = ip;
	entry->data = data;
	if (probe->probe_ops->data_get)
		probe->probe_ops->data_get(data);
	return entry;
}

/* Give back the entries of `map` that are not in `other`. They have no readers any more. */
static void free_entries(struct ftrace_func_probe *probe, const struct probe_map *map,
			 const struct probe_map *other)
{
	for (uint32_t i = 0; i <= map->mask; i++) {
		struct probe_entry *entry = map->slot[i];

		if (!entry || probe_map_find(other, entry->ip))
			continue;
		if (probe->probe_ops->data_put)
			probe->probe_ops->data_put(entry->data);
		trace_probe_entry_free(&probe->pool, entry);
	}
}

/* A map of all functions in `hash`: with the entries that they have, or new ones with `data`. */
static struct probe_map *extend_map(struct ftrace_func_probe *probe, const struct ftrace_hash *hash,
				    uint64_t data)
{
	struct probe_map *map = trace_probe_map_create(hash->nr);

	for (uint32_t i = 0; map && i <= hash->mask; i++) {
		struct probe_entry *entry;

		if (!hash->slot[i])
			continue;
		entry = probe_map_find(probe->map, hash->slot[i]);
		if (!entry) {
			entry = make_entry(probe, hash->slot[i], data);
			if (!entry)
				goto undo;
		}
		trace_probe_map_add(map, entry);
	}
	return map;

undo:
	free_entries(probe, map, probe->map);
	trace_probe_map_free(map);
	return NULL;
}

/* `hash` is ours from now on. */
static int add_functions(struct ftrace_func_probe *probe, struct ftrace_hash *hash, uint64_t data)
{
	struct probe_map *old, *map;
	int err;

	if (hash->nr == ((struct probe_map *)probe->map)->nr) {
		ftrace_hash_free(hash);
		return -EINVAL; /* every function that matches has the probe already */
	}
	map = extend_map(probe, hash, data);
	if (!map) {
		ftrace_hash_free(hash);
		return -ENOMEM;
	}
	old = switch_map(probe, map);
	err = switch_filter(probe, hash);
	if (err) {
		switch_map(probe, old);
		trace_plat_synchronize_preempt();
		free_entries(probe, map, old);
		trace_probe_map_free(map);
		return err;
	}
	trace_plat_synchronize_preempt();
	trace_probe_map_free(old);
	return 0;
}

static int add_glob(struct ftrace_func_probe *probe, const char *glob, uint64_t data)
{
	struct ftrace_hash *hash = copy_filter(probe);
	char text[GLOB_MAX];
	int found;

	if (!hash)
		return -ENOMEM;
	trace_strcpy(text, glob, sizeof(text));
	found = ftrace_match_records(&hash, text, NULL);
	if (found > 0)
		return add_functions(probe, hash, data);
	ftrace_hash_free(hash);
	return found ? found : -EINVAL;
}

int register_ftrace_function_probe(const char *glob, struct trace_array *tr,
				   const struct ftrace_probe_ops *ops, uint64_t data)
{
	struct ftrace_func_probe *probe;
	int err = -ENOMEM;

	if (glob[0] == '!' || trace_strnlen(glob, GLOB_MAX) == GLOB_MAX)
		return -EINVAL;
	if (ftrace_is_dead())
		return -ENODEV;
	trace_plat_lock(&probes_lock);
	probe = find_probe(tr, ops);
	if (probe) {
		err = add_glob(probe, glob, data);
		goto unlock;
	}
	probe = create_probe(tr, ops);
	if (!probe)
		goto unlock;
	err = add_glob(probe, glob, data);
	if (err) {
		if (!ftrace_is_dead()) /* if damage was found just now, sites may call the probe */
			free_probe(&probe->after);
		goto unlock;
	}
	probe->id = ++ftrace_probe_last_id;
	probe->next = probes;
	probes = probe;
unlock:
	trace_plat_unlock(&probes_lock);
	return err;
}

/* ---- Remove ---- */

static void ftrace_probe_remove(struct ftrace_func_probe *probe)
{
	struct ftrace_func_probe **link = &probes;
	struct probe_map *old;
	int err;

	while (*link != probe)
		link = &(*link)->next;
	*link = probe->next;
	/* A call that comes late does nothing. */
	old = switch_map(probe, &ftrace_probe_no_functions);
	err = ftrace_unregister(&probe->ops);
	/* Unregistering has waited for callbacks that look at the map and its entries. */
	free_entries(probe, old, &ftrace_probe_no_functions);
	trace_probe_map_free(old);
	if (err)
		return; /* text is damaged, and sites may go on calling it: it is never freed */
	probe->after.fn = free_probe;
	ftrace_call_after(&probe->after);
}

static bool ftrace_probe_is_meant(const struct probe_entry *entry,
				  const struct ftrace_pattern *pattern)
{
	char name[TRACE_SYM_LEN + 16] = "";
	uintptr_t start;
	size_t bytes;

	return trace_plat_symbol(trace_plat_ip_unpack(entry->ip), name, &start, &bytes) &&
	       ftrace_pattern_match(pattern, name, trace_strlen(name));
}

/* The entries of `probe` that stay, in a map of their own. NULL when out of memory. */
static struct probe_map *shrink_map(const struct ftrace_func_probe *probe,
				    const struct ftrace_pattern *pattern)
{
	const struct probe_map *now = probe->map;
	struct probe_map *map = trace_probe_map_create(now->nr);

	for (uint32_t i = 0; map && i <= now->mask; i++) {
		if (now->slot[i] && !ftrace_probe_is_meant(now->slot[i], pattern))
			trace_probe_map_add(map, now->slot[i]);
	}
	return map;
}

static int remove_functions(struct ftrace_func_probe *probe, struct probe_map *map)
{
	struct ftrace_hash *hash = copy_filter(probe);
	struct probe_map *old;

	if (!hash) {
		trace_probe_map_free(map);
		return -ENOMEM;
	}
	old = probe->map;
	for (uint32_t i = 0; i <= old->mask; i++) {
		if (old->slot[i] && !probe_map_find(map, old->slot[i]->ip))
			ftrace_hash_remove(hash, old->slot[i]->ip);
	}
	(void)switch_filter(probe, hash); /* fails only when nothing is called any more */
	switch_map(probe, map);
	trace_plat_synchronize_preempt();
	free_entries(probe, old, map);
	trace_probe_map_free(old);
	return 0;
}

static int remove_glob(struct ftrace_func_probe *probe, const char *glob)
{
	struct ftrace_pattern pattern;
	struct probe_map *map;
	char text[GLOB_MAX];

	trace_strcpy(text, glob, sizeof(text));
	ftrace_pattern_parse(&pattern, text);
	map = shrink_map(probe, &pattern);
	if (!map)
		return -ENOMEM;
	if (map->nr && map->nr < ((struct probe_map *)probe->map)->nr)
		return remove_functions(probe, map);
	if (map->nr) {
		trace_probe_map_free(map);
		return -EINVAL;
	}
	trace_probe_map_free(map);
	ftrace_probe_remove(probe);
	return 0;
}

int unregister_ftrace_function_probe_func(const char *glob, struct trace_array *tr,
					  const struct ftrace_probe_ops *ops)
{
	struct ftrace_func_probe *probe;
	int err = 0;

	trace_plat_lock(&probes_lock);
	probe = find_probe(tr, ops);
	if (!probe)
		err = -ENODEV;
	else if (!glob[0] || trace_streq(glob, "*"))
		ftrace_probe_remove(probe);
	else
		err = remove_glob(probe, glob);
	trace_plat_unlock(&probes_lock);
	return err;
}

void ftrace_clear_probes(struct trace_array *tr)
{
	struct ftrace_func_probe *probe, *next;

	trace_plat_lock(&probes_lock);
	for (probe = probes; probe; probe = next) {
		next = probe->next;
		if (probe->tr == tr)
			ftrace_probe_remove(probe);
	}
	trace_plat_unlock(&probes_lock);
}

/* ---- List ---- */

/* The newest probe of the instance that is older than `id`; with `id` 0 the newest of all. */
static struct ftrace_func_probe *older_than(const struct trace_array *tr, uint64_t id)
{
	struct ftrace_func_probe *probe = probes;

	while (probe && (probe->tr != tr || (id && probe->id >= id)))
		probe = probe->next;
	return probe;
}

static size_t ftrace_probe_format_line(const struct ftrace_func_probe *probe,
				       const struct probe_entry *entry, char *line, size_t size)
{
	const struct ftrace_probe_ops *ops = probe->probe_ops;
	uint64_t data = atomic_load(&entry->data);
	size_t len;

	len = trace_scnprintf(line, size, "%ps:", (void *)trace_plat_ip_unpack(entry->ip));
	if (ops->describe)
		len += ops->describe(ops, data, line + len, size - len - 1);
	else if (ops->is_counted)
		len += trace_scnprintf(line + len, size - len - 1, "%s:count=%llu", ops->name,
				       (unsigned long long)data);
	else
		len += trace_scnprintf(line + len, size - len - 1, "%s:unlimited", ops->name);
	return len + trace_scnprintf(line + len, size - len, "\n");
}

/* Functions come in the order of their addresses, as in the other lists. */
static const struct probe_entry *next_entry(const struct ftrace_func_probe *probe,
					    struct ftrace_probe_cursor *cursor)
{
	const struct probe_entry *entry = NULL;
	struct dyn_ftrace *record;

	while (!entry && (record = ftrace_record_at(cursor->record))) {
		entry = probe_map_find(probe->map, record->ip);
		cursor->record++;
	}
	return entry;
}

size_t ftrace_probe_next_line(struct trace_array *tr, struct ftrace_probe_cursor *cursor,
			      char *line, size_t size)
{
	const struct probe_entry *entry = NULL;
	struct ftrace_func_probe *probe;
	size_t len = 0;

	trace_plat_lock(&probes_lock);
	while ((probe = older_than(tr, cursor->id)) && !(entry = next_entry(probe, cursor))) {
		cursor->id = probe->id;
		cursor->record = 0;
	}
	if (entry) {
		cursor->id = probe->id + 1;
		len = ftrace_probe_format_line(probe, entry, line, size);
	}
	trace_plat_unlock(&probes_lock);
	return len;
}
