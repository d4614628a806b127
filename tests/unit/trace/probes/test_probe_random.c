/*
 * Lines of probes put together from words, and memory that runs out: nothing is accessed wrongly (the
 * sanitisers watch), and when the probes are gone nothing is left of them. The sequence is the same
 * in every run. tests/fuzz/fuzz_probe.c goes further.
 */
#include "unit.h"
#include "tracefs.h"
#include "events/dyn_event.h"
#include "probe_types.h"
#include "text/str.h"

#define ROUNDS 3000
#define KEPT   10 /* allocations at most: tables that have grown, what comes with the first event */

static uint32_t random_state = 1;

static uint32_t pick(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

/* ---- Values for probes ---- */

static char letters[5000]; /* without an end */
static uintptr_t stack[16] = { 0, 1, (uintptr_t)stack, (uintptr_t) "text" };

/* Each function is entered and left, and each of its instructions executed. */
static void happen(void)
{
	struct ftrace_regs regs = { .arg = { (uintptr_t) "some text", (uintptr_t)stack,
					     (uintptr_t)letters, 8, 0, ~0ul },
				    .parent = PARENT,
				    .slot = stack };
	enum fake_via via;

	for (size_t func = 0; func < NR_FUNCS; func++) {
		(void)fake_call_regs(func, &regs, &via);
		for (uintptr_t at = TRACE_INSN_SIZE; at < 16; at++)
			(void)fake_step(fake_func(func) + at, &regs);
		(void)fake_enter(func, PARENT);
		(void)fake_leave(77);
	}
}

/* The file `enable` in `dir` of events/; nothing is kept of the way there, as node_of() does. */
static struct trace_node *find_enable(const char *dir)
{
	const char *const path[] = { "events", dir, "enable" };
	struct trace_node *node = trace_fs_root(), *child;

	for (size_t i = 0; node && i < TRACE_ARRAY_SIZE(path); i++) {
		if (!*path[i])
			continue;
		child = trace_fs_lookup(node, path[i], strlen(path[i]));
		trace_fs_put(node);
		node = child;
	}
	return node;
}

/* Without memory a directory may look empty. */
static int switch_all(const char *dir, const char *on)
{
	struct trace_node *node = find_enable(dir);
	struct trace_handle *handle;
	uint64_t pos = 0;
	int64_t err;

	if (!node)
		return -ENOMEM;
	err = trace_fs_open(node, TRACE_FS_WRITE, &handle);
	if (!err) {
		err = trace_fs_write(handle, on, 1, &pos);
		assert_int_equal(trace_fs_close(handle), 0);
	}
	trace_fs_put(node);
	return err < 0 ? (int)err : 0;
}

/* Probes are switched on, hit, and removed, while memory may run out. */
static void use(void)
{
	(void)switch_all("", "1");
	happen();
	(void)switch_all("", "0");
	(void)put("", 0, "dynamic_events", TRACE_FS_TRUNC);
}

static void all_gone(void)
{
	assert_int_equal(switch_all("", "0"), 0);
	(void)cat("trace");
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), 0);
	assert_int_equal(put("", 0, "error_log", TRACE_FS_TRUNC), 0);
	assert_null(trace_dyn_event_next(NULL, NULL));
	assert_int_equal(fake_nr_probes, 0);
}

static int setup(void **state)
{
	int err;

	probe_types_make();
	err = tracefs_setup(state);
	probe_types_name();

	memset(letters, 'z', sizeof(letters));
	fake_run(1); /* a thread with a shadow stack */
	fake_reads_anywhere = true;
	use();
	all_gone();
	return err;
}

/* ---- Lines of words ---- */

static const char *const places[] = {
	"p kfree",
	"p:a/b kfree+8",
	"p schedule+5",
	"r:c yield",
	"r4 do_work",
	"p do_work%return",
	"f:d do_work",
	"f kfree%return",
	"t:e sched_switch",
	"e sched.sched_waking",
	"e:h kprobes.p_kfree_0",
	"p:a/b yield",
	"-:a/b",
	"-:p_kfree_0",
	"-:c yield",
	"p yield+3",
};
static const char *const values[] = {
	"%di",
	"%si",
	"$arg3",
	"$stack2",
	"$retval",
	"$arg*",
	"file->path.text",
	"file->next->name",
	"file->level",
	"nr",
	"prev->pid",
	"$retval->next->pos",
	"$current->comm",
	"(file)%di->pos",
	"(file,path.len)$arg2->next->name",
	"(file)((file)%si->next)->level",
	"(pair)next_pid->a",
	"text",
	"$arg1",
	"$current",
	"$comm",
	"+8(%si)",
	"+0(%dx)",
	"+0(+16(%si))",
	"@kfree",
	"\\1",
	"\\\"text\"",
	"$next_pid",
	"-4(+u0($arg2))",
	"+0(%cx)",
	"$prev_comm",
	"@kfree+2",
	"$stack",
};
static const char *const types[] = {
	"",	 ":u8",	    ":s16",    ":x32[3]", ":u64[64]", ":string",   ":string[2]", ":ustring",
	":char", ":symbol", ":symstr", ":b4@2/8", ":x8[4]",   ":b63@1/64", ":u24",	 ":s64[0]",
};

static void random_line(char *line, size_t size)
{
	size_t len = (size_t)snprintf(line, size, "%s", places[pick(TRACE_ARRAY_SIZE(places))]);

	for (uint32_t i = 0, nr = pick(5); i < nr; i++) {
		char name[] = " x=";

		name[1] = (char)('u' + pick(5));
		len += (size_t)snprintf(line + len, size - len, "%s%s%s", pick(2) ? name : " ",
					values[pick(TRACE_ARRAY_SIZE(values))],
					types[pick(TRACE_ARRAY_SIZE(types))]);
	}
	if (pick(20) == 0)
		line[pick((uint32_t)len)] = (char)(' ' + pick(95));
}

static void random_lines(void **state)
{
	uint32_t nr_accepted = 0;
	long out;
	char line[300];

	(void)state;
	out = fake_alloc_out;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		fake_alloc_budget = pick(3) ? -1 : (long)pick(30);
		for (uint32_t i = 0, nr = 1 + pick(4); i < nr; i++) {
			random_line(line, sizeof(line));
			nr_accepted += !echo_append(line, "dynamic_events");
		}
		use();
		fake_alloc_budget = -1;
		all_gone();
		assert_true(fake_alloc_out <= out + KEPT);
	}
	assert_true(nr_accepted > ROUNDS / 4);
}

/* ---- No memory, at each allocation ---- */

static const char *const whole_life[] = {
	"p:a/site kfree %di +0($arg1):string $comm",
	"p:a/site yield %di +0($arg1):string $comm",
	"p:a/middle do_work+8 %si:u8",
	"r8:a/back kfree $retval +0(%ax):string",
	"f:a/entry schedule $arg1 $arg3:x8",
	"f:a/exit schedule%return $retval",
	"t:a/raw sched_switch $arg1",
	"e:a/event a.site arg1=$arg1:u8",
};

static bool was_short; /* of memory, once */

static void take(int err)
{
	was_short |= err == -ENOMEM;
}

static void live(void)
{
	was_short = false;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(whole_life); i++)
		take(echo_append(whole_life[i], "dynamic_events"));
	take(switch_all("a", "1"));
	happen();
	take(switch_all("a", "0"));
	take(echo_append("-:a/event", "dynamic_events"));
	take(echo_append("-:a/site yield", "dynamic_events"));
	take(put("", 0, "dynamic_events", TRACE_FS_TRUNC));
}

/* From here on, or only this once. */
static void no_memory(void **state)
{
	long out, budget;

	(void)state;
	live();
	assert_false(was_short);
	all_gone();
	out = fake_alloc_out;
	for (int once = 0; once < 2; once++) {
		for (budget = 0; !budget || was_short; budget++) {
			fake_alloc_budget = budget;
			fake_alloc_fails_once = once;
			live();
			fake_alloc_budget = -1;
			fake_alloc_fails_once = false;
			all_gone();
			assert_true(fake_alloc_out <= out + KEPT);
		}
		assert_true(budget > 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lines),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
