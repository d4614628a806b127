/*
 * Lines about histograms that were typed to Linux 6.1 (tests/golden, hist-*), typed here; see golden_hist.h.
 */
#include "unit.h"
#include "golden_hist_run.h"

#define PRINT "events/ftrace/print/"

/* Histograms that are different here: what is typed, and what follows up to the next one. */
static const struct difference {
	const char *text, *why;
} differences[] = {
	{ "hist:keys=nr.syscall", "there are no system calls" },
	{ "hist:keys=func.hex,nr.syscall,bytes", "the same" },
	{ "hist:keys=nr.syscall:sort=nr.descending", "the same" },
	{ "hist:keys=time.usecs", "only time stamps have units" },
	{ "hist:keys=nr:vals=time.usecs", "the same" },
	{ "hist:keys=dynamic.hex", "a text is no number" },
	{ "hist:keys=n:vals=dynamic", "the same" },
	{ "hist:keys=common_timestamp", "the fake machine's clock stands still" },
	{ "hist:keys=common_timestamp.usecs", "the same" },
	{ "hist:keys=value:vals=common_timestamp", "the same" },
	{ "hist:keys=stacktrace", "the fake machine has no stacks" },
	{ "hist:keys=stacktrace,value", "the same" },
	{ "hist:keys=comm", "of later versions, or ours" },
	{ "hist:keys=common_comm", "the same" },
	{ "hist:keys=common_stacktrace", "the same" },
	{ "hist:keys=nr:vals=hitcount.percent", "the same" },
	{ "hist:keys=nr:vals=hitcount.graph", "the same" },
	{ "hist:keys=nr:vals=hitcount.percent,hitcount.graph,bytes.percent", "the same" },
	{ "hist:keys=nr:vals=bytes:nohitcount", "the same" },
	{ "hist:keys=nr:vals=bytes:NOHC", "the same" },
	{ "hist:keys=name.sym", "a text is no number" },
	{ "hist:keys=name.log2", "the same" },
	{ "hist:keys=name.hex", "the same" },
	{ "hist:keys=fixed", "arrays of numbers are no keys; Linux says that there is no memory" },
	{ "hist:keys=bytes", "the same" },
	{ "hist:keys=n:vals=fixed", "the same" },
	{ "hist:keys=list", "the same; Linux counts by the place of the array in the event" },
	{ "hist:keys=mask", "the same" },
	{ "hist:keys=n:vals=list", "the same" },
	{ "hist:keys=id:vals=$s:s=time+1", "a value may be a variable, whatever that is" },
	{ "hist:keys=id:k=5:vals=time*$k", "the same" },
	{ "hist:keys=id:vals=$v:v=time.log2", "two mistakes, of which we say the other one" },
	{ "hist:keys=id:k=0x10,m=-3", "a minus may stand in front of all" },
	{ "hist:keys=id:v=-time", "the same" },
	{ "hist:keys=id:x=-(-time)", "the same" },
	{ "hist:keys=id:x=1-(-time)", "the same" },
	{ "hist:keys=id:x=(time)", "so may parentheses" },
	{ "hist:keys=id:x=time+1+2+3+4", "there may be more than three operators" },
	{ "hist:keys=id:s=stacktrace", "a stack may be a variable, as in later versions" },
	{ "hist:keys=id:=time", "a variable has a name" },
	{ "hist:keys=id:x=time.usecs-$t0", "only time stamps have units" },
	{ "hist:keys=$x:x=id+1", "on Linux the key is id" },
	{ "hist:keys=bytes.log2:sort=bytes.log2", "what is listed can be written, too" },
	{ "hist:keys=buf", "a text that goes on to the end of its event is a key" },
	{ "hist:keys=ip.sym,buf", "the same" },
	{ "hist:keys=common_pid:vals=buf", "a text is no value" },
};

/* Is `typed` such a histogram, or its removal? */
static bool is_different(const char *typed)
{
	typed += *typed == '!';
	for (size_t i = 0; i < NR(differences); i++) {
		if (strcmp(typed, differences[i].text) == 0)
			return true;
	}
	return false;
}

static const struct golden_sample samples[] = {
	{ .name = "hist-keys",
	  .steps = { { "cat " GOLD "call/hist", 0,
		       "call 0 100 1 0;call 0 100 1 0;call 0 100 1 0;call 0 0 0 1;call 1 64 1 1000;"
		       "call 17 4096 60 1000000;call 2 127 60 5;call 2 128 -3 6;call 2 1 999 "
		       "7;" } },
	  .is_loop = true },
	{ .name = "hist-keys-signed",
	  .steps = { { "cat " GOLD "types/hist", 0,
		       "types 1;types -1;types 5;types -20;types 300;types 0;types 300;" } },
	  .is_loop = true },
	{ .name = "hist-keys-strings",
	  .steps = { { "cat " GOLD "string/hist", 0,
		       "string text 1;string text 1;string apple 2;string text 2;"
		       "string a_text_that_is_longer_than_its_fixed_array 4;" } },
	  .is_loop = true },
	{ .name = "hist-keys-common",
	  .steps = { { "cat " GOLD "int/hist", 0, "int 1;int 1;int 2;" } },
	  .is_loop = true },
	{ .name = "hist-keys-several",
	  .steps = { { "cat " GOLD "call/hist", 0,
		       "call 0 100 1 5;call 0 100 1 5;call 1 64 1 6;call 1 64 60 7;call 18 4096 60 "
		       "8;"
		       "call 18 10 1 9;" } },
	  .is_loop = true },
	{ .name = "hist-keys-arrays",
	  .steps = { { "cat " GOLD "array/hist", 0, "array 1;array 4;array 4;" } },
	  .is_loop = true },
	{ .name = "hist-vals",
	  .steps = { { "cat " GOLD "call/hist", 0,
		       "call 0 100 1 5;call 0 300 1 5;call 1 64 2 6;call 1 4000000 3 7;call 2 1 60 "
		       "8;"
		       "call 2 1 60 9;call 2 1 60 10;" } },
	  .is_loop = true },
	{ .name = "hist-sort",
	  .steps = { { "cat " GOLD "call/hist", 0,
		       "call 0 100 -1 5;call 0 300 5 5;call 1 64 2 6;call 1 4000 3 7;call 2 1 60 8;"
		       "call 2 2 60 9;call 2 3 60 10;call 0 3 5 1;" } },
	  .is_loop = true },
	{ .name = "hist-sort-names",
	  .steps = { { "cat " GOLD "first/hist", 0,
		       "first 1 pear;first 2 apple;first 3 fig;first 4 apple;first 5 Zebra;" } },
	  .is_loop = true },
	{ .name = "hist-size", .is_loop = true },
	{ .name = "hist-pause",
	  .steps = { { "cat " GOLD "int/hist", 1, "int 1;" },
		     { "cat " GOLD "int/hist", 2, "int 1;int 2;" },
		     { "cat " GOLD "int/hist", 3, "int 1;" },
		     { "cat " GOLD "int/hist", 5, "int 7;" } } },
	{ .name = "hist-several",
	  .steps = { { "cat " GOLD "int/hist", 1, "int 1;int 2;int 3;int 3;" } } },
	{ .name = "hist-named",
	  .steps = { { "cat " GOLD "first/hist", 1, "first 1 one;second 1 one;second 2 two;" },
		     { "echo 'hist:name=shared:keys=n:cont'", 1, "first 9 nine;" } } },
	{ .name = "hist-if",
	  .steps = { { "cat " GOLD "first/hist", 0,
		       "first 1 one;first 2 two;first 3 three;first 1 other;" } },
	  .is_loop = true },
	{ .name = "hist-disabled",
	  .steps = { { "cat " GOLD "int/hist", 1, "int 1;" },
		     { "grep", 2, "int 1;" },
		     { "cat " GOLD "int/hist", 2, "int 1;" },
		     { "cat " GOLD "int/hist", 3, "int 1;int 5;" } } },
	{ .name = "hist-trace-clock", .is_loop = true },
	{ .name = "hist-variables",
	  .steps = { { "cat " GOLD "begin/hist", 0,
		       "begin 1 1000 one;begin 1 500 one;begin 2 40 two;" } },
	  .is_loop = true },
	{ .name = "hist-expressions",
	  .is_synthetic = true,
	  .steps = { { "cat trace", 0,
		       "clear trace;begin 1 50 x;end 1 1000 x;begin 2 50 x;end 2 7 x;begin 3 50 "
		       "x;end 3 0 x;"
		       "begin 7 50 x;end 7 21 x;" },
		     { "echo 'hist:keys=id:t0", 1, "write events/synthetic/computed/enable 1;" } },
	  .is_loop = true },
	{ .name = "hist-print",
	  .steps = { { "cat " PRINT "hist", 1,
		       "write trace_marker a marker;write trace_marker a marker;"
		       "write trace_marker another;write trace_marker no match;" },
		     { "cat " PRINT "hist", 2,
		       "write trace_marker start;after 200;write trace_marker end;"
		       "write trace_marker end;" } },
	  .is_synthetic = true,
	  .synthetic = "latency u64 lat",
	  .is_off = true },
	{ .name = "hist-errors", .is_loop = true },
	{ .name = "hist-errors-variables", .is_loop = true },
	{ .name = "trigger-hist-enable",
	  .steps = { { "echo", 1, "write events/gold/gold_types/trigger hist:keys=l:pause;" },
		     { "cat " GOLD "types/trigger", 1, "types 1;int 1;" },
		     { "cat " GOLD "types/trigger", 2, "types 2;types 2;enum 1 1;" },
		     { "cat " GOLD "types/trigger", 3, "types 3;int 1;enum 1 1;types 4;" } } },
};

/* Linux's text, and ours; see docs/histograms.md. */
static const struct golden_change changes[] = {
	{ "", "tai x86-tsc", "fake-cycles" },
	/* Divisions by what is no power of two: ours round down. */
	{ "vv=time/3:", "v=334", "v=333" },
	{ "vv=time/3:", "id=2 v=3", "id=2 v=2" },
	{ "vv=time/10:", "id=2 v=1", "id=2 v=0" },
	{ "vv=time/10:", "id=7 v=3", "id=7 v=2" },
	{ "vv=time/7:", "v=143", "v=142" },
	{ "vv=time/$k:", "v=334", "v=333" },
	{ "vv=time/$k:", "id=2 v=3", "id=2 v=2" },
	{ "vv=$t0/3:", "v=17", "v=16" },
	/* A part of an expression is listed as it was written. */
	{ "vv=$k*2:", "vv=6:", "vv=$k*2:" },
	{ "vv=time+gold", "$gold.gold_begin.t0", "gold.gold_begin.$t0" },
	{ NULL, NULL, NULL },
};

static const struct golden_rules rules = { changes, is_different };

int main(void)
{
	return golden_run_samples(samples, NR(samples), &rules);
}
