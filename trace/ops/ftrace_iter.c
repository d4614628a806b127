/*
 * Lists of functions, a line at a time: see <trace/ftrace_files.h>. An iterator remembers the
 * number of a record. Records never move, so no lock is held between two lines.
 */
#include "ftrace_set.h"
#include "text/str.h"
#include <trace/fmt.h>
#include <trace/ftrace_files.h>

void ftrace_iter_start(struct ftrace_iter *iter, enum ftrace_list list, struct ftrace_ops *ops)
{
	memset(iter, 0, sizeof(*iter));
	iter->list = list;
	iter->ops = ops;
}

static struct ftrace_hash *hash_of(const struct ftrace_iter *iter)
{
	return ftrace_ops_hash_of(iter->ops, iter->list == FTRACE_LIST_NOTRACE);
}

static bool is_filter(const struct ftrace_iter *iter)
{
	return iter->list == FTRACE_LIST_FILTER || iter->list == FTRACE_LIST_NOTRACE;
}

static bool shows(const struct ftrace_iter *iter, const struct dyn_ftrace *record)
{
	struct ftrace_hash *hash;

	if (iter->list == FTRACE_LIST_ENABLED)
		return record->flags & FTRACE_FL_ENABLED;
	if (iter->list == FTRACE_LIST_TOUCHED)
		return record->flags & FTRACE_FL_TOUCHED;
	if (!is_filter(iter))
		return true;
	hash = hash_of(iter);
	return hash && ftrace_hash_has(hash, record->ip);
}

static size_t add_name(struct ftrace_iter *iter, uintptr_t ip, char *out)
{
	char name[TRACE_SYM_LEN];

	if (!trace_plat_symbol_next(&iter->names, ip, name))
		return trace_scnprintf(out, FTRACE_LINE_LEN, "0x%lx", (unsigned long)ip);
	return trace_scnprintf(out, FTRACE_LINE_LEN, "%s", name);
}

/*
 * Write the action of a site with one user. For a direct call this names, as Linux does, the
 * trampoline that would make the call if there were other users; add_users() names the call itself.
 */
static size_t add_trampoline(const struct ftrace_ops *ops, char *out, size_t size)
{
	if (!ops)
		return trace_scnprintf(out, size, "\ttramp: ERROR!");
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return trace_scnprintf(out, size, "\ttramp: %pS (%pS)",
				       (void *)trace_plat_shared_trampoline(true),
				       (void *)(uintptr_t)ops->func);
	if (ops->site_jump)
		return trace_scnprintf(out, size, "\tjump-->%pS", (void *)ops->site_jump);
	return trace_scnprintf(out, size, "\ttramp: 0x%lx (%pS) ->%pS",
			       (unsigned long)ops->trampoline.addr, (void *)(uintptr_t)ops->func,
			       (void *)trace_plat_trampoline_func(&ops->trampoline));
}

/* The target of a site with several users. */
static uintptr_t target_of_many(uint32_t flags)
{
	if (ftrace_record_set(flags))
		return ftrace_set_address(ftrace_record_set(flags));
	return (uintptr_t)(flags & FTRACE_FL_REGS_EN ? trace_ops_list_regs_func
						     : trace_ops_list_func);
}

/* Write the number of ops that want a site, and their demands, in Linux's words. */
static size_t add_flags(const struct dyn_ftrace *record, char *out, size_t size)
{
	return trace_scnprintf(out, size, " (%u)%s%s%s%s", ftrace_record_count(record),
			       record->flags & FTRACE_FL_REGS ? " R" : "  ",
			       record->flags & FTRACE_FL_IPMODIFY ? " I" : "  ",
			       record->flags & FTRACE_FL_DIRECT ? " D" : "  ",
			       record->flags & FTRACE_FL_MODIFIED ? " M " : "   ");
}

/* Write the call of a site, in Linux's words; nothing when it holds a NOP. */
static size_t add_users(const struct dyn_ftrace *record, char *out, size_t size)
{
	const struct ftrace_ops *ops;
	size_t len = 0;

	if (!(record->flags & FTRACE_FL_ENABLED))
		return 0;
	if (record->flags & FTRACE_FL_TRAMP_EN)
		len += add_trampoline(ftrace_user_of(record->ip, NULL), out + len, size - len);
	else
		len += trace_scnprintf(out + len, size - len, " ->%pS",
				       (void *)target_of_many(record->flags));
	ops = record->flags & FTRACE_FL_DIRECT ? ftrace_direct_of(record->ip) : NULL;
	if (ops)
		len += trace_scnprintf(out + len, size - len, "\n\tdirect-->%pS",
				       (void *)ops->direct_call);
	return len;
}

static size_t ftrace_iter_format_line(struct ftrace_iter *iter, const struct dyn_ftrace *record,
				      char *line)
{
	bool has_users = iter->list == FTRACE_LIST_ENABLED || iter->list == FTRACE_LIST_TOUCHED;
	uintptr_t ip = trace_plat_ip_unpack(record->ip);
	size_t len = 0;

	if (iter->list == FTRACE_LIST_ADDRS)
		len = trace_scnprintf(line, FTRACE_LINE_LEN, "%lx ", (unsigned long)ip);
	len += add_name(iter, ip, line + len);
	if (has_users) {
		len += add_flags(record, line + len, FTRACE_LINE_LEN - 1 - len);
		len += add_users(record, line + len, FTRACE_LINE_LEN - 1 - len);
	}
	line[len++] = '\n';
	line[len] = '\0';
	return len;
}

static size_t next_locked(struct ftrace_iter *iter, char *line)
{
	struct dyn_ftrace *record;

	if (is_filter(iter) && !iter->position && ftrace_hash_empty(hash_of(iter))) {
		iter->is_listed = true;
		return trace_scnprintf(line, FTRACE_LINE_LEN, "#### %s ####\n",
				       iter->list == FTRACE_LIST_FILTER ? "all functions enabled"
									: "no functions disabled");
	}
	while ((record = ftrace_record_at(iter->position))) {
		iter->position++;
		if (shows(iter, record))
			return ftrace_iter_format_line(iter, record, line);
	}
	return 0;
}

size_t ftrace_iter_next(struct ftrace_iter *iter, char *line)
{
	size_t len;

	if (iter->ended)
		return 0;
	if (!iter->is_listed) {
		trace_plat_lock(&ftrace_lock);
		len = next_locked(iter, line);
		trace_plat_unlock(&ftrace_lock);
		if (len)
			return len;
		iter->is_listed = true;
	}
	len = iter->tr ? ftrace_probe_next_line(iter->tr, &iter->probes, line, FTRACE_LINE_LEN) : 0;
	iter->ended = !len;
	return len;
}

size_t ftrace_total_info(char *line, size_t size)
{
	return trace_scnprintf(line, size, "%u pages:%u groups: %u\n", ftrace_nr_records(),
			       ftrace_nr_pages(), ftrace_nr_groups);
}
