/*
 * The machine half of probes on the fake machine; see fake.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/kprobe_hit.h>
#include <trace/wprobe.h>
#include "fake.h"
#include "fake_internal.h"

#define INT3	   0xccu
#define JMP	   0xe9u
#define SLOT_BYTES 32ul
#define MAX_SLOTS  4096

struct probe {
	uintptr_t addr; /* 0: none */
	uintptr_t slot;
	uint8_t original[TRACE_INSN_SIZE];
	bool with_post, has_detour, uses_detour;
};
_Static_assert(sizeof(struct probe) <= sizeof(((struct trace_plat_probe *)NULL)->opaque),
	       "probe has room");

long fake_probe_budget = -1;
size_t fake_nr_probes;
uintptr_t fake_bad_insn, fake_refused;
size_t fake_jump_bytes;
static bool slots[MAX_SLOTS];

/* Types, for their arguments. */
const void *fake_btf;
size_t fake_btf_bytes;

const void *trace_plat_btf(size_t *out_bytes)
{
	*out_bytes = fake_btf_bytes;
	return fake_btf;
}

/* In tests that have no probes it is not linked. */
struct trace_plat_probe *kprobe_hit_find(uintptr_t addr) __attribute__((weak));
bool kprobe_hit_begin(struct trace_plat_probe *probe) __attribute__((weak));
void kprobe_hit_end(void) __attribute__((weak));
bool kprobe_hit_pre(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
	__attribute__((weak));
void kprobe_hit_post(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
	__attribute__((weak));
void kprobe_hit_args(struct kprobe *only, struct ftrace_regs *fregs) __attribute__((weak));
bool kprobe_hit_has_post(const struct trace_plat_probe *probe) __attribute__((weak));

/* ---- Watchpoints ---- */

int fake_watch_error;
static struct trace_plat_watch watches[TRACE_PLAT_WATCHES];

void wprobe_hit(uint32_t which, struct ftrace_regs *regs) __attribute__((weak));

int trace_plat_watch_set(const struct trace_plat_watch *wanted)
{
	if (fake_watch_error)
		return fake_watch_error;
	if (fake_host_fails())
		return -EBUSY;
	memcpy(watches, wanted, sizeof(watches));
	return 0;
}

const char *trace_plat_watch_refusal(uintptr_t addr, size_t len)
{
	return fake_refused - addr < len ? "the host has reasons" : NULL;
}

static void touch(uintptr_t addr, size_t len, bool is_write)
{
	for (uint32_t i = 0; i < TRACE_PLAT_WATCHES; i++) {
		struct ftrace_regs regs = { .rip = FAKE_TEXT };

		if (addr < watches[i].addr + watches[i].len && addr + len > watches[i].addr &&
		    (is_write || watches[i].on_reads))
			wprobe_hit(i, &regs);
	}
}

void fake_write(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	touch((uintptr_t)to, len, true);
}

void fake_read(const void *from, size_t len)
{
	touch((uintptr_t)from, len, false);
}

/* ---- Instructions ---- */

void fake_probe_reset(void)
{
	fake_watch_error = 0;
	memset(watches, 0, sizeof(watches));
	fake_probe_budget = -1;
	fake_nr_probes = 0;
	fake_bad_insn = 0;
	fake_refused = 0;
	fake_jump_bytes = 0;
	memset(slots, 0, sizeof(slots));
}

int trace_plat_probe_check(struct trace_probe_place *place)
{
	uintptr_t offset = place->addr - place->func;

	if (!fake_text_at(place->addr)) {
		place->why = "it is data";
		return -EINVAL;
	}
	place->insn = offset < TRACE_INSN_SIZE ? place->func : place->addr;
	place->insn_len = offset < TRACE_INSN_SIZE ? TRACE_INSN_SIZE : 1;
	if (place->insn != place->addr) {
		place->why = "it is inside the instruction";
		return -EILSEQ;
	}
	place->why = place->addr == fake_bad_insn ? "it is bad" : NULL;
	return place->why ? -EINVAL : 0;
}

const char *trace_plat_probe_refusal(uintptr_t addr, size_t len)
{
	return fake_refused - addr < len ? "the host has reasons" : NULL;
}

static uintptr_t take_slot(void)
{
	size_t i = 0;

	if (!fake_probe_budget || fake_host_fails())
		return 0;
	if (fake_probe_budget > 0)
		fake_probe_budget--;
	while (i < MAX_SLOTS && slots[i])
		i++;
	if (i == MAX_SLOTS)
		return 0;
	slots[i] = true;
	return FAKE_SLOTS + i * SLOT_BYTES;
}

int trace_plat_probe_create(struct trace_plat_probe *plat, uintptr_t addr, bool with_post)
{
	struct probe *probe = (struct probe *)(void *)plat->opaque;

	if (probe->addr) {
		probe->with_post |= with_post;
		return 0;
	}
	probe->slot = take_slot();
	if (!probe->slot)
		return -ENOMEM;
	probe->addr = addr;
	memcpy(probe->original, fake_text_at(addr), TRACE_INSN_SIZE);
	probe->with_post = with_post;
	fake_nr_probes++;
	return 0;
}

static void put_state(const struct probe *probe, enum trace_probe_state state, uint8_t *out_insn)
{
	memcpy(out_insn, probe->original, TRACE_INSN_SIZE);
	if (state == TRACE_PROBE_BREAKPOINT)
		out_insn[0] = INT3;
	else if (state == TRACE_PROBE_JUMP)
		trace_plat_insn_jmp(probe->addr, probe->slot, out_insn);
}

void trace_plat_probe_poke(const struct trace_plat_probe *plat, enum trace_probe_state from,
			   enum trace_probe_state to, struct trace_poke *out_poke)
{
	const struct probe *probe = (const struct probe *)(const void *)plat->opaque;

	*out_poke =
		(struct trace_poke){ .site = trace_plat_ip_pack(probe->addr), .is_probe = true };
	out_poke->len = from != TRACE_PROBE_JUMP && to != TRACE_PROBE_JUMP;
	put_state(probe, from, out_poke->old_insn);
	put_state(probe, to, out_poke->new_insn);
}

size_t trace_plat_probe_jump_bytes(const struct trace_probe_place *place)
{
	return place->func + place->bytes - place->addr < fake_jump_bytes ? 0 : fake_jump_bytes;
}

int trace_plat_probe_jump_create(struct trace_plat_probe *plat, size_t bytes)
{
	struct probe *probe = (struct probe *)(void *)plat->opaque;

	if (bytes != fake_jump_bytes || probe->has_detour)
		abort();
	if (!fake_probe_budget || fake_host_fails())
		return -ENOMEM;
	probe->has_detour = true;
	return 0;
}

void trace_plat_probe_jump_use(struct trace_plat_probe *plat, bool use)
{
	struct probe *probe = (struct probe *)(void *)plat->opaque;

	if (use && !probe->has_detour)
		abort();
	probe->uses_detour = use;
}

/* The second half of a slot is that of the copy with a post handler. There is no code of detours. */
void trace_plat_probe_code(const struct trace_plat_probe *plat, bool with_detour,
			   uintptr_t *out_first, uintptr_t *out_last)
{
	const struct probe *probe = (const struct probe *)(const void *)plat->opaque;

	(void)with_detour;
	*out_first = probe->slot;
	*out_last = probe->slot + (probe->with_post ? SLOT_BYTES : FAKE_POST_AT) - 1;
}

void trace_plat_probe_destroy(struct trace_plat_probe *plat)
{
	struct probe *probe = (struct probe *)(void *)plat->opaque;

	if (*fake_text_at(probe->addr) == INT3) {
		fprintf(stderr, "fake: a probe is destroyed that is armed\n");
		abort();
	}
	slots[(probe->slot - FAKE_SLOTS) / SLOT_BYTES] = false;
	memset(plat, 0, sizeof(*plat));
	fake_nr_probes--;
}

uintptr_t fake_step(uintptr_t addr, struct ftrace_regs *fregs)
{
	struct trace_plat_probe *plat;
	const struct probe *probe;
	bool irqs_off = fake_this->irqs_off;
	uintptr_t next = addr + 1;

	fregs->is_full = true;
	fregs->rip = next;
	if (*fake_text_at(addr) != INT3 && *fake_text_at(addr) != JMP)
		return next;
	plat = kprobe_hit_find(addr);
	if (!plat) {
		fprintf(stderr, "fake: an unknown breakpoint at %#lx\n", addr);
		abort();
	}
	probe = (const struct probe *)(const void *)plat->opaque;
	if (*fake_text_at(addr) == JMP && !probe->uses_detour)
		abort();
	if (probe->uses_detour)
		next = addr + fake_jump_bytes;
	fake_this->irqs_off = true;
	fregs->rip = next;
	if (*fake_text_at(addr) == JMP && plat->only) {
		fregs->is_full = false;
		fregs->rip = addr;
		kprobe_hit_args(plat->only, fregs);
		fregs->rip = next;
	} else if (kprobe_hit_begin(plat)) {
		fregs->rip = addr;
		if (!kprobe_hit_pre(plat, fregs)) {
			fregs->rip = next;
			if (kprobe_hit_has_post(plat))
				kprobe_hit_post(plat, fregs);
		}
		kprobe_hit_end();
	}
	fake_this->irqs_off = irqs_off;
	return fregs->rip;
}
