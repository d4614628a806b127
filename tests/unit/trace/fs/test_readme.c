/*
 * README in the words that scripts look for: those of Linux's self-tests, which run a test only if
 * README or a file has them. What is promised there is tried here.
 */
#include "unit.h"
#include "tracefs.h"
#include "text/str.h"

#define TRIGGER "events/sched/sched_switch/trigger"

/* A word of README, and what it promises: a write that succeeds, and one that ends it. */
static const struct {
	const char *words, *path, *text, *undo;
} promises[] = {
	{ "accepts: func_full_name or glob-matching-pattern", "set_ftrace_filter", "s*d?le", "" },
	{ "stacktrace", "set_ftrace_filter", "schedule:stacktrace", "!schedule:stacktrace" },
	{ "enable_event:<system>:<event>", "set_ftrace_filter",
	  "schedule:enable_event:sched:sched_switch", "!schedule:enable_event:sched:sched_switch" },
	{ "can be any field, or the special string 'common_stacktrace'", TRIGGER,
	  "hist:keys=common_stacktrace", "!hist:keys=common_stacktrace" },
	{ "<var1>=<field|var_ref|numeric_literal>", TRIGGER, "hist:keys=next_pid:a=prev_pid,b=3",
	  "!hist:keys=next_pid:a=prev_pid,b=3" },
	{ "[:nohitcount]", TRIGGER, "hist:keys=next_pid:vals=prev_pid:nohitcount",
	  "!hist:keys=next_pid:vals=prev_pid:nohitcount" },
	{ "[:size=", TRIGGER, "hist:keys=next_pid:size=256", "!hist:keys=next_pid:size=256" },
	{ ".percent", TRIGGER, "hist:keys=next_pid:vals=hitcount,prev_pid.percent",
	  "!hist:keys=next_pid:vals=hitcount,prev_pid.percent" },
	{ ".buckets=", TRIGGER, "hist:keys=next_pid.buckets=10", "!hist:keys=next_pid.buckets=10" },
	{ "s:[synthetic/]", "dynamic_events", "s:synthetic/promised u64 lat",
	  "-:synthetic/promised" },
	{ "char name[]' >> synthetic_events", "synthetic_events", "woken u64 lat; char name[]",
	  "!woken" },
	{ "long[] stack' >> synthetic_events", "synthetic_events", "slow u64 lat; long[] stack",
	  "!slow" },
	{ "Create/append/", "kprobe_events", "p:my/promised schedule", "-:my/promised" },
	{ "-:[<group>/][<event>]", "kprobe_events", "p:my/promised schedule", "-:my/" },
	{ "r[maxactive]", "kprobe_events", "r10:my/promised schedule $retval", "-:my/promised" },
	{ "<symbol>[+<offset>]%return", "kprobe_events", "p:my/promised schedule%return",
	  "-:my/promised" },
	{ "f[:[<group>/][<event>]] <func-name>[%return] [<args>]", "dynamic_events",
	  "f:my/promised schedule%return $retval", "-:my/promised" },
	{ "%entry is the entry, too", "dynamic_events", "f:my/promised schedule%entry",
	  "-:my/promised" },
	{ "<symbol>[+<offset>]", "kprobe_events", "p:my/promised schedule+8 %di $stack0",
	  "-:my/promised" },
	{ "t[:[<group>/][<event>]] <tracepoint> [<args>]", "dynamic_events",
	  "t:my/promised sched_switch next=+16($arg2):s32", "-:my/promised" },
	{ "e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>]", "dynamic_events",
	  "e:my/promised sched.sched_switch $comm a=$prev_pid:s32", "-:my/promised" },
	{ "w[:[<group>/][<event>]] [rw|w]@<variable>[:<len>] [<args>]", "dynamic_events",
	  "w:my/promised w@promise:8 old=$old $value", "-:my/promised" },
	{ "[if <filter>]", "dynamic_events", "e:my/promised sched.sched_switch if prev_pid == 1",
	  "-:my/promised" },
	{ "<type>\\[<array-size>\\]", "dynamic_events",
	  "t:my/promised sched_switch +0($arg1):u8[4]", "-:my/promised" },
	{ "\\imm-value, \\\"imm-string\"", "dynamic_events",
	  "t:my/promised sched_switch \\1 \\\"text\"", "-:my/promised" },
	{ "this_cpu_read(<fetcharg>), this_cpu_ptr(<fetcharg>)", "dynamic_events",
	  "t:my/promised sched_switch this_cpu_read(@promise) a=this_cpu_ptr($arg1)",
	  "-:my/promised" },
	{ "b<bit-width>@<bit-offset>/<container-size>", "dynamic_events",
	  "t:my/promised sched_switch $arg1:b3@1/8", "-:my/promised" },
	{ "kernel return probes support: $retval, $arg<N>, $comm", "kprobe_events",
	  "r:my/promised schedule $arg1 $retval $comm", "-:my/promised" },
	{ "Write 0/1 to enable/disable tracing of", "events/sched/enable", "1", "0" },
};

static void what_is_promised_is_kept(void **state)
{
	static uint64_t promise[FAKE_MAX_CPUS];
	static const struct fake_variable variables[] = { { "promise", &promise, 8 },
							  { .name = NULL } };

	(void)state;
	fake_variables = variables;
	fake_per_cpu = &promise;
	fake_per_cpu_bytes = sizeof(promise) / FAKE_MAX_CPUS;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(promises); i++) {
		if (!strstr(cat("README"), promises[i].words))
			fail_msg("README has not: %s", promises[i].words);
		if (echo_append(promises[i].text, promises[i].path))
			fail_msg("%s: %s", promises[i].path, cat("error_log"));
		assert_int_equal(*promises[i].undo ? echo_append(promises[i].undo, promises[i].path)
						   : echo("", promises[i].path),
				 0);
	}
}

/* Words by which Linux's self-tests find out whether there is what they test. */
static void words_of_self_tests_are_there(void **state)
{
	static const char *const words[] = {
		"place: [<module>:]<symbol>",
		"place (kretprobe): [<module>:]<symbol>",
		"f[:[<group>/][<event>]] <func-name>",
		"t[:[<group>/][<event>]] <tracepoint> [<args>]",
		"<attached-group>.<attached-event> [<args>]",
		"p[:[<group>/][<event>]] <place> [<args>]",
		"x8/16/32/64",
		"$arg<N>",
		"Create/append/",
		"s:[synthetic/]",
		"trace(<synthetic_event>",
		"onchange(var)",
		"snapshot()",
		"' >> synthetic_events",
		"can be any field, or the special string 'common_stacktrace'",
	};

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(words); i++) {
		if (!strstr(cat("README"), words[i]))
			fail_msg("README has not: %s", words[i]);
	}
}

/* Handlers and actions of histograms, each with each that it goes with. */
static void actions_are_kept(void **state)
{
	static const char *const handlers[] = { "onmatch(matching.event)", "onmax(var)",
						"onchange(var)" };
	static const char *const ours[] = { "onmatch(sched.sched_switch)", "onmax($a)",
					    "onchange($a)" };
	static const char *const actions[] = { "trace(<synthetic_event>,param list)",
					       "<synthetic_event>(param list)", "save(field,...)",
					       "snapshot()" };
	static const char *const done[] = { "trace(woken,$a)", "woken($a)", "save(next_pid)",
					    "snapshot()" };

	(void)state;
	assert_int_equal(echo("woken pid_t pid", "synthetic_events"), 0);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(ours) * TRACE_ARRAY_SIZE(done); i++) {
		size_t handler = i / TRACE_ARRAY_SIZE(done), action = i % TRACE_ARRAY_SIZE(done);
		bool fits = handler || action < 2;
		char text[100];

		assert_non_null(strstr(cat("README"), handlers[handler]));
		assert_non_null(strstr(cat("README"), actions[action]));
		snprintf(text, sizeof(text), "!hist:keys=next_pid:a=prev_pid:%s.%s", ours[handler],
			 done[action]);
		if (echo_append(text + 1, TRIGGER) != (fits ? 0 : -EINVAL))
			fail_msg("%s: %s", text + 1, cat("error_log"));
		assert_int_equal(echo_append(text, TRIGGER), fits ? 0 : -EINVAL);
	}
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
}

/* Each line fits a terminal of 100 columns. */
static void lines_are_short(void **state)
{
	const char *line = cat("README"), *end;

	(void)state;
	for (; (end = strchr(line, '\n')); line = end + 1) {
		unsigned int column = 0;

		for (const char *at = line; at < end; at++)
			column = *at == '\t' ? (column | 7) + 1 : column + 1;
		if (column > 100)
			fail_msg("%.*s", (int)(end - line), line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_promised_is_kept),
		cmocka_unit_test(words_of_self_tests_are_there),
		cmocka_unit_test(actions_are_kept),
		cmocka_unit_test(lines_are_short),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
