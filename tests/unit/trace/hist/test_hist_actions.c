/*
 * Actions of histograms, beyond what Linux's samples show (test_hist_actions_golden.c): arguments
 * that are fields of another event, histograms of one name, who has the snapshot, no memory; what
 * time events have.
 */
#include "unit.h"
#include "allocations.h"
#include "hist_help.h"

#define STAY "events/synthetic/stay/"

static int begin(void **state)
{
	int err = tracefs_reset(state);

	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("stay u64 time; char name[16]; char who[]; int id; int again; u64 a; "
			      "u64 b; u64 c; u64 d",
			      "synthetic_events"),
			 0);
	assert_int_equal(echo("1", STAY "enable"), 0);
	return err;
}

static int end(void **state)
{
	(void)state;
	clear(LEAVE);
	clear(ARRIVE);
	assert_int_equal(echo("0", STAY "enable"), 0);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
	assert_string_equal(cat("synthetic_events"), "");
	assert_int_equal(echo("0", "snapshot"), 0);
	return 0;
}

/*
 * An instance that counts in another clock than the histogram gets a time of its own clock, though
 * the time of the event is known.
 */
static void event_in_another_clock(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	assert_int_equal(echo_append("took u64 time", "synthetic_events"), 0);
	assert_int_equal(echo("counter", "instances/two/trace_clock"), 0);
	assert_int_equal(echo("1", "instances/two/events/synthetic/took/enable"), 0);
	add(ARRIVE, "hist:keys=id:ts0=common_timestamp:clock=mono");
	add(LEAVE, "hist:keys=id:lat=common_timestamp-$ts0:clock=mono:"
		   "onmatch(harbour.ship_arrive).took($lat)");
	fake_clock = 7654321; /* so near to the counter that it fits behind the event before */
	for (int i = 0; i < 3; i++) {
		trace_ship_arrive(1, 0, "x");
		trace_ship_leave(1, 0, "x");
	}
	assert_int_equal(count_in("instances/two/trace", ": took: time=0\n"), 3);
	assert_int_equal(count_in("instances/two/trace", "7654321"), 0);
	clear(LEAVE);
	clear(ARRIVE);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	assert_int_equal(echo("local", "trace_clock"), 0);
}

#define ALL                                                                                        \
	"hist:keys=id:lat=time-$t0:onmax($lat).save(time,name):onmatch(harbour.ship_arrive)."      \
	"trace(stay,$lat,harbour.ship_arrive.name,name,id,harbour.ship_leave.id,time,"             \
	"harbour.ship_arrive.time,$t0,harbour.ship_arrive.$t0):onchange($lat).snapshot()"

/* A histogram for the fields of the other event comes and goes with who needs them. */
static void fields_of_another_event(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time if id < 5");
	add(LEAVE, ALL);
	assert_string_equal(
		cat(ARRIVE "trigger"),
		"hist:keys=id:vals=hitcount:t0=time:sort=hitcount:size=2048 if id < 5 [active]\n"
		"hist:keys=id:vals=hitcount:synthetic_name=name:sort=hitcount:size=2048 if id < 5 "
		"[active]\n"
		"hist:keys=id:vals=hitcount:synthetic_time=time:sort=hitcount:size=2048 if id < 5 "
		"[active]\n");
	assert_non_null(strstr(cat(LEAVE "trigger"), "trace(stay,$lat,harbour.ship_arrive.name,"));
	trace_ship_arrive(1, 100, "Erika");
	trace_ship_arrive(9, 100, "nobody");
	trace_ship_leave(1, 150, "somebody with a long name");
	trace_ship_leave(9, 150, "x");
	assert_non_null(strstr(cat("snapshot"),
			       "stay: time=50 name=Erika who=somebody with a long name "
			       "id=1 again=1 a=150 b=100 c=100 d=100\n"));
	assert_null(strstr(cat("snapshot"), "who=x"));
	assert_null(strstr(cat("trace"), "who=x"));
	assert_int_equal(set(ARRIVE, "!hist:keys=id:synthetic_name=name if id < 5"), -EBUSY);
	/* Looking for the histogram to change makes none. */
	add(LEAVE, ALL ":pause");
	assert_non_null(strstr(cat(LEAVE "trigger"), "[paused]"));
	add(LEAVE, "!" ALL);
	assert_string_equal(
		cat(ARRIVE "trigger"),
		"hist:keys=id:vals=hitcount:t0=time:sort=hitcount:size=2048 if id < 5 [active]\n");
}

/* A histogram that was made for a field is like no other one: only those that users set are. */
static void made_ones_are_not_like(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id");
	add(LEAVE, "hist:keys=id:onmatch(harbour.ship_arrive).stay(time,harbour.ship_arrive.name,"
		   "name,id,id,time,time,time,time)");
	add(ARRIVE, "!hist:keys=id");
	assert_non_null(strstr(cat(ARRIVE "trigger"), "synthetic_name=name"));
	assert_int_equal(set(LEAVE, "hist:keys=id:t=time:onmax($t).trace(stay,time,"
				    "harbour.ship_arrive.name,name,id,id,time,time,time,time)"),
			 -EINVAL);
	assert_non_null(strstr(cat("error_log"), "Matching event histogram not found"));
}

/* Numbers fit by the names of their types, else by size and sign; a field counts as unsigned. */
static void types_of_arguments(void **state)
{
	static const struct {
		const char *field, *argument;
		int err;
	} cases[] = {
		{ "pid_t x", "e", 0 },	      { "int x", "e", 0 },	 { "s32 x", "e", -EINVAL },
		{ "u32 x", "e", 0 },	      { "u32 x", "f", 0 },	 { "s32 x", "$ve", 0 },
		{ "u32 x", "$ve", -EINVAL },  { "s16 x", "c", -EINVAL }, { "s16 x", "$vc", 0 },
		{ "u64 x", "g", 0 },	      { "s64 x", "g", 0 },	 { "s8 x", "a", 0 },
		{ "u32 x", "g", -EINVAL },    { "u64 x", "$five", 0 },	 { "int x", "$sum", 0 },
		{ "u64 x", "$sum", -EINVAL },
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "like %s", cases[i].field);
		assert_int_equal(echo_append(text, "synthetic_events"), 0);
		snprintf(text, sizeof(text),
			 "hist:keys=e:ve=e,vc=c,five=5,sum=e+5:onmatch(harbour.ship_arrive)."
			 "like(%s)",
			 cases[i].argument);
		if (set(WIDTHS, text) != cases[i].err)
			fail_msg("%s into %s: %s", cases[i].argument, cases[i].field,
				 cat("error_log"));
		clear(WIDTHS);
		assert_int_equal(echo_append("!like", "synthetic_events"), 0);
	}
}

static void no_memory(void **state)
{
	long out, nr;

	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time");
	add(LEAVE, ALL); /* what an instance keeps: room for a snapshot */
	clear(LEAVE);
	out = fake_alloc_out;
	for_each_allocation(nr, set(LEAVE, ALL))
		assert_int_equal(fake_alloc_out, out);
	assert_in_range(nr, 11, 98);
	clear(LEAVE);
	assert_int_equal(fake_alloc_out, out);
}

/* While one histogram has the snapshot, no other trigger takes any. */
static void who_has_the_snapshot(void **state)
{
	(void)state;
	add(LEAVE, "hist:keys=id:t=time:onmax($t).snapshot()");
	assert_int_equal(set(ARRIVE, "hist:keys=id:t=time:onmax($t).snapshot()"), -EBUSY);
	assert_string_equal(cat(ARRIVE "trigger") + 1, " Available triggers:\n# traceon traceoff "
						       "snapshot stacktrace enable_event "
						       "disable_event enable_hist disable_hist "
						       "hist\n");
	assert_int_equal(echo("1", "snapshot"), -EBUSY);
	assert_int_equal(echo("0", "snapshot"), -EBUSY);
	assert_int_equal(echo("irqsoff", "current_tracer"), -EBUSY);
	assert_string_equal(cat("current_tracer"), "nop\n");
	clear(LEAVE);
	assert_int_equal(echo("irqsoff", "current_tracer"), 0);
	assert_int_equal(set(LEAVE, "hist:keys=id:t=time:onmax($t).snapshot()"), -EBUSY);
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

/* Another CPU has an event of its own, and takes a snapshot. */
static void elsewhere(void)
{
	fake_clock_irq = NULL;
	fake_bind(1);
	trace_ship_leave(2, 200, "elsewhere");
	fake_bind(0);
}

/* It takes one while an event of this CPU is being recorded: that one is in what is shown as its. */
static void snapshots_of_two_cpus_at_once(void **state)
{
	(void)state;
	assert_int_equal(echo("1", LEAVE "enable"), 0);
	add(LEAVE, "hist:keys=id:t=time:onchange($t).snapshot()");
	for (int i = 0; i < 3; i++) {
		fake_clock_irq = elsewhere;
		trace_ship_leave(1, 100 + (u64)i, "here");
		assert_non_null(strstr(cat(LEAVE "hist"),
				       "triggered by event with key: { id:          1 }"));
		assert_non_null(strstr(cat("snapshot"), "name=here"));
		assert_null(strstr(cat("trace"), "name=here"));
		clear(LEAVE);
		assert_int_equal(echo("2", "snapshot"), 0);
		assert_int_equal(echo("", "trace"), 0);
		add(LEAVE, "hist:keys=id:t=time:onchange($t).snapshot()");
	}
	assert_int_equal(echo("0", LEAVE "enable"), 0);
}

/* They keep in common what they count in common; who came first may go first. */
static void of_one_name(void **state)
{
	static const char text[] =
		"hist:name=both:keys=id:t=time:onmax($t).save(time):onmax($t).snapshot()";
	char removal[100];

	(void)state;
	add(ARRIVE, text);
	add(LEAVE, text);
	trace_ship_arrive(1, 5, "x");
	trace_ship_leave(1, 7, "x");
	trace_ship_arrive(1, 6, "x");
	assert_non_null(strstr(cat(ARRIVE "hist"), "\n\tmax:          7  time:          7\n"));
	assert_non_null(strstr(cat(ARRIVE "hist"), "{ onmax($t) }:          7\t"));
	snprintf(removal, sizeof(removal), "!%s", text);
	add(ARRIVE, removal);
	trace_ship_leave(1, 9, "x");
	assert_non_null(strstr(cat(LEAVE "hist"), "\n\tmax:          9  time:          9\n"));
	assert_non_null(strstr(cat(LEAVE "hist"), "{ onmax($t) }:          9\t"));
	add(ARRIVE, text);
	trace_ship_arrive(2, 10, "x");
	assert_non_null(
		strstr(cat(LEAVE "hist"), "triggered by event with key: { id:          2 }"));
	snprintf(removal, sizeof(removal), "%s:clear", text);
	add(LEAVE, removal);
	assert_null(strstr(cat(LEAVE "hist"), "Snapshot taken"));
	trace_ship_arrive(1, 1, "x");
	assert_non_null(strstr(cat(LEAVE "hist"), "\n\tmax:          1  time:          1\n"));
}

/* ---- Times ---- */

#define GAP "events/synthetic/gap/"
#define GAP_OF(more)                                                                               \
	"hist:keys=id:gap=common_timestamp-$ts:onmatch(harbour.ship_arrive).gap($gap,id)" more

static void begin_gaps(const char *text)
{
	assert_int_equal(echo_append("gap u64 ns; int id", "synthetic_events"), 0);
	assert_int_equal(echo("1", GAP "enable"), 0);
	add(ARRIVE, "hist:keys=id:ts=common_timestamp");
	add(LEAVE, text);
}

static void end_gaps(void)
{
	clear(LEAVE);
	clear(ARRIVE);
	assert_int_equal(echo("0", GAP "enable"), 0);
	assert_int_equal(echo_append("!gap", "synthetic_events"), 0);
	assert_int_equal(echo("local", "trace_clock"), 0);
	fake_clock_step = 0;
}

static uint64_t nr_readings(void (*body)(void))
{
	uint64_t before = fake_clock;

	fake_clock_step = 1;
	body();
	fake_clock_step = 0;
	return fake_clock - before;
}

static void stay_once(void)
{
	trace_ship_arrive(1, 0, "x");
	trace_ship_leave(1, 0, "x");
}

/* The event that both lead to is as old as the second one: its time is read once for both. */
static void one_time(void **state)
{
	(void)state;
	begin_gaps(GAP_OF(""));
	stay_once(); /* the first event in a ring has to find its place */
	assert_int_equal(nr_readings(stay_once), 2);
	assert_non_null(strstr(cat("trace"), " gap: ns=1 id=1\n"));
	/* The event has no users: nothing is computed for it, and it counts all the same. */
	assert_int_equal(echo("0", GAP "enable"), 0);
	assert_int_equal(nr_readings(stay_once), 2);
	assert_non_null(strstr(cat(LEAVE "hist"), "hitcount:          3"));
	assert_null(strstr(strstr(cat("trace"), "gap: ns=1 ") + 1, "gap: ns="));
	end_gaps();
}

static void stay_late(void)
{
	trace_ship_arrive(1, 0, "x");
	fake_clock += 7000000;
	trace_ship_leave(1, 0, "x");
}

/* The line of an event is `... 0.007002: name: ...`. Returns the microseconds. */
static uint64_t time_of(const char *name)
{
	const char *at = strstr(cat("trace"), name);

	assert_non_null(at);
	while (at[-1] != '.')
		at--;
	return strtoull(at, NULL, 10);
}

/* An event of another time has been written since: no event is in front of an older one. */
static void later_time(void **state)
{
	(void)state;
	begin_gaps("hist:keys=id:gap=common_timestamp-$ts:"
		   "onmatch(harbour.ship_arrive).stay(time,harbour.ship_arrive.name,name,id,id,"
		   "time,time,time,time):onmatch(harbour.ship_arrive).gap($gap,id)");
	fake_clock_step = 2000000;
	stay_late();
	assert_non_null(strstr(cat("trace"), " gap: ns=9000000 id=1\n"));
	assert_true(time_of("gap: ") > time_of("stay: "));
	end_gaps();
}

/* The ring has another clock than the histogram, or the fastest one: then it is that one's time. */
static void another_clock(void **state)
{
	static const char *const clocks[] = { "local", "counter", "uptime" };

	(void)state;
	begin_gaps(GAP_OF(""));
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		assert_int_equal(echo(clocks[i], "trace_clock"), 0);
		stay_late();
		stay_late();
		assert_non_null(strstr(strstr(cat("trace"), " gap: ns=7000000 id=1\n") + 1,
				       " gap: ns=7000000 id=1\n"));
	}
	end_gaps();
	begin_gaps(GAP_OF(":clock=local"));
	assert_non_null(strstr(cat("trace_clock"), "[local]"));
	end_gaps();
}

/* Several keys, words among them, and what is computed from variables in any order. */
static void any_program(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id,time:ts=common_timestamp:n=name:b=time*2");
	add(LEAVE, "hist:keys=id,time:w=$n:t=common_timestamp-$ts-$b:d=$b-$ts/1:u=$t+1:"
		   "vals=$u,$d");
	fake_clock = 1000;
	trace_ship_arrive(3, 20, "Anna");
	fake_clock = 1500;
	trace_ship_leave(3, 20, "x");
	trace_ship_leave(3, 20, "used up");
	assert_non_null(strstr(cat(LEAVE "hist"),
			       "{ id:          3, time:         20 } hitcount:          1  "
			       "u:        461  d: 18446744073709550656\n"));
	clear(LEAVE);
	clear(ARRIVE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(event_in_another_clock),
		TEST(fields_of_another_event),
		TEST(made_ones_are_not_like),
		TEST(types_of_arguments),
		TEST(no_memory),
		TEST(who_has_the_snapshot),
		TEST(snapshots_of_two_cpus_at_once),
		TEST(of_one_name),
		TEST(one_time),
		TEST(later_time),
		TEST(another_clock),
		TEST(any_program),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
