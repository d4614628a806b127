/*
 * Registers by their names, as Linux calls them on x86-64: see <trace/platform.h>.
 */
#include <trace/platform.h>
#include <trace/arch_regs.h>

#define OF(field)    offsetof(struct ftrace_regs, field), false
#define FIRST(field) offsetof(struct ftrace_regs, field), true /* a call site saves it anyway */

static const struct {
	char name[8];
	uint32_t offset;
	bool is_argument;
} registers[] = {
	{ "$arg1", FIRST(rdi) }, { "$arg2", FIRST(rsi) },   { "$arg3", FIRST(rdx) },
	{ "$arg4", FIRST(rcx) }, { "$arg5", FIRST(r8) },    { "$arg6", FIRST(r9) },
	{ "$stack", OF(rsp) },	 { "$retval", FIRST(rax) }, { "di", FIRST(rdi) },
	{ "si", FIRST(rsi) },	 { "dx", FIRST(rdx) },	    { "cx", FIRST(rcx) },
	{ "r8", FIRST(r8) },	 { "r9", FIRST(r9) },	    { "ax", FIRST(rax) },
	{ "bp", FIRST(rbp) },	 { "bx", OF(rbx) },	    { "r10", OF(r10) },
	{ "r11", OF(r11) },	 { "r12", OF(r12) },	    { "r13", OF(r13) },
	{ "r14", OF(r14) },	 { "r15", OF(r15) },	    { "sp", OF(rsp) },
	{ "ip", OF(rip) },	 { "flags", OF(rflags) },
};

static bool registers_is_name(const char *name, const char *word, size_t len)
{
	while (len && *name && *name == *word) {
		name++;
		word++;
		len--;
	}
	return !len && !*name;
}

bool trace_plat_register(const char *name, size_t len, struct trace_plat_register *out_register)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		if (!registers_is_name(registers[i].name, name, len))
			continue;
		out_register->offset = registers[i].offset;
		out_register->is_argument = registers[i].is_argument;
		return true;
	}
	return false;
}
