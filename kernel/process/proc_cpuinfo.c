/* The file /proc/cpuinfo, with Linux's fields and names of features. See proc_machine.h. */
#include <arch/cpu.h>
#include <arch/features.h>
#include <arch/percpu.h>
#include <arch/smp.h>
#include <arch/tsc.h>
#include <arch/user.h>
#include <trace/fmt.h>
#include "proc_machine.h"
#include "proc_text.h"

#define CPUINFO_EXT	     0x80000000u
#define CPUINFO_TOPOLOGY     0xbu
#define CPUINFO_VIRTUAL_BITS 48u	 /* of tables with four levels */
#define CPUINFO_AVX_STATE    (1ull << 2) /* of XSAVE */

static struct cpuid_result cpuinfo_leaf(uint32_t leaf, uint32_t subleaf)
{
	uint32_t last = leaf < CPUINFO_EXT ? cpu_features.max_leaf : cpu_features.max_ext_leaf;

	return leaf <= last ? cpuid(leaf, subleaf) : (struct cpuid_result){ 0 };
}

/* Names of the bits of a register, from bit 0 on; "-": the bit is none to show. */
static void cpuinfo_add_flags(struct text *text, uint32_t bits, const char *names)
{
	for (; *names; bits >>= 1) {
		int len = 0;

		while (names[len] && names[len] != ' ')
			len++;
		if (bits & 1 && *names != '-')
			text_add(text, " %.*s", len, names);
		names += len + (names[len] == ' ');
	}
}

/* The features that a program may use: vectors need what the kernel saves of them. */
static void cpuinfo_show_flags(struct text *text)
{
	struct cpuid_result basic = cpuinfo_leaf(1, 0), ext = cpuinfo_leaf(CPUINFO_EXT + 1, 0);
	struct cpuid_result more = cpuinfo_leaf(7, 0);
	uint64_t saved = arch_user_fpu_features();

	if (!(saved & CPUINFO_AVX_STATE)) {
		basic.ecx &= ~(1u << 12 | 1u << 28 | 1u << 29);
		ext.ecx &= ~(1u << 11 | 1u << 16);
		more.ebx &= ~(1u << 5);
	}
	if (!saved)
		basic.ecx &= ~(1u << 26);
	text_add(text, "flags\t\t:");
	cpuinfo_add_flags(text, basic.edx,
			  "fpu vme de pse tsc msr pae mce cx8 apic - sep mtrr pge mca cmov pat "
			  "pse36 pn clflush - dts acpi mmx fxsr sse sse2 ss ht tm ia64 pbe");
	cpuinfo_add_flags(text, ext.edx >> 19,
			  "mp nx - mmxext - - fxsr_opt pdpe1gb rdtscp - lm 3dnowext 3dnow");
	cpuinfo_add_flags(text, ext.edx >> 11, "syscall");
	cpuinfo_add_flags(text, basic.ecx,
			  "pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 cid sdbg fma "
			  "cx16 xtpr pdcm - pcid dca sse4_1 sse4_2 x2apic movbe popcnt "
			  "tsc_deadline_timer aes xsave - avx f16c rdrand hypervisor");
	cpuinfo_add_flags(text, ext.ecx,
			  "lahf_lm cmp_legacy svm extapic cr8_legacy abm sse4a misalignsse "
			  "3dnowprefetch osvw ibs xop skinit wdt - lwp fma4");
	cpuinfo_add_flags(text, more.ebx,
			  "- tsc_adjust - bmi1 hle avx2 - smep bmi2 erms invpcid rtm - - - - - - "
			  "rdseed adx smap - - clflushopt clwb - - - - sha_ni");
	text_add(text, "\nbugs\t\t:\n");
}

/* A CPU's APIC id has its number in the core, above it that of the core, above that the package. */
struct cpuinfo_place {
	uint32_t apic_id, package, core;
};

static struct cpuinfo_place cpuinfo_place_of(uint32_t cpu)
{
	struct cpuid_result threads = cpuinfo_leaf(CPUINFO_TOPOLOGY, 0);
	struct cpuid_result cores = cpuinfo_leaf(CPUINFO_TOPOLOGY, 1);
	struct cpuinfo_place place = { .apic_id = cpu_local_of(cpu)->apic_id };
	uint32_t in_core = 0, in_package = 0;

	if (cores.ebx) {
		in_core = threads.eax & 31;
		in_package = cores.eax & 31;
	}
	place.package = place.apic_id >> in_package;
	place.core = (place.apic_id & ((1u << in_package) - 1)) >> in_core;
	return place;
}

static void cpuinfo_show_topology(struct text *text, uint32_t cpu)
{
	struct cpuinfo_place own = cpuinfo_place_of(cpu);
	uint32_t nr = 1, nr_in_core = 1;

	for (uint32_t other = 0; other < smp_nr_cpus(); other++) {
		struct cpuinfo_place place;

		if (other == cpu || !smp_cpu_online(other))
			continue;
		place = cpuinfo_place_of(other);
		nr += place.package == own.package;
		nr_in_core += place.package == own.package && place.core == own.core;
	}
	text_add(text, "physical id\t: %u\nsiblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\n",
		 own.package, nr, own.core, nr / nr_in_core);
	text_add(text, "apicid\t\t: %u\ninitial apicid\t: %u\n", own.apic_id, own.apic_id);
}

static void cpuinfo_show_model(struct text *text, uint32_t signature)
{
	uint32_t family = signature >> 8 & 0xf, model = signature >> 4 & 0xf;

	if (family >= 6)
		model |= signature >> 12 & 0xf0;
	if (family == 0xf)
		family += signature >> 20 & 0xff;
	text_add(text, "cpu family\t: %u\nmodel\t\t: %u\nmodel name\t: %s\nstepping\t: %u\n",
		 family, model, cpu_features.brand, signature & 0xf);
}

static void cpuinfo_show_cpu(struct text *text, uint32_t cpu)
{
	uint32_t line = (cpuinfo_leaf(1, 0).ebx >> 8 & 0xff) * 8;
	uint32_t kib = cpuinfo_leaf(CPUINFO_EXT + 6, 0).ecx >> 16;
	uint32_t physical = cpuinfo_leaf(CPUINFO_EXT + 8, 0).eax & 0xff;
	uint64_t khz = tsc_hz() / 1000;

	text_add(text, "processor\t: %u\nvendor_id\t: %s\n", cpu, cpu_features.vendor);
	cpuinfo_show_model(text, cpuinfo_leaf(1, 0).eax);
	text_add(text, "cpu MHz\t\t: %lu.%03lu\n", khz / 1000, khz % 1000);
	if (kib)
		text_add(text, "cache size\t: %u KB\n", kib);
	cpuinfo_show_topology(text, cpu);
	text_add(text, "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %u\nwp\t\t: yes\n",
		 cpu_features.max_leaf);
	cpuinfo_show_flags(text);
	text_add(text, "bogomips\t: %lu.%02lu\nclflush size\t: %u\ncache_alignment\t: %u\n",
		 khz / 500, khz / 5 % 100, line, line);
	text_add(text, "address sizes\t: %u bits physical, %u bits virtual\n\n", physical,
		 CPUINFO_VIRTUAL_BITS);
}

size_t proc_show_cpuinfo(char *buf, size_t size)
{
	struct text text = { .to = buf, .size = size };

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (smp_cpu_online(cpu))
			cpuinfo_show_cpu(&text, cpu);
	}
	return text.len;
}
