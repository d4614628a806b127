/*
 * From patterns and addresses to the filter of an ops: see <trace/ftrace.h>.
 */
#include "ftrace_grace.h"
#include "ftrace_private.h"
#include "text/str.h"

/* Size of the longest pattern, NUL included, that callers in code may give. */
#define PATTERN_MAX 256u

/* The MODULE of `name:mod:MODULE`. Hosts have no modules, so no function lies in one. */
struct module_pattern {
	bool given;
	bool exclude; /* !MODULE, or ! alone: functions that are not in the module, that is all */
};

static bool module_allows(const struct module_pattern *module)
{
	return !module->given || module->exclude;
}

static void parse_module(struct module_pattern *out, char *text)
{
	struct ftrace_pattern pattern;

	out->given = text != NULL;
	if (!out->given)
		return;
	ftrace_pattern_parse(&pattern, text);
	out->exclude = pattern.invert;
}

static int ftrace_filter_enter(struct ftrace_hash **hash, uint32_t ip, bool remove)
{
	if (!remove)
		return ftrace_hash_add(hash, ip);
	ftrace_hash_remove(*hash, ip);
	return 0;
}

static int match_index(struct ftrace_hash **hash, const struct ftrace_pattern *pattern)
{
	struct dyn_ftrace *record;
	uint64_t index;
	int err;

	if (trace_parse_u64(pattern->search, 0, &index) || !index)
		return 0;
	record = ftrace_record_at(index - 1);
	if (!record)
		return 0;
	err = ftrace_filter_enter(hash, record->ip, pattern->invert);
	return err ? err : 1;
}

/*
 * Enter each site whose function matches. A site without a symbol (`len` is 0) never matches; this
 * is tested after the pattern, because this loop runs over all names and such sites are rare.
 */
static int match_names(struct ftrace_hash **hash, const struct ftrace_pattern *pattern)
{
	struct trace_symbol_cursor names = { { 0 } };
	struct ftrace_cursor cursor = { 0 };
	char name[TRACE_SYM_LEN + 16] = "";
	struct dyn_ftrace *record;
	int found = 0;

	while ((record = ftrace_next_record(&cursor))) {
		size_t len = trace_plat_symbol_next(&names, trace_plat_ip_unpack(record->ip), name);

		if (!ftrace_pattern_match(pattern, name, len) || !len)
			continue;
		if (ftrace_filter_enter(hash, record->ip, pattern->invert))
			return -ENOMEM;
		found = 1;
	}
	return found;
}

/* ftrace_match_records() with ftrace_lock held. */
static int match_locked(struct ftrace_hash **hash, char *text, char *module)
{
	struct module_pattern in_module = { 0 };
	struct ftrace_pattern pattern;

	ftrace_pattern_parse(&pattern, text);
	parse_module(&in_module, module);
	if (in_module.given && !pattern.len)
		pattern.type = FTRACE_MATCH_MIDDLE; /* an empty name matches every function */
	if (ftrace_is_dead())
		return -ENODEV;
	if (pattern.type == FTRACE_MATCH_INDEX)
		return match_index(hash, &pattern);
	return module_allows(&in_module) ? match_names(hash, &pattern) : 0;
}

int ftrace_match_records(struct ftrace_hash **hash, char *text, char *module)
{
	int found;

	trace_plat_lock(&ftrace_lock);
	found = match_locked(hash, text, module);
	trace_plat_unlock(&ftrace_lock);
	return found;
}

static int ftrace_filter_check_ops(const struct ftrace_ops *ops)
{
	return ftrace_is_dead() || ops->flags & FTRACE_OPS_FL_DELETED ? -ENODEV : 0;
}

/* A copy of the filter or exceptions of `ops`, or an empty set with `reset`, for us to change. */
static struct ftrace_hash *ftrace_filter_copy_of(struct ftrace_ops *ops, bool notrace, bool reset)
{
	return ftrace_hash_copy(reset ? NULL : ftrace_ops_hash_of(ops, notrace));
}

/* `text` is changed. With `text` NULL nothing is added, so that `reset` alone empties the set. */
static int set_pattern_locked(struct ftrace_ops *ops, char *text, bool reset, bool notrace)
{
	struct ftrace_hash *hash = ftrace_filter_copy_of(ops, notrace, reset);
	int found = 1;

	if (!hash)
		return -ENOMEM;
	if (text)
		found = match_locked(&hash, text, NULL);
	if (found > 0)
		return ftrace_ops_replace_hash(ops, notrace, hash);
	ftrace_hash_free(hash);
	return found ? found : -EINVAL;
}

/* The lock is held from the copy to the replacement, so that two callers cannot undo each other. */
static int set_pattern(struct ftrace_ops *ops, const char *buf, size_t len, bool reset,
		       bool notrace)
{
	char text[PATTERN_MAX];
	int err;

	if (buf && len >= sizeof(text))
		return -EINVAL;
	if (buf) {
		memcpy(text, buf, len);
		text[len] = '\0';
	}
	trace_plat_lock(&ftrace_lock);
	err = ftrace_filter_check_ops(ops);
	if (!err)
		err = set_pattern_locked(ops, buf ? text : NULL, reset, notrace);
	trace_plat_unlock(&ftrace_lock);
	ftrace_grace_look();
	return err;
}

int ftrace_set_filter(struct ftrace_ops *ops, const char *buf, size_t len, bool reset)
{
	return set_pattern(ops, buf, len, reset, false);
}

int ftrace_set_notrace(struct ftrace_ops *ops, const char *buf, size_t len, bool reset)
{
	return set_pattern(ops, buf, len, reset, true);
}

int ftrace_set_global_filter(const char *buf, size_t len, bool reset)
{
	return set_pattern(&ftrace_global_ops, buf, len, reset, false);
}

int ftrace_set_global_notrace(const char *buf, size_t len, bool reset)
{
	return set_pattern(&ftrace_global_ops, buf, len, reset, true);
}

static int enter_ip(struct ftrace_hash **hash, uintptr_t ip, bool remove)
{
	uintptr_t site = ftrace_location(ip);

	if (!site)
		return -EINVAL;
	if (remove && !ftrace_hash_has(*hash, trace_plat_ip_pack(site)))
		return -ENOENT;
	return ftrace_filter_enter(hash, trace_plat_ip_pack(site), remove);
}

static int set_ips_locked(struct ftrace_ops *ops, const uintptr_t *ips, size_t nr, bool remove,
			  bool reset)
{
	struct ftrace_hash *hash = ftrace_filter_copy_of(ops, false, reset);
	int err = 0;

	if (!hash)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		err = enter_ip(&hash, ips[i], remove);
	if (!err)
		return ftrace_ops_replace_hash(ops, false, hash);
	ftrace_hash_free(hash);
	return err;
}

int ftrace_set_filter_ips(struct ftrace_ops *ops, const uintptr_t *ips, size_t nr, bool remove,
			  bool reset)
{
	int err;

	trace_plat_lock(&ftrace_lock);
	err = ftrace_filter_check_ops(ops);
	if (!err)
		err = set_ips_locked(ops, ips, nr, remove, reset);
	trace_plat_unlock(&ftrace_lock);
	ftrace_grace_look();
	return err;
}

int ftrace_set_filter_ip(struct ftrace_ops *ops, uintptr_t ip, bool remove, bool reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
