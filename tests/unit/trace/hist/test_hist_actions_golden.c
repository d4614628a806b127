/*
 * Lines about actions of histograms, and about events that they write, that were typed to Linux 6.1
 * (tests/golden, hist-*, synthetic-*), typed here; see golden_hist.h.
 */
#include "unit.h"
#include "golden_hist_run.h"

#define END_HIST "cat " GOLD "end/hist"

/* The names of tracepoints that a host has are taken. */
static const char *const sched_names[][2] = {
	{ "sched_waking", "task_waking" },
	{ "sched_switch", "task_switch" },
	{ NULL, NULL },
};

static const struct golden_sample samples[] = {
	{ .name = "hist-onmax",
	  .steps = { { END_HIST, 0,
		       "begin 1 1000 one;begin 2 1100 two;end 1 1500 first;end 1 1900 second;"
		       "end 1 1600 third;end 2 1250 two;" } },
	  .is_loop = true,
	  .event = "gold_end:" },
	{ .name = "hist-onmax-snapshot",
	  .steps = { { END_HIST, 2,
		       "write events/gold/enable 1;clear trace;end 1 5 first;end 1 3 second;"
		       "end 1 9 third;end 2 7 fourth;" } },
	  .event = "gold_end:" },
	{ .name = "hist-onchange",
	  .steps = { { END_HIST, 0,
		       "end 1 5 first;end 1 5 second;end 1 4 third;end 1 4 fourth;end 2 9 "
		       "fifth;" } },
	  .is_loop = true,
	  .event = "gold_end:" },
	{ .name = "hist-onmatch",
	  .steps = { { "grep", 0,
		       "clear trace;begin 1 1000 one;begin 2 1100 two;end 1 1500 one;"
		       "end 2 1250 two;" } },
	  .is_loop = true,
	  .synthetic = "gold_latency int id; u64 lat" },
	{ .name = "hist-onmax-trace",
	  .steps = { { "grep", 0,
		       "begin 1 1000 one;end 1 1500 first;end 1 1900 second;end 1 1600 third;" } },
	  .synthetic = "gold_max int id; u64 lat" },
	{ .name = "hist-onchange-trace",
	  .steps = { { "grep", 0, "end 1 5 first;end 1 5 second;end 1 4 third;end 2 4 fourth;" } },
	  .synthetic = "gold_changed int id; u64 t" },
	{ .name = "hist-latency",
	  .steps = { { "grep", 1,
		       "write events/synthetic/gold_latency/enable 1;begin 1 1000 one;"
		       "begin 2 1100 two;end 1 1500 one;end 2 1250 two;end 2 1300 two;"
		       "end 3 9000 three;begin 1 2000 again;end 1 2500 again;" },
		     { "echo '!gold_latency'", 3,
		       "write events/synthetic/gold_latency/enable 0;" } },
	  .synthetic = "gold_latency int id; u64 lat; char name[16]",
	  .is_off = true },
	{ .name = "hist-errors-actions",
	  .is_loop = true,
	  .synthetic = "gold_latency int id; u64 lat; char name[16]" },
	{ .name = "hist-errors-busy", .synthetic = "gold_latency int id; u64 lat" },
	{ .name = "synthetic-trace",
	  .is_synthetic = true,
	  .steps = { { "cat events/synthetic/shown/format", 1,
		       "write events/synthetic/shown/enable 1;" },
		     { "grep -v '^#'", 0,
		       "clear trace;first 7 seven;string text 7;first 8 eight;"
		       "string a_text_that_is_longer_than_its_fixed_array 8;" },
		     { "cat events/synthetic/shown/hist", 1,
		       "first 7 seven;string text 7;first 8 eight;"
		       "string a_text_that_is_longer_than_its_fixed_array 8;first 7 seven;"
		       "string text 7;" },
		     { "grep -v \"^#\"", 1,
		       "clear trace;first 7 seven;string text 7;first 7 seven;string other 7;" } },
	  .is_loop = true },
	{ .name = "synthetic-types",
	  .is_synthetic = true,
	  .steps = { { "cat trace", 0,
		       "write events/synthetic/enable 1;clear trace;int -1;types -1;int 5;types 5;"
		       "int 300;types 300;" } },
	  .is_loop = true },
	{ .name = "synthetic-wakeup-latency",
	  .is_synthetic = true,
	  .names = sched_names,
	  .steps = { { "cat trace", 1,
		       "write events/synthetic/wakeup_latency/enable 1;wake 728;after 138;"
		       "switch 728;wake 729;after 43;switch 729;wake 730;after 135;switch 730;"
		       "wake 731;after 96;switch 731;wake 732;after 90;switch 732;" },
		     { "echo '!wakeup_latency'", 1,
		       "write events/synthetic/wakeup_latency/enable 0;" } } },
};

/* Linux's text, and ours. */
static const struct golden_change changes[] = {
	/* Divisions round down. */
	{ "bb=n/3", "big=3", "big=2" },
	/* Small numbers have their sign. */
	{ "widths(s8,uc,$ss", "a=255", "a=-1" },
	{ "widths(s8,uc,$ss", "c=65535", "c=-1" },
	{ "named($cc,uc", "a=255", "a=-1" },
	{ NULL, NULL, NULL },
};

/* Lines that are not looked at. */
static const char *const left_out[] = {
	/* Parameters of one letter, which Linux refuses. */
	"shown(n,n,",
	"widths(s8,uc,s,u16,i,",
	/* Only of some pointers it is known that their text stays. */
	"shown($nn,$bb,fixed,pointer,",
	/* Linux refuses to pause a histogram that has variables. */
	":t0=time:pause",
	/* Forms of `trace` have tests of their own. */
	"nocontext-info",
	"raw",
	"hex",
};

static bool is_different(const char *text)
{
	const char *match = strstr(text, ":onmatch(");

	/* Linux finds the variable twice; here two actions may be about one event. */
	if (match && strstr(match + 1, ":onmatch("))
		return true;
	for (size_t i = 0; i < NR(left_out); i++) {
		if (strstr(text, left_out[i]))
			return true;
	}
	return false;
}

static const struct golden_rules rules = { changes, is_different };

int main(void)
{
	return golden_run_samples(samples, NR(samples), &rules);
}
