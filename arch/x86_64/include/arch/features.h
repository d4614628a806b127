/*
 * Features of this machine's CPUs, from CPUID, as far as this kernel uses them.
 *
 * Context:   any; written once, by cpu_features_init(), before other CPUs run.
 * Locking:   none.
 * Ownership: static.
 */
#ifndef ARCH_FEATURES_H
#define ARCH_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_features {
	char vendor[13];
	char brand[49];
	uint32_t max_leaf;
	uint32_t max_ext_leaf;
	bool apic;
	bool x2apic;
	bool tsc_deadline;
	bool invariant_tsc;
	bool rdtscp;
	bool serialize;
	bool hypervisor;
	bool cx16;
	bool pages_1g;
	bool arat; /* APIC timer runs in all sleep states */
	bool smep;
	bool smap;
	bool umip;
	bool xsave;
	bool avx;
};
extern struct cpu_features cpu_features;
/* Fill cpu_features. Boot CPU. */
void cpu_features_init(void);

#endif
