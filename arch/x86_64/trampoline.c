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

/* Addresses in the templates of trampoline_code.asm. */
extern const uint8_t trampoline_plain[], trampoline_plain_ops[];
extern const uint8_t trampoline_plain_call[], trampoline_plain_end[];
extern const uint8_t trampoline_regs[], trampoline_regs_ops[];
extern const uint8_t trampoline_regs_call[], trampoline_regs_end[];

/* What is copied, and where in it the operands go; in bytes from its start. */
struct template
{
	const uint8_t *code;
	size_t ops;
	size_t call;
	size_t bytes;
};

/*
 * Bit n: unit n starts a trampoline; unit n starts one with registers. Changed under ftrace's lock,
 * read by anyone.
 */
static _Atomic uint64_t starts[NR_UNITS / 64];
static _Atomic uint64_t regs_starts[NR_UNITS / 64];

static size_t distance(const uint8_t *from, const uint8_t *to)
{
	return (uintptr_t)to - (uintptr_t)from;
}

static struct template template_of(bool with_regs)
{
	if (with_regs)
		return (struct template){ trampoline_regs,
					  distance(trampoline_regs, trampoline_regs_ops),
					  distance(trampoline_regs, trampoline_regs_call),
					  distance(trampoline_regs, trampoline_regs_end) };
	return (struct template){ trampoline_plain,
				  distance(trampoline_plain, trampoline_plain_ops),
				  distance(trampoline_plain, trampoline_plain_call),
				  distance(trampoline_plain, trampoline_plain_end) };
}

static size_t unit_of(uintptr_t addr)
{
	return (addr - EXEC_BASE) / EXEC_UNIT;
}

static void set_bit(_Atomic uint64_t *map, size_t unit)
{
	atomic_fetch_or(&map[unit / 64], 1ull << unit % 64);
}

static void clear_bit(_Atomic uint64_t *map, size_t unit)
{
	atomic_fetch_and(&map[unit / 64], ~(1ull << unit % 64));
}

static bool has_bit(const _Atomic uint64_t *map, size_t unit)
{
	return atomic_load_explicit(&map[unit / 64], memory_order_relaxed) >> unit % 64 & 1;
}

static uintptr_t call_of(const struct trace_trampoline *tramp)
{
	return tramp->addr + template_of(has_bit(regs_starts, unit_of(tramp->addr))).call;
}

bool trampoline_find(uintptr_t addr, uintptr_t *out_start, size_t *out_size)
{
	size_t unit = unit_of(addr);

	if (!arch_exec_contains(addr))
		return false;
	if (!has_bit(starts, unit) && unit > 0)
		unit--;
	*out_start = EXEC_BASE + unit * EXEC_UNIT;
	*out_size = template_of(has_bit(regs_starts, unit)).bytes;
	return has_bit(starts, unit) && addr - *out_start < *out_size;
}

bool trampoline_next(uintptr_t *addr, size_t *out_size)
{
	for (size_t unit = *addr < EXEC_BASE ? 0 : unit_of(*addr) + 1; unit < NR_UNITS; unit++) {
		if (unit % 64 == 0 &&
		    !atomic_load_explicit(&starts[unit / 64], memory_order_relaxed)) {
			unit += 63;
			continue;
		}
		*addr = EXEC_BASE + unit * EXEC_UNIT;
		if (has_bit(starts, unit))
			return trampoline_find(*addr, addr, out_size);
	}
	return false;
}

int trampoline_create(struct ftrace_ops *ops, uintptr_t func, bool with_regs,
		      struct trace_trampoline *out_trampoline)
{
	const struct template template = template_of(with_regs);
	struct trace_trampoline tramp = { .bytes = template.bytes };
	uintptr_t ops_address = (uintptr_t)ops;
	uint8_t code[MAX_BYTES];

	ASSERT(tramp.bytes <= sizeof(code));
	tramp.addr = arch_exec_alloc(tramp.bytes);
	if (!tramp.addr)
		return -ENOMEM;
	__builtin_memcpy(code, template.code, tramp.bytes);
	__builtin_memcpy(code + template.ops, &ops_address, sizeof(ops_address));
	insn_store(code + template.call, insn_make(INSN_CALL, tramp.addr + template.call, func));
	text_write(tramp.addr, code, tramp.bytes);
	if (with_regs)
		set_bit(regs_starts, unit_of(tramp.addr));
	set_bit(starts, unit_of(tramp.addr));
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

	clear_bit(starts, unit_of(tramp->addr));
	clear_bit(regs_starts, unit_of(tramp->addr));
	text_write(tramp->addr, traps, tramp->bytes); /* a late comer shall be seen */
	arch_exec_free(tramp->addr, tramp->bytes);
}

uintptr_t trace_plat_shared_trampoline(bool with_regs)
{
	return (uintptr_t)(with_regs ? ftrace_regs_caller : ftrace_caller);
}
