/* Descriptor tables, trap stacks and struct cpu_local of each CPU: see <arch/percpu.h>. */
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/per_cpu_array.h>
#include <arch/percpu.h>
#include <arch/trap.h>
#include <kernel/base.h>

#include "paging_priv.h"
#include "percpu_priv.h"
#include "trap_priv.h"
#include "user_priv.h"

/*
 * The trap stacks of a CPU lie in a slot of CPU_STACK_SLOT bytes. The lowest page of each is its
 * guard page. The NMI stack is aligned to its size, because nmi_entry.asm needs that.
 */
struct trap_stack {
	const char *name;
	uint32_t offset; /* of the guard page in the slot */
	uint32_t bytes;	 /* guard page included */
	uint32_t ist;
};

#define CPU_STACK_SLOT 0x10000ul

static const struct trap_stack trap_stacks[] = {
	{ .name = "#DF", .offset = 0x0000, .bytes = 0x3000, .ist = IST_DOUBLE_FAULT },
	{ .name = "#MC", .offset = 0x3000, .bytes = 0x3000, .ist = IST_MACHINE_CHECK },
	{ .name = "#DB", .offset = 0x6000, .bytes = 0x2000, .ist = IST_DEBUG },
	{ .name = "NMI", .offset = 0x8000, .bytes = 0x8000, .ist = IST_NMI },
};

struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7]; /* IST n is ist[n - 1] */
	uint64_t reserved2;
	uint16_t reserved3;
	uint16_t io_map;
} __attribute__((packed));

enum gdt_index {
	GDT_NULL,
	GDT_KERNEL_CS,
	GDT_KERNEL_DS,
	GDT_UNUSED,
	GDT_USER_EMPTY,
	GDT_USER_DS,
	GDT_USER_CS,
	GDT_TSS,
	GDT_TSS_HIGH,
	GDT_NR
};

#define GDT_CODE64 0x00af9b000000ffffull /* accessed bit set: the CPU never writes here */
#define GDT_DATA   0x00cf93000000ffffull
#define GDT_DPL3   (3ull << 45)
#define GDT_TSS64  0x0000890000000000ull /* available TSS; base and limit to be filled in */

struct cpu_tables {
	uint64_t gdt[GDT_NR];
	struct tss tss;
} __attribute__((aligned(64)));

struct cpu_area {
	struct cpu_local local;
} __attribute__((aligned(64)));

static struct cpu_tables tables[MAX_CPUS];
static struct cpu_area cpu_areas[MAX_CPUS];
PER_CPU_ARRAY(cpu_areas);

bool cpu_local_overlaps(uintptr_t addr, size_t len)
{
	return ranges_overlap(addr, len, (uintptr_t)cpu_areas, sizeof(cpu_areas));
}

bool cpu_tables_overlap(uintptr_t addr, size_t len)
{
	return ranges_overlap(addr, len, (uintptr_t)tables, sizeof(tables));
}

static void init_area(uint32_t cpu, uint32_t apic_id)
{
	struct cpu_local *local = &cpu_areas[cpu].local;

	local->self = local;
	local->id = cpu;
	local->apic_id = apic_id;
	local->arch_private = &tables[cpu];
	if (local->preempt_count == 0)
		local->preempt_count = PREEMPT_INITIAL;
}

void percpu_early_init(void)
{
	init_area(0, 0);
	wrmsr(MSR_GS_BASE, (uintptr_t)&cpu_areas[0].local);
}

static uintptr_t stack_base(uint32_t cpu, const struct trap_stack *stack)
{
	return CPU_STACK_BASE + cpu * CPU_STACK_SLOT + stack->offset;
}

/* A page that was taken is never lost: if it cannot be mapped now, the next call uses it. */
static int map_stack_page(uintptr_t virt)
{
	static uint64_t spare;
	uint64_t unused;
	int err;

	if (arch_lookup(virt, &unused))
		return 0; /* by an earlier cpu_prepare() that failed */
	if (!spare)
		spare = paging_new_page();
	if (!spare)
		return -ENOMEM;
	err = arch_map(virt, spare, PAGE_WRITE);
	if (!err)
		spare = 0;
	return err;
}

static int map_stacks(uint32_t cpu)
{
	for (size_t i = 0; i < ARRAY_SIZE(trap_stacks); i++) {
		uintptr_t base = stack_base(cpu, &trap_stacks[i]);

		for (uintptr_t at = PAGE_SIZE; at < trap_stacks[i].bytes; at += PAGE_SIZE) {
			int err = map_stack_page(base + at);

			if (err)
				return err;
		}
	}
	return 0;
}

static void fill_tables(uint32_t cpu)
{
	struct cpu_tables *t = &tables[cpu];
	uint64_t base = (uintptr_t)&t->tss, limit = sizeof(t->tss) - 1;

	for (size_t i = 0; i < ARRAY_SIZE(trap_stacks); i++)
		t->tss.ist[trap_stacks[i].ist - 1] =
			stack_base(cpu, &trap_stacks[i]) + trap_stacks[i].bytes - 16;
	t->tss.io_map = sizeof(t->tss);

	t->gdt[GDT_KERNEL_CS] = GDT_CODE64;
	t->gdt[GDT_KERNEL_DS] = GDT_DATA;
	t->gdt[GDT_USER_DS] = GDT_DATA | GDT_DPL3;
	t->gdt[GDT_USER_CS] = GDT_CODE64 | GDT_DPL3;
	t->gdt[GDT_TSS] = GDT_TSS64 | limit | (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
	t->gdt[GDT_TSS_HIGH] = base >> 32;
}

int cpu_prepare(uint32_t cpu, uint32_t apic_id)
{
	int err;

	ASSERT(cpu < MAX_CPUS);
	err = map_stacks(cpu);
	if (err)
		return err;
	init_area(cpu, apic_id);
	fill_tables(cpu);
	return 0;
}

struct table_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static void load_gdt(struct cpu_tables *t)
{
	struct table_pointer gdtr = { .limit = sizeof(t->gdt) - 1, .base = (uintptr_t)t->gdt };

	__asm__ volatile("lgdt %0\n\t"
			 "pushq %1\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "lretq\n"
			 "1:\n\t"
			 "mov %2, %%ss\n\t"
			 "mov %3, %%ds\n\t"
			 "mov %3, %%es\n\t"
			 "mov %3, %%fs\n\t"
			 "mov %3, %%gs"
			 :
			 : "m"(gdtr), "i"(KERNEL_CS), "r"(KERNEL_DS), "r"(0)
			 : "rax", "memory");
	t->gdt[GDT_TSS] &= ~(2ull << 40); /* LTR refuses a busy TSS; an earlier LTR made it that */
	__asm__ volatile("ltr %w0" : : "r"(GDT_TSS * 8));
}

void cpu_load(uint32_t cpu)
{
	struct cpu_area *area = &cpu_areas[cpu];

	write_cr0(read_cr0() | CR0_WP);
	write_cr4(read_cr4() | CR4_PGE);
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_NXE);
	load_gdt(&tables[cpu]);
	wrmsr(MSR_GS_BASE, (uintptr_t)&area->local); /* loading %gs cleared it */
	trap_load_idt();
	user_cpu_init();
}

void cpu_set_kernel_stack(uintptr_t top)
{
	struct cpu_tables *t = cpu_local_read(arch_private);

	t->tss.rsp[0] = top;
}

struct cpu_local *cpu_local_of(uint32_t cpu)
{
	return &cpu_areas[cpu].local;
}

const char *cpu_trap_stack_of(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	uint32_t cpu = (uint32_t)((addr - CPU_STACK_BASE) / CPU_STACK_SLOT);

	if (addr < CPU_STACK_BASE || addr >= CPU_STACK_BASE + MAX_CPUS * CPU_STACK_SLOT)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(trap_stacks); i++) {
		uintptr_t base = stack_base(cpu, &trap_stacks[i]);

		if (addr < base || addr >= base + trap_stacks[i].bytes || !tables[cpu].tss.ist[0])
			continue;
		*out_lo = base + PAGE_SIZE;
		*out_hi = base + trap_stacks[i].bytes;
		return trap_stacks[i].name;
	}
	return NULL;
}

const struct trace_thread *cpu_trap_stack_thread(uintptr_t addr)
{
	if (addr < CPU_STACK_BASE || addr >= CPU_STACK_BASE + MAX_CPUS * CPU_STACK_SLOT)
		return NULL;
	return cpu_local_of((uint32_t)((addr - CPU_STACK_BASE) / CPU_STACK_SLOT))->trace_thread;
}
