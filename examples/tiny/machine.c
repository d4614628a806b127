/* The machine, as far as this kernel knows it: see tiny.h. Interrupts stay off. */
#include <trace/arch_int3.h>
#include "tiny.h"

#define SERIAL	       0x3f8
#define SERIAL_STATUS  0x3fd
#define SERIAL_IS_FREE 0x20
#define QEMU_EXIT      0xf4 /* -device isa-debug-exit */

uint64_t ns_per_cycle;

static void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static uint8_t in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

void console_write(const char *text)
{
	for (; *text; text++) {
		while (!(in8(SERIAL_STATUS) & SERIAL_IS_FREE))
			continue;
		out8(SERIAL, (uint8_t)*text);
	}
}

void power_off(void)
{
	for (;;)
		out8(QEMU_EXIT, 0);
}

/* ---- The clock: how fast is the cycle counter? ---- */

#define PIT_PER_SECOND 1193182u
#define PIT_MS	       10u

/* Channel 2 of the timer counts down once. Port 0x61 lets it run, and shows when it is done. */
static void clock_init(void)
{
	uint32_t count = PIT_PER_SECOND * PIT_MS / 1000;
	uint64_t start;

	out8(0x61, (uint8_t)((in8(0x61) & ~2) | 1));
	out8(0x43, 0xb0);
	out8(0x42, (uint8_t)count);
	out8(0x42, (uint8_t)(count >> 8));
	start = __builtin_ia32_rdtsc();
	while (!(in8(0x61) & 0x20))
		continue;
	ns_per_cycle = (PIT_MS * 1000000ull << 32) / (__builtin_ia32_rdtsc() - start);
}

/* ---- #BP ---- */

struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_middle;
	uint32_t offset_high, zero;
};

static struct gate idt[4];

static void idt_init(void)
{
	uintptr_t entry = (uintptr_t)trace_int3_entry;
	struct __attribute__((packed)) {
		uint16_t limit;
		uintptr_t base;
	} pointer = { sizeof(idt) - 1, (uintptr_t)idt };

	idt[3] = (struct gate){ .offset_low = (uint16_t)entry,
				.offset_middle = (uint16_t)(entry >> 16),
				.selector = 8,
				.type = 0x8e /* an interrupt gate */ };
	__asm__ volatile("lidt %0" : : "m"(pointer));
}

void machine_init(void)
{
	clock_init();
	idt_init();
}

/* ---- Functions that compilers call, and the library too ---- */

void *memcpy(void *to, const void *from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);

void *memcpy(void *to, const void *from, size_t len)
{
	void *end = to;

	__asm__ volatile("rep movsb" : "+D"(end), "+S"(from), "+c"(len) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t len)
{
	if ((uintptr_t)to <= (uintptr_t)from)
		return memcpy(to, from, len);
	while (len--)
		((volatile uint8_t *)to)[len] = ((const uint8_t *)from)[len];
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	void *end = to;

	__asm__ volatile("rep stosb" : "+D"(end), "+c"(len) : "a"(byte) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t len)
{
	const uint8_t *x = a, *y = b;

	for (; len; x++, y++, len--) {
		if (*x != *y)
			return *x - *y;
	}
	return 0;
}
