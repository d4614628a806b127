/*
 * Synthetic events: trace events without a place in the code. A user defines them by lines of
 * synthetic_events; histograms' actions and other sources of values write them.
 *
 * 	wakeup_latency u64 lat; pid_t pid; char comm[16]
 *
 *   synth_parse.c   the fields of the text
 *   synth_event.c   making, finding and removing events; the kind `s:` of dynamic_events
 *   synth_text.c    printing, for `trace` and for tools
 *   synth_write.c   writing values as an event in the ring
 *
 * Context:   trace_synth_event_write() - any, NMI included, preemption off. The rest - thread,
 *            config lock held.
 * Locking:   the config lock.
 * Ownership: an event belongs to the list of dyn_event.h. A reference from trace_synth_event_get()
 *            makes its removal fail with -EBUSY.
 */
#ifndef SYNTH_EVENT_H
#define SYNTH_EVENT_H

#include <trace/trace_events.h>
#include "dyn_event.h"
#include "event_file.h"

#define SYNTH_SYSTEM	 "synthetic"
#define SYNTH_FIELDS_MAX 64u
#define SYNTH_TEXT_MAX	 256u /* bytes of a text, its NUL included */
#define SYNTH_STACK_MAX	 32u  /* addresses */

/* Kinds of fields, and of their values for trace_synth_event_write(). */
enum synth_kind {
	SYNTH_NUMBER, /* a number; bits beyond `size` bytes are cut off */
	/*
	 * The address of a text that ends with NUL, cut to `size` bytes or SYNTH_TEXT_MAX; the
	 * address 0 is written as `(null)`.
	 */
	SYNTH_TEXT,	    /* char[16] */
	SYNTH_DYNAMIC_TEXT, /* char[], char[0] */
	/*
	 * The address of uint32_t's: packed code addresses (trace_plat_ip_pack()) with a 0 behind
	 * the last, cut to SYNTH_STACK_MAX; the address 0 is an empty stack.
	 */
	SYNTH_STACK, /* unsigned long[], long[] */
};

struct synth_field {
	const char *name;
	const char *type; /* as listed: u64, unsigned int, char[16], unsigned long[] */
	uint16_t offset;  /* in the event, struct trace_entry included */
	uint16_t size;	  /* bytes in the event; 4 for dynamic fields, see <trace/event.h> */
	uint8_t kind;	  /* enum synth_kind */
	bool is_signed;
};

struct synth_event {
	uint32_t nr_fields;
	uint32_t fixed_bytes; /* of the event up to the end of the last field, a multiple of 4 */
	bool is_numbers;      /* all fields are numbers */
	const struct synth_field *fields;
	struct trace_event_call call; /* call.event.name is the event's name */
	struct dyn_event dyn;
	size_t bytes; /* of the whole allocation, with the fields and texts behind it */
};

/* Get the event of a name, which stays until it is put. Returns NULL when there is none. */
struct synth_event *trace_synth_event_get(const char *name);
void trace_synth_event_put(struct synth_event *event);

/*
 * Write an event into all instances where it is on, on its conditions there: its filter, its
 * triggers. `values` has a value for each field, see enum synth_kind. The caller holds a reference.
 *
 * A synthetic event may be the event of a histogram that writes synthetic events. When
 * SYNTH_DEPTH_MAX are being written inside each other, on a thread and in interrupts on it,
 * no further one is written.
 */
#define SYNTH_DEPTH_MAX 8u
void trace_synth_event_write(struct synth_event *event, const uint64_t *values);
/*
 * Write an event that the caller has built, of numbers alone and at most TRACE_EVENT_SHORT bytes:
 * `entry` has each field at its offset, and room for 7 bytes behind the last. `time` is its time,
 * or with time->clock NULL not known yet.
 */
void trace_synth_event_write_built(struct synth_event *event, void *entry,
				   const struct trace_event_time *time);

/* ---- For the files ---- */

/* The kind for dynamic_events; it is followed by the end of the table. */
extern const struct dyn_event_kind trace_synth_event_kinds[];

/*
 * Carry out a line of synthetic_events, which may be cut up: NAME FIELD; ..., or !NAME. An empty
 * line does nothing. Returns 0; -EINVAL, -EEXIST, -ENOENT, -EBUSY, -ENOMEM, with *out_error, which
 * is zeroed first.
 */
int trace_synth_event_run(char *line, struct dyn_event_error *out_error);
/* Write the line of synthetic_events that defines an event, newline included. */
void trace_synth_event_show(const struct dyn_event *dyn, struct trace_seq *seq);

#endif
