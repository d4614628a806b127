/*
 * See sim_text.h.
 */
#include <stdio.h>
#include <string.h>
#include <arch/smp.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>

#include "sim.h"
#include "sim_priv.h"
#include "sim_text.h"

/* A test that links no text_poke.c has no sites. */
#pragma weak trace_breakpoint_dispatch
#pragma weak trace_plat_insn_nop
#pragma weak trace_plat_insn_call
#pragma weak trace_plat_insn_jmp

#define SITE_BYTES 11ul /* sites lie anywhere in a word */
#define TEXT_BYTES (SIM_MAX_SITES * SITE_BYTES + 16)
#define MAX_VALUES 4u
#define INT3	   0xcc
#define NR_TARGETS 3

/* Values that a byte has had. */
struct values {
	uint8_t nr;
	uint8_t value[MAX_VALUES];
};

/* The bytes of a site that a CPU may have fetched. */
struct fetched {
	struct values byte[TRACE_INSN_SIZE];
	bool stale_int3; /* tcg */
};

static uint8_t text[TEXT_BYTES] __attribute__((aligned(64)));
static uint8_t seen_text[SIM_TRACKED][TRACE_INSN_SIZE];
static bool written[SIM_TRACKED]; /* since the last look */

static struct {
	struct fetched fetched[SIM_CPUS][SIM_TRACKED];
	bool cpu_runs[SIM_CPUS];
	bool cpu_stands[SIM_CPUS]; /* in the middle of the first site */
	enum sim_insn from, to;
	uint32_t nr_tracked;
	bool tcg, has_foreign;
	uint64_t nr_traps;
} model;

bool sim_is_emulator;

static struct {
	bool is_open, is_entered;
	uint32_t cpu; /* that entered */
	uint32_t stretch, longest;
	uint64_t nr_writes;
} view_state;

/* ---- Text ---- */

uintptr_t sim_site(uint32_t index)
{
	return (uintptr_t)text + index * SITE_BYTES;
}

uintptr_t sim_text_end(void)
{
	return (uintptr_t)text + TEXT_BYTES;
}

bool sim_is_text(uintptr_t addr)
{
	return addr >= (uintptr_t)text && addr < sim_text_end();
}

uintptr_t trace_plat_fentry(void)
{
	return sim_text_end();
}

/* Far from the sites, and no two with a byte in common: a mix of them is no third. */
static uintptr_t target_of(enum sim_insn insn, uint32_t site)
{
	static const uint32_t offsets[] = { 0, 0x11121314, 0x21222324, 0x31323334 };

	return sim_site(site) + TRACE_INSN_SIZE + offsets[insn];
}

void sim_insn_make(uint32_t site, enum sim_insn insn, uint8_t *out_insn)
{
	if (insn == SIM_NOP || insn == SIM_PROBED)
		trace_plat_insn_nop(out_insn);
	else if (insn == SIM_JMP)
		trace_plat_insn_jmp(sim_site(site), target_of(insn, site), out_insn);
	else
		trace_plat_insn_call(sim_site(site), target_of(insn, site), out_insn);
	if (insn == SIM_PROBED)
		out_insn[0] = INT3;
}

bool sim_site_holds(uint32_t index, enum sim_insn insn)
{
	uint8_t bytes[TRACE_INSN_SIZE];

	sim_insn_make(index, insn, bytes);
	return memcmp((void *)sim_site(index), bytes, sizeof(bytes)) == 0;
}

void sim_site_damage(uint32_t index, uint32_t byte, uint8_t value)
{
	text[index * SITE_BYTES + byte] = value;
}

/* Memory as it is, for every byte that `cpu` may fetch. */
static void fetch_anew(uint32_t cpu, uint32_t site)
{
	struct fetched *fetched = &model.fetched[cpu][site];

	for (uint32_t i = 0; i < TRACE_INSN_SIZE; i++)
		fetched->byte[i] = (struct values){ 1, { seen_text[site][i] } };
}

/* Text whose sites all hold `insn`: made once for the many schedules that begin with it. */
static const uint8_t *text_of(enum sim_insn insn)
{
	static uint8_t made[TEXT_BYTES];
	static bool is_made;
	static enum sim_insn last;

	if (is_made && last == insn)
		return made;
	memset(made, 0x90, sizeof(made));
	for (uint32_t i = 0; i < SIM_MAX_SITES; i++)
		sim_insn_make(i, insn, made + i * SITE_BYTES);
	is_made = true;
	last = insn;
	return made;
}

void sim_text_reset(enum sim_insn insn, uint32_t nr_tracked, bool tcg)
{
	memcpy(text, text_of(insn), sizeof(text));
	memset(&model, 0, sizeof(model));
	memset(&view_state, 0, sizeof(view_state));
	model.from = model.to = insn;
	model.nr_tracked = nr_tracked;
	model.tcg = tcg;
	for (uint32_t site = 0; site < nr_tracked; site++) {
		memcpy(seen_text[site], (void *)sim_site(site), TRACE_INSN_SIZE);
		for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++)
			fetch_anew(cpu, site);
	}
}

void sim_text_add_foreign(void)
{
	model.has_foreign = true;
	*(uint8_t *)sim_site(SIM_SITE_FOREIGN) = INT3;
}

/* ---- Bytes that CPUs may execute ---- */

static bool has_value(const struct values *values, uint8_t value)
{
	for (uint32_t i = 0; i < values->nr; i++)
		if (values->value[i] == value)
			return true;
	return false;
}

static void add_value(struct values *values, uint8_t value)
{
	if (has_value(values, value))
		return;
	if (values->nr == MAX_VALUES)
		sim_fail("a byte of a site has had %u values since a CPU serialised", MAX_VALUES);
	values->value[values->nr++] = value;
}

/* Is every choice of bytes that begins like `insn` the whole of it? */
static bool is_whole(const struct fetched *fetched, const uint8_t *insn)
{
	for (uint32_t i = 1; i < TRACE_INSN_SIZE; i++)
		if (fetched->byte[i].nr != 1 || fetched->byte[i].value[0] != insn[i])
			return false;
	return true;
}

/*
 * While a site changes from one call to another, both begin alike. The step where this is so and
 * the tail changes has an int3 in front; so a CPU that may execute the first byte of either has
 * fetched one tail only, and that has to fit.
 */
static void check_site(uint32_t cpu, uint32_t site)
{
	const struct fetched *fetched = &model.fetched[cpu][site];
	uint8_t from[TRACE_INSN_SIZE], to[TRACE_INSN_SIZE];

	sim_insn_make(site, model.from, from);
	sim_insn_make(site, model.to, to);
	for (uint32_t i = 0; i < fetched->byte[0].nr; i++) {
		uint8_t first = fetched->byte[0].value[i];
		bool ok = first == INT3 || (first == from[0] && is_whole(fetched, from)) ||
			  (first == to[0] && is_whole(fetched, to));

		if (!ok)
			sim_fail("CPU %u may execute a mix at site %u: first byte %02x", cpu, site,
				 first);
	}
}

/* It will execute the bytes next that were there when the site held a NOP. */
static void check_middle(uint32_t cpu)
{
	uint8_t nop[TRACE_INSN_SIZE];

	sim_insn_make(0, SIM_NOP, nop);
	for (uint32_t i = SIM_MIDDLE; i < TRACE_INSN_SIZE; i++) {
		const struct values *values = &model.fetched[cpu][0].byte[i];

		if (values->nr != 1 || values->value[0] != nop[i])
			sim_fail("CPU %u stands in the middle of what has become a jump", cpu);
	}
}

static void look_at_site(uint32_t site)
{
	const uint8_t *now = (const uint8_t *)sim_site(site);
	bool was_int3 = seen_text[site][0] == INT3;

	written[site] = false;
	memcpy(seen_text[site], now, TRACE_INSN_SIZE);
	for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++) {
		struct fetched *fetched = &model.fetched[cpu][site];

		if (model.tcg) {
			fetched->stale_int3 = was_int3 && now[0] != INT3;
			fetch_anew(cpu, site);
			continue;
		}
		for (uint32_t i = 0; i < TRACE_INSN_SIZE; i++)
			add_value(&fetched->byte[i], now[i]);
	}
}

void sim_text_look(void)
{
	bool is_new = false;

	for (uint32_t site = 0; site < model.nr_tracked; site++) {
		if (!written[site])
			continue;
		look_at_site(site);
		is_new = true;
	}
	for (uint32_t cpu = 0; is_new && cpu < SIM_CPUS; cpu++)
		for (uint32_t site = 0; model.cpu_runs[cpu] && site < model.nr_tracked; site++)
			check_site(cpu, site);
	for (uint32_t cpu = 0; is_new && cpu < SIM_CPUS; cpu++) {
		if (model.cpu_stands[cpu])
			check_middle(cpu);
	}
}

void sim_text_serialise(uint32_t cpu)
{
	sim_text_look();
	for (uint32_t site = 0; site < model.nr_tracked; site++)
		if (!model.tcg)
			fetch_anew(cpu, site);
}

void sim_text_cpu_runs(uint32_t cpu)
{
	model.cpu_runs[cpu] = true;
	for (uint32_t site = 0; site < model.nr_tracked; site++)
		check_site(cpu, site);
}

void sim_text_cpu_stops(uint32_t cpu)
{
	model.cpu_runs[cpu] = false;
}

void sim_text_cpu_stands(uint32_t cpu, bool stands)
{
	model.cpu_stands[cpu] = stands;
	if (stands)
		check_middle(cpu);
}

uint32_t sim_text_nr_sites(void)
{
	return model.has_foreign ? SIM_SITE_FOREIGN + 1 : model.nr_tracked;
}

bool sim_text_may_trap(uint32_t cpu, uint32_t site)
{
	const struct fetched *fetched = &model.fetched[cpu][site];

	if (!model.cpu_runs[cpu])
		return false;
	if (site == SIM_SITE_FOREIGN)
		return model.has_foreign;
	return site < model.nr_tracked &&
	       (fetched->stale_int3 || has_value(&fetched->byte[0], INT3));
}

/* ---- The trap ---- */

struct hit {
	uintptr_t rip, rsp;
};

/* Did `regs` go on as behind `insn` at `site`? */
static bool did(const struct hit *regs, const uint64_t *top, uint32_t site, enum sim_insn insn)
{
	uintptr_t behind = sim_site(site) + TRACE_INSN_SIZE;

	if (insn == SIM_NOP || insn == SIM_PROBED)
		return regs->rip == behind && regs->rsp == (uintptr_t)top;
	if (regs->rip != target_of(insn, site))
		return false;
	if (insn == SIM_JMP)
		return regs->rsp == (uintptr_t)top;
	return regs->rsp == (uintptr_t)(top - 1) && top[-1] == behind;
}

/* A probe answers as its table says: as before, or as after, the change of a batch. */
static bool did_probed(const struct hit *regs, const uint64_t *top, uint32_t site,
		       enum sim_insn from)
{
	if (from != SIM_PROBED && model.from != SIM_PROBED && model.to != SIM_PROBED)
		return false;
	return did(regs, top, site, from) || did(regs, top, site, model.from) ||
	       did(regs, top, site, model.to);
}

void sim_text_trap(uint32_t cpu, uint32_t site)
{
	uint64_t stack[4] = { 0 }, *top = stack + 2;
	struct hit regs = { sim_site(site) + 1, (uintptr_t)top };
	enum sim_insn from = model.from, to = model.to;
	bool answered;

	model.nr_traps++;
	sim_note("CPU %u: int3 at site %u", cpu, site);
	answered = trace_breakpoint_dispatch(&regs.rip, &regs.rsp, NULL);
	sim_note("CPU %u: handler of site %u ends", cpu, site);
	if (site == SIM_SITE_FOREIGN) {
		if (answered || regs.rip != sim_site(site) + 1 || regs.rsp != (uintptr_t)top)
			sim_fail("CPU %u: an int3 that is nobody's was answered", cpu);
		return;
	}
	if (!answered)
		sim_fail("CPU %u: nobody answers the int3 at site %u", cpu, site);
	/* An emulator's stale int3 may be hit before the next batch and answered within it. */
	if (!did(&regs, top, site, to) && !(model.tcg && did(&regs, top, site, model.to)) &&
	    !did_probed(&regs, top, site, from))
		sim_fail("CPU %u: the int3 at site %u was taken for something else", cpu, site);
}

uint64_t sim_text_nr_traps(void)
{
	return model.nr_traps;
}

/* ---- The promises of a batch ---- */

void sim_text_changes(enum sim_insn to)
{
	model.from = model.to;
	model.to = to;
}

void sim_text_check_armed(void)
{
	sim_text_look();
	for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++) {
		for (uint32_t site = 0; model.cpu_runs[cpu] && site < model.nr_tracked; site++) {
			const struct values *first = &model.fetched[cpu][site].byte[0];

			if (first->nr != 1 || first->value[0] != INT3)
				sim_fail("CPU %u may still execute the old site %u", cpu, site);
		}
	}
}

void sim_text_changed(void)
{
	sim_text_look();
	model.from = model.to;
	for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++) {
		for (uint32_t site = 0; model.cpu_runs[cpu] && site < model.nr_tracked; site++) {
			if ((model.to != SIM_PROBED && sim_text_may_trap(cpu, site)) ||
			    model.fetched[cpu][site].byte[0].nr != 1)
				sim_fail("CPU %u may still execute what site %u held before", cpu,
					 site);
			check_site(cpu, site);
		}
	}
}

/* ---- The kernel's way to have others serialise: smp_sync.c ---- */

void trace_arch_cpus_hold(void)
{
	smp_hotplug_lock();
}

void trace_arch_cpus_release(void)
{
	smp_hotplug_unlock();
}

void trace_arch_sync_cores(void)
{
	smp_sync_cores();
}

bool trace_arch_is_emulated(void)
{
	return sim_is_emulator;
}

/* ---- The view ---- */

void sim_view_open(void)
{
	if (view_state.is_open)
		sim_fail("the view is opened twice");
	view_state.is_open = true;
}

void sim_view_close(void)
{
	if (!view_state.is_open || view_state.is_entered)
		sim_fail("the view is closed while it is %s",
			 view_state.is_open ? "used" : "closed");
	view_state.is_open = false;
}

struct trace_arch_view sim_view_enter(void)
{
	uint64_t irqs = sim_irq_save();

	if (!view_state.is_open || view_state.is_entered || !sim.cpus[sim.now_runs].irqs_off)
		sim_fail("the view is entered while it may not be");
	view_state.is_entered = true;
	view_state.cpu = sim.now_runs;
	view_state.stretch = 0;
	return (struct trace_arch_view){ .irqs = irqs, .space = 0x1234 };
}

void sim_view_leave(struct trace_arch_view view)
{
	if (!view_state.is_entered || view_state.cpu != sim.now_runs || view.space != 0x1234 ||
	    !sim.cpus[sim.now_runs].irqs_off)
		sim_fail("the view is left while it may not be");
	view_state.is_entered = false;
	sim_irq_restore(view.irqs);
}

void *sim_view_of(uintptr_t text_addr)
{
	uint32_t site = (uint32_t)((text_addr - (uintptr_t)text) / SITE_BYTES);

	sim_step();
	if (!view_state.is_entered || view_state.cpu != sim.now_runs ||
	    !sim.cpus[sim.now_runs].irqs_off)
		sim_fail("text is written while the view is not there");
	view_state.nr_writes++;
	if (++view_state.stretch > view_state.longest)
		view_state.longest = view_state.stretch;
	if (sim_is_text(text_addr) && site < model.nr_tracked)
		written[site] = true;
	return (void *)text_addr;
}

bool sim_view_is_open(void)
{
	return view_state.is_open;
}

uint32_t sim_text_longest_stretch(void)
{
	return view_state.longest;
}

uint64_t sim_text_nr_writes(void)
{
	return view_state.nr_writes;
}
