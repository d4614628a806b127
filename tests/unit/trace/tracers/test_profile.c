/*
 * Tables and statistics of the function profiler: claims, nesting, full tables, sorting, s^2, and
 * lines byte for byte as Linux 6.1 printed them.
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <trace/trace_seq.h>
#include "fake/fake.h"
#include "tracers/profile.h"

typedef unsigned __int128 u128;

static struct profile_table *table;
static char text[4096];

/* The profiler keeps its tables. */
static void free_table(struct profile_table *unused)
{
	trace_plat_free(unused, unused->bytes);
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	table = trace_profile_table_create(0, 100);
	assert_non_null(table);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free_table(table);
	assert_int_equal(fake_alloc_out, 0);
	return 0;
}

static void hit(uint32_t ip, uint64_t ns)
{
	struct profile_rec *rec = trace_profile_table_claim(table, ip);

	assert_non_null(rec);
	trace_plat_local_add(&rec->hits, 1);
	profile_rec_add(rec, ns);
}

static const char *line_of(const struct profile_stat *stat)
{
	struct trace_seq seq;

	memset(text, 0, sizeof(text));
	trace_seq_init(&seq, text, sizeof(text) - 1);
	trace_profile_stat_line(&seq, stat);
	return text;
}

static const char *duration(uint64_t ns)
{
	struct trace_seq seq;

	memset(text, 0, sizeof(text));
	trace_seq_init(&seq, text, sizeof(text) - 1);
	trace_seq_duration(&seq, ns);
	return text;
}

static void durations(void **state)
{
	(void)state;
	assert_string_equal(duration(0), "0.000 us    ");
	assert_string_equal(duration(7), "0.007 us    ");
	assert_string_equal(duration(48283), "48.283 us   ");
	assert_string_equal(duration(337999), "337.999 us  ");
	assert_string_equal(duration(7729314), "7729.314 us ");
	assert_string_equal(duration(25466879), "25466.87 us ");
	assert_string_equal(duration(131398399), "131398.3 us ");
	assert_string_equal(duration(999999999), "999999.9 us ");
	assert_string_equal(duration(1799236999), "1799236 us  ");
	assert_string_equal(duration(36062247001), "36062247 us ");
	assert_string_equal(duration(UINT64_MAX), "18446744073709551 us ");
}

static void finds_what_was_claimed(void **state)
{
	(void)state;
	for (uint32_t ip = 1; ip <= 100; ip++) {
		assert_null(trace_profile_table_find(table, ip * 4096));
		hit(ip * 4096, ip);
	}
	for (uint32_t ip = 1; ip <= 100; ip++) {
		struct profile_rec *rec = trace_profile_table_find(table, ip * 4096);

		assert_non_null(rec);
		assert_int_equal(rec->hits, 1);
		assert_int_equal(rec->time_ns, ip);
		assert_ptr_equal(rec, trace_profile_table_claim(table, ip * 4096));
	}
	assert_int_equal(table->nr, 100);
	trace_profile_table_reset(table);
	assert_null(trace_profile_table_find(table, 4096));
	assert_int_equal(table->nr, 0);
}

/* The search ends however full it is, and every call that found no room is counted. */
static void full_table_counts_what_it_drops(void **state)
{
	uint32_t max = table->max;

	(void)state;
	for (uint32_t ip = 1; ip <= max; ip++)
		hit(ip, 1);
	for (uint32_t ip = 1; ip <= 5; ip++)
		assert_null(trace_profile_table_claim(table, max + ip));
	hit(1, 1); /* known ones are still counted */
	assert_int_equal(table->dropped, 5);
	assert_int_equal(table->nr, max);
}

static void smaller_when_memory_is_short(void **state)
{
	struct profile_table *big, *small;

	(void)state;
	big = trace_profile_table_create(0, 40000);
	assert_true(big->max >= 40000);
	free_table(big);
	fake_alloc_max_bytes = 1 << 20;
	small = trace_profile_table_create(0, 40000);
	assert_non_null(small);
	assert_in_range(small->max, 5000, 39999);
	free_table(small);
	fake_alloc_max_bytes = 0;
	fake_alloc_budget = 0;
	assert_null(trace_profile_table_create(0, 100));
	fake_alloc_budget = -1;
}

/* One square alone may need more than 64 bits. */
static void squares_carry(void **state)
{
	struct profile_rec *rec;
	u128 want = 0;

	(void)state;
	for (uint64_t ns = UINT64_MAX; ns > UINT64_MAX >> 3; ns = ns / 2 + 12345) {
		hit(64, ns);
		want += (u128)ns * ns;
		if (ns < UINT64_MAX / 2)
			break;
	}
	rec = trace_profile_table_find(table, 64);
	assert_int_equal(rec->square.lo, (uint64_t)want);
	assert_int_equal(rec->square.hi, (uint64_t)(want >> 64));
}

/* 1 / (n (n - 1)) * (n * sum of squares - sum^2), as far as the host can compute it at once. */
static void variance_is_exact(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 2000; round++) {
		struct profile_stat stat = { .hits = 2 + (uint64_t)rand() % 50 };
		uint64_t max = 1ull << (rand() % 40 + 1);
		u128 squares = 0, want;

		for (uint64_t i = 0; i < stat.hits; i++) {
			uint64_t ns = ((uint64_t)rand() << 31 | (uint64_t)rand()) % max;

			stat.time_ns += ns;
			squares += (u128)ns * ns;
		}
		stat.square.lo = (uint64_t)squares;
		stat.square.hi = (uint64_t)(squares >> 64);
		want = stat.hits * squares - (u128)stat.time_ns * stat.time_ns;
		want /= (u128)stat.hits * (stat.hits - 1) * 1000;
		assert_int_equal(trace_profile_variance(&stat),
				 want >> 64 ? UINT64_MAX : (uint64_t)want);
	}
}

static void variance_at_the_edges(void **state)
{
	struct profile_stat stat = { .hits = 1, .time_ns = 5, .square = { 25, 0 } };

	(void)state;
	assert_int_equal(trace_profile_variance(&stat), 0);
	/* Torn: the square of the last call is missing. */
	stat = (struct profile_stat){ .hits = 2, .time_ns = 100, .square = { 100, 0 } };
	assert_int_equal(trace_profile_variance(&stat), 0);
	/* Two calls of 584 years and of nothing: does not fit. */
	stat = (struct profile_stat){ .hits = 2,
				      .time_ns = UINT64_MAX,
				      .square = { 1, UINT64_MAX - 1 } };
	assert_int_equal(trace_profile_variance(&stat), UINT64_MAX);
	/* Linux overflows here: 3000 calls of 10 and of 20 s in turn. */
	stat = (struct profile_stat){ .hits = 6000, .time_ns = 90000000000000ull };
	stat.square.lo = (uint64_t)((u128)3000 * 5 * 100000000000000000ull * 1000);
	stat.square.hi = (uint64_t)(((u128)3000 * 5 * 100000000000000000ull * 1000) >> 64);
	assert_int_equal(trace_profile_variance(&stat), 25004167361226871ull);
}

static void line_as_linux_prints_it(void **state)
{
	static const char *const names[] = { "schedule", "schedule_timeout_uninterruptible" };
	struct profile_stat stat = { .hits = 3, .time_ns = 17194790, .square = { 0, 0 } };

	(void)state;
	fake_text_build(names, 2);
	stat.ip = trace_plat_ip_pack(fake_func(0));
	assert_string_equal(line_of(&stat), "  schedule                                 3    "
					    "17194.79 us     5731.596 us     0.000 us    \n");
	stat.ip = trace_plat_ip_pack(fake_func(1));
	stat.hits = 12345678901;
	assert_string_equal(line_of(&stat), "  schedule_timeout_uninterruptib  12345678901    "
					    "17194.79 us     0.000 us        0.000 us    \n");
	stat.ip = 0x80001234;
	stat.hits = 1;
	assert_memory_equal(line_of(&stat), "  0xffffffff80001234                       1    ", 48);
}

static void sorted_by_time(void **state)
{
	struct profile_stats stats;

	(void)state;
	assert_int_equal(trace_profile_stats_create(&stats, NULL), 0);
	assert_int_equal(stats.nr, 0);
	srand(2);
	for (uint32_t ip = 1; ip <= 90; ip++)
		hit(ip << 8, (uint64_t)rand() % 40);
	hit(1 << 8, 0);
	trace_profile_table_claim(table, 99 << 8); /* no call of it was counted */
	table->dropped = 7;
	assert_int_equal(trace_profile_stats_create(&stats, table), 0);
	assert_int_equal(stats.nr, 90);
	assert_int_equal(stats.dropped, 7);
	for (size_t i = 1; i < stats.nr; i++) {
		const struct profile_stat *a = &stats.stat[i - 1], *b = &stats.stat[i];

		assert_true(a->time_ns >= b->time_ns);
		if (a->time_ns == b->time_ns)
			assert_true(a->hits > b->hits || (a->hits == b->hits && a->ip < b->ip));
	}
	trace_profile_stats_free(&stats);
	fake_alloc_budget = 0;
	assert_int_equal(trace_profile_stats_create(&stats, table), -ENOMEM);
	fake_alloc_budget = -1;
	trace_profile_stats_free(&stats);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(durations),
		TEST(finds_what_was_claimed),
		TEST(full_table_counts_what_it_drops),
		TEST(smaller_when_memory_is_short),
		TEST(squares_carry),
		TEST(variance_is_exact),
		TEST(variance_at_the_edges),
		TEST(line_as_linux_prints_it),
		TEST(sorted_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
