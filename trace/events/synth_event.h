/*
 * Synthetic events: trace events that have no place in the code. A user defines them by lines of
 * synthetic_events, and who has values for one writes it, such as an action of a histogram.
 *
 *	wakeup_latency u64 lat; pid_t pid; char comm[16]
 *
 *   synth_parse.c   the fields of the text
 *   synth_event.c   making, finding and removing events; the kind `s:` of dynamic_events
 *   synth_text.c    how they are printed, for `trace` and for tools
 *   synth_write.c   values become an event in the ring
 *
 * Context:   trace_synth_event_write() - any, NMI included, preemption off. The rest - thread, config
 *            lock held.
 * Locking:   the config lock.
 * Ownership: an event belongs to the list of dyn_event.h. Who has got it keeps it from being
 *            removed, which fails with -EBUSY.
 */
#ifndef SYNTH_EVENT_H
#define SYNTH_EVENT_H

#include <trace/trace_events.h>
#include "dyn_event.h"
#include "event_file.h"

#define SYNTH_SYSTEM	 "synthetic"
#define SYNTH_FIELDS_MAX 64u
#define SYNTH_TEXT_MAX	 256u /* bytes of a text, with its NUL */
#define SYNTH_STACK_MAX	 32u  /* addresses */

/* What a field holds, and what its value is for trace_synth_event_write(). */
enum synth_kind {
	SYNTH_NUMBER, /* the number; what does not fit in `size` bytes is cut off */
	/*
	 * The address of a text that ends with NUL, cut to `size` bytes or SYNTH_TEXT_MAX; 0 is
	 * written as `(null)`.
	 */
	SYNTH_TEXT,	    /* char[16] */
	SYNTH_DYNAMIC_TEXT, /* char[], char[0] */
	/*
	 * The address of uint32_t's: packed code addresses (trace_plat_ip_pack()) with a 0 behind
	 * the last, of which SYNTH_STACK_MAX count; 0 is an empty stack.
	 */
	SYNTH_STACK, /* unsigned long[], long[] */
};

struct synth_field {
	const char *name;
	const char *type; /* as it is listed: u64, unsigned int, char[16], unsigned long[] */
	uint16_t offset;  /* in the event, struct trace_entry included */
	uint16_t size;	  /* bytes in the event; of dynamic ones what <trace/event.h> says: 4 */
	uint8_t kind;	  /* enum synth_kind */
	bool is_signed;
};

struct synth_event {
	uint32_t nr_fields;
	uint32_t fixed_bytes; /* of the event, up to the end of the last field; a multiple of 4 */
	bool is_numbers;      /* all fields are numbers */
	const struct synth_field *fields;
	struct trace_event_call call; /* call.event.name is its name */
	struct dyn_event dyn;
	size_t bytes; /* of all of it, fields and texts behind it included */
};

/* The event of that name, which stays until it is put. NULL: there is none. */
struct synth_event *trace_synth_event_get(const char *name);
void trace_synth_event_put(struct synth_event *event);

/*
 * Write an event into all instances where it is on, on the conditions that they have for it: its
 * filter, its triggers. `values` has one for each field, see enum synth_kind. The caller has got the
 * event.
 *
 * A synthetic event may be the event of a histogram that writes synthetic events. When
 * SYNTH_DEPTH_MAX are being written inside each other, on a thread and in interrupts on it,
 * no further one is written.
 */
#define SYNTH_DEPTH_MAX 8u
void trace_synth_event_write(struct synth_event *event, const uint64_t *values);
/*
 * The same for an event of numbers alone, of TRACE_EVENT_SHORT bytes at most, which the caller has
 * built: `entry` has each field at its offset, and room for 7 bytes behind the last. `time` is its
 * time; with time->clock NULL the time is not known yet.
 */
void trace_synth_event_write_built(struct synth_event *event, void *entry,
				   const struct trace_event_time *time);

/* ---- For the files ---- */

/* Of dynamic_events; behind it is the end of the table. */
extern const struct dyn_event_kind trace_synth_event_kinds[];

/*
 * Carry out a line of synthetic_events, which may be cut up: NAME FIELD; ..., or !NAME. 0; an empty
 * line is none. -EINVAL, -EEXIST, -ENOENT, -EBUSY, -ENOMEM, with *out_error, which is zeroed before.
 */
int trace_synth_event_run(char *line, struct dyn_event_error *out_error);
/* Write such a line, newline included, which defines an event of the kind. */
void trace_synth_event_show(const struct dyn_event *dyn, struct trace_seq *seq);

#endif
