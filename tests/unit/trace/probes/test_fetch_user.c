/* Arguments of probes that read the memory of programs. */
#include "unit.h"
#include "fake/fake.h"
#include "probes/fetch.h"
#include "fetch_help.h"

static const struct fetch_context at_code = { .place = FETCH_AT_CODE };
static const char memory_text[] = "a text of some length";

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_thread_add(7, "worker");
	fake_run(7);
	return 0;
}

static const char *with_byte(uint8_t value)
{
	static char line[8];

	snprintf(line, sizeof(line), "%u", value);
	return line;
}

/* The first page is a program's, the second the kernel's. A plain read finds both. */
static void user_memory(void **state)
{
	static struct {
		uint64_t word;
		const char *text, *kernel_text;
		uint16_t halves[2];
		char own[FAKE_PAGE_BYTES - 28];
		uint64_t kernel_word;
		const void *user;
	} pages __attribute__((aligned(FAKE_PAGE_BYTES)));

	(void)state;
	pages.word = 0x1122334455667788;
	pages.text = pages.own;
	pages.kernel_text = memory_text;
	pages.halves[0] = 7;
	pages.halves[1] = 8;
	strcpy(pages.own, "a text of a program");
	pages.kernel_word = 5;
	pages.user = &pages;
	fake_user_page = &pages;
	regs.arg[0] = (uintptr_t)&pages;
	regs.arg[1] = (uintptr_t)&pages.kernel_word;
	CHECK_VALUE(at_code, "+u0(%di)", "0x1122334455667788");
	CHECK_VALUE(at_code, "+u1(%di):x16", "0x6677");
	CHECK_VALUE(at_code, "-u0(%di):x8", "0x88");
	CHECK_VALUE(at_code, "+u24(%di):u16[2]", "7,8");
	CHECK_VALUE(at_code, "+u24(%di):b2@1/16[2]", "3,0");
	CHECK_VALUE(at_code, "+u0(+8(%si)):x32", "0x55667788");
	CHECK_VALUE(at_code, "+u2(+u8(%di)):string", "\"text of a program\"");
	CHECK_VALUE(at_code, "+0(+u8(%di)):ustring", "\"a text of a program\"");
	CHECK_VALUE(at_code, "+u8(%di):ustring[2]", "\"a text of a program\",(fault)");
	CHECK_VALUE(at_code, "+u8(%di):string[2]",
		    "\"a text of a program\",\"a text of some length\"");
	CHECK_VALUE(at_code, "+u28(%di):symstr", "\"0x6f20747865742061\"");
	/* As Linux where the two have different addresses: a plain read finds what is there. */
	CHECK_VALUE(at_code, "+0(%di)", "0x1122334455667788");
	CHECK_VALUE(at_code, "+2(%di):x16", "0x5566");
	CHECK_VALUE(at_code, "+24(%di):u16[2]", "7,8");
	CHECK_VALUE(at_code, "+24(%di):b2@1/16", "3");
	CHECK_VALUE(at_code, "+0(+8(%di)):string", "\"a text of a program\"");
	CHECK_VALUE(at_code, "+8(%di):string[2]",
		    "\"a text of a program\",\"a text of some length\"");
	CHECK_VALUE(at_code, "+8(+8(%si)):u8", with_byte((uint8_t)(uintptr_t)pages.own));
	/* The kernel has no memory of a program's. */
	CHECK_VALUE(at_code, "+u0(%si)", "0x0");
	CHECK_VALUE(at_code, "+u0(%si):u8[2]", "0,0");
	CHECK_VALUE(at_code, "+u0(+u8(%si)):string", "(fault)");
	CHECK_VALUE(at_code, "+0(+16(%di)):ustring", "(fault)");
	CHECK_VALUE(at_code, "+u0(+16(%di)):string", "(fault)");
	CHECK_VALUE(at_code, "+u0(%si):string[2]", "(fault),(fault)");
	fake_user_page = NULL;
	CHECK_VALUE(at_code, "+u0(%di)", "0x0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(user_memory, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
