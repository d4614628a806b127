/*
 * The code that a CPU runs out of reset, copied to a page below 1 MiB: boot/ap_start.asm.
 */
#ifndef AP_START_H
#define AP_START_H

#include <stdint.h>

/*
 * The parameters of that code, at AP_PARAMS_OFFSET in the page. It has the offsets from
 * asm_offsets.c.
 */
struct ap_params {
	uint32_t is_armed; /* 0: a CPU that comes here halts */
	uint32_t apic_id;  /* the CPU that is started; its low 8 bits are compared */
	uint32_t root;	   /* CR3 until kernel text is reached: arch_ap_root_open() */
	uint32_t unused;
	uint64_t kernel_root; /* CR3 from then on */
	uint64_t stack_top;
	uint64_t cpu;
};

#define AP_PARAMS_OFFSET 0xf00u

extern const uint8_t ap_start[];
extern const uint32_t ap_start_bytes;

#endif
