/*
 * Pictures of histograms besides Linux's text: bars, maps, folded stacks, their parts.
 */
#include "unit.h"
#include "hist_help.h"
#include "hist/hist_draw.h"

static void some_cargo(size_t bytes, unsigned int nr)
{
	while (nr--)
		trace_cargo(fake_func(SCHEDULE) + 4, bytes, (long)bytes, bytes);
}

/* Asked for once more, with a modifier, they are no column of their own. */
static void hits_are_drawn_once(void **state)
{
	char plain[4096];

	(void)state;
	add(CARGO, "hist:keys=bytes");
	some_cargo(60, 20);
	some_cargo(300, 200);
	snprintf(plain, sizeof(plain), "%s", entries_in(CARGO, "hist_picture"));
	clear(CARGO);
	add(CARGO, "hist:keys=bytes:vals=hitcount.percent");
	some_cargo(60, 20);
	some_cargo(300, 200);
	same(entries_in(CARGO, "hist_picture"), plain);
	assert_non_null(strstr(show_file(CARGO, "hist_debug"),
			       "fields[1]:\n      flags:\n        VAL: HIST_FIELD_FL_HITCOUNT\n"));
	clear(CARGO);
	add(CARGO, "hist:keys=bytes:vals=hitcount.percent,bytes:nohitcount");
	some_cargo(60, 20);
	some_cargo(300, 200);
	assert_non_null(strstr(entries_in(CARGO, "hist_picture"), "hitcount"));
}

/* Several of each size, in both styles. */
static void bars_of_a_scale(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=bytes.log2");
	some_cargo(0, 3);
	some_cargo(60, 20);
	some_cargo(300, 200);
	some_cargo(1u << 30, 77);
	same(entries_in(CARGO, "hist_picture"),
	     "       bytes  hitcount\n"
	     "      [0, 1] │▊                                                         3   1.0%\n"
	     "      (1, 2] │                                                          0   0.0%\n"
	     "      (2, 4] │                                                          0   0.0%\n"
	     "      (4, 8] │                                                          0   0.0%\n"
	     "     (8, 16] │                                                          0   0.0%\n"
	     "    (16, 32] │                                                          0   0.0%\n"
	     "    (32, 64] │█████▌                                                   20   6.6%\n"
	     "   (64, 128] │                                                          0   0.0%\n"
	     "  (128, 256] │                                                          0   0.0%\n"
	     "  (256, 512] │███████████████████████████████████████████████████████ 200  66.6%\n"
	     "           ⋮ ⋮ 20 more with nothing\n"
	     "  (512M, 1G] │█████████████████████▏                                   77  25.6%\n");
	same(entries_in(CARGO, "hist_ascii"),
	     "       bytes  hitcount\n"
	     "      [0, 1] |:                                                         3   1.0%\n"
	     "      (1, 2] |                                                          0   0.0%\n"
	     "      (2, 4] |                                                          0   0.0%\n"
	     "      (4, 8] |                                                          0   0.0%\n"
	     "     (8, 16] |                                                          0   0.0%\n"
	     "    (16, 32] |                                                          0   0.0%\n"
	     "    (32, 64] |#####:                                                   20   6.6%\n"
	     "   (64, 128] |                                                          0   0.0%\n"
	     "  (128, 256] |                                                          0   0.0%\n"
	     "  (256, 512] |####################################################### 200  66.6%\n"
	     "           : : 20 more with nothing\n"
	     "  (512M, 1G] |#####################                                    77  25.6%\n");
	clear(CARGO);
	add(CARGO, "hist:keys=bytes.buckets=10:sort=hitcount.descending");
	some_cargo(1000, 30);
	some_cargo(25, 20);
	some_cargo(109, 1);
	same(entries_in(CARGO, "hist_picture"),
	     "    bytes  hitcount\n"
	     "    20-29 │███████████████████████████████████████▎                    20  39.2%\n"
	     "    30-39 │                                                             0   0.0%\n"
	     "    40-49 │                                                             0   0.0%\n"
	     "    50-59 │                                                             0   0.0%\n"
	     "    60-69 │                                                             0   0.0%\n"
	     "    70-79 │                                                             0   0.0%\n"
	     "    80-89 │                                                             0   0.0%\n"
	     "    90-99 │                                                             0   0.0%\n"
	     "  100-109 │█▉                                                           1   1.9%\n"
	     "        ⋮ ⋮ 89 more with nothing\n"
	     "1000-1009 │███████████████████████████████████████████████████████████ 30  58.8%\n");
}

/* In the order of the histogram; what is too long loses its middle, what is odd is a `?`. */
static void bars_of_names(void **state)
{
	(void)state;
	add(LEAVE, "hist:keys=name:vals=id,time:sort=name.descending");
	trace_ship_leave(3, 12345678, "Erika");
	trace_ship_leave(-4, 8, "a-very-long-name-of-a-ship;\n\xc3\xa4");
	trace_ship_leave(1, 999999, "");
	same(entries_in(LEAVE, "hist_picture"),
	     "name              hitcount             id                   time\n"
	     "a-very-lon…p;??? │███████      1  33% │            -4   0% │▏            8   0%\n"
	     "Erika            │███████      1  33% │███████      3  75% │███████  12.3M  92%\n"
	     "                 │███████      1  33% │██▎          1  25% │▌       999999   7%\n");
	clear(LEAVE);
	add(LEAVE, "hist:keys=name,id,time:sort=name");
	trace_ship_leave(3, 12345678, "Erika");
	trace_ship_leave(-4, 8, "a-very-long-name-of-a-ship-that-does-not-end");
	same(entries_in(LEAVE, "hist_ascii"),
	     "name, id, time                                hitcount\n"
	     "Erika, 3, 12345678                           |######################### 1  50.0%\n"
	     "a-very-long-name-of-a-ship-t..not-end, -4, 8 |######################### 1  50.0%\n");
}

static void map_of_scales(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=nr.buckets=100,bytes.log2:vals=time");
	some_cargo(3, 300);
	some_cargo(70, 10);
	some_cargo(250, 9);
	some_cargo(260, 1);
	some_cargo(5000, 70);
	same(entries_in(CARGO, "hist_picture"),
	     "down: nr; across: bytes, up to; shades: hitcount\n"
	     "     0-99 │████                ▒▒▒▒                        │     310  79.4%\n"
	     "  100-199 │                                                │       0   0.0%\n"
	     "  200-299 │                        ▒▒▒▒░░░░                │      10   2.5%\n"
	     "        ⋮ ⋮ 47 more with nothing\n"
	     "5000-5099 │                                            ▓▓▓▓│      70  17.9%\n"
	     "          └┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───\n"
	     "           4   8   16  32  64  128 256 512 1K  2K  4K  8K\n"
	     "           from  ░ 1  ▒ 5  ▓ 25  █ 125 to 300\n"
	     "\n"
	     "down: nr; across: bytes, up to; shades: time\n"
	     "     0-99 │▓▓▓▓                ▓▓▓▓                        │    1600   0.4%\n"
	     "  100-199 │                                                │       0   0.0%\n"
	     "  200-299 │                        ▓▓▓▓▒▒▒▒                │    2510   0.7%\n"
	     "        ⋮ ⋮ 47 more with nothing\n"
	     "5000-5099 │                                            ████│  350000  98.8%\n"
	     "          └┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───\n"
	     "           4   8   16  32  64  128 256 512 1K  2K  4K  8K\n"
	     "           from  ░ 1  ▒ 25  ▓ 625  █ 15625 to 350000\n");
	same(entries_in(CARGO, "hist_ascii"),
	     "down: nr; across: bytes, up to; shades: hitcount\n"
	     "     0-99 |@@@@                ----                        |     310  79.4%\n"
	     "  100-199 |                                                |       0   0.0%\n"
	     "  200-299 |                        ----....                |      10   2.5%\n"
	     "        : : 47 more with nothing\n"
	     "5000-5099 |                                            ++++|      70  17.9%\n"
	     "          ++---+---+---+---+---+---+---+---+---+---+---+---\n"
	     "           4   8   16  32  64  128 256 512 1K  2K  4K  8K\n"
	     "           from  . 1  : 3  - 9  + 27  # 81  @ 243 to 300\n"
	     "\n"
	     "down: nr; across: bytes, up to; shades: time\n"
	     "     0-99 |++++                ----                        |    1600   0.4%\n"
	     "  100-199 |                                                |       0   0.0%\n"
	     "  200-299 |                        ++++----                |    2510   0.7%\n"
	     "        : : 47 more with nothing\n"
	     "5000-5099 |                                            @@@@|  350000  98.8%\n"
	     "          ++---+---+---+---+---+---+---+---+---+---+---+---\n"
	     "           4   8   16  32  64  128 256 512 1K  2K  4K  8K\n"
	     "           from  . 1  : 9  - 81  + 729  # 6561  @ 59049 to 350000\n");
}

/* The number goes across, whichever comes first; many of them share columns. */
static void map_of_names_and_numbers(void **state)
{
	(void)state;
	add(LEAVE, "hist:keys=id,name:sort=hitcount.descending");
	for (int i = 0; i < 300; i++)
		trace_ship_leave(i % 7 - 3, 0,
				 i % 11 < 3   ? "Anna"
				 : i % 11 < 7 ? "Berta"
					      : "Carla");
	trace_ship_leave(100000, 0, "Dora");
	same(entries_in(LEAVE, "hist_picture"),
	     "down: name; across: id; shades: hitcount\n"
	     "Berta │██████████████████████████████████████████      │     108  35.8%\n"
	     "Carla │██████████████████████████████████████████      │     108  35.8%\n"
	     "Anna  │██████████████████████████████████████████      │      84  27.9%\n"
	     "Dora  │                                          ▒▒▒▒▒▒│       1   0.3%\n"
	     "      └┬─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────\n"
	     "       -3    -2    -1    0     1     2     3     100000\n"
	     "       from  ▒ 1  ▓ 3  █ 9 to 16\n");
	for (int i = 0; i < 300; i++)
		trace_ship_leave(i * i, 0, i < 200 ? "Anna" : "Berta");
	same(entries_in(LEAVE, "hist_picture"),
	     "down: name; across: id, from; shades: hitcount\n"
	     "Anna  │▓█▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒                               │     284  47.2%\n"
	     "Berta │▓▓                   ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░▒░▒░▒░░      │     208  34.6%\n"
	     "Carla │▓▓                                                  │     108  17.9%\n"
	     "Dora  │                                                   ░│       1   0.1%\n"
	     "      └┬─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┬───\n"
	     "       -2000 10000 22000 34000 46000 58000 70000 82000 94000\n"
	     "       from  ░ 1  ▒ 4  ▓ 16  █ 64 to 93\n");
}

/* The most frequent have letters. */
static void map_of_names(void **state)
{
	(void)state;
	fake_thread_add(2, "cat");
	fake_thread_add(3, "a-thread-of-15");
	add(ARRIVE, "hist:keys=name,common_comm:sort=name");
	for (int i = 0; i < 60; i++) {
		fake_cpus[0].pid = 1 + i % 3;
		trace_ship_arrive(1, 0, i % 4 ? "Erika" : "Anna");
	}
	same(entries_in(ARRIVE, "hist_picture"),
	     "down: name; across: common_comm, see below; shades: hitcount\n"
	     "Anna  │▓▓▓▓▓▓▓▓▓│      15  25.0%\n"
	     "Erika │█████████│      45  75.0%\n"
	     "      └┬──┬──┬──\n"
	     "       a  b  c\n"
	     "       a a-thread-of-15  b cat  c init\n"
	     "       from  ░ 1  ▒ 2  ▓ 4  █ 8 to 15\n");
}

static void others(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=name,name");
	for (int i = 0; i < 900; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i % 30 + (i > 500));
		trace_ship_arrive(1, 0, name);
	}
	same(strstr(entries_in(ARRIVE, "hist_ascii"), "a 1  "),
	     "a 1  b 10  c 11  d 12  e 13  f 14  g 15  h 16  i 17  j 18  k 19  l 2\n"
	     "      m 20  n 22  o 23  p 24  q 25  r 26  s 27  t 28  u 29  v 3  w 4  x 5  y 6\n"
	     "      z 7  * all others\n"
	     "      from  : 1  - 2  + 4  # 8  @ 16 to 30\n");
}

static void stacks(void **state)
{
	(void)state;
	fake_stack_nr = 12;
	for (uint32_t i = 0; i < fake_stack_nr; i++)
		fake_stack[i] = trace_plat_ip_pack(fake_func(i % 4) + 4);
	add(LEAVE, "hist:keys=common_stacktrace,name:vals=id");
	trace_ship_leave(1, 1, "x;y\n");
	fake_stack_nr = 2;
	trace_ship_leave(40, 1, "Anna");
	trace_ship_leave(0, 1, "Anna");
	fake_stack_nr = 0;
	trace_ship_leave(-1, 1, "");
	same(entries_in(LEAVE, "hist_picture"),
	     "name  hitcount                              id\n"
	     "     │██████████████                1  25% │                             -1   0%\n"
	     "x;y? │██████████████                1  25% │▋                             1   2%\n"
	     "    schedule < yield < do_work < kfree < schedule < yield < do_work < kfree <\n"
	     "    schedule < yield < do_work < kfree\n"
	     "Anna │████████████████████████████  2  50% │████████████████████████████ 40  97%\n"
	     "    schedule < yield\n");
	same(show_file(LEAVE, "hist_folded"),
	     "# hist:keys=common_stacktrace,name:vals=hitcount,id:sort=hitcount:size=2048 "
	     "[active]\n"
	     "- 0\n"
	     "x:y?;kfree;do_work;yield;schedule;kfree;do_work;yield;schedule;kfree;do_work;yield;"
	     "schedule 1\n"
	     "Anna;yield;schedule 40\n");
}

/* No stack: the keys are the frames. What found no room is said, in a line that is no frame. */
static void folded_keys(void **state)
{
	const char *text;

	(void)state;
	add(CARGO, "hist:keys=nr,bytes.log2:size=128");
	some_cargo(5, 2);
	same(show_file(CARGO, "hist_folded"),
	     "# hist:keys=nr,bytes.log2:vals=hitcount:sort=hitcount:size=128 [active]\n"
	     "5;(4, 8] 2\n");
	for (size_t i = 10; i < 140; i++)
		some_cargo(i, 1);
	text = strchr(show_file(CARGO, "hist_folded"), '#');
	assert_string_equal(strstr(text, "\n# "),
			    "\n# 3 more events found no room: see size= in trigger\n");
}

static void several(void **state)
{
	const char *text;

	(void)state;
	assert_string_equal(show_file(CARGO, "hist_picture"),
			    "# No histogram is set here: write hist:keys=... to trigger.\n");
	assert_string_equal(show_file(CARGO, "hist_debug"), "");
	add(CARGO, "hist:keys=cpu");
	add(CARGO, "hist:keys=cpu,bytes");
	for (int round = 0; round < 2; round++) {
		text = show_file(CARGO, "hist_picture");
		assert_non_null(
			strstr(text, "\n    Hits: 0\n    Entries: 0\n    Dropped: 0\n\n\n# event"));
		text = strstr(text + 10, "# event histogram");
		assert_non_null(strstr(text, "keys=common_cpu,bytes:"));
		assert_null(strstr(text, "shades"));
		assert_string_equal(strchr(show_file(CARGO, "hist_folded"), '\n'),
				    "\n# hist:keys=common_cpu,bytes:vals=hitcount:sort=hitcount:"
				    "size=2048 [active]\n");
	}
	some_cargo(1, 1);
	assert_non_null(strstr(show_file(CARGO, "hist_picture"), "shades: hitcount\n"));
}

/* Do lines behind the head have at most 80 columns? */
static void fits(const char *text)
{
	const char *line = strstr(text, "#\n\n") + 3;
	size_t width = 0;

	for (text = line; *text; text++) {
		width += (*text & 0xc0) != 0x80;
		if (*text != '\n')
			continue;
		if (--width > HIST_LINE_WIDTH)
			fail_msg("%zu columns: %.*s", width, (int)(text - line), line);
		width = 0;
		line = text + 1;
	}
}

static void lines_fit(void **state)
{
	static const char *const texts[] = {
		"hist:keys=name",
		"hist:keys=name:vals=id,time",
		"hist:keys=id.log2:vals=time,id:nohitcount",
		"hist:keys=name,id",
		"hist:keys=time,id",
		"hist:keys=time.log2,id.buckets=1",
		"hist:keys=time.buckets=3,name:vals=id,time",
		"hist:keys=time,id,name",
		"hist:keys=id.hex,time.hex",
		"hist:keys=common_pid.execname,name",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		u64 random = 1;

		add(LEAVE, texts[i]);
		for (int j = 0; j < 700; j++) {
			static const char name[] = "of-many-characters-that-nobody-can-see-at-once";

			random = random * 6364136223846793005u + 1442695040888963407u;
			trace_ship_leave((int)(random >> 33) >> (random >> 59),
					 random >> (random >> 58),
					 name + (random >> 50) % sizeof(name));
		}
		fits(show_file(LEAVE, "hist_picture"));
		fits(show_file(LEAVE, "hist_ascii"));
		clear(LEAVE);
	}
}

static void no_memory(void **state)
{
	static const char *const files[] = { "hist_picture", "hist_ascii", "hist_folded",
					     "hist_debug" };

	(void)state;
	add(CARGO, "hist:keys=nr,bytes");
	some_cargo(1, 1);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (long budget = 0; budget < (i == 2 ? 1 : 2); budget++) {
			char path[64], bytes[64];
			struct trace_handle *handle;
			uint64_t pos = 0;

			snprintf(path, sizeof(path), CARGO "%s", files[i]);
			handle = open_file(path, TRACE_FS_READ);
			fake_alloc_budget = budget;
			assert_int_equal(trace_fs_read(handle, bytes, sizeof(bytes), &pos),
					 -ENOMEM);
			fake_alloc_budget = -1;
			assert_true(trace_fs_read(handle, bytes, sizeof(bytes), &pos) > 0);
			assert_int_equal(trace_fs_close(handle), 0);
		}
	}
}

static void check_number(struct hist_number how, uint64_t value, const char *want)
{
	char text[HIST_NUMBER_MAX + 1];
	struct trace_seq seq;

	trace_seq_init(&seq, text, HIST_NUMBER_MAX);
	trace_hist_draw_number(how, value, &seq);
	text[seq.len] = '\0';
	assert_string_equal(text, want);
	assert_true(!how.is_short || seq.len <= 7);
}

static void numbers(void **state)
{
	static const struct hist_number plain = { 0 }, is_short = { .is_short = true },
					is_signed = { true, true };

	(void)state;
	check_number(plain, UINT64_MAX, "18446744073709551615");
	check_number(is_short, 999999, "999999");
	check_number(is_short, 1000000, "1.0M");
	check_number(is_short, 999999999, "999.9M");
	check_number(is_short, UINT64_MAX, "18.4E");
	check_number(is_signed, (uint64_t)INT64_MIN, "-9.2E");
	check_number(is_signed, (uint64_t)-999999, "-999999");
}

/* The greatest value is the darkest, 1 the lightest of those in use, and none begins behind the end. */
static void shades(void **state)
{
	static const uint64_t maxima[] = { 1, 2, 3, 4, 15, 16, 17, 240, 1000000, UINT64_MAX };
	static const struct hist_style *const styles[] = { &trace_hist_style_utf8,
							   &trace_hist_style_ascii };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(maxima) / sizeof(maxima[0]); i++) {
		uint64_t max = maxima[i / 2];
		struct hist_shading shading = trace_hist_shading_for(styles[i % 2], max);

		assert_int_equal(trace_hist_shade_of(&shading, max), shading.style->nr_shades - 1);
		assert_int_equal(trace_hist_shade_of(&shading, 1), shading.first);
		for (uint32_t shade = shading.first; shade < shading.style->nr_shades; shade++) {
			uint64_t begin = trace_hist_shade_begin(&shading, shade);

			assert_true(begin <= max);
			assert_int_equal(trace_hist_shade_of(&shading, begin), shade);
			if (shade > shading.first)
				assert_int_equal(trace_hist_shade_of(&shading, begin - 1),
						 shade - 1);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, event_reset, hist_all_gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hits_are_drawn_once),
		TEST(bars_of_a_scale),
		TEST(bars_of_names),
		TEST(map_of_scales),
		TEST(map_of_names_and_numbers),
		TEST(map_of_names),
		TEST(others),
		TEST(stacks),
		TEST(folded_keys),
		TEST(several),
		TEST(lines_fit),
		TEST(no_memory),
		cmocka_unit_test(numbers),
		cmocka_unit_test(shades),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
