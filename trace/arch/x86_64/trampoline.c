/*
 * Entry trampolines of single ops and of sets: see <trace/arch_trampoline.h>. Each is put together
 * from the pieces of a template, in units of executable memory. It is written without core syncs,
 * because it does not run before a site was changed to call it, and changing the site has them.
 */
#include <stdatomic.h>
#include <trace/arch_code.h>
#include <trace/arch_exec.h>
#include <trace/arch_text.h>
#include <trace/arch_trampoline.h>

#include "check.h"
#include "insn.h"

#define MAX_UNITS (TRACE_EXEC_MAX / TRACE_EXEC_UNIT)

/*
 * Pieces of trampoline_code.asm: the beginning, the call of one ops, the end. The call of a
 * site_func does not pass the ops.
 */
#define PIECES(name)                                                                               \
	extern const uint8_t trampoline_##name[], trampoline_##name##_step[];                      \
	extern const uint8_t trampoline_##name##_ops[], trampoline_##name##_call[];                \
	extern const uint8_t trampoline_##name##_tail[], trampoline_##name##_end[]

PIECES(plain);
PIECES(regs);
PIECES(plain_set);
PIECES(regs_set);
PIECES(site);

struct template
{
	const uint8_t *head;
	const uint8_t *step;
	const uint8_t *ops;  /* operand in a step: the address of the ops */
	const uint8_t *call; /* instruction in a step: the call of its function */
	const uint8_t *tail;
	const uint8_t *end;
};

#define TEMPLATE(name)                                                                             \
	{                                                                                          \
		trampoline_##name, trampoline_##name##_step, trampoline_##name##_ops,              \
			trampoline_##name##_call, trampoline_##name##_tail,                        \
			trampoline_##name##_end                                                    \
	}

/* Kinds of trampolines; templates[] is indexed by the first two, or by the third alone. */
#define KIND_REGS 1u
#define KIND_SET  2u
#define KIND_SITE 4u
static const struct template templates[] = { TEMPLATE(plain), TEMPLATE(regs), TEMPLATE(plain_set),
					     TEMPLATE(regs_set), TEMPLATE(site) };

/*
 * The code that starts in each unit, 0 for none. Changed under ftrace's lock, read by anyone.
 *
 *   15    13   12   11             0
 *   [ kind ][gone][ bytes of the code ]    gone: it was destroyed, and nothing has come there since
 */
#define MAX_BYTES  0x0fffu
#define GONE	   0x1000u
#define KIND_SHIFT 13
static _Atomic uint16_t starts[MAX_UNITS];

static size_t distance(const uint8_t *from, const uint8_t *to)
{
	return (uintptr_t)to - (uintptr_t)from;
}

static size_t trampoline_bytes_of(const struct template *template, size_t nr)
{
	return distance(template->head, template->step) +
	       nr * distance(template->step, template->tail) +
	       distance(template->tail, template->end);
}

static size_t unit_of(uintptr_t addr)
{
	return (addr - trace_arch_exec_start()) / TRACE_EXEC_UNIT;
}

static uintptr_t trampoline_unit_at(size_t unit)
{
	return trace_arch_exec_start() + unit * TRACE_EXEC_UNIT;
}

static uint32_t start_or_gone(size_t unit)
{
	return atomic_load_explicit(&starts[unit], memory_order_relaxed);
}

static uint32_t start_at(size_t unit)
{
	uint32_t start = start_or_gone(unit);

	return start & GONE ? 0 : start;
}

/* The instruction that calls ops `index`. */
static uintptr_t trampoline_call_of(const struct trace_trampoline *tramp, uint32_t index)
{
	const struct template *template = &templates[start_at(unit_of(tramp->addr)) >> KIND_SHIFT];

	return tramp->addr + distance(template->head, template->call) +
	       index * distance(template->step, template->tail);
}

bool trampoline_name(uintptr_t addr, uintptr_t *out_start, size_t *out_size)
{
	size_t unit = unit_of(addr);

	if (!trace_exec_contains(addr))
		return false;
	while (!start_or_gone(unit) && unit > 0)
		unit--;
	*out_start = trampoline_unit_at(unit);
	*out_size = start_or_gone(unit) & MAX_BYTES;
	return addr - *out_start < *out_size;
}

bool trampoline_next(uintptr_t *addr, size_t *out_size)
{
	for (size_t unit = *addr < trace_arch_exec_start() ? 0 : unit_of(*addr) + 1;
	     unit < trace_exec_units(); unit++) {
		if (start_at(unit)) {
			*addr = trampoline_unit_at(unit);
			*out_size = start_at(unit) & MAX_BYTES;
			return true;
		}
	}
	return false;
}

static void write_step(const struct template *template, uintptr_t at,
		       const struct trace_trampoline_call *call)
{
	size_t bytes = distance(template->step, template->tail);
	size_t call_at = distance(template->step, template->call);
	uintptr_t ops = (uintptr_t)call->ops, func = call->func;
	uint8_t code[TRACE_EXEC_UNIT];

	CHECK(bytes <= sizeof(code));
	__builtin_memcpy(code, template->step, bytes);
	if (template == &templates[KIND_SITE])
		func = call->site_func;
	else
		__builtin_memcpy(code + distance(template->step, template->ops), &ops, sizeof(ops));
	insn_store(code + call_at, insn_make(INSN_CALL, at + call_at, func));
	trace_text_write(at, code, bytes);
}

/* Write the whole trampoline, whose address is not in use yet. */
static void write_all(const struct template *template, uintptr_t at,
		      const struct trace_trampoline_call *calls, size_t nr)
{
	trace_text_write(at, template->head, distance(template->head, template->step));
	at += distance(template->head, template->step);
	for (size_t i = 0; i < nr; i++) {
		write_step(template, at, &calls[i]);
		at += distance(template->step, template->tail);
	}
	trace_text_write(at, template->tail, distance(template->tail, template->end));
}

/* Note that a trampoline starts here. Destroyed ones that were in its place lose their names. */
static void mark_start(const struct trace_trampoline *tramp, uint32_t kind)
{
	size_t first = unit_of(tramp->addr), end = unit_of(tramp->addr + tramp->bytes - 1);

	for (size_t unit = first + 1; unit <= end; unit++)
		atomic_store(&starts[unit], 0);
	atomic_store(&starts[first], (uint16_t)(kind << KIND_SHIFT | tramp->bytes));
}

static uint32_t trampoline_kind_of(const struct trace_trampoline_call *calls, size_t nr,
				   bool with_regs)
{
	if (nr == 1 && !with_regs && calls->site_func)
		return KIND_SITE;
	return (with_regs ? KIND_REGS : 0) | (nr > 1 ? KIND_SET : 0);
}

int trampoline_create(const struct trace_trampoline_call *calls, size_t nr, bool with_regs,
		      struct trace_trampoline *out_trampoline)
{
	uint32_t kind = trampoline_kind_of(calls, nr, with_regs);
	struct trace_trampoline tramp = { .bytes = trampoline_bytes_of(&templates[kind], nr) };

	if (tramp.bytes > MAX_BYTES)
		return -ENOMEM;
	tramp.addr = trace_exec_alloc(tramp.bytes);
	if (!tramp.addr)
		return -ENOMEM;
	write_all(&templates[kind], tramp.addr, calls, nr);
	mark_start(&tramp, kind);
	*out_trampoline = tramp;
	return 0;
}

uintptr_t trace_plat_trampoline_func(const struct trace_trampoline *tramp)
{
	uintptr_t call = trampoline_call_of(tramp, 0);
	uint64_t insn = 0;

	trace_plat_preempt_disable();
	trace_text_meant(call, &insn, TRACE_INSN_SIZE);
	trace_plat_preempt_enable();
	return insn_target(insn, call);
}

int trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func)
{
	uintptr_t call = trampoline_call_of(tramp, index);
	struct trace_poke poke = { .site = trace_plat_ip_pack(call) };
	struct trace_poke_error error;

	trace_text_meant(call, poke.old_insn, TRACE_INSN_SIZE);
	insn_store(poke.new_insn, insn_make(INSN_CALL, call, func));
	return text_poke_batch(&poke, 1, &error);
}

/* Fills the memory with int3s, so that a CPU that wrongly comes here is noticed. */
void trampoline_destroy(struct trace_trampoline *tramp)
{
	static const uint8_t traps[TRACE_EXEC_UNIT] = { [0 ... TRACE_EXEC_UNIT - 1] = INSN_INT3 };

	atomic_fetch_or(&starts[unit_of(tramp->addr)], (uint16_t)GONE);
	for (size_t done = 0; done < tramp->bytes; done += TRACE_EXEC_UNIT)
		trace_text_write(tramp->addr + done, traps,
				 tramp->bytes - done < TRACE_EXEC_UNIT ? tramp->bytes - done
								       : TRACE_EXEC_UNIT);
	trace_exec_free(tramp->addr, tramp->bytes);
}

uintptr_t trace_plat_shared_trampoline(bool with_regs)
{
	return (uintptr_t)(with_regs ? ftrace_regs_caller : ftrace_caller);
}
