/*
 * Registers by their names.
 *
 * links: trace/arch/x86_64/registers.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <stdio.h>
#include <string.h>
#include <kernel/base.h>
#include <trace/arch_regs.h>
#include <trace/platform.h>

static void test_names(void **state)
{
	static const struct {
		const char *name;
		size_t offset;
		bool is_argument;
	} registers[] = {
		{ "$arg1", offsetof(struct ftrace_regs, rdi), true },
		{ "$arg6", offsetof(struct ftrace_regs, r9), true },
		{ "$retval", offsetof(struct ftrace_regs, rax), true },
		{ "$stack", offsetof(struct ftrace_regs, rsp), false },
		{ "r8", offsetof(struct ftrace_regs, r8), true },
		{ "r15", offsetof(struct ftrace_regs, r15), false },
		{ "flags", offsetof(struct ftrace_regs, rflags), false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		struct trace_plat_register found;
		char longer[16];

		snprintf(longer, sizeof(longer), "%sx", registers[i].name);
		assert_true(trace_plat_register(longer, strlen(registers[i].name), &found));
		assert_int_equal(found.offset, registers[i].offset);
		assert_int_equal(found.is_argument, registers[i].is_argument);
		assert_false(trace_plat_register(longer, strlen(longer), &found));
		assert_false(trace_plat_register(longer, strlen(registers[i].name) - 1, &found));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
