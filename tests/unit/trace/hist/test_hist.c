/*
 * Histograms: what is counted for every kind of key and value, the texts of `trigger` and `hist`,
 * and what is said about mistakes.
 */
#include "unit.h"
#include "allocations.h"
#include "hist_help.h"

static void some_cargo(void)
{
	static const struct {
		size_t func, bytes;
		long nr;
	} rows[] = { { DO_WORK, 0, 60 },  { DO_WORK, 1, 60 },	{ KFREE, 64, 1 },
		     { KFREE, 4096, -1 }, { SCHEDULE, 127, 3 }, { SCHEDULE, 128, 3 },
		     { YIELD, 100, 7 },	  { YIELD, 100, 8 },	{ YIELD, 100, 9 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_cargo(fake_func(rows[i].func) + 4, rows[i].bytes, rows[i].nr, i);
}

/* Nothing is recorded in the trace: the event is off. */
static void whole_file(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=bytes");
	some_cargo();
	assert_string_equal(trigger(CARGO),
			    "hist:keys=bytes:vals=hitcount:sort=hitcount:size=2048 [active]\n");
	assert_string_equal(show(CARGO),
			    "# event histogram\n#\n# trigger info: "
			    "hist:keys=bytes:vals=hitcount:sort=hitcount:size=2048 "
			    "[active]\n#\n\n"
			    "{ bytes:          0 } hitcount:          1\n"
			    "{ bytes:          1 } hitcount:          1\n"
			    "{ bytes:         64 } hitcount:          1\n"
			    "{ bytes:        127 } hitcount:          1\n"
			    "{ bytes:        128 } hitcount:          1\n"
			    "{ bytes:       4096 } hitcount:          1\n"
			    "{ bytes:        100 } hitcount:          3\n"
			    "\nTotals:\n    Hits: 9\n    Entries: 7\n    Dropped: 0\n");
	assert_string_equal(cat_body("trace"), "");
	assert_string_equal(cat("events/harbour/cargo/enable"), "0*\n");
	add(CARGO, "!hist:keys=bytes");
	assert_string_equal(show(CARGO), "");
	assert_string_equal(cat("events/harbour/cargo/enable"), "0\n");
}

static void number_keys(void **state)
{
	char want[600];

	(void)state;
	add(CARGO, "hist:keys=bytes.hex");
	some_cargo();
	assert_non_null(strstr(show(CARGO), "{ bytes: 1000 } hitcount:          1\n"));
	add(CARGO, "!hist:keys=bytes.hex");
	add(CARGO, "hist:keys=bytes.log2");
	some_cargo();
	assert_string_equal(entries(CARGO), "{ bytes: ~ 2^6  } hitcount:          1\n"
					    "{ bytes: ~ 2^12 } hitcount:          1\n"
					    "{ bytes: ~ 2^0  } hitcount:          2\n"
					    "{ bytes: ~ 2^7  } hitcount:          5\n");
	add(CARGO, "!hist:keys=bytes.log2");
	add(CARGO, "hist:keys=bytes.buckets=100");
	some_cargo();
	assert_string_equal(entries(CARGO), "{ bytes: ~ 4000-4099 } hitcount:          1\n"
					    "{ bytes: ~ 0-99 } hitcount:          3\n"
					    "{ bytes: ~ 100-199 } hitcount:          5\n");
	assert_non_null(strstr(trigger(CARGO), "hist:keys=bytes.buckets=100:vals"));
	add(CARGO, "!hist:keys=bytes.buckets=100");
	add(CARGO, "hist:keys=bytes.buckets=64:vals=bytes");
	some_cargo();
	assert_string_equal(entries(CARGO),
			    "{ bytes: ~ 128-191 } hitcount:          1  bytes:        128\n"
			    "{ bytes: ~ 4096-4159 } hitcount:          1  bytes:       4096\n"
			    "{ bytes: ~ 0-63 } hitcount:          2  bytes:          1\n"
			    "{ bytes: ~ 64-127 } hitcount:          5  bytes:        491\n");
	add(CARGO, "!hist:keys=bytes.buckets=64:vals=bytes");
	add(CARGO, "hist:keys=func.sym:sort=func");
	some_cargo();
	snprintf(want, sizeof(want), "{ func: [%lx] %-45s } hitcount:          2\n",
		 fake_func(SCHEDULE) + 4, "schedule");
	assert_memory_equal(entries(CARGO), want, strlen(want));
	add(CARGO, "!hist:keys=func.sym:sort=func");
	add(CARGO, "hist:keys=func.sym-offset,nr.syscall:sort=func");
	some_cargo();
	snprintf(want, sizeof(want), "{ func: [%lx] %-55s, nr: %-30s[  3] } hitcount:          2\n",
		 fake_func(SCHEDULE) + 4, "schedule+0x4/0x10", "unknown_syscall");
	assert_memory_equal(entries(CARGO), want, strlen(want));
}

/* Signed numbers are sorted as such, and shown as Linux shows them. */
static void every_width(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g" };
	static const unsigned long long wants[] = { -2ull, 254,	       -2ull, 65534,
						    -2ull, 4294967294, -2ull };
	char text[80], want[200];

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		const char *name = names[i];

		snprintf(text, sizeof(text), "hist:keys=%s:vals=%s,g:sort=%s", name, name, name);
		add(WIDTHS, text);
		trace_widths(-2, "");
		trace_widths(-2, "");
		snprintf(want, sizeof(want),
			 "{ %s: %10llu } hitcount:          2  %s: %10llu  g: %10llu\n", name,
			 wants[i], name, 2 * wants[i], -4ull);
		assert_string_equal(entries(WIDTHS), want);
		clear(WIDTHS);
		snprintf(text, sizeof(text), "hist:keys=%s:sort=%s", name, name);
		add(WIDTHS, text);
		trace_widths(5, "");
		trace_widths(-2, "");
		snprintf(want, sizeof(want), "{ %s: %10llu }", name, i % 2 ? 5 : wants[i]);
		assert_memory_equal(entries(WIDTHS), want, strlen(want));
		clear(WIDTHS);
	}
}

static void text_keys(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=name");
	trace_ship_arrive(1, 0, "Erika");
	trace_ship_arrive(1, 0, "Eight888");
	trace_ship_arrive(1, 0, "Erika");
	trace_ship_arrive(1, 0, "sixteen-letters-");
	trace_ship_arrive(1, 0, "");
	assert_string_equal(entries(ARRIVE), "{ name:                                              "
					     "      } hitcount:          1\n"
					     "{ name: Eight888                                     "
					     "      } hitcount:          1\n"
					     "{ name: sixteen-letters                              "
					     "      } hitcount:          1\n"
					     "{ name: Erika                                        "
					     "      } hitcount:          2\n");
	add(LEAVE, "hist:keys=name,id");
	trace_ship_leave(1, 0, "Eight888");
	trace_ship_leave(2, 0, "Eight888");
	trace_ship_leave(2, 0, "Eight888");
	trace_ship_leave(1, 0, "");
	assert_string_equal(entries(LEAVE),
			    "{ name:                                                   , id:     "
			    "     1 } hitcount:          1\n"
			    "{ name: Eight888                                          , id:     "
			    "     1 } hitcount:          1\n"
			    "{ name: Eight888                                          , id:     "
			    "     2 } hitcount:          2\n");
	add(WIDTHS, "hist:keys=text,bytes.string");
	trace_widths(1, "anchor");
	assert_string_equal(entries(WIDTHS),
			    "{ text: anchor                                            , bytes: "
			    "xxxxx           "
			    "                                   } hitcount:          1\n");
	add(WIDTHS, "hist:keys=e,relative");
	trace_widths(1, "anchor");
	assert_non_null(strstr(show(WIDTHS), "{ e:          1, relative: anchor    "));
	add(WIDTHS, "hist:keys=eight");
	trace_widths(1, "sevens7");
	assert_non_null(strstr(show(WIDTHS), "{ eight: sevens7   "));
}

/* Longer ones are cut: the first 255 letters count. */
static void long_texts(void **state)
{
	char name[300], want[400];

	(void)state;
	memset(name, 'n', sizeof(name));
	add(LEAVE, "hist:keys=name");
	for (size_t len = 250; len < sizeof(name); len++) {
		name[len] = '\0';
		trace_ship_leave(1, 0, name);
		name[len] = 'n';
	}
	name[255] = '\0';
	snprintf(want, sizeof(want), "{ name: %s } hitcount:         45\n", name);
	assert_non_null(strstr(entries(LEAVE), want));
	assert_non_null(strstr(show(LEAVE), "    Entries: 6\n"));
}

/* Names of each length, three threads, two CPUs, more keys than a small table has room for. */
static void many_ships(void)
{
	for (uint32_t i = 0; i < 600; i++) {
		char name[17] = "a-longer-name---";

		name[i * 7 % 17] = '\0';
		name[0] = (char)('a' + i % 3);
		fake_cpus[0].pid = (int32_t)(i % 3);
		trace_ship_arrive((int)(i % 11) - 5, i % 300, name);
	}
	fake_cpus[0].pid = 1;
}

/* The histogram's text, with its totals. */
static void count_ships(const char *hist, char *out, size_t size)
{
	char line[128];

	add(ARRIVE, hist);
	many_ships();
	snprintf(out, size, "%s", strstr(show(ARRIVE), "#\n\n"));
	snprintf(line, sizeof(line), "!%s", hist);
	add(ARRIVE, line);
}

/* A variable without readers makes no difference, but that it is counted by the general way. */
static void simple_ways_count_the_same(void **state)
{
	static const char *const hists[] = {
		"keys=id",
		"keys=id:vals=id",
		"keys=id:vals=time,id",
		"keys=time",
		"keys=time:size=128",
		"keys=time:vals=id:size=128",
		"keys=common_pid",
		"keys=common_pid:vals=id",
		"keys=id:vals=common_pid,cpu",
		"keys=cpu",
		"keys=cpu:vals=id",
		"keys=id,common_pid",
		"keys=id,time:size=128",
		"keys=cpu,id:vals=id,time",
		"keys=id,common_pid,cpu",
		"keys=time,id,common_pid:size=128",
		"keys=cpu,common_pid,id:vals=id",
		"keys=name",
		"keys=name:vals=id,time",
		"keys=common_type,id",
	};
	static char simple[65536], general[65536];
	char hist[128];

	(void)state;
	for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++) {
		snprintf(hist, sizeof(hist), "hist:%s", hists[i]);
		count_ships(hist, simple, sizeof(simple));
		assert_true(strlen(simple) < sizeof(simple) - 1);
		snprintf(hist, sizeof(hist), "hist:%s:unused=id", hists[i]);
		count_ships(hist, general, sizeof(general));
		assert_string_equal(simple, general);
	}
}

static void common_keys(void **state)
{
	(void)state;
	fake_thread_add(7, "captain");
	add(ARRIVE, "hist:keys=common_pid.execname,(cpu):sort=common_pid");
	assert_string_equal(trigger(ARRIVE), "hist:keys=common_pid.execname,common_cpu:"
					     "vals=hitcount:sort=common_pid.execname:size=2048 "
					     "[active]\n");
	trace_ship_arrive(1, 0, "x");
	fake_cpus[0].pid = 7;
	trace_ship_arrive(1, 0, "x");
	trace_ship_arrive(1, 0, "x");
	assert_string_equal(entries(ARRIVE),
			    "{ common_pid: init            [         1], cpu:          0 } "
			    "hitcount:          1\n"
			    "{ common_pid: captain         [         7], cpu:          0 } "
			    "hitcount:          2\n");
	fake_cpus[0].pid = 1;
	add(ARRIVE, "!hist:keys=common_pid.execname,(cpu):sort=common_pid");
	add(ARRIVE, "hist:keys=common_timestamp.usecs:vals=common_type");
	assert_non_null(strstr(cat("trace_clock"), " [global] "));
	assert_non_null(
		strstr(trigger(ARRIVE), ":sort=hitcount:size=2048:clock=global [active]\n"));
	trace_ship_arrive(1, 0, "x");
	assert_non_null(strstr(entries(ARRIVE), "{ common_timestamp:   12345678 } hitcount:"));
}

/* The head of an event is there for a key, a value and a condition that look at it. */
static void head_fields(void **state)
{
	unsigned int type = (unsigned int)strtoul(cat(ARRIVE "id"), NULL, 10);
	char line[120], want[120];

	(void)state;
	add(ARRIVE, "hist:keys=common_type");
	trace_ship_arrive(1, 0, "x");
	snprintf(want, sizeof(want), "{ common_type: %10u } hitcount:          1\n", type);
	assert_string_equal(entries(ARRIVE), want);
	add(ARRIVE, "!hist:keys=common_type");
	add(ARRIVE, "hist:keys=id:vals=common_type");
	trace_ship_arrive(1, 0, "x");
	snprintf(want, sizeof(want), "{ id:          1 } hitcount:          1  common_type: %10u\n",
		 type);
	assert_string_equal(entries(ARRIVE), want);
	add(ARRIVE, "!hist:keys=id:vals=common_type");
	snprintf(line, sizeof(line), "hist:keys=id if common_type == %u && common_pid == 1", type);
	add(ARRIVE, line);
	trace_ship_arrive(1, 0, "x");
	assert_string_equal(entries(ARRIVE), "{ id:          1 } hitcount:          1\n");
}

static void stack_keys(void **state)
{
	(void)state;
	fake_stack_nr = 2;
	fake_stack[0] = trace_plat_ip_pack(fake_func(KFREE) + 4);
	fake_stack[1] = trace_plat_ip_pack(fake_func(YIELD) + 8);
	add(ARRIVE, "hist:keys=common_stacktrace,id:vals=id");
	trace_ship_arrive(3, 0, "x");
	trace_ship_arrive(3, 0, "x");
	fake_stack_nr = 0;
	trace_ship_arrive(3, 0, "x");
	assert_string_equal(entries(ARRIVE),
			    "{ common_stacktrace:\n, id:          3} hitcount:          1  id: "
			    "         3\n"
			    "{ common_stacktrace:\n"
			    "         kfree+0x4/0x10\n"
			    "         yield+0x8/0x10\n"
			    ", id:          3} hitcount:          2  id:          6\n");
	harbour_stack[0] = fake_func(SCHEDULE) + 1;
	add(WIDTHS, "hist:keys=stack.stacktrace");
	trace_widths(1, "");
	assert_string_equal(entries(WIDTHS), "{ stack.stacktrace:\n"
					     "         schedule+0x1/0x10\n"
					     "} hitcount:          1\n");
}

static void values(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=func.hex:vals=bytes.percent,nr.hex:sort=bytes.descending");
	trace_cargo(0x10, 300, 15, 0);
	trace_cargo(0x20, 100, 1, 0);
	assert_string_equal(
		entries(CARGO),
		"{ func: 10 } hitcount:          1  bytes (%):  75.00  nr:          f\n"
		"{ func: 20 } hitcount:          1  bytes (%):  25.00  nr:          1\n");
	assert_string_equal(trigger(CARGO), "hist:keys=func.hex:vals=hitcount,bytes.percent,nr.hex:"
					    "sort=bytes.percent.descending:size=2048 [active]\n");
	clear(CARGO);
	add(CARGO, "hist:keys=func.hex:vals=hitcount.percent,bytes.graph");
	trace_cargo(0x10, 300, 15, 0);
	trace_cargo(0x20, 100, 1, 0);
	assert_string_equal(entries(CARGO),
			    "{ func: 10 } hitcount:          1  hitcount (%):  50.00"
			    "  bytes: ####################\n"
			    "{ func: 20 } hitcount:          1  hitcount (%):  50.00"
			    "  bytes: ######              \n");
	clear(CARGO);
	add(CARGO, "hist:keys=func.hex:vals=hitcount.percent,hitcount.graph:sort=hitcount:NOHC");
	trace_cargo(0x10, 300, 15, 0);
	for (int i = 0; i < 3; i++)
		trace_cargo(0x20, 100, 1, 0);
	assert_string_equal(entries(CARGO),
			    "{ func: 10 }  hitcount (%):  25.00  hitcount: ######              \n"
			    "{ func: 20 }  hitcount (%):  75.00  hitcount: ####################\n");
	assert_string_equal(trigger(CARGO),
			    "hist:keys=func.hex:vals=hitcount.percent,hitcount.graph:"
			    "sort=hitcount:size=2048:nohitcount [active]\n");
	clear(CARGO);
	add(CARGO, "hist:keys=func.hex:vals=bytes:nohitcount:sort=bytes");
	trace_cargo(0x10, 300, 15, 0);
	assert_string_equal(entries(CARGO), "{ func: 10 }  bytes:        300\n");
	assert_string_equal(trigger(CARGO), "hist:keys=func.hex:vals=bytes:sort=bytes:size=2048:"
					    "nohitcount [active]\n");
}

static void blanks_around_a_condition(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=nr:vals=bytes  if \t nr > 3 ");
	assert_string_equal(trigger(CARGO), "hist:keys=nr:vals=hitcount,bytes:sort=hitcount:"
					    "size=2048 if nr > 3 [active]\n");
	clear(CARGO);
	add(CARGO, "hist:keys=nr:s=stacktrace \t if nr > 3");
	assert_string_equal(trigger(CARGO), "hist:keys=nr:vals=hitcount:s=stacktrace:sort=hitcount:"
					    "size=2048 if nr > 3 [active]\n");
}

static void expressions(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {
		{ "bytes+nr", "107" },
		{ "bytes-nr", "93" },
		{ "nr-bytes+93", "0" },
		{ "bytes*nr", "700" },
		{ "bytes/nr", "14" },
		{ "bytes/10", "10" },
		{ "bytes/7", "14" },
		{ "bytes+nr*2", "114" },
		{ "(bytes+nr)*2", "214" },
		{ "bytes-(nr-2)", "95" },
		{ "bytes-nr", "93" },
		{ "-nr+bytes", "93" },
		{ "bytes/time", "18446744073709551615" },
		{ "5+bytes", "105" },
		{ "bytes/1", "100" },
		{ "0x10+bytes", "116" },
		{ "bytes/(nr-2)", "20" },
		{ "common_cpu+bytes", "100" },
		{ "-(nr-10)+0", "3" },
		{ "time*2-nr*2/7", "18446744073709551614" },
		{ "(nr)+(nr)+(nr)+(nr)", "28" }, /* one behind the other, and not too deep */
	};
	char text[100], want[100];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "hist:keys=%s", cases[i].key);
		add(CARGO, text);
		trace_cargo(0x10, 100, 7, 0);
		snprintf(want, sizeof(want), "{ %s: %10s } hitcount:          1\n", cases[i].key,
			 cases[i].value);
		assert_string_equal(entries(CARGO), want);
		clear(CARGO);
	}
}

/* Divisions are multiplications: held against real ones. */
static void divisions(void **state)
{
	static const uint64_t divisors[] = { 1,
					     2,
					     3,
					     7,
					     10,
					     100,
					     1000,
					     4096,
					     0xffffffff,
					     0x100000001,
					     0x7fffffffffffffff,
					     0x8000000000000000,
					     0xffffffffffffffff };
	char text[100], want[100];

	(void)state;
	for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++) {
		uint64_t d = divisors[i];
		const uint64_t values[] = { 0,
					    1,
					    d - 1,
					    d,
					    d + 1,
					    5 * d - 1,
					    5 * d,
					    UINT64_MAX,
					    UINT64_MAX - 1,
					    UINT64_MAX / d * d };

		snprintf(text, sizeof(text), "hist:keys=time/%lu,time.buckets=%lu", d, d);
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			uint64_t low = values[v] / d * d;

			add(CARGO, text);
			trace_cargo(0, 0, 0, values[v]);
			snprintf(want, sizeof(want), "{ time/%lu: %10lu, time: ~ %lu-%lu } ", d,
				 values[v] / d, low, low + d - 1);
			assert_memory_equal(entries(CARGO), want, strlen(want));
			clear(CARGO);
		}
	}
}

static void sorting(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=nr,bytes:sort=nr.descending,bytes");
	trace_cargo(0, 5, 1, 0);
	trace_cargo(0, 3, 1, 0);
	trace_cargo(0, 9, -1, 0);
	trace_cargo(0, 4, 2, 0);
	assert_string_equal(
		entries(CARGO),
		"{ nr:          2, bytes:          4 } hitcount:          1\n"
		"{ nr:          1, bytes:          3 } hitcount:          1\n"
		"{ nr:          1, bytes:          5 } hitcount:          1\n"
		"{ nr: 18446744073709551615, bytes:          9 } hitcount:          1\n");
	assert_string_equal(trigger(CARGO), "hist:keys=nr,bytes:vals=hitcount:sort=nr.descending,"
					    "bytes:size=2048 [active]\n");
}

static void many_entries_sorted(void **state)
{
	const char *text;
	unsigned long before = 0;
	uint32_t seed = 1, nr = 0;

	(void)state;
	add(CARGO, "hist:keys=bytes:sort=bytes:size=1000");
	assert_non_null(strstr(trigger(CARGO), ":size=1024 "));
	for (int i = 0; i < 3000; i++) {
		seed = seed * 1664525 + 1013904223;
		trace_cargo(0, seed >> 8, 0, 0);
	}
	text = show(CARGO);
	assert_non_null(strstr(text, "\n    Hits: 1024\n    Entries: 1024\n    Dropped: 1976\n"));
	while ((text = strstr(text, "{ bytes: "))) {
		unsigned long bytes = strtoul(text + 9, NULL, 10);

		assert_true(!nr || bytes > before);
		before = bytes;
		text++;
		nr++;
	}
	assert_int_equal(nr, 1024);
}

static void pausing(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id:pause");
	assert_string_equal(trigger(ARRIVE),
			    "hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [paused]\n");
	trace_ship_arrive(1, 0, "x");
	assert_string_equal(entries(ARRIVE), "");
	add(ARRIVE, "hist:keys=id:cont");
	trace_ship_arrive(1, 0, "x");
	add(ARRIVE, "hist:keys=id:pause");
	trace_ship_arrive(1, 0, "x");
	assert_string_equal(entries(ARRIVE), "{ id:          1 } hitcount:          1\n");
	add(ARRIVE, "hist:keys=id:clear");
	assert_string_equal(entries(ARRIVE), "");
	assert_non_null(strstr(trigger(ARRIVE), "[paused]"));
	add(ARRIVE, "hist:keys=id:continue");
	trace_ship_arrive(2, 0, "x");
	assert_string_equal(entries(ARRIVE), "{ id:          2 } hitcount:          1\n");
	add(ARRIVE, "hist:keys=id:clear:cont");
	assert_string_equal(entries(ARRIVE), "");
	assert_int_equal(set(ARRIVE, "hist:keys=time:cont"), -ENOENT);
	assert_int_equal(set(ARRIVE, "hist:keys=time:clear"), -ENOENT);
	assert_non_null(strstr(cat("error_log"),
			       ": error: Can't clear or continue a nonexistent hist trigger\n"));
}

static void several(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id");
	add(ARRIVE, "hist:keys=time");
	assert_int_equal(set(ARRIVE, "hist:keys=id"), -EEXIST);
	trace_ship_arrive(1, 5, "x");
	assert_string_equal(trigger(ARRIVE),
			    "hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]\n"
			    "hist:keys=time:vals=hitcount:sort=hitcount:size=2048 [active]\n");
	assert_string_equal(
		show(ARRIVE),
		"# event histogram\n#\n# trigger info: hist:keys=id:vals=hitcount:sort=hitcount:"
		"size=2048 [active]\n#\n\n{ id:          1 } hitcount:          1\n"
		"\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n\n\n"
		"# event histogram\n#\n# trigger info: hist:keys=time:vals=hitcount:sort=hitcount:"
		"size=2048 [active]\n#\n\n{ time:          5 } hitcount:          1\n"
		"\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n");
	add(ARRIVE, "!hist:keys=id");
	add(ARRIVE, "!hist:keys=id");
	assert_string_equal(trigger(ARRIVE),
			    "hist:keys=time:vals=hitcount:sort=hitcount:size=2048 [active]\n");
}

static void named(void **state)
{
	(void)state;
	add(ARRIVE, "hist:name=traffic:keys=id");
	add(LEAVE, "hist:name=traffic:keys=id");
	trace_ship_arrive(1, 0, "x");
	trace_ship_leave(1, 0, "x");
	trace_ship_leave(2, 0, "x");
	assert_string_equal(entries(ARRIVE), "{ id:          2 } hitcount:          1\n"
					     "{ id:          1 } hitcount:          2\n");
	assert_string_equal(entries(LEAVE), "{ id:          2 } hitcount:          1\n"
					    "{ id:          1 } hitcount:          2\n");
	assert_string_equal(
		trigger(LEAVE),
		"hist:name=traffic:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]\n");
	assert_int_equal(set(CARGO, "hist:name=traffic:keys=nr"), -EINVAL);
	assert_non_null(strstr(cat("error_log"),
			       "Named hist trigger doesn't match existing named trigger"));
	add(ARRIVE, "hist:name=traffic:keys=id:pause");
	assert_non_null(strstr(trigger(LEAVE), "[paused]"));
	add(LEAVE, "hist:name=traffic:keys=id:cont");
	assert_non_null(strstr(trigger(ARRIVE), "[active]"));
	add(ARRIVE, "!hist:name=traffic:keys=id");
	trace_ship_leave(2, 0, "x");
	assert_non_null(strstr(entries(LEAVE), "{ id:          2 } hitcount:          2\n"));
	/* One that joins is in the state of the others. */
	add(LEAVE, "hist:name=traffic:keys=id:pause");
	add(ARRIVE, "hist:name=traffic:keys=id");
	assert_non_null(strstr(trigger(ARRIVE), "[paused]"));
	trace_ship_arrive(2, 0, "x");
	assert_non_null(strstr(entries(LEAVE), "{ id:          2 } hitcount:          2\n"));
}

/* A name is an instance's own. */
static void named_in_two_instances(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	add(ARRIVE, "hist:name=traffic:keys=id");
	add("instances/two/" ARRIVE, "hist:name=traffic:keys=time");
	add("instances/two/" LEAVE, "hist:name=traffic:keys=time");
	trace_ship_arrive(1, 7, "x");
	trace_ship_leave(1, 7, "x");
	assert_string_equal(entries(ARRIVE), "{ id:          1 } hitcount:          1\n");
	assert_string_equal(entries("instances/two/" ARRIVE),
			    "{ time:          7 } hitcount:          2\n");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
}

static void by_other_events(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=nr:pause");
	add(ARRIVE, "enable_hist:harbour:cargo");
	add(LEAVE, "disable_hist:harbour:cargo:1");
	trace_cargo(0, 0, 1, 0);
	trace_ship_arrive(1, 0, "x");
	trace_cargo(0, 0, 2, 0);
	trace_ship_leave(1, 0, "x");
	trace_cargo(0, 0, 3, 0);
	trace_ship_arrive(1, 0, "x");
	trace_ship_leave(1, 0, "x");
	trace_cargo(0, 0, 4, 0);
	assert_string_equal(entries(CARGO), "{ nr:          2 } hitcount:          1\n"
					    "{ nr:          4 } hitcount:          1\n");
	assert_string_equal(trigger(ARRIVE), "enable_hist:harbour:cargo:unlimited\n");
	assert_string_equal(trigger(LEAVE), "disable_hist:harbour:cargo:count=0\n");
	add(ARRIVE, "!enable_hist:harbour:cargo");
	add(LEAVE, "!disable_hist:harbour:cargo");
}

static void variables(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time,who=name");
	add(LEAVE, "hist:keys=id:stay=time-$t0:vals=$stay");
	assert_string_equal(trigger(ARRIVE), "hist:keys=id:vals=hitcount:t0=time,who=name:"
					     "sort=hitcount:size=2048 [active]\n");
	assert_string_equal(trigger(LEAVE), "hist:keys=id:vals=hitcount,$stay:stay=time-$t0:"
					    "sort=hitcount:size=2048 [active]\n");
	trace_ship_leave(1, 50, "x"); /* without an arrival */
	assert_string_equal(entries(LEAVE), "");
	trace_ship_arrive(1, 100, "Erika");
	trace_ship_arrive(2, 200, "Maria");
	trace_ship_leave(1, 150, "x");
	trace_ship_leave(2, 300, "x");
	assert_string_equal(entries(LEAVE),
			    "{ id:          1 } hitcount:          1  stay:         50\n"
			    "{ id:          2 } hitcount:          1  stay:        100\n");
	assert_int_equal(set(ARRIVE, "!hist:keys=id:t0=time,who=name"), -EBUSY);
	add(LEAVE, "!hist:keys=id:stay=time-$t0:vals=$stay");
	add(ARRIVE, "!hist:keys=id:t0=time,who=name");
}

/* The other histogram may have fewer keys: those are the first ones here, as on Linux. */
static void variables_of_fewer_keys(void **state)
{
	static const char *const others[] = {
		"time: a0 } hitcount:          1  two:        100\n",
		"time: 12c } hitcount:          1  two:        200\n",
		"time: a0 } hitcount:          1  then:        100\n",
		"hist:keys=time,id:vals=hitcount:no=$t0:sort=hitcount:size=2048 [active]\n#\n\n\n"
		"Totals:\n    Hits: 0\n",
		"hist:keys=name,time:vals=hitcount:none=$t0:sort=hitcount:size=2048 "
		"[active]\n#\n\n\n"
		"Totals:\n    Hits: 0\n",
	};

	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time");
	add(ARRIVE, "hist:keys=id,name:both=time");
	add(ARRIVE, "hist:keys=name:t1=time,who=name");
	add(LEAVE, "hist:keys=id,time:vals=$stay:stay=time-$t0");
	add(LEAVE, "hist:keys=id,name,time.hex:vals=$two:two=$both");
	add(LEAVE, "hist:keys=name,id,time.hex:vals=$then:then=$t1:w=$who");
	add(LEAVE, "hist:keys=time,id:no=$t0");
	add(LEAVE, "hist:keys=name,time:none=$t0");
	trace_ship_leave(1, 50, "Erika"); /* without an arrival */
	trace_ship_arrive(1, 100, "Erika");
	trace_ship_arrive(2, 200, "Maria of the sea");
	trace_ship_leave(1, 150, "Erika");
	trace_ship_leave(1, 160, "Erika"); /* t0 is used up, t1 is not */
	trace_ship_leave(2, 300, "Maria of the se");
	assert_non_null(strstr(show(LEAVE), "#\n\n{ id:          1, time:        150 } hitcount:"
					    "          1  stay:         50\n"
					    "{ id:          2, time:        300 } hitcount:"
					    "          1  stay:        100\n\nTotals"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strstr(show(LEAVE), others[i]))
			fail_msg("%s is not in %s", others[i], show(LEAVE));
	clear(LEAVE);
	clear(ARRIVE);
}

static uint32_t nr_syncs;

static void leave_now(void)
{
	nr_syncs++;
	trace_ship_leave(1, 150, "x");
}

/* Others may read variables meanwhile: they find the old value, or that none is set. */
static void clear_while_read(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time");
	add(LEAVE, "hist:keys=id:x=$t0:vals=$x");
	trace_ship_arrive(1, 100, "x");
	nr_syncs = 0;
	fake_on_sync = leave_now;
	add(ARRIVE, "hist:keys=id:t0=time:clear");
	fake_on_sync = NULL;
	assert_int_equal(nr_syncs, 2);
	trace_ship_leave(1, 150, "x");
	assert_string_equal(entries(LEAVE),
			    "{ id:          1 } hitcount:          1  x:        100\n");
	/* Without readers there is no second wait. */
	clear(LEAVE);
	nr_syncs = 0;
	fake_on_sync = leave_now;
	add(ARRIVE, "hist:keys=id:t0=time:clear");
	fake_on_sync = NULL;
	assert_int_equal(nr_syncs, 1);
	clear(ARRIVE);
}

static uint32_t events_of(struct trace_handle *handle)
{
	return trace_fs_events(handle, TRACE_FS_IN | TRACE_FS_PRI);
}

/* Read the file through a handle of its own. */
static void read_all(struct trace_handle *handle)
{
	static char text[4096];
	uint64_t pos = 0;

	while (trace_fs_read(handle, text, sizeof(text), &pos) > 0)
		;
}

/* As Linux 6.14 does: what is counted is there to be read until it is read; news are told once. */
static void polling(void **state)
{
	struct trace_handle *first, *second;

	(void)state;
	first = open_file(ARRIVE "hist", TRACE_FS_READ);
	assert_int_equal(events_of(first), 0);
	add(ARRIVE, "hist:keys=id");
	add(ARRIVE, "hist:keys=name");
	assert_int_equal(events_of(first), 0);
	trace_ship_arrive(1, 0, "x");
	second = open_file(ARRIVE "hist", TRACE_FS_READ);
	assert_int_equal(trace_fs_events(first, TRACE_FS_IN), TRACE_FS_IN);
	assert_int_equal(events_of(first), TRACE_FS_IN | TRACE_FS_PRI);
	assert_int_equal(events_of(first), TRACE_FS_IN);
	assert_int_equal(events_of(second), TRACE_FS_IN); /* no news since it was opened */
	read_all(first);
	assert_int_equal(events_of(first), 0);
	assert_int_equal(events_of(second), TRACE_FS_IN);
	trace_ship_arrive(1, 0, "x");
	assert_int_equal(trace_fs_events(first, TRACE_FS_PRI), TRACE_FS_PRI);
	assert_int_equal(events_of(first), TRACE_FS_IN);
	read_all(second);
	assert_int_equal(events_of(second), TRACE_FS_PRI);
	/* Its reads wait for nothing, and others have no news. */
	assert_true(trace_fs_poll(first) && !trace_fs_may_wait(first));
	trace_fs_close(second);
	second = open_file(ARRIVE "trigger", TRACE_FS_READ);
	assert_int_equal(events_of(second), TRACE_FS_IN);
	trace_fs_close(second);
	clear(ARRIVE);
	assert_int_equal(events_of(first), TRACE_FS_IN | TRACE_FS_PRI); /* they have gone */
	fake_alloc_budget = 1;						/* the handle */
	assert_int_equal(trace_fs_open(node_of(ARRIVE "hist"), TRACE_FS_READ, &second), -ENOMEM);
	fake_alloc_budget = -1;
	trace_fs_close(first);
}

/* A variable that is a field stands for it, so it may be a key. */
static void own_variables(void **state)
{
	(void)state;
	add(CARGO, "hist:keys=$n:vals=$b,$twice:n=nr,b=bytes,twice=$n+$b*2");
	assert_string_equal(trigger(CARGO),
			    "hist:keys=nr:vals=hitcount,bytes,$twice:n=nr,b=bytes,twice=$n+$b*2:"
			    "sort=hitcount:size=2048 [active]\n");
	trace_cargo(0, 100, 7, 0);
	assert_string_equal(entries(CARGO),
			    "{ nr:          7 } hitcount:          1  bytes:        "
			    "100  twice:        207\n");
	add(ARRIVE, "hist:keys=$who:who=name,w=$who,t=time");
	add(LEAVE, "hist:keys=name:x=$w,y=$t");
	trace_ship_arrive(1, 0, "Erika");
	trace_ship_leave(2, 0, "Erika");
	assert_non_null(strstr(entries(LEAVE), "{ name: Erika  "));
}

/* In an expression it is used up; alone it stays. */
static void variables_used_once(void **state)
{
	static const struct {
		const char *text;
		unsigned int hits;
	} cases[] = { { "hist:keys=id:x=time-$t0", 2 },
		      { "hist:keys=id:x=$t0", 4 },
		      { "hist:keys=id:x=$t0:y=$t0+1", 2 },
		      { "hist:keys=id:x=-$t0", 2 },
		      { "hist:keys=id:x=$t0/3", 2 } };
	char want[80];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add(ARRIVE, "hist:keys=id:t0=time");
		add(LEAVE, cases[i].text);
		for (int round = 0; round < 2; round++) {
			trace_ship_arrive(1, 100, "x");
			trace_ship_leave(1, 150, "x");
			trace_ship_leave(1, 160, "x");
		}
		snprintf(want, sizeof(want), "{ id:          1 } hitcount: %10u\n", cases[i].hits);
		assert_string_equal(entries(LEAVE), want);
		clear(LEAVE);
		clear(ARRIVE);
	}
}

/* The text that is refused, where the caret is, and the reason. */
static const struct mistake {
	const char *dir, *text;
	size_t at;
	const char *why;
} mistakes[] = {
	{ CARGO, "hist", 0, "A histogram has to have keys" },
	{ CARGO, "hist:", 0, "A histogram has to have keys" },
	{ CARGO, "hist:vals=nr", 5, "A histogram has to have keys" },
	{ CARGO, "hist:keys", 5, "No action found" },
	{ CARGO, "hist:keys=", 5, "Empty assignment" },
	{ CARGO, "hist:keys=nosuch", 10, "Couldn't find field" },
	{ CARGO, "hist:keys=nr,nosuch", 13, "Couldn't find field" },
	{ CARGO, "hist:keys=nr,", 13, "Couldn't find field" },
	{ CARGO, "hist:keys=nr:vals=nosuch", 18, "Couldn't find field" },
	{ CARGO, "hist:keys=nr.nosuch", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.hex.hex", 17, "Couldn't find field" },
	{ CARGO, "hist:keys=bytes - nr", 10, "Couldn't find field" },
	{ CARGO, "hist:keys=nr:x= bytes", 15, "Couldn't find field" },
	{ CARGO, "hist:keys=nr.buckets", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.buckets=0", 21, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.buckets=5x", 21, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.execname", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.usecs", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.percent", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.graph", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.string", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr.stacktrace", 13, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr:vals=nr.log2", 18, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr:vals=func.sym", 18, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr:vals=hitcount.log2", 27, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr:x=nr.graph", 18, "Invalid field modifier" },
	{ ARRIVE, "hist:keys=name.hex", 15, "Invalid field modifier" },
	{ ARRIVE, "hist:keys=id:vals=name", 18, "A value has to be a number" },
	{ ARRIVE, "hist:keys=id+name", 13, "String type can not be an operand in expression" },
	{ WIDTHS, "hist:keys=list", 10, "The field has neither a number nor a text" },
	{ CARGO, "hist:keys=nr,nr,nr,nr", 19, "Too many keys (3 max)" },
	{ WIDTHS, "hist:keys=text,relative", 15, "The key is too long" },
	{ CARGO, "hist:keys=nr:vals=nr,bytes,time", 27, "Too many values specified" },
	{ CARGO, "hist:keys=nr:sort=nr,bytes,hitcount", 21, "Sort field must be a key or a val" },
	{ CARGO, "hist:keys=nr,time:sort=nr,time,hitcount", 18, "Too many sort fields (Max = 2)" },
	{ CARGO, "hist:keys=nr:sort=nr,", 13, "Empty sort field" },
	{ CARGO, "hist:keys=nr:sort=nr.down", 21, "Invalid sort modifier" },
	{ CARGO, "hist:keys=nr:sort=nr.hex.descending", 21, "Invalid sort modifier" },
	{ CARGO, "hist:keys=nr.hex:sort=nr.hex.down", 25, "Invalid sort modifier" },
	{ CARGO, "hist:keys=nr.buckets=8:sort=nr.buckets=9", 31, "Invalid sort modifier" },
	{ CARGO, "hist:keys=nr:size=1", 18, "The size has to be from 65 to 131072" },
	{ CARGO, "hist:keys=nr:size=131073", 18, "The size has to be from 65 to 131072" },
	{ CARGO, "hist:keys=common_timestamp:clock=sun", 33, "Couldn't set trace_clock" },
	{ CARGO, "hist:keys=nr:nosuch", 13, "No action found" },
	{ CARGO, "hist:keys=nr:vals=hitcount.log2", 27, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr:nohc", 13, "No action found" },
	{ CARGO, "hist:keys=nr:vals=hitcount:NOHC", 5,
	  "Non-hitcount value is required for 'nohitcount'" },
	{ CARGO, "hist:keys=nr:nohitcount", 5, "Non-hitcount value is required for 'nohitcount'" },
	{ CARGO, "hist:keys=1x", 10, "Expecting numeric literal" },
	{ CARGO, "hist:keys=((((nr))))", 10, "Too many subexpressions (3 max)" },
	{ CARGO, "hist:keys=----nr", 10, "Too many subexpressions (3 max)" },
	{ CARGO, "hist:keys=(nr", 13, "No closing paren found" },
	{ CARGO, "hist:keys=nr)", 12, "Couldn't find field" },
	{ CARGO, "hist:keys=nr+", 13, "Couldn't find field" },
	{ CARGO, "hist:keys=nr:x=$nosuch", 16, "Couldn't find variable" },
	{ CARGO, "hist:keys=nr:x=a.b.$nosuch", 20, "Couldn't find variable" },
	{ CARGO, "hist:keys=nr:x=a.$nosuch", 17, "Invalid field modifier" },
	{ CARGO, "hist:keys=nr:x=nr,y", 18, "Malformed assignment" },
	{ CARGO, "hist:keys=nr:x=nr:x=time", 18, "Variable already defined" },
	{ CARGO, "hist:keys=$x:x=nr+1", 10, "Using variable references in keys not supported" },
	{ CARGO, "hist:keys=common_timestamp.usecs-common_timestamp", 10,
	  "Timestamp units in expression don't match" },
};

/* A line for the event of `dir` is refused, and sets nothing. */
static void is_no_hist(const char *dir, const struct refused_line *line)
{
	const char *event = strrchr(dir, '/');
	char path[64], file[64];

	while (event[-1] != '/')
		event--;
	snprintf(path, sizeof(path), "%strigger", dir);
	snprintf(file, sizeof(file), "hist:harbour:%.*s", (int)strlen(event) - 1, event);
	is_refused(path, file, line);
	assert_int_equal(trigger(dir)[0], '#');
}

static void mistakes_are_explained(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *m = &mistakes[i];
		/* As on Linux, where a list without values is what is not found. */
		int err = strncmp(m->why, "Non-hitcount", 12) ? -EINVAL : -ENOENT;

		is_no_hist(m->dir, &(struct refused_line){ m->text, err, m->why, (int)m->at });
	}
}

static void is_division_by_zero(const char *text, const char *divisor)
{
	is_no_hist(CARGO, &(struct refused_line){ text, -EDOM, "Division by zero",
						  (int)(strstr(text, divisor) - text) });
}

/* A divisor that is known when the histogram is set may not be 0, whatever it is made of. */
static void division_by_zero(void **state)
{
	(void)state;
	is_division_by_zero("hist:keys=nr/0", "0");
	is_division_by_zero("hist:keys=nr:x=7/(1-1)", "(1-1)");
	is_division_by_zero("hist:keys=nr:x=nr/(2*(3-3))", "(2*");
	is_division_by_zero("hist:keys=nr:z=0:x=nr/$z", "$z");
	add(ARRIVE, "hist:keys=id:none=0");
	is_division_by_zero("hist:keys=nr:x=nr/$none", "$none");
	clear(ARRIVE);
	/* These may be something else when an event occurs. */
	add(CARGO, "hist:keys=nr:z=0:x=nr/($z+1):y=nr/bytes");
	clear(CARGO);
}

static void no_memory(void **state)
{
	static const char text[] = "hist:keys=id,name:t1=time-$t0,who=name:vals=time";
	long nr, out;

	(void)state;
	add(ARRIVE, "hist:keys=id,name:t0=time");
	for_each_allocation(nr, (out = fake_alloc_out, set(LEAVE, text)))
		assert_int_equal(fake_alloc_out, out);
	trace_ship_arrive(1, 10, "x");
	trace_ship_leave(1, 20, "x");
	assert_non_null(strstr(entries(LEAVE), "hitcount:          1  time:         20\n"));
	for (long budget = 0; budget < 2; budget++) {
		struct trace_handle *handle = open_file(LEAVE "hist", TRACE_FS_READ);
		char bytes[64];
		uint64_t pos = 0;

		fake_alloc_budget = 0;
		assert_int_equal(trace_fs_read(handle, bytes, sizeof(bytes), &pos), -ENOMEM);
		fake_alloc_budget = -1;
		assert_int_equal(trace_fs_close(handle), 0);
	}
}

/* The text stays as it was when reading began, also when the histogram is gone. */
static void removed_while_read(void **state)
{
	struct trace_handle *handle;
	char bytes[40];
	uint64_t pos = 0;

	(void)state;
	add(ARRIVE, "hist:keys=id");
	trace_ship_arrive(1, 0, "x");
	handle = open_file(ARRIVE "hist", TRACE_FS_READ);
	assert_int_equal(trace_fs_read(handle, bytes, sizeof(bytes), &pos), sizeof(bytes));
	add(ARRIVE, "!hist:keys=id");
	while (trace_fs_read(handle, bytes, sizeof(bytes), &pos) > 0)
		;
	assert_int_equal(trace_fs_close(handle), 0);
	assert_true(pos > 150);
}

static void instances(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	add("instances/two/" ARRIVE, "hist:keys=id:t0=time");
	trace_ship_arrive(1, 0, "x");
	assert_string_equal(show(ARRIVE), "");
	assert_non_null(strstr(show("instances/two/" ARRIVE), "hitcount:          1\n"));
	assert_int_equal(set(LEAVE, "hist:keys=id:x=$t0"), -EINVAL);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, event_reset, hist_all_gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whole_file),
		TEST(number_keys),
		TEST(every_width),
		TEST(text_keys),
		TEST(long_texts),
		TEST(simple_ways_count_the_same),
		TEST(common_keys),
		TEST(head_fields),
		TEST(stack_keys),
		TEST(values),
		TEST(blanks_around_a_condition),
		TEST(expressions),
		TEST(divisions),
		TEST(sorting),
		TEST(many_entries_sorted),
		TEST(pausing),
		TEST(several),
		TEST(named),
		TEST(by_other_events),
		TEST(variables),
		TEST(own_variables),
		TEST(variables_of_fewer_keys),
		TEST(polling),
		TEST(clear_while_read),
		TEST(named_in_two_instances),
		TEST(variables_used_once),
		TEST(mistakes_are_explained),
		TEST(division_by_zero),
		TEST(no_memory),
		TEST(removed_while_read),
		TEST(instances),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
