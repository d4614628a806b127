/*
 * Addresses of programs that a script keeps, to be printed by name later: the address, and in front of it the thread group
 * whose program has it.
 *
 *   bit 63: 0 | 62 to 47: thread group | 46 to 0: address
 *
 * An address that needs more bits, one of the kernel, is kept as it is; a thread group that does, as 0.
 *
 * Context: any.
 */
#ifndef TRACE_SCRIPT_USER_H
#define TRACE_SCRIPT_USER_H

#include <stdint.h>

#define SCRIPT_USER_BITS 47u

static inline uint64_t script_user_pack(uint64_t addr, uint64_t tgid)
{
	return addr >> SCRIPT_USER_BITS || tgid > UINT16_MAX ? addr
							     : addr | tgid << SCRIPT_USER_BITS;
}

static inline uint64_t script_user_addr(uint64_t word)
{
	return word >> 63 ? word : word & ((1ull << SCRIPT_USER_BITS) - 1);
}

static inline uint32_t script_user_tgid(uint64_t word)
{
	return word >> 63 ? 0 : (uint32_t)(word >> SCRIPT_USER_BITS);
}

#endif
