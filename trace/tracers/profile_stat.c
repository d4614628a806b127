/*
 * Statistics of the function profiler as text: see profile.h.
 *
 *   s^2 = (sum of squares - (sum)^2 / n) / (n - 1)     in 128 bits: no table's numbers overflow
 */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "profile.h"
#include "text/str.h"

#define NAME_WIDTH 30
#define NS_PER_US  1000u

typedef unsigned __int128 u128;

static size_t count_records(const struct profile_table *table)
{
	size_t nr = 0;

	for (uint32_t i = 0; i <= table->mask; i++)
		nr += table->rec[i].hits != 0;
	return nr;
}

static void copy(struct profile_stat *stat, const struct profile_rec *rec)
{
	*stat = (struct profile_stat){
		.ip = rec->ip, .hits = rec->hits, .time_ns = rec->time_ns, .square = rec->square
	};
}

/* The most time comes first, as on Linux; with the same time more hits, then the lower address. */
static bool is_before(const struct profile_stat *a, const struct profile_stat *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns;
	if (a->hits != b->hits)
		return a->hits > b->hits;
	return a->ip < b->ip;
}

/*
 * A step of heap sort: let `at` sink in the heap of the first `nr`, whose top is the last in order.
 */
static void profile_stat_sift_down(struct profile_stat *stat, size_t at, size_t nr)
{
	for (size_t child; (child = 2 * at + 1) < nr; at = child) {
		struct profile_stat swap = stat[at];

		if (child + 1 < nr && is_before(&stat[child], &stat[child + 1]))
			child++;
		if (!is_before(&stat[at], &stat[child]))
			return;
		stat[at] = stat[child];
		stat[child] = swap;
	}
}

static void sort(struct profile_stat *stat, size_t nr)
{
	for (size_t i = nr / 2; i > 0; i--)
		profile_stat_sift_down(stat, i - 1, nr);
	for (; nr > 1; nr--) {
		struct profile_stat last = stat[0];

		stat[0] = stat[nr - 1];
		stat[nr - 1] = last;
		profile_stat_sift_down(stat, 0, nr - 1);
	}
}

int trace_profile_stats_create(struct profile_stats *stats, const struct profile_table *table)
{
	size_t room;

	*stats = (struct profile_stats){ 0 };
	if (!table)
		return 0;
	room = count_records(table);
	stats->dropped = table->dropped;
	if (!room)
		return 0;
	stats->bytes = room * sizeof(*stats->stat);
	stats->stat = trace_plat_alloc(stats->bytes);
	if (!stats->stat)
		return -ENOMEM;
	/* Functions that were claimed since the memory was allocated are left out. */
	for (uint32_t i = 0; i <= table->mask && stats->nr < room; i++) {
		if (table->rec[i].hits)
			copy(&stats->stat[stats->nr++], &table->rec[i]);
	}
	sort(stats->stat, stats->nr);
	return 0;
}

void trace_profile_stats_free(struct profile_stats *stats)
{
	if (stats->stat)
		trace_plat_free(stats->stat, stats->bytes);
	*stats = (struct profile_stats){ 0 };
}

/* Divides bit by bit, for 128-bit division needs a library function. `divisor` is not 0. */
static u128 profile_stat_divide(u128 value, u128 divisor, bool *out_has_rest)
{
	u128 quotient = 0, rest = 0;

	for (int bit = 127; bit >= 0; bit--) {
		bool carry = rest >> 127;

		rest = rest << 1 | (value >> bit & 1);
		if (carry || rest >= divisor) {
			rest -= divisor;
			quotient |= (u128)1 << bit;
		}
	}
	*out_has_rest = rest != 0;
	return quotient;
}

uint64_t trace_profile_variance(const struct profile_stat *stat)
{
	u128 squares = (u128)stat->square.hi << 64 | stat->square.lo;
	u128 mean_square, variance;
	bool has_rest;

	if (stat->hits < 2)
		return 0;
	/* The quotient is rounded up here, so that the difference is rounded down. */
	mean_square =
		profile_stat_divide((u128)stat->time_ns * stat->time_ns, stat->hits, &has_rest);
	mean_square += has_rest;
	if (squares < mean_square)
		return 0; /* the sums were read while a call was being added */
	variance = profile_stat_divide(squares - mean_square, (u128)(stat->hits - 1) * NS_PER_US,
				       &has_rest);
	return variance >> 64 ? UINT64_MAX : (uint64_t)variance;
}

void trace_profile_stat_head(struct trace_seq *seq)
{
	trace_seq_puts(seq, "  Function                               Hit    "
			    "Time            Avg             s^2\n"
			    "  --------                               ---    "
			    "----            ---             ---\n");
}

void trace_profile_stat_line(struct trace_seq *seq, const struct profile_stat *stat)
{
	uintptr_t ip = trace_plat_ip_unpack(stat->ip), start;
	char name[TRACE_SYM_LEN];
	size_t size;

	if (!trace_plat_symbol(ip, name, &start, &size))
		trace_scnprintf(name, sizeof(name), "0x%lx", (unsigned long)ip);
	trace_seq_printf(seq, "  %-*.*s  %10llu    ", NAME_WIDTH, NAME_WIDTH, name,
			 (unsigned long long)stat->hits);
	trace_seq_duration(seq, stat->time_ns);
	trace_seq_puts(seq, "    ");
	trace_seq_duration(seq, stat->time_ns / stat->hits);
	trace_seq_puts(seq, "    ");
	trace_seq_duration(seq, trace_profile_variance(stat));
	trace_seq_putc(seq, '\n');
}
