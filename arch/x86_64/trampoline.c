/*
 * Entry trampolines of single ops: see <arch/trampoline.h>. Each is a copy of the template in one
 * or two units of executable memory; nobody runs it before a site has been poked to call it, and
 * those core syncs come after the copy.
 */
#include <arch/paging.h>
#include <arch/text_poke.h>
#include <arch/trampoline.h>
#include <kernel/base.h>
#include <stdatomic.h>

#include "insn.h"
#include "trampoline_range.h"

#define NR_UNITS  (EXEC_BYTES / EXEC_UNIT)
#define MAX_BYTES (2 * EXEC_UNIT)

/* Addresses in the template of trampoline_code.asm. */
extern const uint8_t trampoline_template[], trampoline_template_ops[];
extern const uint8_t trampoline_template_call[], trampoline_template_end[];

/* Bit n: unit n starts a trampoline. Changed under ftrace's lock, read by anyone. */
static _Atomic uint64_t starts[NR_UNITS / 64];

/* Where a place of the template lies in every copy. */
static size_t offset_of(const uint8_t *place)
{
	return (uintptr_t)place - (uintptr_t)trampoline_template;
}

static size_t template_bytes(void)
{
	return offset_of(trampoline_template_end);
}

static uintptr_t call_of(const struct trace_trampoline *tramp)
{
	return tramp->addr + offset_of(trampoline_template_call);
}

static void set_start(uintptr_t addr, bool is_start)
{
	size_t unit = (addr - EXEC_BASE) / EXEC_UNIT;
	uint64_t bit = 1ull << unit % 64;

	if (is_start)
		atomic_fetch_or(&starts[unit / 64], bit);
	else
		atomic_fetch_and(&starts[unit / 64], ~bit);
}

static bool is_start(size_t unit)
{
	return atomic_load_explicit(&starts[unit / 64], memory_order_relaxed) >> unit % 64 & 1;
}

bool trampoline_find(uintptr_t addr, uintptr_t *out_start, size_t *out_size)
{
	size_t unit = (addr - EXEC_BASE) / EXEC_UNIT;

	if (!arch_exec_contains(addr))
		return false;
	if (!is_start(unit) && unit > 0)
		unit--;
	*out_start = EXEC_BASE + unit * EXEC_UNIT;
	*out_size = template_bytes();
	return is_start(unit) && addr - *out_start < *out_size;
}

int trampoline_create(struct ftrace_ops *ops, uintptr_t func,
		      struct trace_trampoline *out_trampoline)
{
	struct trace_trampoline tramp = { .bytes = template_bytes() };
	uintptr_t ops_address = (uintptr_t)ops;
	uint8_t code[MAX_BYTES];

	ASSERT(tramp.bytes <= sizeof(code));
	tramp.addr = arch_exec_alloc(tramp.bytes);
	if (!tramp.addr)
		return -ENOMEM;
	__builtin_memcpy(code, trampoline_template, tramp.bytes);
	__builtin_memcpy(code + offset_of(trampoline_template_ops), &ops_address,
			 sizeof(ops_address));
	insn_store(code + offset_of(trampoline_template_call),
		   insn_make(INSN_CALL, call_of(&tramp), func));
	text_write(tramp.addr, code, tramp.bytes);
	set_start(tramp.addr, true);
	*out_trampoline = tramp;
	return 0;
}

uintptr_t trace_plat_trampoline_func(const struct trace_trampoline *tramp)
{
	return insn_target(insn_load((const void *)call_of(tramp)), call_of(tramp));
}

int trampoline_retarget(struct trace_trampoline *tramp, uintptr_t func)
{
	struct trace_poke poke = { .site = trace_plat_ip_pack(call_of(tramp)) };
	struct trace_poke_error error;

	insn_store(poke.old_insn, insn_load((const void *)call_of(tramp)));
	insn_store(poke.new_insn, insn_make(INSN_CALL, call_of(tramp), func));
	return text_poke_batch(&poke, 1, &error);
}

void trampoline_destroy(struct trace_trampoline *tramp)
{
	static const uint8_t traps[MAX_BYTES] = { [0 ... MAX_BYTES - 1] = INSN_INT3 };

	set_start(tramp->addr, false);
	text_write(tramp->addr, traps, tramp->bytes); /* a late comer shall be seen */
	arch_exec_free(tramp->addr, tramp->bytes);
}

uintptr_t trace_plat_shared_trampoline(void)
{
	return (uintptr_t)trampoline_shared;
}
