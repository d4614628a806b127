/* Bytes that differ each time: see <kernel/random.h>. */
#include <stdatomic.h>
#include <arch/regs.h>
#include <kernel/random.h>
#include <kernel/string.h>

/* A counter with large steps, stirred by the time of each call, then mixed (splitmix64). */
uint64_t random_u64(void)
{
	static _Atomic uint64_t state;
	uint64_t mixed = atomic_fetch_add(&state, 0x9e3779b97f4a7c15ull) ^ rdtsc();

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ull;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
	return mixed ^ mixed >> 31;
}

void random_bytes(void *to, size_t bytes)
{
	char *next = to;

	while (bytes) {
		uint64_t value = random_u64();
		size_t part = bytes < sizeof(value) ? bytes : sizeof(value);

		memcpy(next, &value, part);
		next += part;
		bytes -= part;
	}
}
