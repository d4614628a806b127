/*
 * The directory events/: systems, their events, and the files of each. See fs_file.h, fs_tree.h,
 * events/event_file.h.
 *
 *   events/  enable header_event header_page
 *     ftrace/TYPE/   format hist hist_debug id
 *     ftrace/print/  format hist hist_ascii hist_debug hist_folded hist_picture id trigger
 *     SYSTEM/  enable filter
 *       EVENT/   enable filter format hist hist_ascii hist_debug hist_folded hist_picture id inject
 *               trigger
 *
 * Its nodes are made when looked for. Systems and events come and go, so an id does not follow from
 * the place in the list, as usual, but from a number that the event's type has for good: each type
 * has IDS_EACH ids for its directory and files, and lends a second row of as many to its system if
 * it is the first one of it.
 */
#include "event_dir.h"
#include "event_file.h"
#include "fs/fs_tree.h"
#include "instance/event_private.h"
#include "feature/list.h"
#include "text/str.h"

#define IDS_EACH   32u
#define IDS_EVENTS ((uint64_t)(TRACE_EVENT_MAX_TYPE + 1) * IDS_EACH)

static const struct trace_dir system_dir;

static const struct trace_event *event_dir_event_of(const struct trace_handle *handle)
{
	return (const struct trace_event *)(uintptr_t)handle->node->arg;
}

/* ---- enable ---- */

/* The events behind a file `enable`: all, those of a system, one. */
static struct trace_event_choice choice_of(const struct trace_handle *handle)
{
	const struct trace_node *dir = handle->node->parent;
	struct trace_event_choice choice = { 0 };

	if (handle->node->arg)
		choice.call = event_dir_event_of(handle)->call;
	else if (dir->dir == &system_dir)
		choice.system = dir->name;
	return choice;
}

static int event_dir_enable_show(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_event_choice choice = choice_of(handle);

	trace_plat_lock(&trace_config_lock);
	trace_seq_puts(seq, trace_events_state(handle->tr, &choice));
	trace_plat_unlock(&trace_config_lock);
	trace_seq_putc(seq, '\n');
	return 0;
}

static int event_dir_enable_store(struct trace_handle *handle, char *text)
{
	struct trace_event_choice choice = choice_of(handle);
	bool on;
	int err = trace_handle_switch(handle, text, &on);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = trace_events_switch(handle->tr, &choice, on);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static const struct trace_file enable_file = {
	.name = "enable",
	.mode = TRACE_MODE_WRITE,
	.show = event_dir_enable_show,
	.store = event_dir_enable_store,
	.store_max = 64,
};

/* ---- Of one event ---- */

static int id_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%u\n", event_dir_event_of(handle)->type);
	return 0;
}

static const struct trace_file id_file = {
	.name = "id",
	.mode = TRACE_MODE_READ,
	.show = id_show,
};

static int format_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_event_format_seq(event_dir_event_of(handle), seq);
	return 0;
}

static const struct trace_file format_file = {
	.name = "format",
	.mode = TRACE_MODE_READ,
	.show = format_show,
};

static const struct trace_file *const event_files[] = {
	&enable_file, &trace_event_filter_file, &format_file,
	&id_file,     &trace_event_inject_file, &trace_event_trigger_file
};
/* Files of types without a switch: ftrace:print, and mere types. */
static const struct trace_file *const marker_files[] = { &format_file, &id_file,
							 &trace_event_trigger_file };
static const struct trace_file *const type_files[] = { &format_file, &id_file };

static struct trace_event_dir_files *added_files;

void trace_event_dir_register(struct trace_event_dir_files *files)
{
	TRACE_LIST_ADD(added_files, files);
}

/*
 * A position in the list of files added by features to each trace event's directory, or to each
 * mere type's.
 */
struct added {
	bool is_type;
	const struct trace_event_dir_files *of;
	size_t file; /* index in event_files[] or type_files[] */
};

static struct added first_added(bool is_type)
{
	return (struct added){ .is_type = is_type, .of = added_files };
}

/* The next file added by a feature; NULL behind the last. */
static const struct trace_file *next_added(struct added *at)
{
	for (; at->of; at->of = at->of->next, at->file = 0) {
		const struct trace_file *const *list =
			at->is_type ? at->of->type_files : at->of->event_files;

		if (list && list[at->file])
			return list[at->file++];
	}
	return NULL;
}

static size_t nr_added(bool is_type)
{
	struct added at = first_added(is_type);
	size_t nr = 0;

	while (next_added(&at))
		nr++;
	return nr;
}

static int fill_event(struct trace_node *dir)
{
	const struct trace_event *event = (const struct trace_event *)(uintptr_t)dir->arg;
	const struct trace_file *const *files = type_files;
	size_t nr = TRACE_ARRAY_SIZE(type_files);
	const struct trace_file *file;
	struct added at = first_added(!event->call);

	if (trace_event_is_switched(event)) {
		files = event_files;
		nr = TRACE_ARRAY_SIZE(event_files);
	} else if (event->call) {
		files = marker_files;
		nr = TRACE_ARRAY_SIZE(marker_files);
	}
	if (!trace_dir_begin(dir, nr + nr_added(at.is_type), 0, 1))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		trace_node_add_file(dir, files[i]->name, files[i], dir->arg);
	while ((file = next_added(&at)))
		trace_node_add_file(dir, file->name, file, dir->arg);
	return 0;
}

static const struct trace_dir event_dir = { .fill = fill_event };

/* ---- Of a system ---- */

static uint64_t event_dir_id_of(const struct trace_node *events, const struct trace_event *event,
				bool system)
{
	return events->id + 1 + (uint64_t)event->type * IDS_EACH + (system ? IDS_EVENTS : 0);
}

/* The end of the events of `system`, which begin at `first`: events are sorted by system. */
static size_t event_dir_end_of(const char *system, size_t first)
{
	size_t end = first, other = trace_nr_events();

	while (end < other) {
		size_t middle = end + (other - end) / 2;

		if (trace_streq(trace_event_at(middle)->system, system))
			end = middle + 1;
		else
			other = middle;
	}
	return end;
}

static size_t end_of_system(size_t first)
{
	return event_dir_end_of(trace_event_at(first)->system, first);
}

static bool is_going(const struct trace_event *event)
{
	return event->call && event->call->is_going;
}

/* Copy a name into the room at *names: an event may go while a node with its name is held. */
static const char *copy_name(char **names, const char *name)
{
	char *copy = *names;
	size_t bytes = trace_strlen(name) + 1;

	trace_strcpy(copy, name, bytes);
	*names = copy + bytes;
	return copy;
}

/* From the last to the first: inserting at the front of a list takes no time. */
static int fill_system(struct trace_node *dir)
{
	size_t first, at, names_bytes = 0;
	struct trace_node *node;
	bool has_switches = false; /* an event in it can be switched */
	char *names;
	int err = 0;

	trace_events_lock();
	first = trace_event_place(dir->name, "");
	at = event_dir_end_of(dir->name, first);
	for (size_t i = first; i < at; i++)
		names_bytes += trace_strlen(trace_event_at(i)->name) + 1;
	names = trace_dir_begin(dir, at - first + 2, names_bytes, 1);
	if (!names)
		err = -ENOMEM;
	while (!err && at-- > first) {
		struct trace_event *event = trace_event_at(at);

		if (is_going(event))
			continue;
		node = trace_node_add_lazy_dir(dir->tree, dir, copy_name(&names, event->name),
					       &event_dir, 0);
		node->id = event_dir_id_of(dir->parent, event, false);
		node->arg = (uintptr_t)event;
		has_switches |= trace_event_is_switched(event);
	}
	trace_events_unlock();
	if (err || !has_switches)
		return err;
	trace_node_add_file(dir, enable_file.name, &enable_file, 0)->id = dir->id + 1;
	trace_node_add_file(dir, trace_system_filter_file.name, &trace_system_filter_file, 0)->id =
		dir->id + 2;
	return 0;
}

static const struct trace_dir system_dir = { .fill = fill_system, .version = trace_events_version };

/* ---- events/ ---- */

static int header_page_show(struct trace_handle *handle, struct trace_seq *seq)
{
	uint32_t head = offsetof(struct ring_page, data);
	uint32_t bytes = ring_buffer_subbuf_size(handle->tr->buffer);

	trace_seq_puts(seq, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	trace_seq_puts(seq, "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
	trace_seq_puts(seq, "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n");
	trace_seq_printf(seq, "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n", head,
			 bytes - head);
	return 0;
}

static const struct trace_file header_page_file = {
	.name = "header_page",
	.mode = TRACE_MODE_READ,
	.show = header_page_show,
};

static int header_event_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_puts(seq, "# compressed entry header\n"
			    "\ttype_len    :    5 bits\n"
			    "\ttime_delta  :   27 bits\n"
			    "\tarray       :   32 bits\n\n"
			    "\tpadding     : type == 29\n"
			    "\ttime_extend : type == 30\n"
			    "\ttime_stamp : type == 31\n"
			    "\tdata max type_len  == 28\n");
	return 0;
}

static const struct trace_file header_event_file = {
	.name = "header_event",
	.mode = TRACE_MODE_READ,
	.show = header_event_show,
};

static const struct trace_file *const event_dir_files_of_all[] = { &header_page_file,
								   &header_event_file,
								   &enable_file };

static size_t count_systems(size_t *out_names_bytes)
{
	size_t nr = 0;

	*out_names_bytes = 0;
	for (size_t at = 0; at < trace_nr_events(); at = end_of_system(at)) {
		*out_names_bytes += trace_strlen(trace_event_at(at)->system) + 1;
		nr++;
	}
	return nr;
}

static int fill_events(struct trace_node *dir)
{
	size_t at = 0, nr, names_bytes;
	struct trace_node *node;
	char *names;
	int err = 0;

	trace_events_lock();
	nr = count_systems(&names_bytes);
	names = trace_dir_begin(dir, nr + TRACE_ARRAY_SIZE(event_dir_files_of_all), names_bytes, 1);
	if (!names)
		err = -ENOMEM;
	for (; !err && at < trace_nr_events(); at = end_of_system(at)) {
		struct trace_event *event = trace_event_at(at);

		node = trace_node_add_lazy_dir(dir->tree, dir, copy_name(&names, event->system),
					       &system_dir, 0);
		node->arg = 0;
		node->id = event_dir_id_of(dir, event, true);
	}
	trace_events_unlock();
	for (size_t i = 0; !err && i < TRACE_ARRAY_SIZE(event_dir_files_of_all); i++) {
		node = trace_node_add_file(dir, event_dir_files_of_all[i]->name,
					   event_dir_files_of_all[i], 0);
		node->id = dir->id + 2 * IDS_EVENTS + 1 + i;
	}
	return err;
}

static const struct trace_dir events_dir = { .fill = fill_events, .version = trace_events_version };

/* ---- Events that go ---- */

/* Is a directory of the event held, or a file in there open? Arrays lock held. */
static bool is_held(const struct trace_tree *tree, const struct trace_event *event)
{
	for (const struct node_chunk *chunk = tree->chunks; chunk; chunk = chunk->next) {
		for (size_t i = 0; i < chunk->used; i++) {
			const struct trace_node *node = &chunk->nodes[i];

			if (node->is_dir && node->dir == &event_dir &&
			    node->arg == (uintptr_t)event && node->nr_held > node->is_pinned)
				return true;
		}
	}
	return false;
}

bool trace_fs_event_goes(struct trace_event_call *call)
{
	const struct trace_array *tr = NULL;
	bool can_go = true;

	trace_plat_lock(&trace_arrays_lock);
	while (can_go && (tr = trace_array_next(tr)))
		can_go = !tr->tree || !is_held(tr->tree, &call->event);
	if (can_go) {
		call->is_going = true;
		trace_events_changed();
	}
	trace_plat_unlock(&trace_arrays_lock);
	return can_go;
}

static const struct trace_file *const event_dir_files[] = {
	&trace_available_events_file,	&trace_set_event_file,		 &trace_dynamic_events_file,
	&trace_show_event_filters_file, &trace_show_event_triggers_file,
};

const struct trace_file_table trace_event_files = {
	.files = event_dir_files,
	.nr = TRACE_ARRAY_SIZE(event_dir_files),
	.dir = &events_dir,
	.dir_name = "events",
	.dir_ids = 2 * IDS_EVENTS + IDS_EACH,
};
