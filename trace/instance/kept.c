/*
 * See kept.h.
 */
#include <trace/trace.h>
#include "feature/feature.h"
#include "instance.h"
#include "kept.h"
#include "text/str.h"

static struct trace_array *kept_find(const char *name)
{
	struct trace_array *tr = NULL;

	while ((tr = trace_array_next(tr)) && !trace_streq(tr->name, name))
		continue;
	return tr;
}

void trace_kept_comm(const struct trace_array *tr, int32_t pid, char *out_comm)
{
	const struct trace_cmdline *line = &tr->kept->note->names[(uint32_t)pid % KEPT_NR_NAMES];
	bool is_known = pid && line->pid == pid && line->comm[0];

	trace_strcpy(out_comm, pid ? "<...>" : "<idle>", TRACE_COMM_LEN);
	for (size_t i = 0; is_known && i < TRACE_COMM_LEN; i++) {
		char c = i + 1 < TRACE_COMM_LEN ? line->comm[i] : '\0';

		out_comm[i] = c && (c < ' ' || c > '~') ? '?' : c;
		if (!c)
			break;
	}
}

void trace_kept_note_clock(struct trace_array *tr)
{
	struct kept_note *note = tr->kept ? tr->kept->note : NULL;

	if (note)
		trace_strcpy(note->clock, tr->clock->name, sizeof(note->clock));
}

void trace_kept_begin(struct trace_array *tr)
{
	if (!trace_kept_holds(tr))
		return;
	atomic_store(&tr->holds_last, false);
	trace_array_set_clock(tr, tr->clock); /* empties it */
	if (!tr->kept->memory[0])
		return;
	trace_kept_note_write(tr->kept->note, tr->clock->name);
	trace_kept_note_follow(tr->kept);
}

/* ---- A ring in memory ---- */

/* The last kernel's types, from its note. With that a reset in the middle of the check is noted, too. */
static struct kept_types *kept_read_note(struct trace_kept *kept, struct kept_note *note)
{
	struct kept_types *types;

	trace_strcpy(kept->build, note->build, sizeof(kept->build));
	kept->is_same_build = trace_streq(kept->build, trace_plat_build_id());
	kept->was_cut = note->is_translating;
	if (kept->was_cut)
		note->nr_types = 0; /* some events have numbers of one kernel, some of the other */
	types = trace_kept_types_make(note, kept->is_same_build);
	if (types && trace_kept_types_differ(types))
		note->is_translating = true;
	return types;
}

/* Make the ring, with the events that its own kernel's note describes. */
static int kept_open(struct trace_kept *kept, struct ring_kept_memory *memory, uint32_t flags,
		     struct ring_buffer **out_buffer)
{
	struct kept_note *note = ring_kept_find(memory);
	struct kept_types *types = note ? kept_read_note(kept, note) : NULL;

	if (note && !types)
		return -ENOMEM;
	memory->is_sound = note ? trace_kept_is_sound : NULL;
	memory->arg = types;
	*out_buffer = ring_buffer_alloc_kept(memory, flags, &kept->found);
	trace_kept_types_free(types);
	if (!*out_buffer)
		return -EINVAL;
	kept->note = ring_kept_note(*out_buffer);
	if (kept->note->is_translating)
		trace_kept_note_types(kept->note);
	return 0;
}

/* Show times as the last kernel's clock has them. */
static void kept_take_clock(struct trace_array *tr, const struct kept_note *note)
{
	char name[KEPT_CLOCK_BYTES];
	const struct trace_clock *clock;

	trace_strcpy(name, note->clock, sizeof(name));
	clock = trace_clock_find(name);
	if (clock)
		tr->clock = clock;
}

/* The instance holds the events of the last kernel, and does not record. */
static void kept_hold(struct trace_array *tr)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_PARAM, .name = tr->name };

	kept_take_clock(tr, tr->kept->note);
	trace_array_off(tr, &from);
	atomic_store(&tr->holds_last, true);
}

static bool kept_has_last(const struct trace_kept *kept)
{
	return kept->found.nr_events || kept->found.nr_damaged;
}

/* Config lock held. */
static int kept_make(const char *name, struct trace_kept *kept, struct ring_kept_memory *memory)
{
	struct ring_buffer *buffer;
	struct trace_array *tr;
	int err = kept_open(kept, memory, RING_BUFFER_OVERWRITE, &buffer);

	if (err)
		return err;
	err = trace_instance_make(name, kept, buffer, &tr);
	if (err) {
		ring_buffer_free(buffer);
		return err;
	}
	atomic_store(&tr->holds_last, true);
	if (kept_has_last(kept))
		kept_hold(tr);
	else
		trace_kept_begin(tr);
	return 0;
}

int trace_kept_create(const char *name, const char *memory)
{
	struct ring_kept_memory of = { .note_bytes = sizeof(struct kept_note) };
	struct trace_kept *kept;
	int err;

	of.memory = trace_plat_kept_memory(memory, &of.bytes);
	if (!of.memory)
		return -ENOENT;
	kept = trace_plat_alloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	trace_strcpy(kept->memory, memory, sizeof(kept->memory));
	trace_plat_lock(&trace_config_lock);
	err = kept_make(name, kept, &of);
	trace_plat_unlock(&trace_config_lock);
	if (err)
		trace_plat_free(kept, sizeof(*kept));
	return err;
}

/* ---- Copies ---- */

/* The state of `from`, with a copy of its note. NULL: no memory. */
static struct trace_kept *kept_copy_state(const struct trace_kept *from)
{
	struct trace_kept *kept = trace_plat_alloc(sizeof(*kept));
	struct kept_note *note = trace_plat_alloc(sizeof(*note));

	if (!kept || !note) {
		if (kept)
			trace_plat_free(kept, sizeof(*kept));
		if (note)
			trace_plat_free(note, sizeof(*note));
		return NULL;
	}
	memcpy(note, from->note, sizeof(*note));
	*kept = *from;
	kept->note = note;
	kept->memory[0] = '\0';
	kept->next = NULL;
	return kept;
}

/* Config lock held. */
static int kept_copy(const char *name, struct trace_array *source)
{
	struct trace_kept *kept = kept_copy_state(source->kept);
	struct trace_array *tr;
	int err = kept ? trace_instance_make(name, kept, NULL, &tr) : -ENOMEM;

	if (err) {
		if (kept)
			trace_plat_free(kept->note, sizeof(*kept->note));
		if (kept)
			trace_plat_free(kept, sizeof(*kept));
		return err;
	}
	source->kept->is_copied = true;
	kept_hold(tr);
	return ring_kept_copy(tr->buffer, source->buffer);
}

int trace_kept_backup(const char *name, const char *source)
{
	struct trace_array *tr;
	int err = -ENOENT;

	trace_plat_lock(&trace_config_lock);
	tr = kept_find(source);
	if (tr && tr->kept && tr->kept->memory[0])
		err = trace_kept_holds(tr) ? kept_copy(name, tr)
					   : trace_instance_make(name, NULL, NULL, &tr);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

void trace_kept_boot_done(void)
{
	struct trace_array *tr = NULL;

	trace_plat_lock(&trace_config_lock);
	while ((tr = trace_array_next(tr))) {
		if (!trace_kept_holds(tr) || !tr->kept->memory[0] || tr->kept->stays_off)
			continue;
		if (tr->kept->is_copied)
			trace_array_switch(tr, true, TRACE_OFF_BY_USER);
		else
			trace_plat_log("trace: %s has %llu events of the last kernel and does not "
				       "record before 1 is written to its tracing_on",
				       tr->name, (unsigned long long)tr->kept->found.nr_events);
	}
	trace_plat_unlock(&trace_config_lock);
}
