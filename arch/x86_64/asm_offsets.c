/*
 * Numbers of C that assembly needs. This file is not linked: the Makefile reads them from the
 * compiler's output and writes them into offsets.inc.
 */
#include <stddef.h>

#include <arch/cpu_local.h>
#include <arch/handover.h>
#include <arch/percpu.h>
#include <arch/switch.h>
#include <arch/trap.h>

#include "ap_start.h"

#define OFFSET(name, value) __asm__ volatile("# -> " #name " %0" : : "i"(value))

void asm_offsets(void);

void asm_offsets(void)
{
	OFFSET(TRAP_FRAME_R15, offsetof(struct trap_frame, r15));
	OFFSET(TRAP_FRAME_RBP, offsetof(struct trap_frame, rbp));
	OFFSET(TRAP_FRAME_RAX, offsetof(struct trap_frame, rax));
	OFFSET(TRAP_FRAME_VECTOR, offsetof(struct trap_frame, vector));
	OFFSET(TRAP_FRAME_RIP, offsetof(struct trap_frame, rip));
	OFFSET(TRAP_FRAME_SIZE, sizeof(struct trap_frame));

	OFFSET(TRAP_FRAME_CS, offsetof(struct trap_frame, cs));
	OFFSET(TRAP_FRAME_RSP, offsetof(struct trap_frame, rsp));
	OFFSET(LOCAL_STACK_TOP, offsetof(struct cpu_local, kernel_stack_top));
	OFFSET(LOCAL_USER_RSP, offsetof(struct cpu_local, user_rsp));
	OFFSET(SELECTOR_USER_CS, USER_CS);
	OFFSET(SELECTOR_USER_DS, USER_DS);

	OFFSET(HANDOVER_INFO_PHYS, offsetof(struct handover, info_phys));
	OFFSET(HANDOVER_MAGIC, offsetof(struct handover, magic));
	OFFSET(HANDOVER_PHYS_END, offsetof(struct handover, kernel_phys_end));
	OFFSET(HANDOVER_SIZE, sizeof(struct handover));

	OFFSET(CONTEXT_RSP, offsetof(struct arch_context, rsp));

	/* struct ap_params: offsets from the start of the page that the CPU starts on. */
	OFFSET(AP_IS_ARMED, AP_PARAMS_OFFSET + offsetof(struct ap_params, is_armed));
	OFFSET(AP_APIC_ID, AP_PARAMS_OFFSET + offsetof(struct ap_params, apic_id));
	OFFSET(AP_ROOT, AP_PARAMS_OFFSET + offsetof(struct ap_params, root));
	OFFSET(AP_KERNEL_ROOT, AP_PARAMS_OFFSET + offsetof(struct ap_params, kernel_root));
	OFFSET(AP_STACK_TOP, AP_PARAMS_OFFSET + offsetof(struct ap_params, stack_top));
	OFFSET(AP_CPU, AP_PARAMS_OFFSET + offsetof(struct ap_params, cpu));
}
