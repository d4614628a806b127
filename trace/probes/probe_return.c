/*
 * Probes of the return of a function, `r:` and `f:FUNCTION%return`, with the returned value. See
 * probe.h, <trace/kretprobe.h>.
 */
#include <trace/errno.h>
#include <trace/kretprobe.h>
#include <trace/platform.h>
#include "kprobes/probe_parts.h"
#include "print/output.h"
#include "probe_hit.h"
#include "probe_switch.h"
#include "text/str.h"

#define ACTIVE_MAX 4096u

static int find_return(struct probe_definition *definition)
{
	const struct expr_word *number = &definition->number;
	struct probe_place place;
	uint64_t nr = 0;
	int err;

	if (number->len && (trace_expr_number(number, 0, false, &nr) || !nr))
		return trace_probe_refuse(definition, number->at, "Invalid maxactive number");
	if (nr > ACTIVE_MAX)
		return trace_probe_refuse(definition, number->at, "Maxactive is too big");
	err = trace_probe_find_function(definition, &place);
	if (err)
		return err;
	definition->target.ret.kp.addr = place.addr;
	definition->target.ret.maxactive = (uint32_t)nr;
	definition->context.place = FETCH_AT_RETURN;
	definition->context.is_of_function = definition->kind == &trace_probe_exit_kind;
	definition->context.func = place.addr;
	if (definition->kind == &trace_probe_exit_kind)
		trace_probe_name_by_suffix(definition, &place, "__exit");
	else
		trace_probe_name_by_number(definition, &place);
	return 0;
}

/* ---- The probe ---- */

static struct probe *probe_of_return(struct kretprobe *ret)
{
	return (struct probe *)((char *)ret - offsetof(struct probe, target.ret));
}

static TRACE_ALWAYS_INLINE struct probe_head
probe_return_head_of(const struct probe *probe, const struct kretprobe_instance *ri)
{
	const uint64_t ret_addr = trace_plat_ip_pack(ri->ret_addr);

	return (struct probe_head){ ret_addr << 32 | trace_plat_ip_pack(probe->target.ret.kp.addr),
				    2 };
}

static TRACE_ALWAYS_INLINE int hit(struct kretprobe_instance *ri, const void *got)
{
	struct probe *probe = probe_of_return(ri->rp);
	const struct trace_event_front *front = probe_front_of(probe);
	struct trace_event_claim claim;
	uint8_t *entry = NULL;

	if (probe_hit_is_plain(probe, front))
		entry = trace_event_claim(front, probe->step, &claim);
	if (TRACE_UNLIKELY(!entry))
		return trace_probe_hit_other(probe, got, probe_return_head_of(probe, ri), front);
	probe_fill_head(entry, probe_return_head_of(probe, ri));
	return probe_hit_end(probe, got, entry, &claim);
}

/* Nothing but the returned value is recorded. */
static int return_hit(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	return hit(ri, regs);
}

/* ---- Arguments of the call, kept until it returns: a word for each bit of `entry_args` ---- */

static bool probe_return_is_kept(const struct probe *probe, uint32_t n)
{
	return probe->entry_args >> n & 1;
}

static int keep_args(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	const struct probe *probe = probe_of_return(ri->rp);
	uint64_t *to = ri->data;

	for (uint32_t n = 0; n < FETCH_ENTRY_ARGS; n++) {
		if (probe_return_is_kept(probe, n))
			*to++ = ftrace_regs_get_argument(regs, n);
	}
	return 0;
}

static int gathered_hit(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	const struct probe *probe = probe_of_return(ri->rp);
	const uint64_t *from = ri->data;
	struct fetch_return got;

	got.value = ftrace_regs_get_return_value(regs);
	got.stack = ftrace_regs_get_stack_pointer(regs);
	for (uint32_t n = 0; n < FETCH_ENTRY_ARGS; n++) {
		if (probe_return_is_kept(probe, n))
			got.args[n] = *from++;
	}
	return hit(ri, &got);
}

static void choose_handlers(const struct probe *probe, const struct probe_definition *definition,
			    struct kretprobe *ret)
{
	ret->handler = definition->context.is_gathered ? gathered_hit : return_hit;
	ret->entry_handler = probe->entry_args ? keep_args : NULL;
	for (uint32_t n = 0; n < FETCH_ENTRY_ARGS; n++)
		ret->data_size += probe_return_is_kept(probe, n) ? sizeof(uint64_t) : 0;
}

static int attach_return(struct probe *probe, const struct probe_definition *definition)
{
	struct kretprobe *ret = &probe->target.ret;
	int err;

	choose_handlers(probe, definition, ret);
	ret->kp.flags = KRETPROBE_FLAG_DISABLED;
	err = register_kretprobe(ret);
	if (err == -EINVAL)
		return trace_probe_blame(definition, definition->place.at,
					 "Retprobe address must be an function entry", err);
	if (err && err != -ENOMEM)
		return trace_probe_blame(definition, definition->place.at,
					 "Failed to register probe event", err);
	return err;
}

static void detach_return(struct probe *probe)
{
	unregister_kretprobe(&probe->target.ret);
}

static int begin_return(struct probe *probe)
{
	return enable_kretprobe(&probe->target.ret);
}

static void end_return(struct probe *probe)
{
	(void)disable_kretprobe(&probe->target.ret);
}

/* ---- Many at once ---- */

static void put_return(struct probe *probe, bool on, void *to)
{
	(void)on;
	*(struct kretprobe **)to = &probe->target.ret;
}

static struct ftrace_part *make_return_part(void *list, size_t nr, bool on)
{
	static struct kretprobe_part part;

	kretprobe_part_init(&part, list, nr, on);
	return &part.part;
}

static int change_returns(void *list, size_t nr, bool on)
{
	return on ? enable_kretprobes(list, nr) : disable_kretprobes(list, nr);
}

static void detach_returns(void *list, size_t nr)
{
	unregister_kretprobes(list, nr);
}

static const struct probe_many return_many = {
	.rank = PROBE_RANK_RETURN,
	.bytes = sizeof(struct kretprobe *),
	.put = put_return,
	.make_part = make_return_part,
	.change = ftrace_parts_change,
	.change_alone = change_returns,
	.detach = detach_returns,
};

/* ---- The kinds ---- */

struct return_entry {
	struct trace_entry ent;
	uint32_t func;
	uint32_t ret_ip;
};

static const struct trace_event_field probe_return_fields[] = {
	TRACE_FIELD_ADDRESS("__probe_func", return_entry, func),
	TRACE_FIELD_ADDRESS("__probe_ret_ip", return_entry, ret_ip),
};

static void probe_return_print(const struct trace_iter *iter, const struct probe_event *event,
			       struct trace_seq *seq)
{
	const struct return_entry *entry = iter->event.data;

	(void)event;
	trace_print_symbol(iter, seq, entry->ret_ip, TRACE_IP_OFFSET);
	trace_seq_puts(seq, " <- ");
	trace_print_symbol(iter, seq, entry->func, 0);
}

static uint64_t probe_return_get_missed(const struct probe *probe)
{
	return probe->target.ret.nmissed;
}

static uintptr_t return_event_place(const void *entry)
{
	return trace_plat_ip_unpack(((const struct return_entry *)entry)->ret_ip);
}

static const struct trace_event_class return_class = {
	.system = "kprobes",
	.place = return_event_place,
	.change = trace_probes_change,
	.own_depth = 1,
};

#define RETURN_KIND                                                                                \
	.fields = probe_return_fields, .nr_fields = TRACE_ARRAY_SIZE(probe_return_fields),         \
	.head_bytes = sizeof(struct return_entry), .head_fmt = "%pS <- %ps",                       \
	.head_args =                                                                               \
		", " TRACE_REC_ADDRESS("__probe_ret_ip") ", " TRACE_REC_ADDRESS("__probe_func"),   \
	.event_class = &return_class, .target_bytes = PROBE_TARGET_BYTES(ret),                     \
	.find = find_return, .attach = attach_return, .detach = detach_return,                     \
	.print_head = probe_return_print, .begin = begin_return, .end = end_return,                \
	.many = &return_many, .get_missed = probe_return_get_missed, .suffix = PROBE_RETURN_SUFFIX

const struct probe_kind trace_probe_return_kind = {
	.log_name = "trace_kprobe",
	.group = "kprobes",
	.letter = 'r',
	.dyn_kind = &trace_probe_kprobe_dyn[PROBE_DYN_INSTRUCTION],
	.takes_number = true,
	RETURN_KIND,
};

const struct probe_kind trace_probe_exit_kind = {
	.log_name = "trace_fprobe",
	.group = "fprobes",
	.letter = 'f',
	.dyn_kind = &trace_probe_kprobe_dyn[PROBE_DYN_FUNCTION],
	.takes_number = true,
	.shown_suffix = PROBE_RETURN_SUFFIX,
	RETURN_KIND,
};
