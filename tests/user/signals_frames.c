/*
 * signals_frames N: N children damage the frame of a handler, each in another way, and return from it. Some die
 * of that, others do not. The same children with the same N each time.
 */
#include "signals.h"

static unsigned long seed;
static unsigned int random_number(void)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned int)(seed >> 33);
}

static const unsigned long evil[] = {
	0,    ~0ul, 1ul << 47, ~0ul << 47, 0x7ffffffff000, 0xffffffff80000000, 0x8,   0x10,
	0x1b, 0x23, 0x2b,      0x33,	   1ul << 63,	   0x46505853,	       0x3202
};

static void damage(int sig, void *info, void *context)
{
	struct context *to = context;
	unsigned long *frame = (unsigned long *)to, *fpu = (unsigned long *)to->fpu;
	int nr = 1 + (int)(random_number() % 4);

	(void)sig;
	(void)info;
	while (nr--) {
		unsigned int where = random_number() % 4;
		unsigned long value = evil[random_number() % (sizeof(evil) / sizeof(evil[0]))];

		if (where == 0)
			fpu[random_number() % 72] = value; /* with the header of XSAVE */
		else if (where == 1)
			((unsigned char *)fpu)[464 + random_number() % 120] ^=
				(unsigned char)random_number();
		else if (where == 2)
			frame[random_number() % 38] = value;
		else
			((unsigned char *)frame)[random_number() % 304] ^=
				(unsigned char)random_number();
	}
}

static void hostile(int rounds)
{
	int status, nr_died = 0;

	for (int i = 0; i < rounds; i++) {
		long child = CALL0(NR_FORK);

		if (!child) {
			seed = (unsigned long)i * 7919 + 1;
			set(SIGUSR1, damage, 0);
			CALL1(NR_ALARM, 5);
			kill_self(SIGUSR1);
			sys_exit(0);
		}
		CHECK(wait_for(child, 0, &status) == child);
		nr_died += (status & 0x7f) != 0;
	}
	CHECK(nr_died && nr_died < rounds);
}

static int number_of(const char *text)
{
	int value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + *text++ - '0';
	return value;
}

void main_program(long *sp)
{
	hostile(number_of(((char **)(sp + 1))[1]));
	put("frames are right\n");
	sys_exit(0);
}
