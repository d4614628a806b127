/*
 * bench [check]: the cost of an event in ns, measured on the processor that it runs on. All rows
 * run in turn, in short chunks, so that some chunk of each is not disturbed on a busy machine:
 * compare by the best. A row's figure has the loop and the call in it, which `site_off` is.
 *
 * With `check` chunks are few. Either way each row has to record as many events as it says, and
 * calls and returns have to pair up: see balance.h.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/ring_buffer.h>
#include "balance.h"
#include "process.h"
#include "target.h"
#include "users.h"

#define MAX_CHUNKS  600u
#define STEP_ROUNDS 20u
#define MAX_USERS   2u
#define SLOWER	    20u		  /* times fewer rounds of what takes that much longer */
#define RING_BYTES  (1408u << 10) /* as the tracers' */

static const struct amount {
	uint32_t turns;	 /* through all rows */
	uint32_t chunks; /* of a row in a turn */
	uint32_t rounds; /* in a chunk */
} full = { 30, 20, 10000 }, quick = { 2, 5, 1000 };

struct row {
	const char *name;
	const char *what;
	void (*run)(uint64_t rounds);
	struct user *users[MAX_USERS];
	bool has_int3;	/* by signals: it is slow, and cannot be stepped through */
	bool is_shared; /* the site calls the shared trampoline, because no other can be made */
	/* In a round: */
	uint32_t hits;	 /* calls of callbacks that count */
	uint32_t events; /* written to the rings */
	uint32_t wrong;	 /* returns that no processor can guess, because tracing changes them */
	/* The results: */
	struct balance balance;
	bool has_failed;
	double ns[MAX_CHUNKS];
	uint32_t nr;
};

static struct ring_buffer *ring;

/* ---- Rows ---- */

static void run_rdtsc(uint64_t rounds)
{
	while (rounds--) {
		uint64_t now = trace_plat_cycles();

		TRACE_OPAQUE(now);
	}
}

static void run_ring(uint64_t rounds)
{
	while (rounds--) {
		uint64_t *payload = ring_buffer_lock_reserve(ring, 16);

		if (!payload)
			continue;
		payload[0] = rounds;
		payload[1] = rounds;
		ring_buffer_unlock_commit(ring, payload);
	}
}

static void run_calls(uint64_t rounds)
{
	uint64_t x = 0;

	while (rounds--)
		x = target(x);
	TRACE_OPAQUE(x);
}

/* This one has no call site. */
static __attribute__((noinline)) uint64_t caller(uint64_t x)
{
	return target(x) + 1;
}

static void run_callers(uint64_t rounds)
{
	uint64_t x = 0;

	while (rounds--)
		x = caller(x);
	TRACE_OPAQUE(x);
}

static struct row rows[] = {
	{ "rdtsc", "the time stamp counter alone", run_rdtsc, .events = 0 },
	{ "ring_16", "ring buffer, reserve and commit 16 bytes", run_ring, .events = 1 },
	{ "site_off", "a call, the site is off (NOP)", run_calls, .events = 0 },
	{ "op_one", "one op whose callback counts", run_calls, .users = { &counter }, .hits = 1 },
	{ "ops_two", "two of them", run_calls, .users = { &counter, &counter_too }, .hits = 2 },
	{ "op_regs", "one, with full registers", run_calls, .users = { &counter_regs }, .hits = 1 },
	{ "ops_regs", "two, one of them with full registers", run_calls,
	  .users = { &counter, &counter_regs }, .hits = 2 },
	{ "ops_list", "two, through the shared trampoline", run_calls,
	  .users = { &counter, &counter_too }, .is_shared = true, .hits = 2 },
	{ "direct", "direct call", run_calls, .users = { &direct }, .hits = 1 },
	{ "direct_op", "direct call beside an op", run_calls, .users = { &direct, &counter },
	  .hits = 2 },
	{ "override", "one op that lets the call return at once", run_calls,
	  .users = { &overrider }, .hits = 1, .wrong = 1 },
	{ "func_event", "function tracer", run_calls, .users = { &function }, .events = 1 },
	{ "func_two", "two function tracers", run_calls, .users = { &function, &function_too },
	  .events = 2 },
	{ "graph_pair", "function_graph, entry and exit", run_calls, .users = { &graph },
	  .events = 2, .wrong = 1 },
	{ "graph_two", "two function_graph tracers", run_calls, .users = { &graph, &graph_too },
	  .events = 4, .wrong = 1 },
	{ "kprobe_site", "kprobe at the call site", run_calls, .users = { &probe_site },
	  .hits = 1 },
	{ "kprobe_jump", "kprobe in the function, by a jump", run_calls, .users = { &probe_jump },
	  .hits = 1 },
	{ "kprobe_int3", "kprobe there, by an int3, which is a signal", run_calls,
	  .users = { &probe_int3 }, .hits = 1, .has_int3 = true },
	{ "caller_off", "a call by a function that returns, too", run_callers, .events = 0 },
	{ "caller_graph", "the same, function_graph on the called one", run_callers,
	  .users = { &graph }, .events = 2, .wrong = 1 },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static uint64_t events_so_far(void)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(ring, 0, &stats);
	if (stats.dropped)
		die("events were dropped");
	return users_events() + stats.entries + stats.overrun;
}

static void time_chunk(struct row *row, uint32_t rounds)
{
	uint64_t begin = now_ns();

	row->run(rounds);
	row->ns[row->nr++] = (double)(now_ns() - begin) / rounds;
}

static void check_counts(struct row *row, uint64_t rounds, uint64_t events, uint64_t hits)
{
	if (events == rounds * row->events && hits == rounds * row->hits)
		return;
	printf("%s: %lu events and %lu calls of callbacks in %lu rounds\n", row->name,
	       (unsigned long)events, (unsigned long)hits, (unsigned long)rounds);
	row->has_failed = true;
}

static void check_balance(struct row *row)
{
	const struct balance *seen = &row->balance;

	if (seen->calls == seen->returns && seen->wrong == STEP_ROUNDS * row->wrong)
		return;
	printf("%s: %lu calls and %lu returns, %lu not to where the call was, in %u rounds\n",
	       row->name, (unsigned long)seen->calls, (unsigned long)seen->returns,
	       (unsigned long)seen->wrong, STEP_ROUNDS);
	row->has_failed = true;
}

/* The first turn steps through some rounds, too. Returns how many rounds there were. */
static uint64_t run_rounds(struct row *row, const struct amount *amount)
{
	uint32_t a_chunk = amount->rounds / (row->has_int3 ? SLOWER : 1);
	uint64_t rounds = (uint64_t)a_chunk * (amount->chunks + 1);

	if (!row->nr && !row->has_int3) {
		row->balance = balance_of(row->run, STEP_ROUNDS);
		check_balance(row);
		rounds += STEP_ROUNDS;
	}
	row->run(a_chunk); /* warm */
	for (uint32_t i = 0; i < amount->chunks; i++)
		time_chunk(row, a_chunk);
	return rounds;
}

static void run_row(struct row *row, const struct amount *amount)
{
	uint64_t events, hits = users_hits, rounds;

	text_has_room = !row->is_shared;
	for (uint32_t i = 0; i < MAX_USERS && row->users[i]; i++)
		user_start(row->users[i]);
	events = events_so_far(); /* not before: a tracer that starts empties its buffer */
	rounds = run_rounds(row, amount);
	check_counts(row, rounds, events_so_far() - events, users_hits - hits);
	for (uint32_t i = 0; i < MAX_USERS && row->users[i]; i++)
		user_stop(row->users[i]);
}

/* ---- Output ---- */

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void print_processor(void)
{
	char line[256], name[256] = "unknown processor";
	FILE *file = fopen("/proc/cpuinfo", "r");

	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "model name : %255[^\n]", name) != 1)
		;
	if (file)
		fclose(file);
	printf("%s, one CPU of it; ns for a round, with the loop and the call\n\n", name);
}

static void print_row(struct row *row)
{
	qsort(row->ns, row->nr, sizeof(row->ns[0]), compare);
	printf("| `%s` | %s | %.2f | %.2f | %u |", row->name, row->what, row->ns[0],
	       row->ns[row->nr / 2], row->events);
	if (row->has_int3)
		puts(" |");
	else
		printf(" %.1f |\n", (double)row->balance.wrong / STEP_ROUNDS);
}

/* Stay on the processor that we are on, if we are allowed to choose. */
static void stay_on_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	const struct amount *amount = argc > 1 && !strcmp(argv[1], "check") ? &quick : &full;
	uint32_t nr_failed = 0;

	if (!process_start()) {
		puts("this kernel has no core-sync barrier: skipped\n0 passed, 0 failed");
		return 0;
	}
	stay_on_cpu();
	users_init();
	ring = ring_buffer_alloc(RING_BYTES, RING_BUFFER_OVERWRITE);
	if (!ring)
		die("no ring");
	for (uint32_t turn = 0; turn < amount->turns; turn++)
		for (uint32_t i = 0; i < NR_ROWS; i++)
			run_row(&rows[i], amount);
	print_processor();
	puts("| name | what | best | median | events | returns not guessed |");
	puts("|---|---|---|---|---|---|");
	for (uint32_t i = 0; i < NR_ROWS; i++) {
		print_row(&rows[i]);
		nr_failed += rows[i].has_failed;
	}
	printf("\n%u passed, %u failed\n", (uint32_t)NR_ROWS - nr_failed, nr_failed);
	return nr_failed != 0;
}
