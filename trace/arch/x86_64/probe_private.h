/*
 * Shared declarations of the machine half of probes; see <trace/arch_probe.h>.
 *
 * Context: any, unless a function says otherwise; not traced.
 */
#ifndef PROBE_PRIVATE_H
#define PROBE_PRIVATE_H

#include <trace/arch_decode.h>
#include <trace/arch_exec.h>
#include <trace/arch_probe.h>
#include <trace/platform.h>

/* Ways to execute an instruction that an int3 stands in front of. */
enum probe_action {
	PROBE_SLOT,    /* in the slot */
	PROBE_SKIP,    /* it does nothing */
	PROBE_JMP,     /* to `target` */
	PROBE_JCC,     /* the same, on condition `what` */
	PROBE_LOOP,    /* the same; `what` is the opcode */
	PROBE_CALL,    /* of `target` */
	PROBE_RET,     /* and `target` bytes off the stack */
	PROBE_JMP_REG, /* to register `what` */
	PROBE_CALL_REG,
	PROBE_JMP_MEM, /* to what is at base + index * scale + target */
	PROBE_CALL_MEM,
};

/* The contents of struct trace_plat_probe. */
struct plat_probe {
	uint32_t addr; /* packed, as the slots; 0: none */
	uint32_t slot;
	uint32_t post_slot;
	uint32_t copy;	 /* address where a breakpoint goes on: `slot`, or the copies in `detour` */
	uint32_t detour; /* see struct detour_note; 0: none */
	uint8_t len;
	uint8_t action; /* enum probe_action */
	uint8_t what;
	uint8_t base; /* registers, or TRACE_INSN_NO_REG */
	uint8_t index;
	uint8_t scale;
	uint8_t original[TRACE_INSN_SIZE];
	uintptr_t target;
};
_Static_assert(sizeof(struct plat_probe) <= sizeof(((struct trace_plat_probe *)NULL)->opaque),
	       "probe has room");

static TRACE_ALWAYS_INLINE struct plat_probe *trace_probe_of(struct trace_plat_probe *probe)
{
	return (struct plat_probe *)(void *)probe->opaque;
}

static TRACE_ALWAYS_INLINE const struct plat_probe *
probe_of_const(const struct trace_plat_probe *probe)
{
	return (const struct plat_probe *)(const void *)probe->opaque;
}

static TRACE_ALWAYS_INLINE uintptr_t probe_addr(const struct plat_probe *probe)
{
	return trace_plat_ip_unpack(probe->addr);
}

/* Fill in all but addr, original and slots. NULL, or why the instruction cannot be probed. */
const char *trace_probe_compile(struct plat_probe *probe, const struct trace_insn *insn,
				uintptr_t addr);
/*
 * Do what the instruction does, if it has no slot, or if its operand can be read: then its
 * registers, stack and instruction pointer are in `regs` afterwards. False: it has to run in its
 * slot, for which nothing is done.
 */
bool trace_probe_emulate(const struct plat_probe *probe, struct ftrace_regs *regs);

/* Does the condition code of a Jcc hold? Does LOOP or JRCXZ, by its opcode, jump? Then the counter has changed. */
bool trace_probe_holds(uint32_t condition, uint64_t flags);
bool trace_probe_loops(uint32_t opcode, struct ftrace_regs *regs);
/* A register by the number that instructions have for it; 0 for TRACE_INSN_NO_REG. */
uint64_t trace_probe_register(const struct ftrace_regs *regs, uint32_t nr);

/* ---- Slots ---- */

#define SLOT_BYTES 32ul

/* At the end of a slot. */
struct slot_note {
	uint32_t origin; /* packed address of the instruction */
	uint8_t len;	 /* of it, and of its copy */
	bool is_post;	 /* an int3 is behind the copy */
};
#define SLOT_NOTE_AT (SLOT_BYTES - sizeof(struct slot_note))

/*
 * A slot with a copy of the instruction at `addr`. Returns its address, 0 when there is no room for
 * it. The text lock is held, as for free.
 */
uintptr_t trace_probe_slot_make(uintptr_t addr, const struct trace_insn *insn, const uint8_t *bytes,
				bool is_post);
void trace_probe_slot_free(uintptr_t slot);
/* The note of the slot that `addr` is in, and where the slot begins; NULL when it is in none. */
const struct slot_note *trace_probe_slot_of(uintptr_t addr, uintptr_t *out_slot);

/*
 * Adjust the operand of the copy of an instruction, if it is relative. False: it is too far away.
 */
bool trace_probe_move_operand(uint8_t *copy, const struct trace_insn *insn, uintptr_t from,
			      uintptr_t to);

/* ---- Detours: a unit of memory for code each ---- */

/*
 *   push origin | call trace_probe_detour | copies of the replaced instructions | jmp behind the
 *   originals .. | note
 *
 * Or call trace_probe_detour_args, which has less to save while the place has an `only`. Both take
 * the address off the stack again.
 */
struct detour_note { /* at its end */
	struct trace_plat_probe *probe;
	uint32_t origin; /* packed address of the first of them */
	uint8_t bytes;	 /* of all */
};
#define DETOUR_NOTE_AT (TRACE_EXEC_UNIT - sizeof(struct detour_note))
#define DETOUR_CALL_AT TRACE_INSN_SIZE /* behind the push, which is as long */
#define DETOUR_COPY_AT (DETOUR_CALL_AT + TRACE_INSN_SIZE)

/* Memory for one, 0 when there is none; and back. The text lock is held. */
uintptr_t trace_probe_detour_take(void);
void trace_probe_detour_free(uintptr_t detour);
/* Decode the instruction at `addr`, as it is meant to be, in code up to `end`. 0 or -errno. */
int trace_probe_decode(uintptr_t addr, uintptr_t end, struct trace_insn *out_insn);

/* Before the first int3 is written: answer breakpoints from now on. The text lock is held. */
void trace_probe_become_consumer(void);

#endif
