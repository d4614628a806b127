/*
 * HPET, ACPI PM timer and PIT as plain counters. See ref_clock.h.
 */
#include "ref_clock.h"
#include <arch/acpi.h>
#include <arch/cpu.h>
#include <arch/paging.h>

#define SAMPLES 12

#define HPET_BYTES	   0x400
#define HPET_CAPABILITIES  0x00
#define HPET_CONFIG	   0x10
#define HPET_COUNTER	   0xf0
#define HPET_CONFIG_ENABLE 1u
#define HPET_MAX_PERIOD_FS 100000000u
#define FEMTOSECONDS_PER_S 1000000000000000ull

#define PM_TIMER_HZ 3579545u

#define PIT_HZ	       1193182u
#define PIT_CHANNEL2   0x42
#define PIT_COMMAND    0x43
#define PIT_MODE0_CH2  0xb0 /* low byte, high byte, interrupt on terminal count */
#define PIT_LATCH_CH2  0x80
#define PORT_B	       0x61
#define PORT_B_GATE2   0x01
#define PORT_B_SPEAKER 0x02

static volatile uint8_t *hpet;

static volatile uint32_t *ref_hpet_reg(uint32_t offset)
{
	return (volatile uint32_t *)(hpet + offset);
}

static uint32_t ref_hpet_read(void)
{
	return *ref_hpet_reg(HPET_COUNTER);
}

static uint32_t ref_pm_timer_read(void)
{
	return inl((uint16_t)acpi_info()->pm_timer.addr);
}

/* The PIT counts down, and wraps after 55 ms, which is longer than any one measurement. */
static uint32_t ref_pit_read(void)
{
	uint32_t count;

	outb(PIT_COMMAND, PIT_LATCH_CH2);
	count = inb(PIT_CHANNEL2);
	count |= (uint32_t)inb(PIT_CHANNEL2) << 8;
	return 0xffff - count;
}

static struct ref_clock hpet_clock = { .name = "HPET", .read = ref_hpet_read, .mask = UINT32_MAX };
static struct ref_clock pm_timer_clock = { .name = "PM timer",
					   .read = ref_pm_timer_read,
					   .hz = PM_TIMER_HZ };
static const struct ref_clock pit_clock = {
	.name = "PIT", .read = ref_pit_read, .mask = 0xffff, .hz = PIT_HZ
};

static bool ref_is_hpet_usable(void)
{
	uint64_t phys = acpi_info()->hpet_phys;
	uint32_t period_fs;

	if (!phys)
		return false;
	hpet = arch_map_device(phys, HPET_BYTES);
	if (!hpet)
		return false;
	period_fs = *ref_hpet_reg(HPET_CAPABILITIES + 4);
	if (period_fs == 0 || period_fs > HPET_MAX_PERIOD_FS)
		return false;
	hpet_clock.hz = FEMTOSECONDS_PER_S / period_fs;
	*ref_hpet_reg(HPET_CONFIG) |= HPET_CONFIG_ENABLE;
	return true;
}

static bool ref_is_pm_timer_usable(void)
{
	const struct acpi_info *info = acpi_info();
	uint32_t before, i;

	if (!info->pm_timer.addr || info->pm_timer.space != ACPI_SPACE_IO ||
	    info->pm_timer.addr > UINT16_MAX)
		return false;
	pm_timer_clock.mask = info->pm_timer_32bit ? UINT32_MAX : 0xffffffu;
	before = ref_pm_timer_read();
	for (i = 0; i < 1000; i++) {
		if (ref_pm_timer_read() != before)
			return true;
	}
	return false; /* it stands still */
}

static void ref_pit_start(void)
{
	outb(PORT_B, (uint8_t)((inb(PORT_B) & ~PORT_B_SPEAKER) | PORT_B_GATE2));
	outb(PIT_COMMAND, PIT_MODE0_CH2);
	outb(PIT_CHANNEL2, 0xff);
	outb(PIT_CHANNEL2, 0xff);
}

const struct ref_clock *ref_clock_find(void)
{
	if (ref_is_hpet_usable())
		return &hpet_clock;
	if (ref_is_pm_timer_usable())
		return &pm_timer_clock;
	ref_pit_start();
	return &pit_clock;
}

struct ref_sample ref_clock_sample(uint32_t (*read)(void))
{
	struct ref_sample best = { .width = UINT64_MAX };
	uint64_t before, after;
	uint32_t count;
	int i;

	for (i = 0; i < SAMPLES; i++) {
		before = rdtsc_ordered();
		count = read();
		after = rdtsc_ordered();
		if (after - before < best.width) {
			best.width = after - before;
			best.tsc = before + best.width / 2;
			best.count = count;
		}
	}
	return best;
}
