/*
 * The input chooses a program of expr/ and its data, as a source of random numbers: what the check
 * accepts gives what a second implementation gives, tests/unit/trace/expr/expr_twin.h.
 * links: trace/expr/expr_[!s]*.c trace/ops/ftrace_match.c trace/text/glob.c trace/text/str.c
 */
#include <stdlib.h>
#include "trace/expr/expr_twin.h"
#include "fuzz_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* ---- The host's part ---- */

static _Alignas(64) uint8_t memory[128];
static const struct twin_machine machine = {
	.cpu = 5, .pid = 9, .comm = "aab", .memory = memory, .memory_bytes = 48, .bad = 4096
};
uint32_t trace_plat_nr_cpus(void)
{
	return 8;
}

bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	uint64_t in = (uintptr_t)from - (uintptr_t)memory;

	if (in >= sizeof(memory) || bytes > sizeof(memory) - in)
		return false;
	memcpy(to, from, bytes);
	return true;
}

bool trace_plat_read_user(void *to, const void *from, size_t bytes)
{
	return trace_plat_read(to, from, bytes);
}

void trace_plat_current_comm(char *out_comm)
{
	memcpy(out_comm, machine.comm, sizeof(machine.comm));
}

uint64_t fake_clock_read(void)
{
	return 0;
}

void fake_check_preempt_enable(uint32_t count)
{
	(void)count;
}

/* ---- Programs ---- */

static const uint8_t *input, *input_end;

/* Two bytes of the input; when they are used up, a row of numbers. */
static uint64_t next_number(void)
{
	static uint64_t row;

	if (input_end - input < 2)
		return (row += 0x9e3779b97f4a7c15) >> 7;
	input += 2;
	return (input[-2] | (uint64_t)input[-1] << 8) * 0x0001000100010001;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct twin twin = { .random = next_number, .machine = &machine };
	struct expr_program *program;
	struct expr_run run;

	input = data;
	input_end = data + len;
	for (size_t i = 0; i < machine.memory_bytes - 1; i++)
		memory[i] = "ab\0"[next_number() % 3];
	twin_make(&twin);
	program = twin_compile(&twin);
	run.data = twin.data;
	run.len = twin.len;
	if (program && trace_expr_run(&run, program->insns) != twin_run(&twin))
		abort();
	trace_expr_free(program);
	free(twin.data);
	if (nr_allocated)
		abort();
	return 0;
}
