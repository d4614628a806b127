/*
 * Probes of data, `w:`: writes of a variable, or all accesses, with its old and its new value. See
 * probe.h, <trace/wprobe.h>.
 *
 * 	w:who w@shelf_count:4 old=$old new=$value by=$comm
 *
 * A processor has few registers for it, so there are no more of these probes than that, be they on
 * or off. It traps behind the instruction, and the event shows that address.
 */
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/wprobe.h>
#include "print/output.h"
#include "probe_hit.h"
#include "probe_shell.h"
#include "probe_switch.h"
#include "text/str.h"

#define LEN_OTHERWISE 4u /* bytes that are watched, if neither the line nor the variable says */

static const char bad_length[] = "Length must be 1, 2, 4 or 8";

/* ---- Place: [r|w|rw]@ADDRESS|SYMBOL[+OFFSET|-OFFSET][:LENGTH] ---- */

/* A place, taken apart. */
struct watch_place {
	/* the first and the last of length 0: not written */
	struct expr_word access, what, length;
	struct fetch_symbol symbol; /* its name of length 0: an address was written */
};

static int split_place(const struct probe_definition *definition, struct watch_place *out)
{
	struct expr_word rest = definition->place;

	*out = (struct watch_place){ .access = expr_take_until(&rest, "@") };
	if (!expr_take(&rest, '@'))
		return trace_probe_refuse(definition, definition->place.at,
					  "Place must be of the form: [r|w|rw]@VARIABLE[:LENGTH]");
	out->what = expr_take_until(&rest, ":");
	out->length = expr_behind(&rest, rest.len != 0);
	if (rest.len == 1)
		return trace_probe_refuse(definition, rest.at, bad_length);
	return 0;
}

static int find_type(const struct probe_definition *definition, const struct watch_place *place,
		     struct wprobe *wp)
{
	const struct expr_word *access = &place->access;

	if (!access->len || trace_expr_is(access, "rw"))
		wp->type = WPROBE_RW;
	else if (trace_expr_is(access, "w"))
		wp->type = WPROBE_W;
	else if (trace_expr_is(access, "r"))
		return trace_probe_refuse(definition, access->at,
					  "The processor cannot watch reads alone: rw or w");
	else
		return trace_probe_refuse(definition, access->at, "Access type must be r, w or rw");
	return 0;
}

static int find_address(const struct probe_definition *definition, struct watch_place *place)
{
	struct fetch_symbol *symbol = &place->symbol;
	int err;

	*symbol = (struct fetch_symbol){ .name = { place->what.at, 0 } };
	if (!trace_expr_number(&place->what, 0, false, &symbol->addr))
		return 0;
	err = trace_fetch_symbol(&place->what, symbol);
	if (err)
		return trace_probe_blame(definition, place->what.at,
					 err == -EEXIST ? trace_fetch_not_unique
							: "There is no variable of that name",
					 err == -EEXIST ? -EINVAL : err);
	return 0;
}

static bool can_be_watched(uint64_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static int find_length(const struct probe_definition *definition, const struct watch_place *place,
		       struct wprobe *wp)
{
	uint64_t len = LEN_OTHERWISE;

	if (place->length.len &&
	    (trace_expr_number(&place->length, 0, false, &len) || !can_be_watched(len)))
		return trace_probe_refuse(definition, place->length.at, bad_length);
	if (!place->length.len && !place->symbol.offset && can_be_watched(place->symbol.bytes))
		len = place->symbol.bytes;
	wp->len = (uint32_t)len;
	wp->addr = place->symbol.addr;
	return 0;
}

static int find_data(struct probe_definition *definition)
{
	struct wprobe *wp = &definition->target.wprobe;
	struct watch_place place;
	struct probe_place named;
	int err = split_place(definition, &place);

	if (!err)
		err = find_type(definition, &place, wp);
	if (!err)
		err = find_address(definition, &place);
	if (!err)
		err = find_length(definition, &place, wp);
	if (err)
		return err;
	definition->context.place = FETCH_AT_DATA;
	named = (struct probe_place){ .symbol = place.symbol.name,
				      .offset = place.symbol.offset,
				      .addr = wp->addr };
	trace_probe_name_by_number(definition, &named);
	return 0;
}

/* ---- The probe ---- */

static struct probe *probe_of_wprobe(struct wprobe *wp)
{
	return (struct probe *)((char *)wp - offsetof(struct probe, target.wprobe));
}

/* Interrupts are off. */
static void data_hit(struct wprobe *wp, struct ftrace_regs *regs, uint64_t old, uint64_t value)
{
	const struct fetch_data got = { regs, wp->addr, old, value };
	const struct probe_head head = {
		trace_plat_ip_pack(ftrace_regs_get_instruction_pointer(regs)), 1
	};

	trace_plat_preempt_disable();
	(void)probe_hit(probe_of_wprobe(wp), &got, head);
	trace_plat_preempt_enable();
}

/* The words that error_log has until the next mistake; guarded by the config lock. */
static char probe_watch_refusal[160];

static int probe_watch_blame_refusal(const struct probe_definition *definition, const char *why,
				     int err)
{
	trace_snprintf(probe_watch_refusal, sizeof(probe_watch_refusal),
		       "Failed to register probe event: %s", why);
	return trace_probe_blame(definition, definition->place.at, probe_watch_refusal, err);
}

static uint32_t count_watches(void)
{
	const struct dyn_event *dyn = NULL;
	uint32_t nr = 0;

	while ((dyn = trace_dyn_event_next(&trace_probe_kprobe_dyn[PROBE_DYN_WATCH], dyn)))
		nr++;
	return nr;
}

/* Attach a watchpoint. Those that are off count, too, so that all can be switched on. */
static int attach_data(struct probe *probe, const struct probe_definition *definition)
{
	struct wprobe *wp = &probe->target.wprobe;
	char why[100];
	int err;

	wp->handler = data_hit;
	err = wprobe_refusal(wp, why, sizeof(why));
	if (err && err != -EBUSY)
		return probe_watch_blame_refusal(definition, why, err);
	if (err || count_watches() >= WPROBE_MAX)
		return probe_watch_blame_refusal(
			definition, "the processor can watch 4 places at once, and all are taken",
			-ENOSPC);
	return 0;
}
_Static_assert(WPROBE_MAX == 4, "that is what the sentence says");

static int begin_data(struct probe *probe)
{
	int err = register_wprobe(&probe->target.wprobe);

	return err == -EBUSY ? -ENOSPC : err;
}

static void end_data(struct probe *probe)
{
	unregister_wprobe(&probe->target.wprobe);
}

/* ---- The kind ---- */

struct watch_entry {
	struct trace_entry ent;
	uint32_t ip; /* behind the instruction */
};

static const struct trace_event_field watch_fields[] = {
	TRACE_FIELD_ADDRESS("__probe_ip", watch_entry, ip),
};

static void probe_watch_print_address(const struct trace_iter *iter,
				      const struct probe_event *event, struct trace_seq *seq)
{
	const struct watch_entry *entry = iter->event.data;

	(void)event;
	trace_print_symbol(iter, seq, entry->ip, TRACE_IP_OFFSET);
}

static uintptr_t watch_event_place(const void *entry)
{
	return trace_plat_ip_unpack(((const struct watch_entry *)entry)->ip);
}

static const struct trace_event_class watch_class = {
	.system = "wprobes",
	.place = watch_event_place,
	.change = trace_probes_change,
	.own_depth = 1,
};

static uint64_t probe_watch_get_missed(const struct probe *probe)
{
	return probe->target.wprobe.nmissed;
}

static const struct probe_kind watch_kind = {
	.log_name = "trace_wprobe",
	.group = "wprobes",
	.letter = 'w',
	.fields = watch_fields,
	.nr_fields = TRACE_ARRAY_SIZE(watch_fields),
	.head_bytes = sizeof(struct watch_entry),
	.head_fmt = "%pS",
	.head_args = ", " TRACE_REC_ADDRESS("__probe_ip"),
	.event_class = &watch_class,
	.target_bytes = PROBE_TARGET_BYTES(wprobe),
	.dyn_kind = &trace_probe_kprobe_dyn[PROBE_DYN_WATCH],
	.find = find_data,
	.attach = attach_data,
	.print_head = probe_watch_print_address,
	.begin = begin_data,
	.end = end_data,
	.get_missed = probe_watch_get_missed,
};

bool trace_probe_watch_claims(const char *line)
{
	return trace_probe_line_is(line, watch_kind.letter);
}

int trace_probe_watch_create(const char *line, struct dyn_event_error *error)
{
	return trace_probe_define(&watch_kind, line, error);
}

void trace_probe_watch_complete(struct dyn_event_completion *completion)
{
	trace_probe_complete(&watch_kind, completion);
}
