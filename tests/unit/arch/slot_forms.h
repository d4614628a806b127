/*
 * The bytes of all forms, for sim_slot.c: each opcode of each map, with each prefix that chooses an
 * instruction, with operands that count from the instruction, that have a base and an index, and in
 * registers. Which of these are instructions the decoder says.
 */
#ifndef SLOT_FORMS_H
#define SLOT_FORMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <trace/arch_decode.h>

/* Try these TRACE_INSN_MAX bytes. */
void slot_form(const uint8_t *bytes);

/* ModRM: memory at [rip + disp32]; at [rsi + rcx * 2 + disp8], with a SIB byte; a register. */
#define FORM_RIP 0x05
#define FORM_SIB 0x44
#define FORM_REG 0xc0
#define SIB	 0x4e /* index 1, base 6 */

struct form {
	uint8_t bytes[TRACE_INSN_MAX];
	size_t len;
};

static inline void form_put(struct form *form, uint8_t byte)
{
	form->bytes[form->len++] = byte;
}

/*
 * The bytes behind the opcode: ModRM, then small numbers for displacements and immediates. With rcx
 * * 2 the first is a multiple of 64.
 */
static inline void form_try(const struct form *opcode, uint8_t modrm)
{
	static const uint8_t numbers[TRACE_INSN_MAX] = { 0x3a, 0, 0x01 };
	struct form form = *opcode;

	form_put(&form, modrm);
	if ((modrm & 0xc7) == FORM_SIB)
		form_put(&form, SIB);
	for (size_t i = 0; form.len < TRACE_INSN_MAX; i++)
		form_put(&form, numbers[i]);
	slot_form(form.bytes);
}

/* Each operation that an opcode with ModRM.reg may choose. */
static inline void form_try_groups(const struct form *opcode)
{
	for (uint8_t reg = 0; reg < 8; reg++) {
		form_try(opcode, (uint8_t)(FORM_RIP | reg << 3));
		form_try(opcode, (uint8_t)(FORM_SIB | reg << 3));
		form_try(opcode, (uint8_t)(FORM_REG | reg << 3 | ((reg + 3) & 7)));
	}
}

/* x87, and opcodes where a register is part of the operation. */
static inline void form_try_registers(const struct form *opcode)
{
	for (uint32_t modrm = FORM_REG; modrm < 0x100; modrm++)
		form_try(opcode, (uint8_t)modrm);
}

static inline bool form_has_registers(uint32_t map, uint8_t opcode)
{
	switch (map) {
	case 0:
		return (opcode >= 0xd8 && opcode <= 0xdf) || opcode == 0xc6 || opcode == 0xc7;
	case 1:
		return opcode == 0x01 || opcode == 0xa6 || opcode == 0xa7;
	default:
		return opcode == 0xf0;
	}
}

static inline void slot_forms_of(uint8_t prefix, uint8_t rex, uint32_t map, uint8_t opcode)
{
	static const uint8_t escapes[] = { 0, 0, 0x38, 0x3a };
	struct form form = { .len = 0 };

	if (prefix)
		form_put(&form, prefix);
	if (rex)
		form_put(&form, rex);
	if (map)
		form_put(&form, 0x0f);
	if (map > 1)
		form_put(&form, escapes[map]);
	form_put(&form, opcode);
	form_try_groups(&form);
	if (form_has_registers(map, opcode))
		form_try_registers(&form);
}

/* Behind a prefix and a REX byte the opcode is neither of them. */
static inline bool form_is_opcode(uint32_t map, uint32_t opcode)
{
	static const uint8_t prefixes[] = { 0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65,
					    0x66, 0x67, 0x8f, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3 };

	if (map)
		return map > 1 || (opcode != 0x38 && opcode != 0x3a);
	return (opcode == 0x8f || !memchr(prefixes, (int)opcode, sizeof(prefixes))) &&
	       (opcode & 0xf0) != 0x40;
}

static inline void slot_forms_legacy(void)
{
	static const uint8_t pi2fd[TRACE_INSN_MAX] = { 0x0f, 0x0f, 0xc1, 0x0d };
	static const uint8_t prefixes[] = { 0, 0x66, 0xf3, 0xf2 }, rexes[] = { 0, 0x48 };

	for (uint32_t map = 0; map < 4; map++) {
		for (uint32_t opcode = 0; opcode < 256; opcode++) {
			for (uint32_t i = 0; form_is_opcode(map, opcode) && i < 8; i++)
				slot_forms_of(prefixes[i / 2], rexes[i % 2], map, (uint8_t)opcode);
		}
	}
	slot_form(pi2fd);
}

/* Operands of each kind; ModRM.reg chooses in few maps only, and is otherwise another register. */
static inline void form_try_operands(const struct form *form, uint32_t opcode)
{
	uint8_t reg = (uint8_t)((opcode * 5 & 7) << 3);

	form_try(form, (uint8_t)(FORM_RIP | reg));
	form_try(form, (uint8_t)(FORM_SIB | reg));
	form_try(form, (uint8_t)(FORM_REG | reg | ((opcode + 3) & 7)));
	if ((opcode >= 0x71 && opcode <= 0x73) || opcode == 0xae || opcode == 0xf3)
		form_try_groups(form);
}

static inline void slot_forms_vex(void)
{
	/* pp, L, W by turns; vvvv is register 2 or none */
	for (uint32_t i = 0; i < 3 * 256 * 32; i++) {
		uint32_t opcode = i / 32 % 256, vvvv = i & 1 ? 0x0f : 0x0d;
		struct form form = { .len = 0 };

		form_put(&form, 0xc4);
		form_put(&form, (uint8_t)(0xe0 | (1 + i / 8192)));
		form_put(&form, (uint8_t)((i >> 1 & 1) << 7 | vvvv << 3 | (i >> 2 & 1) << 2 |
					  (i >> 3 & 3)));
		form_put(&form, (uint8_t)opcode);
		form_try_operands(&form, opcode);
	}
}

static inline void slot_forms_evex(void)
{
	static const uint8_t maps[] = { 1, 2, 3, 5, 6 };

	/* W, pp, L'L, b, a mask or none, vvvv is register 2 or none, by turns */
	for (uint32_t i = 0; i < sizeof(maps) << 16; i++) {
		uint32_t opcode = i >> 8 & 0xff, vvvv = i >> 7 & 1 ? 0x0f : 0x0d;
		struct form form = { .len = 0 };

		form_put(&form, 0x62);
		form_put(&form, (uint8_t)(0xf0 | maps[i >> 16]));
		form_put(&form, (uint8_t)((i & 1) << 7 | vvvv << 3 | 4 | (i >> 1 & 3)));
		form_put(&form,
			 (uint8_t)((i >> 3 & 3) << 5 | (i >> 5 & 1) << 4 | 8 | (i >> 6 & 1)));
		form_put(&form, (uint8_t)opcode);
		form_try_operands(&form, opcode);
	}
}

/* ---- Instructions that are not tried ---- */

static inline bool form_is_0f(const struct trace_insn *insn, uint8_t opcode)
{
	return insn->encoding == TRACE_INSN_LEGACY && insn->map == TRACE_INSN_MAP_0F &&
	       insn->opcode == opcode;
}

/* Says another thing each time: clocks, counters, random numbers. */
static inline bool form_is_never_same(const struct trace_insn *insn)
{
	return form_is_0f(insn, 0x31) || /* rdtsc */
	       (form_is_0f(insn, 0x01) && (insn->modrm == 0xf9 || insn->modrm == 0xfd)) ||
	       (form_is_0f(insn, 0xc7) && insn->modrm >= 0xf0); /* rdrand, rdseed */
}

/* Loads fs or gs, where a process has its thread. */
static inline bool form_is_of_thread(const struct trace_insn *insn)
{
	uint32_t reg = insn->modrm >> 3 & 7;

	return (insn->map == TRACE_INSN_MAP_ONE_BYTE && insn->opcode == 0x8e && reg >= 4) ||
	       form_is_0f(insn, 0xa1) || form_is_0f(insn, 0xa9) || form_is_0f(insn, 0xb4) ||
	       form_is_0f(insn, 0xb5) ||
	       (form_is_0f(insn, 0xae) && insn->prefixes & TRACE_INSN_REP && insn->modrm >= 0xc0);
}

static inline bool slot_form_is_odd(const struct trace_insn *insn)
{
	return form_is_never_same(insn) || form_is_of_thread(insn);
}

#endif
