/* Probes of programs: the kinds of entries and of returns, and their hits. See probe_uprobe.h. */
#include <trace/errno.h>
#include <trace/event_probe.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "print/output.h"
#include "probe_hit.h"
#include "probe_shell.h"
#include "probe_switch.h"
#include "probe_uprobe.h"
#include "text/str.h"

/* ---- Hits ---- */

static struct probe *probe_of_uprobe(struct uprobe_consumer *consumer)
{
	return (struct probe *)((char *)consumer - offsetof(struct probe, target.uprobe));
}

/* Registers alone. */
static void uprobe_hit_plain(struct probe *probe, const void *data, struct probe_head head)
{
	trace_plat_preempt_disable();
	(void)probe_hit(probe, data, head);
	trace_plat_preempt_enable();
}

/*
 * Memory of the program is read before the event is begun, while pages that are not there may come.
 */
static TRACE_NOINLINE void uprobe_hit_memory(struct probe *probe, const void *data,
					     struct probe_head head)
{
	uint64_t entry[TRACE_EVENT_SCRATCH / sizeof(uint64_t) + 1];
	uint32_t bytes = TRACE_EVENT_SCRATCH + 1;

	if (probe->program.fixed_bytes <= TRACE_EVENT_SCRATCH) {
		probe_fill_head((uint8_t *)entry, head);
		bytes = trace_fetch_run(&probe->program, data, (uint8_t *)entry,
					TRACE_EVENT_SCRATCH);
	}
	trace_plat_preempt_disable();
	if (bytes <= TRACE_EVENT_SCRATCH)
		trace_probe_hit_built(probe, entry, bytes);
	else
		(void)probe_hit(probe, data, head);
	trace_plat_preempt_enable();
}

static TRACE_ALWAYS_INLINE void uprobe_hit_any(struct probe *probe, const void *data,
					       struct probe_head head)
{
	if (TRACE_LIKELY(!probe->program.steps))
		uprobe_hit_plain(probe, data, head);
	else if (!trace_event_is_off(probe_front_of(probe)))
		uprobe_hit_memory(probe, data, head);
}

static void uprobe_hit_entry(struct uprobe_consumer *self, struct ftrace_regs *regs)
{
	const struct probe_head head = { ftrace_regs_get_instruction_pointer(regs), 2 };

	uprobe_hit_any(probe_of_uprobe(self), regs, head);
}

static void uprobe_hit_return(struct uprobe_consumer *self, uintptr_t func,
			      struct ftrace_regs *regs)
{
	const struct probe_head head = { func, 2 };

	uprobe_hit_any(probe_of_uprobe(self), regs, head);
}

/* ---- Places ---- */

/* The words that error_log has until the next mistake; guarded by the config lock. */
static char uprobe_refusal_text[160];

static int uprobe_blame_refusal(const struct probe_definition *definition, struct uprobe_file *file,
				uint64_t offset)
{
	char why[100] = "";
	int err = uprobe_refusal(file, offset, why, sizeof(why));

	if (!err)
		return 0;
	trace_snprintf(uprobe_refusal_text, sizeof(uprobe_refusal_text), "%s: %s",
		       err == -EILSEQ ? "Probe point is not an instruction boundary"
				      : "Failed to register probe event",
		       why);
	return trace_probe_blame(definition, definition->place.at, uprobe_refusal_text, err);
}

/* Probes whose places have counters; guarded by the config lock. */
static uint32_t nr_uprobe_counters;

static bool uprobe_counters_differ(const struct uprobe_consumer *a, const struct uprobe_consumer *b)
{
	return a->offset == b->offset && a->ref_ctr_offset != b->ref_ctr_offset &&
	       uprobe_file_id(a->file) == uprobe_file_id(b->file);
}

/* A place has one counter, or none, whatever probes it has. */
static int uprobe_blame_counter(const struct probe_definition *definition,
				const struct uprobe_consumer *consumer)
{
	struct dyn_event *dyn = NULL;

	if (!nr_uprobe_counters && !consumer->ref_ctr_offset)
		return 0;
	while ((dyn = trace_dyn_event_next(trace_probe_uprobe_dyn, dyn))) {
		if (uprobe_counters_differ(&trace_probe_of(dyn)->target.uprobe, consumer))
			return trace_probe_refuse(
				definition, definition->place.at,
				"Reference counter is not that of another probe at this place");
	}
	return 0;
}

static int uprobe_attach(struct probe *probe, const struct probe_definition *definition)
{
	struct uprobe_consumer *consumer = &probe->target.uprobe;
	char path[PROBE_PATH_MAX];
	int err;

	trace_probe_uprobe_path(probe, path);
	err = uprobe_file_get(path, &consumer->file);
	if (err)
		return err;
	err = uprobe_blame_refusal(definition, consumer->file, consumer->offset);
	if (!err)
		err = uprobe_blame_counter(definition, consumer);
	if (err) {
		uprobe_file_put(consumer->file);
		return err;
	}
	if (consumer->ref_ctr_offset)
		nr_uprobe_counters++;
	if (!definition->context.is_user_return)
		consumer->handler = uprobe_hit_entry;
	else
		consumer->ret_handler = uprobe_hit_return;
	return 0;
}

static void uprobe_detach(struct probe *probe)
{
	if (probe->target.uprobe.ref_ctr_offset)
		nr_uprobe_counters--;
	uprobe_file_put(probe->target.uprobe.file);
}

static int uprobe_begin(struct probe *probe)
{
	return register_uprobe(&probe->target.uprobe);
}

static void uprobe_end(struct probe *probe)
{
	unregister_uprobe(&probe->target.uprobe);
}

/* ---- Many at once ---- */

static void uprobe_put_many(struct probe *probe, bool on, void *to)
{
	(void)on;
	*(struct uprobe_consumer **)to = &probe->target.uprobe;
}

static int uprobe_change_many(void *list, size_t nr, bool on)
{
	if (on)
		return register_uprobes(list, nr);
	unregister_uprobes(list, nr);
	return 0;
}

static const struct probe_many uprobe_many = {
	.rank = PROBE_RANK_PROGRAM,
	.bytes = sizeof(struct uprobe_consumer *),
	.put = uprobe_put_many,
	.change_alone = uprobe_change_many,
};

/* ---- The kinds ---- */

struct uprobe_entry {
	struct trace_entry ent;
	unsigned long ip;
} __attribute__((packed, aligned(4)));

struct uretprobe_entry {
	struct trace_entry ent;
	unsigned long func;
	unsigned long ret_ip;
} __attribute__((packed, aligned(4)));

static const struct trace_event_field uprobe_fields[] = {
	TRACE_FIELD("__probe_ip", unsigned long, uprobe_entry, ip),
};

static const struct trace_event_field uretprobe_fields[] = {
	TRACE_FIELD("__probe_func", unsigned long, uretprobe_entry, func),
	TRACE_FIELD("__probe_ret_ip", unsigned long, uretprobe_entry, ret_ip),
};

static void uprobe_print(const struct trace_iter *iter, const struct probe_event *event,
			 struct trace_seq *seq)
{
	const struct uprobe_entry *entry = iter->event.data;

	(void)event;
	trace_seq_printf(seq, "0x%lx", entry->ip);
}

static void uretprobe_print(const struct trace_iter *iter, const struct probe_event *event,
			    struct trace_seq *seq)
{
	const struct uretprobe_entry *entry = iter->event.data;

	(void)event;
	trace_seq_printf(seq, "0x%lx <- 0x%lx", entry->ret_ip, entry->func);
}

static const struct trace_event_class uprobe_class = {
	.system = "uprobes",
	.change = trace_probes_change,
	.own_depth = 1,
};

static const struct trace_event_class uretprobe_class = {
	.system = "uprobes",
	.change = trace_probes_change,
	.own_depth = 1,
};

bool trace_probe_is_of_program(const struct trace_event_call *call)
{
	return call->event_class == &uprobe_class || call->event_class == &uretprobe_class;
}

static uint64_t uprobe_get_missed(const struct probe *probe)
{
	return probe->target.uprobe.nmissed;
}

#define UPROBE_KIND                                                                                \
	.log_name = "trace_uprobe", .group = "uprobes",                                            \
	.target_bytes = PROBE_TARGET_BYTES(uprobe), .dyn_kind = trace_probe_uprobe_dyn,            \
	.offer_places = trace_probe_uprobe_offer, .find = trace_probe_uprobe_find,                 \
	.attach = uprobe_attach, .detach = uprobe_detach,                                          \
	.is_same_place = trace_probe_uprobe_is_same, .begin = uprobe_begin, .end = uprobe_end,     \
	.many = &uprobe_many, .get_missed = uprobe_get_missed

const struct probe_kind trace_probe_uprobe_kind = {
	.letter = 'p',
	.fields = uprobe_fields,
	.nr_fields = TRACE_ARRAY_SIZE(uprobe_fields),
	.head_bytes = sizeof(struct uprobe_entry),
	.head_fmt = "%lx",
	.head_args = ", REC->__probe_ip",
	.event_class = &uprobe_class,
	.print_head = uprobe_print,
	UPROBE_KIND,
};

const struct probe_kind trace_probe_uretprobe_kind = {
	.letter = 'r',
	.fields = uretprobe_fields,
	.nr_fields = TRACE_ARRAY_SIZE(uretprobe_fields),
	.head_bytes = sizeof(struct uretprobe_entry),
	.head_register = "ip",
	.head_fmt = "%lx <- %lx",
	.head_args = ", REC->__probe_func, REC->__probe_ret_ip",
	.event_class = &uretprobe_class,
	.print_head = uretprobe_print,
	UPROBE_KIND,
};

static int uprobe_define(const char *line, struct dyn_event_error *error)
{
	return trace_probe_define(trace_probe_uprobe_is_return(line) ? &trace_probe_uretprobe_kind
								     : &trace_probe_uprobe_kind,
				  line, error);
}

/* As other lines; behind it, the state of a file that has changed. */
static void uprobe_show(const struct dyn_event *dyn, struct trace_seq *seq)
{
	const char *gone = trace_probe_uprobe_gone(trace_probe_of(dyn));

	trace_probe_show(dyn, seq);
	if (!gone)
		return;
	seq->len--; /* the end of the line */
	trace_seq_printf(seq, " # %s\n", gone);
}

const struct dyn_event_kind trace_probe_uprobe_dyn[] = {
	{ .name = "uprobe",
	  .claims = trace_probe_uprobe_is,
	  .create = uprobe_define,
	  .show = uprobe_show,
	  .explain = trace_probe_explain,
	  .locate = trace_probe_uprobe_locate,
	  .complete = trace_probe_uprobe_complete,
	  .matches = trace_probe_matches,
	  .free = trace_probe_free },
	{ .name = NULL },
};
