/* Checks of places: the instructions at which a probe may be. See <trace/kprobe.h>. */
#include <trace/fmt.h>
#include "kprobe_private.h"
#include "text/str.h"

/* The kind of an address, and the reason of a refusal. */
struct verdict {
	struct trace_probe_place place;
	char name[TRACE_SYM_LEN]; /* of the function; empty: none */
	int err;
};

static int kprobe_check_refuse(struct verdict *verdict, int err, const char *why)
{
	verdict->place.why = why;
	verdict->err = err;
	return err;
}

static int judge(struct verdict *verdict, uintptr_t addr)
{
	struct trace_probe_place *place = &verdict->place;
	const char *why;
	size_t len;

	*verdict = (struct verdict){ .place = { .addr = addr } };
	if (ftrace_is_dead())
		return kprobe_check_refuse(verdict, -ENODEV, "tracing is dead");
	if (!trace_plat_symbol(addr, verdict->name, &place->func, &place->bytes)) {
		verdict->name[0] = '\0';
		why = trace_plat_probe_refusal(addr, 1);
		return kprobe_check_refuse(verdict, -EINVAL, why ? why : "there is no function");
	}
	why = trace_plat_probe_refusal(addr, 1);
	if (why)
		return kprobe_check_refuse(verdict, -EINVAL, why);
	if (ftrace_location(addr) == addr)
		return 0;
	verdict->err = trace_plat_probe_check(place);
	if (verdict->err)
		return verdict->err;
	len = place->insn_len;
	why = trace_plat_probe_refusal(addr, len);
	return why ? kprobe_check_refuse(verdict, -EINVAL, why) : 0;
}

static bool kprobe_check_is_inside(uintptr_t func, uint64_t offset)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	return trace_plat_symbol(func, name, &start, &bytes) && offset < bytes - (func - start);
}

int kprobe_resolve(const struct kprobe *p, uintptr_t *out_addr)
{
	struct verdict verdict;
	uintptr_t addr = p->addr;

	if (p->symbol_name)
		addr = trace_plat_symbol_find(p->symbol_name);
	if (!addr)
		return p->symbol_name ? -ENOENT : -EINVAL;
	if (p->symbol_name ? !kprobe_check_is_inside(addr, p->offset) : p->offset != 0)
		return -EINVAL;
	*out_addr = addr + p->offset;
	judge(&verdict, *out_addr);
	return verdict.err;
}

int kprobe_refusal(uintptr_t addr, char *out_text, size_t len)
{
	struct verdict verdict;
	uintptr_t func;

	if (!judge(&verdict, addr)) {
		if (len)
			out_text[0] = '\0';
		return 0;
	}
	func = verdict.place.func;
	if (!verdict.name[0])
		trace_scnprintf(out_text, len, "0x%lx: %s", (unsigned long)addr, verdict.place.why);
	else if (verdict.err == -EILSEQ && verdict.place.insn)
		trace_scnprintf(out_text, len, "%s+0x%lx: %s at %s+0x%lx", verdict.name,
				(unsigned long)(addr - func), verdict.place.why, verdict.name,
				(unsigned long)(verdict.place.insn - func));
	else
		trace_scnprintf(out_text, len, "%s+0x%lx: %s", verdict.name,
				(unsigned long)(addr - func), verdict.place.why);
	return verdict.err;
}
