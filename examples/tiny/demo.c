/* The traced code: see tiny.h. The attribute keeps the compiler from inlining. */
#include "tiny.h"

__attribute__((noinline)) static unsigned int square(unsigned int n)
{
	return n * n;
}

__attribute__((noinline)) static unsigned int cube(unsigned int n)
{
	return square(n) * n;
}

__attribute__((noinline)) static unsigned int sum_of_cubes(unsigned int n)
{
	unsigned int sum = 0;

	for (unsigned int i = 1; i <= n; i++)
		sum += cube(i);
	return sum;
}

__attribute__((noinline)) static unsigned int sum(unsigned int n)
{
	return n * (n + 1) / 2;
}

bool demo(unsigned int n)
{
	return sum_of_cubes(n) == square(sum(n));
}
