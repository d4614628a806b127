/*
 * The directory `scripts` of tracefs, in which users make and remove scripts:
 *
 *   mkdir scripts/NAME    scripts/NAME/  enable maps output program stats
 *
 * A node of a script has its number as `arg`, so that a file that is looked at when the script goes
 * finds nothing any more. See fs_file.h, fs_tree.h, script_named.h.
 */
#include "fs/fs_tree.h"
#include "script_named.h"
#include "text/str.h"
#include "feature/feature.h"
#include "fs/fs_file.h"

#define SCRIPT_IDS_EACH	   8u
#define SCRIPT_PIECE_BYTES 4096u
#define SCRIPT_ROUND_NS	   10000000u /* between two looks of a reader that waits */

/* The script of an open file, which is not removed. */
static struct script_named *script_file_named(const struct trace_handle *handle)
{
	return trace_script_named_of(handle->node->arg);
}

/* ---- Open files ---- */

/* Give the handle memory of its own, and have the script stay. */
static int script_file_open_with(struct trace_handle *handle, size_t bytes)
{
	struct script_named *named;

	handle->private = bytes ? trace_plat_alloc(bytes) : NULL;
	handle->private_bytes = bytes;
	if (bytes && !handle->private)
		return -ENOMEM;
	trace_scripts_lock();
	named = script_file_named(handle);
	if (named)
		named->nr_open++;
	trace_scripts_unlock();
	if (named)
		return 0;
	if (bytes)
		trace_plat_free(handle->private, bytes);
	return -ENODEV;
}

static int script_file_open(struct trace_handle *handle)
{
	return script_file_open_with(handle, 0);
}

static int script_file_close(struct trace_handle *handle)
{
	trace_scripts_lock();
	script_file_named(handle)->nr_open--;
	trace_scripts_unlock();
	if (handle->private)
		trace_plat_free(handle->private, handle->private_bytes);
	return 0;
}

/* ---- program ---- */

static int script_program_open(struct trace_handle *handle)
{
	bool writes = handle->flags & TRACE_FS_WRITE;

	return script_file_open_with(handle, writes ? sizeof(struct trace_script_error) : 0);
}

static int script_program_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct script_named *named;
	size_t len, at = handle->index * SCRIPT_PIECE_BYTES;

	trace_scripts_lock();
	named = script_file_named(handle);
	len = named->text ? named->text_bytes - 1 : 0;
	len = at < len ? len - at : 0;
	if (len > SCRIPT_PIECE_BYTES)
		len = SCRIPT_PIECE_BYTES;
	if (len)
		trace_seq_write(seq, named->text + at, len);
	trace_scripts_unlock();
	handle->index++;
	return len ? 1 : 0;
}

static int script_program_store(struct trace_handle *handle, char *text)
{
	struct trace_script_error *error = handle->private;
	int err;

	trace_scripts_lock();
	err = trace_script_named_write(script_file_named(handle), text, error);
	trace_scripts_unlock();
	if (err && error->why[0])
		trace_handle_blame(handle, text + error->pos, error->why);
	return err;
}

/* ---- enable ---- */

static int script_enable_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_scripts_lock();
	trace_seq_printf(seq, "%d\n", trace_script_named_is_on(script_file_named(handle)));
	trace_scripts_unlock();
	return 0;
}

static int script_enable_store(struct trace_handle *handle, char *text)
{
	bool on;
	int err = trace_handle_switch(handle, text, &on);

	if (err)
		return err;
	trace_scripts_lock();
	err = trace_script_named_switch(script_file_named(handle), on);
	trace_scripts_unlock();
	if (err == -ENODATA)
		trace_handle_blame(handle, text,
				   "there is no program yet: write one to the file program");
	return err;
}

/* ---- output ---- */

static int script_output_open(struct trace_handle *handle)
{
	int err = script_file_open(handle);
	struct script_named *named;

	if (err)
		return err;
	trace_scripts_lock();
	named = script_file_named(handle);
	if (named->has_reader) {
		named->nr_open--;
		err = -EBUSY;
	}
	named->has_reader = true;
	trace_scripts_unlock();
	return err;
}

static int script_output_close(struct trace_handle *handle)
{
	trace_scripts_lock();
	script_file_named(handle)->has_reader = false;
	trace_scripts_unlock();
	return script_file_close(handle);
}

/* Has the script run, and runs no more? */
static bool script_output_is_over(const struct trace_script *script)
{
	return script && script->state == SCRIPT_STOPPED;
}

static bool script_output_poll(struct trace_handle *handle)
{
	struct trace_script *script;
	bool is_ready;

	trace_scripts_lock();
	script = script_file_named(handle)->script;
	is_ready = handle->taken < handle->seq.len || script_output_is_over(script) ||
		   (script && trace_script_is_ready(script));
	trace_scripts_unlock();
	return is_ready;
}

/* Make more of the output's text; exit() ends the script. False: there will be no more. */
static bool script_output_fill(struct trace_handle *handle)
{
	struct trace_script *script;
	bool is_over;

	handle->taken = 0;
	handle->seq.len = 0;
	handle->seq.overflowed = false;
	trace_scripts_lock();
	script = script_file_named(handle)->script;
	is_over = script_output_is_over(script);
	if (script && script->state != SCRIPT_MADE && !trace_script_read(script, &handle->seq))
		trace_script_stop(script);
	trace_scripts_unlock();
	return !is_over;
}

/* Wait for a text. 1; 0: there will be none; -errno. */
static int script_output_wait(struct trace_handle *handle)
{
	bool goes_on = true;

	while (handle->taken == handle->seq.len) {
		int err = 0;

		if (!goes_on)
			return 0;
		goes_on = script_output_fill(handle);
		if (handle->seq.len || !goes_on)
			continue;
		if (handle->is_cancelled)
			return -EINTR;
		if (handle->flags & TRACE_FS_NONBLOCK)
			return -EAGAIN;
		if (!script_output_poll(handle))
			err = trace_plat_pause(SCRIPT_ROUND_NS, true);
		if (err)
			return err;
	}
	return 1;
}

static int64_t script_output_read(struct trace_handle *handle, char *buf, size_t len)
{
	int more = script_output_wait(handle);
	size_t part = handle->seq.len - handle->taken;

	if (more <= 0)
		return more;
	if (part > len)
		part = len;
	memcpy(buf, handle->seq.buf + handle->taken, part);
	handle->taken += part;
	return (int64_t)part;
}

/* ---- maps ---- */

static int script_maps_open(struct trace_handle *handle)
{
	int err = script_file_open_with(handle, sizeof(struct script_print));

	if (err)
		return err;
	trace_scripts_lock();
	script_file_named(handle)->nr_printing++;
	trace_scripts_unlock();
	return 0;
}

static void script_maps_rewind(struct trace_handle *handle)
{
	trace_script_print_end(handle->private);
}

static int script_maps_close(struct trace_handle *handle)
{
	trace_script_print_end(handle->private);
	trace_scripts_lock();
	script_file_named(handle)->nr_printing--;
	trace_scripts_unlock();
	return script_file_close(handle);
}

/* The table that is printed next, or NULL. */
static struct script_map *script_maps_at(const struct trace_script *script, size_t index)
{
	struct script_map *map = script && script->state != SCRIPT_MADE ? script->maps : NULL;

	while (map && index--)
		map = map->next;
	return map;
}

static int script_maps_line(struct trace_handle *handle, struct trace_seq *seq)
{
	struct script_print *print = handle->private;
	struct script_map *map;
	int err;

	if (!print->map) {
		map = script_maps_at(script_file_named(handle)->script, handle->index);
		if (!map)
			return 0;
		err = trace_script_print_begin(print, map, 0);
		if (err)
			return err;
		handle->index++;
	}
	(void)trace_script_print_line(print, seq);
	return 1;
}

/* A line, as long as there is one with characters. */
static int script_maps_next(struct trace_handle *handle, struct trace_seq *seq)
{
	int more = 1;

	trace_scripts_lock();
	while (more > 0 && !seq->len)
		more = script_maps_line(handle, seq);
	trace_scripts_unlock();
	return more;
}

/* ---- stats ---- */

static int script_stats_show(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_script_stats stats;
	const struct trace_script *script;

	trace_scripts_lock();
	script = script_file_named(handle)->script;
	if (script) {
		trace_script_stats_get(script, &stats);
		trace_seq_printf(seq, "probes: %u\nruns: %lu\nmissed: %lu\nfull: %lu\nlost: %lu\n",
				 trace_script_nr_probes(script), (unsigned long)stats.runs,
				 (unsigned long)stats.missed, (unsigned long)stats.full,
				 (unsigned long)stats.lost);
	}
	trace_scripts_unlock();
	return 0;
}

/* ---- The directories ---- */

static const struct trace_file script_files_of_one[] = {
	{ .name = "enable",
	  .mode = TRACE_MODE_WRITE,
	  .open = script_file_open,
	  .close = script_file_close,
	  .show = script_enable_show,
	  .store = script_enable_store },
	{ .name = "maps",
	  .mode = TRACE_MODE_READ,
	  .open = script_maps_open,
	  .close = script_maps_close,
	  .next = script_maps_next,
	  .rewind = script_maps_rewind },
	{ .name = "output",
	  .mode = TRACE_MODE_READ,
	  .is_stream = true,
	  .open = script_output_open,
	  .close = script_output_close,
	  .read = script_output_read,
	  .poll = script_output_poll },
	{ .name = "program",
	  .mode = TRACE_MODE_WRITE,
	  .store_max = TRACE_SCRIPT_TEXT_MAX - 1,
	  .open = script_program_open,
	  .close = script_file_close,
	  .next = script_program_next,
	  .store = script_program_store },
	{ .name = "stats",
	  .mode = TRACE_MODE_READ,
	  .open = script_file_open,
	  .close = script_file_close,
	  .show = script_stats_show },
};

static int script_files_fill_one(struct trace_node *dir)
{
	return trace_dir_fill(dir, script_files_of_one, TRACE_ARRAY_SIZE(script_files_of_one),
			      dir->arg);
}

static const struct trace_dir script_files_dir_of_one = { .fill = script_files_fill_one };

/* Others may come meanwhile; the version tells, and all are looked at again. */
static int script_files_fill(struct trace_node *dir)
{
	char *names = trace_dir_begin(dir, SCRIPTS_MAX, (size_t)SCRIPTS_MAX * SCRIPT_NAME_BYTES, 1);
	uint64_t number;
	size_t place;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < SCRIPTS_MAX && trace_script_named_at(i, names, &number, &place);
	     i++) {
		struct trace_node *node;

		node = trace_node_add_lazy_dir(dir->tree, dir, names, &script_files_dir_of_one, 0);
		node->arg = number;
		node->id = dir->id + 1 + place * SCRIPT_IDS_EACH;
		names += SCRIPT_NAME_BYTES;
	}
	return 0;
}

static const struct trace_dir script_files_dir = {
	.fill = script_files_fill,
	.version = trace_script_named_version,
	.make = trace_script_named_make,
	.remove = trace_script_named_remove,
};

static const struct trace_file_table script_files_table = {
	.dir = &script_files_dir,
	.dir_name = "scripts",
	.is_dir_root_only = true,
	.dir_ids = (uint64_t)SCRIPTS_MAX * SCRIPT_IDS_EACH,
};

static struct trace_files script_files_entry = { .table = &script_files_table };

static int script_files_init(void)
{
	trace_files_register(&script_files_entry);
	trace_script_why_init();
	return 0;
}

const struct trace_feature trace_feature_scripts = {
	.name = "scripts",
	.init = script_files_init,
};
