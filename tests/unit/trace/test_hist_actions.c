/*
 * Actions of histograms, beyond what Linux's samples show (test_hist_actions_golden.c): arguments
 * that are fields of another event, histograms of one name, who has the snapshot, no memory.
 */
#include "unit.h"
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

static void no_memory(void **state)
{
	long out, budget = 0;
	int err;

	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time");
	add(LEAVE, ALL); /* what an instance keeps: room for a snapshot */
	clear(LEAVE);
	out = fake_alloc_out;
	do {
		fake_alloc_budget = budget++;
		err = set(LEAVE, ALL);
		fake_alloc_budget = -1;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(fake_alloc_out, out);
	} while (budget < 100);
	assert_int_equal(err, 0);
	assert_in_range(budget, 12, 99);
	clear(LEAVE);
	assert_int_equal(fake_alloc_out, out);
}

/* While one histogram has the snapshot, nobody else takes any. */
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fields_of_another_event),
		TEST(no_memory),
		TEST(who_has_the_snapshot),
		TEST(of_one_name),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
