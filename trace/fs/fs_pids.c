/*
 * Files that hold a set of threads, such as set_ftrace_pid and set_event_pid. See fs_pids.h.
 */
#include "fs_pids.h"
#include "text/str.h"

static const struct trace_pids_about *about(const struct trace_handle *handle)
{
	return handle->node->file->about;
}

static struct trace_pids *pids_of(const struct trace_handle *handle)
{
	struct trace_pid_sets *sets = trace_pid_sets_of(handle->tr, about(handle)->user->kind);

	return about(handle)->is_except ? &sets->except : &sets->only;
}

int trace_pids_open(struct trace_handle *handle)
{
	const unsigned int clear = TRACE_FS_WRITE | TRACE_FS_TRUNC;
	struct trace_pids none = { 0 };
	int err;

	if ((handle->flags & clear) != clear)
		return 0;
	trace_plat_lock(&trace_config_lock);
	err = trace_pid_filter_replace(handle->tr, about(handle)->user, pids_of(handle), &none);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* The smallest id from `handle->index` on: the list may change between two reads. */
int trace_pids_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_pids *set = pids_of(handle);
	int more = 0;
	size_t i = 0;

	trace_plat_lock(&trace_config_lock);
	while (i < set->nr && (size_t)set->pids[i] < handle->index)
		i++;
	if (i < set->nr) {
		trace_seq_printf(seq, "%d\n", set->pids[i]);
		handle->index = (size_t)set->pids[i] + 1;
		more = 1;
	} else if (about(handle)->if_empty && !handle->position && !handle->given) {
		trace_seq_puts(seq, about(handle)->if_empty);
		handle->index = SIZE_MAX;
		more = 1;
	}
	trace_plat_unlock(&trace_config_lock);
	return more;
}

int trace_pids_parse(struct trace_handle *handle, struct trace_pids *set, char *text)
{
	uint64_t value;
	bool is_removal;
	char *word;
	int err = 0;

	while (!err && (word = trace_handle_word(&text))) {
		is_removal = *word == '!';
		word += is_removal;
		err = trace_parse_u64(word, 0, &value) || value > INT32_MAX ? -EINVAL : 0;
		if (err)
			trace_handle_blame(handle, word, "not the number of a thread");
		else if (is_removal)
			trace_pids_remove(set, (int32_t)value);
		else
			err = trace_pids_add(set, (int32_t)value);
	}
	return err;
}

/* All numbers of one write or none. */
int trace_pids_store(struct trace_handle *handle, char *text)
{
	struct trace_pids *set = pids_of(handle), wanted = { 0 };
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_pids_copy(&wanted, set);
	if (!err)
		err = trace_pids_parse(handle, &wanted, text);
	if (!err)
		err = trace_pid_filter_replace(handle->tr, about(handle)->user, set, &wanted);
	trace_pids_clear(&wanted);
	trace_plat_unlock(&trace_config_lock);
	return err;
}
