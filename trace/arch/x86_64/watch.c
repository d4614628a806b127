/*
 * Watchpoints in the debug registers: the machine half of <trace/platform_probes.h>, see
 * <trace/arch_watch.h>.
 *
 *   DR0 to DR3   addresses
 *   DR7          per register: bit 2n: on; bits 16+4n: on writes, or on both; bits 18+4n: length
 *   DR6          bit n: register n was hit; it stays set until it is cleared
 *
 * Intel's manual, volume 3, 18.2.
 */
#include <stdatomic.h>
#include <trace/arch_host.h>
#include <trace/arch_probe.h>
#include <trace/arch_regs.h>
#include <trace/arch_watch.h>
#include <trace/errno.h>
#include <trace/wprobe.h>

#define DR6_INIT     0xffff0ff0ul /* nothing has happened */
#define DR6_OTHERS   0xe000ul	  /* single step, and what else is not ours */
#define DR7_INIT     0x400ul	  /* nothing is watched */
#define DR7_ON(n)    (1ul << (2 * (n)))
#define DR7_ANY_ON   0x55ul
#define DR7_WRITES   1ul
#define DR7_BOTH     3ul
#define DR7_FIELD(n) (16 + 4 * (n))

/* The contents of each CPU's debug registers, now or soon. */
static struct {
	_Atomic uintptr_t addr[TRACE_PLAT_WATCHES];
	_Atomic uint64_t dr7;
} watch = { .dr7 = DR7_INIT };

#define READ_DR(n, value)  __asm__ volatile("mov %%dr" #n ", %0" : "=r"(value))
#define WRITE_DR(n, value) __asm__ volatile("mov %0, %%dr" #n : : "r"((uint64_t)(value)) : "memory")

/*
 * QEMU's TCG 7.2 does `lock xadd` and its kin on watched memory in two steps, and may take an
 * interrupt between them. It keeps a pointer to what it has for the register meanwhile, which
 * dangles when the register is changed in that interrupt: hits are lost, or QEMU itself ends. A hit
 * in here makes it drop the pointer. On other machines it is one trap more.
 */
static volatile uint64_t watch_scratch;

/* Interrupts are off. */
static void watch_settle(void)
{
	uint64_t dr7;

	READ_DR(7, dr7);
	if (!(dr7 & DR7_ANY_ON))
		return;
	WRITE_DR(0, &watch_scratch);
	WRITE_DR(1, &watch_scratch);
	WRITE_DR(2, &watch_scratch);
	WRITE_DR(3, &watch_scratch);
	watch_scratch = 0;
	WRITE_DR(6, DR6_INIT); /* behind which QEMU looks, while the register is still there */
}

/* In watch_settle(): nothing of what is watched was hit. */
static bool is_settling(void)
{
	uint64_t addr;

	READ_DR(0, addr);
	return addr == (uintptr_t)&watch_scratch;
}

/* Interrupts are off. Nothing is watched while addresses and conditions do not belong together. */
static void watch_load(void *unused)
{
	(void)unused;
	watch_settle();
	WRITE_DR(7, DR7_INIT);
	WRITE_DR(0, atomic_load(&watch.addr[0]));
	WRITE_DR(1, atomic_load(&watch.addr[1]));
	WRITE_DR(2, atomic_load(&watch.addr[2]));
	WRITE_DR(3, atomic_load(&watch.addr[3]));
	WRITE_DR(7, atomic_load(&watch.dr7));
}

void trace_watch_cpu_online(void)
{
	if (atomic_load(&watch.dr7) != DR7_INIT)
		watch_load(NULL);
}

uint64_t trace_watch_suspend(void)
{
	uint64_t dr7;

	READ_DR(7, dr7);
	WRITE_DR(7, DR7_INIT);
	return dr7;
}

void trace_watch_restore(uint64_t suspended)
{
	WRITE_DR(7, suspended);
}

/* 1, 2 and 4 bytes are 0, 1 and 3, and 8 bytes are 2. */
static uint64_t length_bits(uint32_t len)
{
	return len == 8 ? 2 : len - 1;
}

int trace_plat_watch_set(const struct trace_plat_watch *watches)
{
	const uintptr_t scratch = (uintptr_t)&watch_scratch;
	uint64_t dr7 = DR7_INIT;

	for (uint32_t i = 0; i < TRACE_PLAT_WATCHES; i++) {
		uint64_t kind = watches[i].on_reads ? DR7_BOTH : DR7_WRITES;

		if (!watches[i].len)
			continue;
		if (watches[i].addr - scratch < sizeof(watch_scratch))
			return -EINVAL; /* is_settling() */
		atomic_store(&watch.addr[i], watches[i].addr);
		dr7 |= DR7_ON(i) | (kind | length_bits(watches[i].len) << 2) << DR7_FIELD(i);
	}
	atomic_store(&watch.dr7, dr7);
	return trace_arch_call_cpus(watch_load, NULL);
}

static void watch_load_regs(uintptr_t rip, const void *frame, struct ftrace_regs *out_regs)
{
	trace_arch_frame_load(frame, out_regs);
	out_regs->rip = trace_probe_original(rip);
	out_regs->parent = 0;
	out_regs->direct = 0;
}

/* A bit of DR6 may also be set for a register that is off. */
bool trace_watch_dispatch(uintptr_t rip, void *frame)
{
	struct ftrace_regs regs;
	uint64_t dr6, dr7;
	bool is_ours = false;

	READ_DR(6, dr6);
	READ_DR(7, dr7);
	WRITE_DR(6, DR6_INIT);
	if (is_settling())
		return !(dr6 & DR6_OTHERS);
	for (uint32_t i = 0; i < TRACE_PLAT_WATCHES; i++) {
		if (!(dr6 >> i & 1) || !(dr7 & DR7_ON(i)))
			continue;
		if (!is_ours)
			watch_load_regs(rip, frame, &regs);
		is_ours = true;
		wprobe_hit(i, &regs);
	}
	return is_ours && !(dr6 & DR6_OTHERS);
}
