/*
 * anywhere ROUNDS BEGIN END: a program with the C library, to be linked for any place. When something is written into the pipe BEGIN, it runs
 * one function that stays in the program and one that calls the library, in turn. Then it writes into the pipe END where they lie.
 */
#include <stdio.h>
#include <stdlib.h>

#define DEEP __attribute__((noinline))

DEEP void in_program(long nr)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(nr) : : "cc", "memory");
}

DEEP void in_library(long nr)
{
	while (nr-- > 0)
		random();
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	FILE *begin = fopen(argv[2], "r");

	if (!begin || fgetc(begin) == EOF)
		return 1;
	for (long rounds = atol(argv[1]); rounds > 0; rounds--) {
		in_program(40000);
		in_library(2000);
	}
	FILE *end = fopen(argv[3], "w");

	if (!end)
		return 1;
	fprintf(end, "in_program=%p in_library=%p random=%p\n", (void *)in_program,
		(void *)in_library, (void *)random);
	fclose(end);
	return 0;
}
