/*
 * user_events_data, by which programs register and write events, and user_events_status. See user_event.h, fs_file.h.
 *
 * An open user_events_data has a table of the events that were registered by it; a write begins with an index in it. The
 * table is replaced by a larger one when it is full; the old ones stay until the file is closed, as a write may look at them.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/event_call.h"
#include "feature/feature.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "text/str.h"
#include "user_event.h"

#define USER_TABLE_FIRST 16u /* events in the first table */

struct user_event_table {
	struct user_event_table *older;
	uint32_t room;
	_Atomic uint32_t nr;
	struct trace_user_event *events[];
};

/* ---- user_events_data ---- */

static struct user_event_table *_Atomic *user_table_at(struct trace_handle *handle)
{
	return (struct user_event_table * _Atomic *)(void *)&handle->private;
}

static size_t user_table_bytes(uint32_t room)
{
	return sizeof(struct user_event_table) + room * sizeof(struct trace_user_event *);
}

/* The table with room for one more; NULL: no memory. Config lock held. */
static struct user_event_table *user_table_grow(struct trace_handle *handle)
{
	struct user_event_table *old = *user_table_at(handle), *table;
	uint32_t room = old ? 2 * old->room : USER_TABLE_FIRST;

	if (old && old->nr < old->room)
		return old;
	table = trace_plat_alloc(user_table_bytes(room));
	if (!table)
		return NULL;
	table->older = old;
	table->room = room;
	if (old) {
		for (; table->nr < old->nr; table->nr++)
			table->events[table->nr] = old->events[table->nr];
	}
	atomic_store(user_table_at(handle), table);
	return table;
}

/* The index of an event, which is added if it is new, and takes the reference then. Config lock held. */
static int user_table_add(struct trace_handle *handle, struct trace_user_event *event)
{
	struct user_event_table *table = *user_table_at(handle);

	for (uint32_t i = 0; table && i < table->nr; i++) {
		if (table->events[i] != event)
			continue;
		trace_user_event_put(event);
		return (int)i;
	}
	table = user_table_grow(handle);
	if (!table) {
		trace_user_event_put(event);
		return -ENOMEM;
	}
	table->events[table->nr] = event;
	return (int)atomic_fetch_add(&table->nr, 1); /* it is there before it is counted */
}

static int64_t user_data_write(struct trace_handle *handle, const char *buf, size_t len)
{
	const struct user_event_table *table = atomic_load(user_table_at(handle));
	int64_t written;
	int32_t index;

	if (len < sizeof(index))
		return -EFAULT; /* as Linux */
	memcpy(&index, buf, sizeof(index));
	if (index < 0)
		return -EINVAL;
	if (!table || (uint32_t)index >= atomic_load(&table->nr))
		return -ENOENT;
	written = trace_user_event_write(table->events[index], buf + sizeof(index),
					 len - sizeof(index));
	return written < 0 ? written : (int64_t)len;
}

static int user_data_close(struct trace_handle *handle)
{
	struct user_event_table *table = *user_table_at(handle), *older;

	for (uint32_t i = 0; table && i < table->nr; i++)
		trace_user_event_put(table->events[i]);
	for (; table; table = older) {
		older = table->older;
		trace_plat_free(table, user_table_bytes(table->room));
	}
	return 0;
}

static const struct trace_file user_data_file = {
	.name = "user_events_data",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.is_quick = true,
	.write = user_data_write,
	.close = user_data_close,
};

bool trace_user_events_is_data(const struct trace_handle *handle)
{
	return handle->node->file == &user_data_file;
}

int trace_user_events_register(struct trace_handle *handle, const char *definition, uint32_t flags,
			       struct trace_user_event **out_event)
{
	struct dyn_event_error error = { 0 };
	int index;

	if (!trace_user_events_is_data(handle))
		return -ENOTTY;
	if (flags & ~TRACE_USER_EVENT_FLAGS)
		return -EINVAL;
	trace_plat_lock(&trace_config_lock);
	index = trace_user_event_make(definition, flags, out_event, &error);
	if (!index) {
		trace_user_event_get(*out_event); /* for the enabler; the other one is the file's */
		index = user_table_add(handle, *out_event);
		if (index < 0)
			trace_user_event_put(*out_event);
	}
	trace_plat_unlock(&trace_config_lock);
	return index;
}

/* ---- user_events_status ---- */

static void user_status_count(uint32_t *out_nr, uint32_t *out_nr_busy)
{
	const struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(trace_user_event_kinds, dyn))) {
		++*out_nr;
		*out_nr_busy += trace_user_event_is_on(user_event_of_call(dyn->call));
	}
}

static int user_status_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct dyn_event *dyn = NULL;
	uint32_t nr = 0, nr_busy = 0;
	size_t left = handle->index++;

	trace_plat_lock(&trace_config_lock);
	while ((dyn = trace_dyn_event_next(trace_user_event_kinds, dyn)) && left)
		left--;
	if (dyn)
		trace_seq_printf(seq, "%s%s\n", dyn->call->event.name,
				 trace_user_event_is_on(user_event_of_call(dyn->call))
					 ? " # Used by ftrace"
					 : "");
	else if (!left)
		user_status_count(&nr, &nr_busy);
	trace_plat_unlock(&trace_config_lock);
	if (!dyn && !left)
		trace_seq_printf(seq, "\nActive: %u\nBusy: %u\n", nr, nr_busy);
	return dyn || !left;
}

static const struct trace_file user_status_file = {
	.name = "user_events_status",
	.root_only = true,
	.mode = TRACE_MODE_READ,
	.next = user_status_next,
};

/* ---- The feature ---- */

static const struct trace_file *const user_event_file_list[] = { &user_data_file,
								 &user_status_file };
static const struct trace_file_table user_event_file_table = {
	.files = user_event_file_list,
	.nr = TRACE_ARRAY_SIZE(user_event_file_list),
};
static struct trace_files user_event_files = { .table = &user_event_file_table };
static struct dyn_event_kinds user_event_kinds = { .kinds = trace_user_event_kinds };

static int user_events_init(void)
{
	if (!trace_plat_user_events())
		return 0; /* no programs: no files for them */
	trace_files_register(&user_event_files);
	trace_dyn_event_kinds_register(&user_event_kinds);
	trace_event_guard_register(&trace_user_event_guard);
	return 0;
}

const struct trace_feature trace_feature_user_events = {
	.name = "user_events",
	.init = user_events_init,
};
