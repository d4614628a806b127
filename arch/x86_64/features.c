/* The CPU's features, from CPUID; see <arch/features.h>. */
#include <arch/cpu.h>
#include <kernel/base.h>

struct cpu_features cpu_features;

#define EXT_LEAF_BASE 0x80000000u

static void features_copy_register(char *out, uint32_t reg)
{
	for (int i = 0; i < 4; i++)
		out[i] = (char)(reg >> (8 * i));
}

static void features_read_names(struct cpu_features *f)
{
	struct cpuid_result r = cpuid(0, 0);

	f->max_leaf = r.eax;
	features_copy_register(f->vendor, r.ebx);
	features_copy_register(f->vendor + 4, r.edx);
	features_copy_register(f->vendor + 8, r.ecx);

	f->max_ext_leaf = cpuid(EXT_LEAF_BASE, 0).eax;
	if (f->max_ext_leaf < EXT_LEAF_BASE + 4)
		return;
	for (uint32_t i = 0; i < 3; i++) {
		char *part = f->brand + 16ul * i;

		r = cpuid(EXT_LEAF_BASE + 2 + i, 0);
		features_copy_register(part, r.eax);
		features_copy_register(part + 4, r.ebx);
		features_copy_register(part + 8, r.ecx);
		features_copy_register(part + 12, r.edx);
	}
}

void cpu_features_init(void)
{
	struct cpu_features *f = &cpu_features;
	struct cpuid_result r;

	features_read_names(f);
	r = cpuid(1, 0);
	f->apic = r.edx & (1u << 9);
	f->cx16 = r.ecx & (1u << 13);
	f->x2apic = r.ecx & (1u << 21);
	f->tsc_deadline = r.ecx & (1u << 24);
	f->hypervisor = r.ecx & (1u << 31);
	if (f->max_leaf >= 6)
		f->arat = cpuid(6, 0).eax & (1u << 2);
	f->xsave = r.ecx & (1u << 26);
	f->avx = r.ecx & (1u << 28);
	if (f->max_leaf >= 7) {
		r = cpuid(7, 0);
		f->smep = r.ebx & (1u << 7);
		f->smap = r.ebx & (1u << 20);
		f->umip = r.ecx & (1u << 2);
		f->serialize = r.edx & (1u << 14);
	}
	r = cpuid(EXT_LEAF_BASE + 1, 0);
	f->pages_1g = r.edx & (1u << 26);
	f->rdtscp = r.edx & (1u << 27);
	if (f->max_ext_leaf >= EXT_LEAF_BASE + 7)
		f->invariant_tsc = cpuid(EXT_LEAF_BASE + 7, 0).edx & (1u << 8);
}
