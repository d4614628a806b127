/*
 * timerlats CPU TIMES: the thread of the tracer timerlat on that CPU. It reads osnoise/per_cpu/cpuCPU/timerlat_fd so many
 * times, or until a read fails, and prints how many did not, and the result of the last one.
 */
#include "nolib.h"

#define NR_CLOSE	     3
#define NR_SCHED_SETAFFINITY 203

static long number_of(const char *text)
{
	long number = 0;

	while (*text)
		number = number * 10 + *text++ - '0';
	return number;
}

void main_program(long *sp)
{
	static char path[] = "/sys/kernel/tracing/osnoise/per_cpu/cpu0/timerlat_fd";
	char **argv = (char **)(sp + 1), buffer[1024];
	unsigned long cpus = 1ul << number_of(argv[1]);
	long fd, nr = 0, times = number_of(argv[2]), last;

	CALL3(NR_SCHED_SETAFFINITY, 0, sizeof(cpus), &cpus);
	path[sizeof("/sys/kernel/tracing/osnoise/per_cpu/cpu") - 1] = argv[1][0];
	fd = last = CALL2(NR_OPEN, path, 0);
	while (fd >= 0 && nr < times) {
		last = CALL3(NR_READ, fd, buffer, sizeof(buffer));
		if (last < 0)
			break;
		nr++;
	}
	put_number(nr);
	put(" reads, the last: ");
	put_number(last);
	put("\n");
	CALL1(NR_CLOSE, fd);
	sys_exit(0);
}
