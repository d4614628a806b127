/* See loop.h. */
#define _GNU_SOURCE
#include "loop.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

int loop_run(void (*fn)(uint64_t rounds))
{
	static double ns[LOOP_CHUNKS];
	const char *name = getenv("PEER");
	FILE *out = fopen(getenv("PEER_OUT"), "a");
	cpu_set_t set;

	if (!name || !out)
		return 2;
	CPU_ZERO(&set);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	fn(LOOP_ROUNDS); /* warm */
	for (uint32_t i = 0; i < LOOP_CHUNKS; i++) {
		uint64_t begin = now_ns();

		fn(LOOP_ROUNDS);
		ns[i] = (double)(now_ns() - begin) / LOOP_ROUNDS;
	}
	for (uint32_t i = 0; i < LOOP_CHUNKS; i++)
		fprintf(out, "%s\t%.3f\n", name, ns[i]);
	return fclose(out) != 0;
}
