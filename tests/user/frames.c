/* Writes a line three functions deep and sleeps, so that its memory can be looked at. */
#include "nolib.h"

#define NR_NANOSLEEP 35
static __attribute__((noinline)) void inner(void)
{
	put("from inner\n");
	__asm__ volatile("");
}

static __attribute__((noinline)) void middle(void)
{
	inner();
	__asm__ volatile("");
}

static __attribute__((noinline)) void outer(void)
{
	middle();
	__asm__ volatile("");
}

void main_program(long *sp)
{
	long time[2] = { 1, 0 };

	(void)sp;
	outer();
	CALL2(NR_NANOSLEEP, time, 0);
	sys_exit(0);
}
