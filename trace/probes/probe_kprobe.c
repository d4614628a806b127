/*
 * Probes of instructions, `p:`: registers, and the arguments of a function at its entry; `f:` is
 * for the latter only. See probe.h, <trace/kprobe.h>.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "events/event_file.h"
#include "kprobes/probe_parts.h"
#include "print/output.h"
#include "probe_hit.h"
#include "probe_switch.h"
#include "probe_shell.h"
#include "text/str.h"

/* An address is what is left to tell apart functions of one name and one file. */
static bool is_entry(const struct probe_place *place)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	if (place->symbol.len)
		return !place->offset;
	return trace_plat_symbol(place->addr, name, &start, &size) && start == place->addr;
}

static int find_instruction(struct probe_definition *definition)
{
	struct probe_place place;
	int err = definition->has_suffix ? trace_probe_find_function(definition, &place)
					 : trace_probe_find_place(definition, &place);

	if (err)
		return err;
	definition->target.kprobe.addr = place.addr;
	definition->context.place = is_entry(&place) ? FETCH_AT_ENTRY : FETCH_AT_CODE;
	definition->context.func = place.addr;
	trace_probe_name_by_number(definition, &place);
	return 0;
}

/* `f:`: the entry of a function. */
static int find_entry(struct probe_definition *definition)
{
	struct probe_place place;
	int err = trace_probe_find_function(definition, &place);

	if (err)
		return err;
	definition->target.kprobe.addr = place.addr;
	definition->context.place = FETCH_AT_ENTRY;
	definition->context.is_of_function = true;
	definition->context.func = place.addr;
	trace_probe_name_by_suffix(definition, &place, "__entry");
	return 0;
}

/* ---- The probe ---- */

static struct probe *probe_of_kprobe(struct kprobe *kprobe)
{
	return (struct probe *)((char *)kprobe - offsetof(struct probe, target.kprobe));
}

static TRACE_ALWAYS_INLINE struct probe_head probe_kprobe_head_of(const struct kprobe *kprobe)
{
	return (struct probe_head){ trace_plat_ip_pack(kprobe->addr), 1 };
}

/* Apart from instruction_hit(), so that an event that fails its filter saves no registers. */
static TRACE_NOINLINE int instruction_write(struct kprobe *kprobe, struct ftrace_regs *regs,
					    const struct trace_event_front *front)
{
	struct probe *probe = probe_of_kprobe(kprobe);
	struct trace_event_claim claim;
	uint8_t *entry = trace_event_claim(front, probe->step, &claim);

	if (TRACE_UNLIKELY(!entry))
		return trace_probe_hit_other(probe, regs, probe_kprobe_head_of(kprobe), front);
	probe_fill_head(entry, probe_kprobe_head_of(kprobe));
	return probe_hit_end(probe, regs, entry, &claim);
}

static int instruction_hit(struct kprobe *kprobe, struct ftrace_regs *regs)
{
	struct probe *probe = probe_of_kprobe(kprobe);
	const struct trace_event_front *front = probe_front_of(probe);

	if (probe_hit_is_plain(probe, front))
		return instruction_write(kprobe, regs, front);
	return trace_probe_hit_other(probe, regs, probe_kprobe_head_of(kprobe), front);
}

/* The words that error_log has until the next mistake; guarded by the config lock. */
static char probe_kprobe_refusal[200];

static int probe_kprobe_blame_refusal(const struct probe_definition *definition, int err)
{
	static const char failed[] = "Failed to register probe event: ";
	const size_t len = sizeof(failed) - 1;

	if (err == -EILSEQ)
		return trace_probe_blame(definition, definition->place.at,
					 "Probe point is not an instruction boundary", err);
	if (err == -ENOMEM)
		return err;
	memcpy(probe_kprobe_refusal, failed, sizeof(failed));
	if (!kprobe_refusal(definition->target.kprobe.addr, probe_kprobe_refusal + len,
			    sizeof(probe_kprobe_refusal) - len))
		probe_kprobe_refusal[len - 2] = '\0';
	return trace_probe_blame(definition, definition->place.at, probe_kprobe_refusal, err);
}

static int attach_instruction(struct probe *probe, const struct probe_definition *definition)
{
	struct kprobe *kprobe = &probe->target.kprobe;
	int err;

	kprobe->pre_handler = instruction_hit;
	kprobe->flags = KPROBE_FLAG_DISABLED;
	if (!probe->has_all_registers)
		kprobe->flags |= KPROBE_FLAG_ARGS;
	err = register_kprobe(kprobe);
	return err ? probe_kprobe_blame_refusal(definition, err) : 0;
}

static void detach_instruction(struct probe *probe)
{
	unregister_kprobe(&probe->target.kprobe);
}

static int begin_instruction(struct probe *probe)
{
	return enable_kprobe(&probe->target.kprobe);
}

static void end_instruction(struct probe *probe)
{
	(void)disable_kprobe(&probe->target.kprobe);
}

/* ---- Many at once ---- */

static void put_instruction(struct probe *probe, bool on, void *to)
{
	(void)on;
	*(struct kprobe **)to = &probe->target.kprobe;
}

static struct ftrace_part *make_instruction_part(void *list, size_t nr, bool on)
{
	static struct kprobe_part part;

	kprobe_part_init(&part, list, nr, on);
	return &part.part;
}

static int change_instructions(void *list, size_t nr, bool on)
{
	return on ? enable_kprobes(list, nr) : disable_kprobes(list, nr);
}

static void detach_instructions(void *list, size_t nr)
{
	unregister_kprobes(list, nr);
}

static const struct probe_many instruction_many = {
	.rank = PROBE_RANK_INSTRUCTION,
	.bytes = sizeof(struct kprobe *),
	.put = put_instruction,
	.make_part = make_instruction_part,
	.change = ftrace_parts_change,
	.change_alone = change_instructions,
	.detach = detach_instructions,
};

/* ---- The kind ---- */

struct kprobe_entry {
	struct trace_entry ent;
	uint32_t ip;
};

static const struct trace_event_field kprobe_fields[] = {
	TRACE_FIELD_ADDRESS("__probe_ip", kprobe_entry, ip),
};

static void probe_kprobe_print_address(const struct trace_iter *iter,
				       const struct probe_event *event, struct trace_seq *seq)
{
	const struct kprobe_entry *entry = iter->event.data;

	(void)event;
	trace_print_symbol(iter, seq, entry->ip, TRACE_IP_OFFSET);
}

static uintptr_t kprobe_event_place(const void *entry)
{
	return trace_plat_ip_unpack(((const struct kprobe_entry *)entry)->ip);
}

static const struct trace_event_class kprobe_class = {
	.system = "kprobes",
	.place = kprobe_event_place,
	.change = trace_probes_change,
	.own_depth = 1,
};

static uint64_t probe_kprobe_get_missed(const struct probe *probe)
{
	return probe->target.kprobe.nmissed;
}

/* Common members of the kinds for instructions and for entries of functions. */
#define INSTRUCTION_KIND                                                                           \
	.fields = kprobe_fields, .nr_fields = TRACE_ARRAY_SIZE(kprobe_fields),                     \
	.head_bytes = sizeof(struct kprobe_entry), .head_fmt = "%pS",                              \
	.head_args = ", " TRACE_REC_ADDRESS("__probe_ip"), .event_class = &kprobe_class,           \
	.target_bytes = PROBE_TARGET_BYTES(kprobe), .attach = attach_instruction,                  \
	.detach = detach_instruction, .print_head = probe_kprobe_print_address,                    \
	.begin = begin_instruction, .end = end_instruction, .many = &instruction_many,             \
	.get_missed = probe_kprobe_get_missed, .suffix = "%entry"

static const struct probe_kind kprobe_kind = {
	.log_name = "trace_kprobe",
	.group = "kprobes",
	.letter = 'p',
	.dyn_kind = &trace_probe_kprobe_dyn[PROBE_DYN_INSTRUCTION],
	.find = find_instruction,
	INSTRUCTION_KIND,
};

static const struct probe_kind entry_kind = {
	.log_name = "trace_fprobe",
	.group = "fprobes",
	.letter = 'f',
	.dyn_kind = &trace_probe_kprobe_dyn[PROBE_DYN_FUNCTION],
	.find = find_entry,
	INSTRUCTION_KIND,
};

static bool probe_kprobe_claims(const char *line)
{
	return trace_probe_line_is(line, kprobe_kind.letter) || trace_probe_line_is(line, 'r');
}

static const struct probe_kind *probe_kprobe_kind_of(const char *line)
{
	return *line == 'r' || trace_probe_line_is_return(line) ? &trace_probe_return_kind
								: &kprobe_kind;
}

static int probe_kprobe_create(const char *line, struct dyn_event_error *error)
{
	return trace_probe_define(probe_kprobe_kind_of(line), line, error);
}

static void complete(struct dyn_event_completion *completion)
{
	trace_probe_complete(probe_kprobe_kind_of(completion->line), completion);
}

static bool claims_function(const char *line)
{
	return trace_probe_line_is(line, entry_kind.letter);
}

static const struct probe_kind *kind_of_function(const char *line)
{
	return trace_probe_line_is_return(line) ? &trace_probe_exit_kind : &entry_kind;
}

static int create_function(const char *line, struct dyn_event_error *error)
{
	return trace_probe_define(kind_of_function(line), line, error);
}

static void complete_function(struct dyn_event_completion *completion)
{
	trace_probe_complete(kind_of_function(completion->line), completion);
}

const struct dyn_event_kind trace_probe_kprobe_dyn[] = {
	{ .name = "kprobe",
	  .claims = probe_kprobe_claims,
	  .create = probe_kprobe_create,
	  .show = trace_probe_show,
	  .explain = trace_probe_explain,
	  .complete = complete,
	  .matches = trace_probe_matches,
	  .prepare_free = trace_probes_detach_chosen,
	  .free = trace_probe_free },
	{ .name = "fprobe",
	  .claims = claims_function,
	  .create = create_function,
	  .show = trace_probe_show,
	  .explain = trace_probe_explain,
	  .complete = complete_function,
	  .matches = trace_probe_matches,
	  .prepare_free = trace_probes_detach_chosen,
	  .free = trace_probe_free },
	{ .name = "wprobe",
	  .claims = trace_probe_watch_claims,
	  .create = trace_probe_watch_create,
	  .show = trace_probe_show,
	  .explain = trace_probe_explain,
	  .complete = trace_probe_watch_complete,
	  .matches = trace_probe_matches,
	  .free = trace_probe_free },
	{ .name = NULL },
};

bool trace_probe_kprobe_counts(const struct dyn_event *dyn, uint64_t *out_hits,
			       uint64_t *out_missed)
{
	struct probe *probe;

	if (dyn->kind != &trace_probe_kprobe_dyn[PROBE_DYN_INSTRUCTION] &&
	    dyn->kind != &trace_probe_kprobe_dyn[PROBE_DYN_FUNCTION] &&
	    dyn->kind != &trace_probe_kprobe_dyn[PROBE_DYN_WATCH])
		return false;
	probe = trace_probe_of(dyn);
	*out_hits = probe->nr_hits;
	*out_missed = trace_probe_event_of(dyn->call)->kind->get_missed(probe);
	return true;
}

bool trace_probe_is_of_instruction(const struct trace_event_call *call)
{
	return call->event_class == &kprobe_class;
}

bool trace_probe_kprobe_is_gone(const struct dyn_event *dyn)
{
	const struct probe *probe = trace_probe_of(dyn);

	return trace_probe_is_of_instruction(dyn->call) &&
	       probe->target.kprobe.flags & KPROBE_FLAG_GONE;
}

/* ---- From the command line: DEFINITION[;DEFINITION]..., with commas for blanks ---- */

static void switch_all_on(struct trace_array *tr)
{
	struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(trace_probe_kprobe_dyn, dyn))) {
		const struct trace_event_choice choice = { .call = dyn->call };

		if (trace_events_switch(tr, &choice, true))
			trace_plat_log("trace: kprobe_event: %s cannot be switched on",
				       dyn->call->event.name);
	}
}

static void define_one(char *line)
{
	struct dyn_event_error error = { 0 };

	for (char *at = line; *at; at++) {
		if (*at == ',')
			*at = ' ';
	}
	if (trace_dyn_event_run_of(trace_probe_kprobe_dyn, line, &error))
		trace_plat_log("trace: kprobe_event: %s: %s", line,
			       error.why ? error.why : "no memory");
}

void trace_probe_kprobe_boot(struct trace_array *tr, char *list)
{
	while (*list) {
		char *line = list;

		while (*list && *list != ';')
			list++;
		if (*list)
			*list++ = '\0';
		define_one(line);
	}
	switch_all_on(tr);
}
