/* See mix.h. */
#include "mix.h"
#include <stdarg.h>
#include <string.h>

#define NR_WORDS 12u

uint64_t mix_leaf(uint64_t x)
{
	volatile uint64_t words[NR_WORDS];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < NR_WORDS; i++)
		words[i] = x >> i;
	for (uint32_t i = 0; i < NR_WORDS; i++)
		sum = sum * 31 + words[(i * 7) % NR_WORDS];
	return sum;
}

uint64_t mix_branches(uint64_t x)
{
	const char *text = "mix";
	uint64_t left = x;

	while (left > 3) {
		if (left & 1)
			x += left >> 2;
		else if (__builtin_popcountll(left) > 3)
			x = x << 7 | x >> 57;
		else
			x ^= left * 5;
		left /= 3;
	}
	/* loop, jrcxz and rep are rare in what compilers make. */
	__asm__ volatile("	mov $5, %%ecx\n"
			 "1:	add %%rcx, %0\n"
			 "	loop 1b\n"
			 "	jrcxz 2f\n"
			 "	inc %0\n"
			 "2:	mov $3, %%ecx\n"
			 "	rep lodsb\n"
			 "	movzbl %%al, %%eax\n"
			 "	add %%rax, %0\n"
			 : "+r"(x), "+S"(text)
			 :
			 : "rax", "rcx", "cc", "memory");
	return x + left;
}

static uint64_t mix_add(uint64_t x)
{
	return x + 11;
}

static uint64_t mix_turn(uint64_t x)
{
	return x << 3 | x >> 61;
}

static uint64_t (*volatile const mix_functions[])(uint64_t x) = { mix_add, mix_turn, mix_leaf };

uint64_t mix_calls(uint64_t x)
{
	for (uint32_t i = 0; i < sizeof(mix_functions) / sizeof(mix_functions[0]); i++)
		x = mix_functions[i](x) + mix_functions[(i + x) % 2](x);
	return x;
}

double mix_vectors(double x)
{
	double sum = 0.125, parts[4] = { x, x * 0.5, x - 3.25, 17.75 };

	for (uint32_t i = 0; i < 4; i++)
		sum += parts[i] * parts[3 - i] / 1.5;
	return sum < 0 ? -sum : sum;
}

double mix_sum(uint32_t nr, ...)
{
	double sum = 0;
	va_list args;

	va_start(args, nr);
	while (nr--)
		sum += va_arg(args, double);
	va_end(args);
	return sum;
}

uint64_t mix(uint64_t x)
{
	double sum = mix_sum(3, mix_vectors((double)(x % 1000)), 2.5, (double)(x % 7));
	uint64_t bits;

	memcpy(&bits, &sum, sizeof(bits));
	return bits ^ mix_leaf(mix_branches(x)) ^ mix_calls(x);
}
