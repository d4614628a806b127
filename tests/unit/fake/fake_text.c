/*
 * Text, trampolines and symbols of the fake machine; see fake.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/ftrace.h>
#include "fake.h"
#include "fake_internal.h"

static const uint8_t NOP[TRACE_INSN_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static uint8_t *text;
static char (*names)[TRACE_SYM_LEN];
static uintptr_t *sites;
static size_t nr_funcs;

#define TRAMPOLINE_CALLS 16
struct fake_trampoline {
	struct trace_trampoline_call calls[TRAMPOLINE_CALLS];
	size_t nr; /* 0: free */
	bool with_regs;
};
#define NR_TRAMPOLINES	 512
#define TRAMPOLINE_BYTES 128ul
static struct fake_trampoline trampolines[NR_TRAMPOLINES];

struct fake_symbol {
	uintptr_t addr;
	size_t size;
	char name[TRACE_SYM_LEN];
};
static struct fake_symbol symbols[64];
static size_t nr_symbols;

static struct {
	char name[TRACE_SYM_LEN];
	char text[256];
} reasons[16];
static size_t nr_reasons;
static uint32_t irq_entries[8];
size_t fake_nr_irq_entries;

uint64_t fake_nr_batches, fake_nr_pokes, fake_nr_early;
long fake_trampoline_budget = -1;
bool fake_has_site_funcs;
size_t fake_nr_trampolines;
void (*fake_on_batch)(const struct trace_poke *pokes, size_t nr);
uintptr_t fake_breakpoint;
uintptr_t fake_nameless;
const uint64_t *fake_args;
uint32_t fake_stack[256];
size_t fake_stack_nr;

/* Defined by ftrace; absent in tests of other parts. */
void trace_ops_list_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs) __attribute__((weak));
void trace_graph_return(uintptr_t *slot) __attribute__((weak));
void trace_ops_list_regs_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs) __attribute__((weak));

void fake_text_reset(void)
{
	free(text);
	free(names);
	free(sites);
	text = NULL;
	names = NULL;
	sites = NULL;
	nr_funcs = 0;
	nr_symbols = 0;
	nr_reasons = 0;
	fake_nr_irq_entries = 0;
	memset(trampolines, 0, sizeof(trampolines));
	fake_nr_batches = 0;
	fake_nr_pokes = 0;
	fake_breakpoint = 0;
	fake_nr_early = 0;
	fake_trampoline_budget = -1;
	fake_has_site_funcs = false;
	fake_nr_trampolines = 0;
	fake_on_batch = NULL;
	fake_stack_nr = 0;
}

uintptr_t fake_func(size_t index)
{
	return FAKE_TEXT + index * FAKE_FUNC_BYTES;
}

uint8_t *fake_text_at(uintptr_t addr)
{
	if (addr < FAKE_TEXT || addr >= fake_func(nr_funcs))
		return NULL;
	return text + (addr - FAKE_TEXT);
}

static void build_begin(size_t nr)
{
	fake_text_reset();
	nr_funcs = nr;
	text = malloc(nr * FAKE_FUNC_BYTES + 1);
	names = calloc(nr + 1, sizeof(names[0]));
	sites = calloc(nr + 1, sizeof(sites[0]));
	if (!text || !names || !sites)
		abort();
	memset(text, 0xc3, nr * FAKE_FUNC_BYTES);
	for (size_t i = 0; i < nr; i++) {
		sites[i] = fake_func(i);
		trace_plat_insn_call(sites[i], FAKE_FENTRY, text + i * FAKE_FUNC_BYTES);
	}
}

void fake_text_build(const char *const *list, size_t nr)
{
	build_begin(nr);
	for (size_t i = 0; i < nr; i++)
		snprintf(names[i], sizeof(names[i]), "%s", list[i]);
}

void fake_text_build_many(const char *prefix, size_t nr)
{
	build_begin(nr);
	for (size_t i = 0; i < nr; i++)
		snprintf(names[i], sizeof(names[i]), "%s%zu", prefix, i);
}

void fake_symbol_add(uintptr_t addr, size_t size, const char *name)
{
	struct fake_symbol *symbol = &symbols[nr_symbols++];

	symbol->addr = addr;
	symbol->size = size;
	snprintf(symbol->name, sizeof(symbol->name), "%s", name);
}

void fake_symbols_forget(void)
{
	nr_symbols = 0;
}

void fake_irq_entry_add(size_t index)
{
	irq_entries[fake_nr_irq_entries++] = trace_plat_ip_pack(fake_func(index));
}

bool trace_plat_is_irq_entry(uint32_t packed_ip)
{
	for (size_t i = 0; i < fake_nr_irq_entries; i++) {
		if (irq_entries[i] == packed_ip)
			return true;
	}
	return false;
}

void fake_why_not_add(const char *name, const char *reason)
{
	snprintf(reasons[nr_reasons].name, sizeof(reasons[0].name), "%s", name);
	snprintf(reasons[nr_reasons].text, sizeof(reasons[0].text), "%s", reason);
	nr_reasons++;
}

static struct fake_trampoline *trampoline_at(uintptr_t addr)
{
	size_t index = (addr - FAKE_TRAMPOLINES) / TRAMPOLINE_BYTES;

	if (addr < FAKE_TRAMPOLINES || index >= NR_TRAMPOLINES || !trampolines[index].nr) {
		fprintf(stderr, "fake: no trampoline at %#lx\n", addr);
		abort();
	}
	return &trampolines[index];
}

typedef void (*callback_fn)(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs);

static void run_calls(const struct fake_trampoline *tramp, uintptr_t site, struct ftrace_regs *view)
{
	if (fake_has_site_funcs && tramp->nr == 1 && !tramp->with_regs &&
	    tramp->calls[0].site_func) {
		view->rip = site;
		if (!((ftrace_site_func_t)tramp->calls[0].site_func)(site, view))
			view->rip = site + TRACE_INSN_SIZE;
		return;
	}
	for (size_t i = 0; i < tramp->nr; i++)
		((callback_fn)tramp->calls[i].func)(site, view->parent, tramp->calls[i].ops, view);
}

/* Without all registers the saved ones hold anything. */
static void run_trampoline(uintptr_t target, uintptr_t site, struct ftrace_regs *fregs)
{
	struct fake_trampoline *tramp;
	struct ftrace_regs view = *fregs;

	if (target == FAKE_SHARED_REGS) {
		view.is_full = true;
		trace_ops_list_regs_func(site, fregs->parent, NULL, &view);
	} else if (target == FAKE_SHARED) {
		memset(view.saved, 0xa5, sizeof(view.saved));
		trace_ops_list_func(site, fregs->parent, NULL, &view);
	} else {
		tramp = trampoline_at(target);
		view.is_full = tramp->with_regs;
		if (!tramp->with_regs)
			memset(view.saved, 0xa5, sizeof(view.saved));
		run_calls(tramp, site, &view);
	}
	if (!view.is_full)
		memcpy(view.saved, fregs->saved, sizeof(view.saved));
	*fregs = view;
}

static bool may_leave(uintptr_t target)
{
	if (target == FAKE_SHARED_REGS || target == FAKE_SHARED)
		return target == FAKE_SHARED_REGS;
	return trampoline_at(target)->with_regs && trampoline_at(target)->nr > 1;
}

static bool is_text(uintptr_t addr)
{
	return fake_text_at(addr) != NULL;
}

uintptr_t fake_call_regs(size_t index, struct ftrace_regs *fregs, enum fake_via *out_via)
{
	uintptr_t site = fake_func(index), target;
	const uint8_t *insn = fake_text_at(site);
	int32_t rel;

	fregs->rip = site + TRACE_INSN_SIZE;
	fregs->direct = 0;
	fregs->is_full = false;
	*out_via = FAKE_VIA_NOTHING;
	if (memcmp(insn, NOP, sizeof(NOP)) == 0)
		return fregs->rip;
	if (insn[0] != 0xe8 && insn[0] != 0xe9) {
		fprintf(stderr, "fake: %#x at the site of function %zu\n", insn[0], index);
		abort();
	}
	memcpy(&rel, insn + 1, sizeof(rel));
	target = site + TRACE_INSN_SIZE + (uintptr_t)(intptr_t)rel;
	*out_via = insn[0] == 0xe9 ? FAKE_VIA_JUMP : FAKE_VIA_DIRECT;
	if (insn[0] == 0xe9 || is_text(target))
		return target;
	if (target == FAKE_FENTRY)
		return fregs->rip;
	*out_via = FAKE_VIA_TRAMPOLINE;
	run_trampoline(target, site, fregs);
	return may_leave(target) && fregs->direct ? fregs->direct : fregs->rip;
}

static void run_site(size_t index, uintptr_t *slot)
{
	struct ftrace_regs fregs = { .parent = *slot, .slot = slot };

	if (fake_args)
		memcpy(fregs.arg, fake_args, sizeof(fregs.arg));
	enum fake_via via;

	fake_call_regs(index, &fregs, &via);
}

static uintptr_t *innermost(void)
{
	if (!fake_this->stack_used) {
		fprintf(stderr, "fake: return without a call\n");
		abort();
	}
	return &fake_this->stack[FAKE_STACK_WORDS - fake_this->stack_used];
}

uintptr_t *fake_enter(size_t index, uintptr_t parent)
{
	uintptr_t *slot;

	if (fake_this->stack_used++ == FAKE_STACK_WORDS)
		abort();
	slot = innermost();
	*slot = parent;
	run_site(index, slot);
	return slot;
}

void fake_tail(size_t index)
{
	run_site(index, innermost());
}

uintptr_t fake_leave(uint64_t retval)
{
	uintptr_t *slot = innermost();
	struct ftrace_regs outer = fake_this->returned; /* for an interrupt during a return */

	fake_this->returned = (struct ftrace_regs){ .value = retval };
	while (*slot == FAKE_RETURN_HOOK)
		trace_graph_return(slot);
	fake_this->last_returned = fake_this->returned.value;
	fake_this->returned = outer;
	fake_this->stack_used--;
	return *slot;
}

void fake_call(size_t index, uintptr_t parent)
{
	fake_enter(index, parent);
	if (fake_leave(0) != parent) {
		fprintf(stderr, "fake: function %zu returned to somebody else\n", index);
		abort();
	}
}

static int mismatch(uintptr_t site, const uint8_t *expected, struct trace_poke_error *error)
{
	error->site = site;
	memcpy(error->expected, expected, TRACE_INSN_SIZE);
	memcpy(error->found, fake_text_at(site), TRACE_INSN_SIZE);
	return site == fake_breakpoint ? -EBUSY : -EINVAL;
}

static size_t poke_len(const struct trace_poke *poke)
{
	return poke->len ? poke->len : TRACE_INSN_SIZE;
}

static int check_pokes(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *error)
{
	for (size_t i = 0; i < nr; i++) {
		uintptr_t site = trace_plat_ip_unpack(pokes[i].site);
		const uint8_t *at = fake_text_at(site);

		if (!at || (i && pokes[i].site <= pokes[i - 1].site)) {
			fprintf(stderr, "fake: bad or unsorted poke at %#lx\n", site);
			abort();
		}
		if (memcmp(at, pokes[i].old_insn, poke_len(&pokes[i])) != 0)
			return mismatch(site, pokes[i].old_insn, error);
	}
	return 0;
}

static void write_pokes(const struct trace_poke *pokes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		memcpy(fake_text_at(trace_plat_ip_unpack(pokes[i].site)), pokes[i].new_insn,
		       poke_len(&pokes[i]));
}

void trace_plat_poke_stats(struct trace_poke_stats *out_stats)
{
	*out_stats = (struct trace_poke_stats){ .batches = fake_nr_batches,
						.sites = fake_nr_pokes,
						.syncs = 3 * fake_nr_batches };
}

int trace_plat_poke_batch(const struct trace_poke *pokes, size_t nr,
			  struct trace_poke_error *out_error)
{
	int err = check_pokes(pokes, nr, out_error);

	if (err || !nr)
		return err;
	if (fake_on_batch)
		fake_on_batch(pokes, nr);
	write_pokes(pokes, nr);
	fake_nr_batches++;
	fake_nr_pokes += nr;
	return 0;
}

int trace_plat_nop_sites(const uintptr_t *list, size_t nr, struct trace_poke_error *out_error)
{
	for (size_t i = 0; i < nr; i++) {
		uint8_t call[TRACE_INSN_SIZE];

		trace_plat_insn_call(list[i], FAKE_FENTRY, call);
		if (memcmp(fake_text_at(list[i]), call, sizeof(call)) != 0)
			return mismatch(list[i], call, out_error);
	}
	for (size_t i = 0; i < nr; i++)
		memcpy(fake_text_at(list[i]), NOP, sizeof(NOP));
	fake_nr_early += nr;
	return 0;
}

void trace_plat_insn_nop(uint8_t *out_insn)
{
	memcpy(out_insn, NOP, sizeof(NOP));
}

static void make_insn(uint8_t opcode, uintptr_t site, uintptr_t target, uint8_t *out_insn)
{
	int32_t rel = (int32_t)(target - site - TRACE_INSN_SIZE);

	out_insn[0] = opcode;
	memcpy(out_insn + 1, &rel, sizeof(rel));
}

void trace_plat_insn_call(uintptr_t site, uintptr_t target, uint8_t *out_insn)
{
	make_insn(0xe8, site, target, out_insn);
}

void trace_plat_insn_jmp(uintptr_t site, uintptr_t target, uint8_t *out_insn)
{
	make_insn(0xe9, site, target, out_insn);
}

int trace_plat_trampoline_create(const struct trace_trampoline_call *calls, size_t nr,
				 bool with_regs, struct trace_trampoline *out_trampoline)
{
	size_t i = 0;

	while (i < NR_TRAMPOLINES && trampolines[i].nr)
		i++;
	if (i == NR_TRAMPOLINES || nr > TRAMPOLINE_CALLS || fake_trampoline_budget == 0 ||
	    fake_host_fails())
		return -ENOMEM;
	if (fake_trampoline_budget > 0)
		fake_trampoline_budget--;
	memcpy(trampolines[i].calls, calls, nr * sizeof(*calls));
	trampolines[i].nr = nr;
	trampolines[i].with_regs = with_regs;
	out_trampoline->addr = FAKE_TRAMPOLINES + i * TRAMPOLINE_BYTES;
	out_trampoline->bytes = TRAMPOLINE_BYTES;
	fake_nr_trampolines++;
	return 0;
}

int trace_plat_trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func)
{
	trampoline_at(tramp->addr)->calls[index].func = func;
	return 0;
}

uintptr_t trace_plat_trampoline_func(const struct trace_trampoline *tramp)
{
	return trampoline_at(tramp->addr)->calls[0].func;
}

void trace_plat_trampoline_destroy(struct trace_trampoline *tramp)
{
	trampoline_at(tramp->addr)->nr = 0;
	tramp->addr = 0;
	fake_nr_trampolines--;
}

uintptr_t trace_plat_shared_trampoline(bool with_regs)
{
	return with_regs ? FAKE_SHARED_REGS : FAKE_SHARED;
}

const uintptr_t *trace_plat_sites(size_t *out_nr)
{
	*out_nr = nr_funcs;
	return sites;
}

uintptr_t trace_plat_fentry(void)
{
	return FAKE_FENTRY;
}

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	for (size_t i = 0; i < nr_symbols; i++) {
		if (addr < symbols[i].addr || addr - symbols[i].addr >= symbols[i].size)
			continue;
		memcpy(out_name, symbols[i].name, TRACE_SYM_LEN);
		*out_start = symbols[i].addr;
		*out_size = symbols[i].size;
		return true;
	}
	if (!fake_text_at(addr) || addr - fake_nameless < FAKE_FUNC_BYTES)
		return false;
	memcpy(out_name, names[(addr - FAKE_TEXT) / FAKE_FUNC_BYTES], TRACE_SYM_LEN);
	*out_start = addr - (addr - FAKE_TEXT) % FAKE_FUNC_BYTES;
	*out_size = FAKE_FUNC_BYTES;
	return true;
}

uintptr_t trace_plat_symbol_find(const char *name)
{
	for (size_t i = 0; i < nr_symbols; i++)
		if (strcmp(symbols[i].name, name) == 0)
			return symbols[i].addr;
	for (size_t i = 0; i < nr_funcs; i++)
		if (strcmp(names[i], name) == 0)
			return fake_func(i);
	return 0;
}

size_t fake_symbol_all(const char *name, uintptr_t *out_addrs, size_t max)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_symbols; i++)
		if (strcmp(symbols[i].name, name) == 0 && nr++ < max)
			out_addrs[nr - 1] = symbols[i].addr;
	for (size_t i = 0; i < nr_funcs; i++)
		if (strcmp(names[i], name) == 0 && nr++ < max)
			out_addrs[nr - 1] = fake_func(i);
	return nr;
}

/* As on the real machine: some are there only with all registers. */
bool trace_plat_register(const char *name, size_t len, struct trace_plat_register *out_register)
{
	static const struct {
		const char *name;
		struct trace_plat_register reg;
	} registers[] = {
		{ "$arg1", { offsetof(struct ftrace_regs, arg[0]), true } },
		{ "$arg2", { offsetof(struct ftrace_regs, arg[1]), true } },
		{ "$arg3", { offsetof(struct ftrace_regs, arg[2]), true } },
		{ "$arg4", { offsetof(struct ftrace_regs, arg[3]), true } },
		{ "$arg5", { offsetof(struct ftrace_regs, arg[4]), true } },
		{ "$arg6", { offsetof(struct ftrace_regs, arg[5]), true } },
		{ "$retval", { offsetof(struct ftrace_regs, value), true } },
		{ "$stack", { offsetof(struct ftrace_regs, slot), false } },
		{ "di", { offsetof(struct ftrace_regs, arg[0]), true } },
		{ "si", { offsetof(struct ftrace_regs, arg[1]), true } },
		{ "dx", { offsetof(struct ftrace_regs, arg[2]), true } },
		{ "bp", { offsetof(struct ftrace_regs, frame), true } },
		{ "r10", { offsetof(struct ftrace_regs, saved[0]), false } },
		{ "ip", { offsetof(struct ftrace_regs, rip), false } },
	};

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		if (strlen(registers[i].name) != len || memcmp(registers[i].name, name, len) != 0)
			continue;
		*out_register = registers[i].reg;
		return true;
	}
	return false;
}

size_t trace_plat_symbol_next(struct trace_symbol_cursor *cursor, uintptr_t addr, char *out_name)
{
	uintptr_t start;
	size_t size;

	if (cursor->state[0] > addr) {
		fprintf(stderr, "fake: symbol cursor goes back\n");
		abort();
	}
	cursor->state[0] = addr;
	return trace_plat_symbol(addr, out_name, &start, &size) ? strlen(out_name) : 0;
}

int trace_plat_why_not(const char *name, char *out_text, size_t len)
{
	for (size_t i = 0; i < nr_reasons; i++) {
		if (strcmp(reasons[i].name, name) != 0)
			continue;
		snprintf(out_text, len, "%s", reasons[i].text);
		return 0;
	}
	return -ENOENT;
}

size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips, size_t max)
{
	size_t nr = fake_stack_nr < max ? fake_stack_nr : max;

	(void)is_callback;
	if (!frame)
		abort();
	memcpy(out_ips, fake_stack, nr * sizeof(fake_stack[0]));
	return nr;
}
