/*
 * Probes of tracepoints, `t:`: the arguments of the tracepoint as they are, also of one that has no
 * trace event. See probe.h.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include <trace/tracepoint.h>
#include "ops/tracepoint_part.h"
#include "print/output.h"
#include "probe_hit.h"
#include "probe_switch.h"
#include "probe_shell.h"
#include "text/str.h"

struct tracepoint_search {
	const struct expr_word *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tp, void *arg)
{
	struct tracepoint_search *search = arg;

	if (trace_expr_is(search->name, tp->name))
		search->found = tp;
}

static int find_tracepoint(struct probe_definition *definition)
{
	const struct expr_word *place = &definition->place;
	struct tracepoint_search search = { .name = place };

	for (size_t i = 0; i < place->len; i++) {
		if (!expr_is_of_name(place->at[i]))
			return trace_probe_refuse(definition, place->at,
						  "Invalid character in tracepoint name");
	}
	for_each_kernel_tracepoint(compare, &search);
	if (!search.found)
		return trace_probe_blame(definition, place->at, "Tracepoint is not found", -ENOENT);
	definition->target.tp = search.found;
	definition->context.place = FETCH_AT_TRACEPOINT;
	definition->context.nr_args = FETCH_TRACEPOINT_ARGS;
	definition->context.func = (uintptr_t)search.found->iterate;
	trace_strcpy(definition->default_name, search.found->name,
		     sizeof(definition->default_name));
	return 0;
}

struct tracepoint_offer {
	const struct dyn_event_completion *completion;
	const char *at;
};

static void offer_one(struct tracepoint *tp, void *arg)
{
	const struct tracepoint_offer *to = arg;
	const struct trace_dyn_event_word word = { .text = tp->name, .hint = "" };

	trace_dyn_event_offer(to->completion, to->at, &word);
}

static void offer_tracepoints(const struct dyn_event_completion *completion, const char *at)
{
	struct tracepoint_offer to = { completion, at };

	for_each_kernel_tracepoint(offer_one, &to);
}

/* The function of the tracepoint that calls its probes stands for the tracepoint. */
static TRACE_ALWAYS_INLINE uint32_t probe_tracepoint_ip_of(const struct probe *probe)
{
	return trace_plat_ip_pack((uintptr_t)probe->target.tp->iterate);
}

static TRACE_ALWAYS_INLINE struct probe_head probe_tracepoint_head_of(const struct probe *probe)
{
	return (struct probe_head){ probe_tracepoint_ip_of(probe), 1 };
}

/* The stack above the frame at `frame`: the address of the return address. */
static TRACE_ALWAYS_INLINE uint64_t probe_tracepoint_stack_of(uintptr_t frame)
{
	return frame + sizeof(uintptr_t);
}

/*
 * The probe of a tracepoint, called with its arguments, of any types that fit in a register. A user
 * may ask for arguments behind the last one, which have no meaning.
 */
// NOLINTNEXTLINE(readability-function-size): as many parameters as a tracepoint may have
static void tracepoint_hit(void *data, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			   uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const struct fetch_tracepoint got = { { a1, a2, a3, a4, a5, a6, a7, a8 },
					      probe_tracepoint_stack_of(
						      (uintptr_t)__builtin_frame_address(0)) };

	(void)probe_hit(data, &got, probe_tracepoint_head_of(data));
}

/*
 * The same for a tracepoint that does not switch preemption off itself. Events of one name may come
 * from both kinds, so their depth is made the same.
 */
// NOLINTNEXTLINE(readability-function-size): as many parameters as a tracepoint may have
static void tracepoint_hit_atomic(void *data, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
				  uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const struct fetch_tracepoint got = { { a1, a2, a3, a4, a5, a6, a7, a8 },
					      probe_tracepoint_stack_of(
						      (uintptr_t)__builtin_frame_address(0)) };

	trace_plat_preempt_disable();
	(void)probe_hit(data, &got, probe_tracepoint_head_of(data));
	trace_plat_preempt_enable();
}

static tracepoint_probe_fn hit_of(const struct tracepoint *tp)
{
	return (tracepoint_probe_fn)(tp->own_depth ? tracepoint_hit : tracepoint_hit_atomic);
}

static int begin_tracepoint(struct probe *probe)
{
	struct tracepoint *tp = probe->target.tp;

	return tracepoint_probe_register(tp, hit_of(tp), probe, TRACEPOINT_DEFAULT_PRIO);
}

static void end_tracepoint(struct probe *probe)
{
	struct tracepoint *tp = probe->target.tp;

	(void)tracepoint_probe_unregister(tp, hit_of(tp), probe);
}

/* ---- Many at once ---- */

static void probe_tracepoint_put(struct probe *probe, bool on, void *to)
{
	struct tracepoint *tp = probe->target.tp;

	*(struct tracepoint_change *)to = (struct tracepoint_change){
		.tp = tp,
		.func = hit_of(tp),
		.data = probe,
		.prio = TRACEPOINT_DEFAULT_PRIO,
		.is_add = on,
	};
}

static struct ftrace_part *make_tracepoint_part(void *list, size_t nr, bool on)
{
	static struct tracepoint_part part;

	(void)on;
	tracepoint_part_init(&part, list, nr);
	return &part.part;
}

static int change_tracepoints(void *list, size_t nr, bool on)
{
	struct tracepoint_part part;

	(void)on;
	tracepoint_part_init(&part, list, nr);
	return tracepoint_part_change(&part);
}

static const struct probe_many tracepoint_many = {
	.rank = PROBE_RANK_TRACEPOINT,
	.bytes = sizeof(struct tracepoint_change),
	.put = probe_tracepoint_put,
	.make_part = make_tracepoint_part,
	.change_alone = change_tracepoints,
};

/* ---- The kind ---- */

struct tracepoint_entry {
	struct trace_entry ent;
	uint32_t ip; /* stands for the tracepoint: probe_tracepoint_ip_of() */
};

static const struct trace_event_field tracepoint_fields[] = {
	TRACE_FIELD_ADDRESS("__probe_ip", tracepoint_entry, ip),
};

static void probe_tracepoint_print_place(const struct trace_iter *iter,
					 const struct probe_event *event, struct trace_seq *seq)
{
	const struct tracepoint_entry *entry = iter->event.data;
	const struct probe *probe = event->first;

	while (probe && probe_tracepoint_ip_of(probe) != entry->ip)
		probe = probe->next;
	if (probe)
		trace_seq_puts(seq, probe->target.tp->name);
	else /* the event had another probe when this was recorded */
		trace_print_symbol(iter, seq, entry->ip, TRACE_IP_OFFSET);
}

/* The same for tools: a name for each number. */
static void write_places(const struct probe_event *event, struct trace_seq *seq)
{
	trace_seq_puts(seq, ", __print_symbolic(REC->__probe_ip");
	for (const struct probe *probe = event->first; probe; probe = probe->next)
		trace_seq_printf(seq, ", { 0x%x, \"%s\" }", probe_tracepoint_ip_of(probe),
				 probe->target.tp->name);
	trace_seq_putc(seq, ')');
}

static const struct trace_event_class tracepoint_class = {
	.system = "tracepoints",
	.change = trace_probes_change,
	.own_depth = 1,
};

static const struct probe_kind tracepoint_kind = {
	.log_name = "trace_fprobe",
	.group = "tracepoints",
	.letter = 't',
	.fields = tracepoint_fields,
	.nr_fields = TRACE_ARRAY_SIZE(tracepoint_fields),
	.head_bytes = sizeof(struct tracepoint_entry),
	.head_fmt = "%s",
	.write_head_args = write_places,
	.event_class = &tracepoint_class,
	.target_bytes = sizeof(struct tracepoint *),
	.dyn_kind = &trace_probe_dyn_kinds[PROBE_DYN_TRACEPOINT],
	.offer_places = offer_tracepoints,
	.find = find_tracepoint,
	.print_head = probe_tracepoint_print_place,
	.begin = begin_tracepoint,
	.end = end_tracepoint,
	.many = &tracepoint_many,
};

bool trace_probe_tracepoint_claims(const char *line)
{
	return trace_probe_line_is(line, tracepoint_kind.letter);
}

int trace_probe_tracepoint_create(const char *line, struct dyn_event_error *error)
{
	return trace_probe_define(&tracepoint_kind, line, error);
}

void trace_probe_tracepoint_complete(struct dyn_event_completion *completion)
{
	trace_probe_complete(&tracepoint_kind, completion);
}
