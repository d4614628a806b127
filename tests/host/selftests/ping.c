/* ping ADDRESS -c N, as Linux's self-tests call it: a program of this name sleeps and wakes N times. The kernel has no sockets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	int nr = argc == 4 && strcmp(argv[2], "-c") == 0 ? atoi(argv[3]) : 0;

	if (nr < 1) {
		fprintf(stderr, "usage: ping ADDRESS -c N\n");
		return 2;
	}
	while (nr--)
		nanosleep(&pause, NULL);
	return 0;
}
