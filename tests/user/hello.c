/* Says hello, prints its arguments, ends with the number of them. */
#include "nolib.h"

static int zeros[3000];

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1);
	long sum = 0;

	put("hello from a program\n");
	for (long i = 0; i < *sp; i++) {
		put(argv[i]);
		put("\n");
	}
	for (size_t i = 0; i < 3000; i++)
		sum += zeros[i];
	sys_exit((int)(*sp + sum));
}
