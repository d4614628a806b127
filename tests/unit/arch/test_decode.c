/*
 * The decoder, form by form of the manual (SDM volume 2, chapter 2 and appendix A): what stands where,
 * what is refused, and that nothing behind the bytes it may read is read.
 * links: trace/arch/x86_64/decode*.c
 */
#include "unit.h"
#include "page_end.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace/arch_decode.h>

/* `hex` as bytes, at the end of a page. */
static const uint8_t *bytes_of(const char *hex, size_t *out_nr)
{
	char bytes[64];
	size_t nr = 0;
	unsigned int byte;
	int used;

	while (sscanf(hex, "%2x%n", &byte, &used) == 1) {
		bytes[nr++] = (char)byte;
		hex += used;
	}
	*out_nr = nr;
	return (const uint8_t *)at_page_end(bytes, nr);
}

static struct trace_insn decoded(const char *hex)
{
	struct trace_insn insn;
	size_t nr;
	const uint8_t *bytes = bytes_of(hex, &nr);
	int err = trace_insn_decode(&insn, bytes, nr);

	if (err || insn.length != nr)
		print_message("%s: error %d, %u bytes\n", hex, err, insn.length);
	assert_int_equal(err, 0);
	assert_int_equal(insn.length, nr);
	return insn;
}

static int error_of(const char *hex)
{
	struct trace_insn insn;
	size_t nr;
	const uint8_t *bytes = bytes_of(hex, &nr);

	return trace_insn_decode(&insn, bytes, nr);
}

/* ---- Lengths ---- */

static const char *const whole[] = {
	"90",
	"55",
	"4157",
	"0f1f440000",
	"660f1f840000000000",
	"66662e0f1f840000000000",
	"e800000000",
	"66e800000000", /* Intel's: still 4 bytes */
	"660f8400000000",
	"eb00",
	"6a01",
	"6800000000",
	"66680000",
	"b800000000",
	"66b80000",
	"48b80000000000000000",
	"6648b80000000000000000", /* REX.W before 66 */
	"a00000000000000000",
	"67a000000000", /* addresses of 4 bytes */
	"48a30000000000000000",
	"c8000000",
	"c20000",
	"f60000", /* test: an immediate */
	"f610",	  /* not: none */
	"f70000000000",
	"66f7000000",
	"f710",
	"8b05ffffffff",
	"8b0425ffffffff",
	"8b842400000000",
	"8b44240f",
	"8b0424",
	"8b042d00000000", /* SIB without a base */
	"0fa4c101",
	"0fba2001",
	"0f0b",
	"0fb9c0",
	"0fff00",
	"0f0fc0b4",
	"0f0f4020bf", /* the suffix of 3DNow! behind the displacement */
	"660f78c00102",
	"f20f78c00102",
	"c7f800000000", /* xbegin */
	"c6f801",
	"f30f1efa",
	"0f20c0",
	"0f2000", /* registers, whatever ModRM.mod is */
	"440f22c0",
	"660f3a0fc108",
	"660f3800c1",
	"f2480f38f1c0",
	"c5f877",
	"c5fb1000",
	"c5e9c44424ff01", /* VEX, map 0F: an immediate */
	"c4e3791700ff",	  /* map 0F3A: always one */
	"c4e27d1805ffffffff",
	"62f17c48100500000000",
	"62f37d48254001ff",
	"8fe8789e0000",	      /* XOP 8: an immediate */
	"8fe97890c0",	      /* XOP 9: none */
	"8fea7810c000000000", /* XOP 10: 4 bytes */
	"8f00",		      /* pop, no XOP */
	"d9c0",
	"d900",
	"dfe0",
	"c46269900401", /* gather: register 8, index 0, mask 2; they have to differ */
	"c4a269900401", /* 0, 8, 2 */
	"c4e229901401", /* 2, 0, 10 */
	"62e27d49900401",
	"62b27d49900401",
	"62327d41900401", /* 16 and 0, 0 and 8, 8 and 24 */
	"62d66e48d6c0",
	"62b66e48d6c0", /* vfmulcph: register 0, sources 8 and 2; 16 and 2 */
	"62e66e48d6d1", /* 18, 1 and 2 */
};

static void test_lengths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		decoded(whole[i]);
}

/* Of each of them, any beginning is too short, and says so without reading on. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		size_t nr = strlen(whole[i]) / 2;

		for (size_t part = 0; part < nr; part++) {
			char hex[64];

			snprintf(hex, sizeof(hex), "%.*s", (int)(2 * part), whole[i]);
			assert_int_equal(error_of(hex), -ENODATA);
		}
	}
}

static void test_longest(void **state)
{
	(void)state;
	decoded("666666666666666666666666666690"); /* 15 bytes */
	assert_int_equal(error_of("66666666666666666666666666666690"), -E2BIG);
	assert_int_equal(error_of("666666666666668184080000000000000000"), -E2BIG);
	assert_int_equal(error_of("666666666666666666666666666666"), -E2BIG);
	assert_int_equal(error_of("6666666666666666666666666666"), -ENODATA);
}

/* ---- Instructions that 64-bit mode does not have ---- */

static const char *const undefined[] = {
	"06",
	"07",
	"0e",
	"16",
	"17",
	"1e",
	"1f", /* segment registers */
	"27",
	"2f",
	"37",
	"3f",
	"d400",
	"d500", /* decimal numbers */
	"60",
	"61",
	"82c000",
	"9a",
	"ce",
	"d6",
	"ea",
	"0f04",
	"0f0a",
	"0f0c",
	"0f24c0",
	"0f36",
	"0f39",
	"0fa6c1",
	"8dc0",	    /* lea of a register */
	"8ec8",	    /* mov to cs */
	"8ef0",	    /* there is no such segment register */
	"0f20c8",   /* cr1 */
	"440f20d0", /* cr10 */
	"440f21c0", /* dr8 */
	"f090",	    /* lock where there is nothing to lock */
	"f001c0",   /* a register */
	"f00fa300", /* bt only reads */
	"f0833800", /* cmp likewise */
	"fed0",
	"fff8",
	"ffd8",
	"c6c800",
	"0fc7c0",
	"0f0fc000",
	"0fb8c0",
	"66c5f877",
	"f0c5f877",
	"f2c5f877",
	"48c5f877",	  /* not before VEX */
	"c4e07800",	  /* map 0 */
	"62f47c4810c0",	  /* map 4 */
	"c5fb77",	  /* nothing with F2 there */
	"c4e27819c0",	  /* no prefix: vbroadcastsd has 66 */
	"c4e27919c0",	  /* and 256 bits */
	"c4e2fd19c0",	  /* and W 0 */
	"c5e877",	  /* vvvv names a register */
	"62f17cc810c0",	  /* zeroing without a mask */
	"62f17c6810c0",	  /* a length that is none */
	"62f17c5810c0",	  /* rounding, where nothing is rounded */
	"62f27d48900411", /* gather without a mask */
	"c4e269900411",	  /* gather: index and mask the same */
	"62f1784810c0",	  /* a bit that is 1 always */
	"c42269900401",	  /* gather: register and index 8 */
	"c4a239900401",
	"c46229901401", /* index and mask 8; register and mask 10 */
	"62f27d49900401",
	"62e27d41900401",
	"62327d49900401", /* with EVEX: both 0, both 16, both 8 */
	"62f66e48d6c0",
	"62a66e48d6c0",
	"62566e48d6c0", /* vfmulcph likewise */
	"62f66e48d6d1", /* register and first source 2 */
};

static void test_undefined(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(undefined) / sizeof(undefined[0]); i++) {
		if (error_of(undefined[i]) != -EINVAL)
			print_message("%s\n", undefined[i]);
		assert_int_equal(error_of(undefined[i]), -EINVAL);
	}
}

/* ---- Positions of the parts ---- */

static void test_prefixes(void **state)
{
	struct trace_insn insn = decoded("f20f10c0");

	(void)state;
	assert_int_equal(insn.prefixes, TRACE_INSN_REPNE);
	insn = decoded("f2f3f2f390"); /* the last one counts */
	assert_int_equal(insn.prefixes, TRACE_INSN_REP);
	insn = decoded("2e64653e678b00");
	assert_int_equal(insn.prefixes, TRACE_INSN_DS | TRACE_INSN_ADDRSIZE);
	insn = decoded("65488b042500000000");
	assert_int_equal(insn.prefixes, TRACE_INSN_GS);
	assert_int_equal(insn.rex, 0x48);
	insn = decoded("4865488b00");
	assert_int_equal(insn.rex, 0x48);
	insn = decoded("48658b00"); /* a REX before another prefix is none */
	assert_int_equal(insn.rex, 0);
	insn = decoded("48b80100000000000080");
	assert_int_equal(insn.imm_size, 8);
	assert_true((uint64_t)insn.imm == 0x8000000000000001);
	insn = decoded("4866b80180");
	assert_int_equal(insn.imm_size, 2);
	assert_int_equal(insn.imm, -32767);
	insn = decoded("f048810801000000");
	assert_int_equal(insn.prefixes, TRACE_INSN_LOCK);
}

static void test_memory_operand(void **state)
{
	struct trace_insn insn = decoded("4a8b84e510ffffff"); /* mov rax, [rbp + r12 * 8 - 0xf0] */

	(void)state;
	assert_true(insn.is_memory_operand && insn.has_sib && !insn.is_rip_relative);
	assert_int_equal(insn.base, 5);
	assert_int_equal(insn.index, 12);
	assert_int_equal(insn.scale, 8);
	assert_int_equal(insn.disp, -0xf0);
	assert_int_equal(insn.disp_offset, 4);
	assert_int_equal(insn.disp_size, 4);

	insn = decoded("49890424"); /* mov [r12], rax */
	assert_int_equal(insn.base, 12);
	assert_int_equal(insn.index, TRACE_INSN_NO_REG);
	assert_int_equal(insn.disp_size, 0);
	assert_true(insn.writes_memory && !insn.reads_memory);

	insn = decoded("498b4500"); /* mov rax, [r13]: never without displacement */
	assert_int_equal(insn.base, 13);
	assert_int_equal(insn.disp_size, 1);

	insn = decoded("418b0510000000"); /* rip, even with REX.B */
	assert_true(insn.is_rip_relative);
	assert_int_equal(insn.base, TRACE_INSN_NO_REG);
	assert_int_equal(insn.disp, 16);

	insn = decoded("c70578563412ffffffff"); /* an immediate behind the displacement */
	assert_true(insn.is_rip_relative);
	assert_int_equal(insn.disp_offset, 2);
	assert_int_equal(insn.disp, 0x12345678);
	assert_int_equal(insn.imm_offset, 6);
	assert_int_equal(insn.imm, -1);

	insn = decoded("8b0425785634f2"); /* an address, rip is not in it */
	assert_true(!insn.is_rip_relative);
	assert_int_equal(insn.base, TRACE_INSN_NO_REG);
	assert_int_equal(insn.disp, (int32_t)0xf2345678);

	insn = decoded("a10807060504030201");
	assert_int_equal(insn.disp_size, 8);
	assert_true(insn.disp == 0x0102030405060708 && insn.reads_memory);
	insn = decoded("67a3f8ffffff"); /* 4 bytes, without a sign */
	assert_true(insn.disp == 0xfffffff8 && insn.writes_memory);

	insn = decoded("488d0500000000"); /* lea */
	assert_true(insn.is_rip_relative && insn.is_memory_operand);
	assert_true(!insn.reads_memory && !insn.writes_memory);
	insn = decoded("c4a17d6f0425ffffffff"); /* VEX.X: r12 is the index */
	assert_int_equal(insn.index, 12);
	assert_int_equal(insn.encoding, TRACE_INSN_VEX);
	insn = decoded("c4e269900421"); /* gather: 4 is a vector, too */
	assert_true(insn.is_vector_index && insn.reads_memory && !insn.writes_memory);
	assert_int_equal(insn.index, 4);
	assert_int_equal(insn.base, 1);
	insn = decoded("62f27d41a00411"); /* scatter, with EVEX.V' */
	assert_true(insn.is_vector_index && !insn.reads_memory && insn.writes_memory);
	assert_int_equal(insn.index, 18);
	insn = decoded("62f17c481100"); /* vmovups to memory */
	assert_true(!insn.reads_memory && insn.writes_memory);
	insn = decoded("c5f9f7c1"); /* vmaskmovdqu, to where rdi points */
	assert_true(!insn.is_memory_operand && insn.writes_memory);
	decoded("62f17c5858c0"); /* rounding, whatever the length says */
	decoded("62f17c7858c0");
	insn = decoded("c8341205"); /* enter */
	assert_int_equal(insn.imm, 0x1234);
	assert_int_equal(insn.imm2_size, 1);
	assert_int_equal(insn.imm2, 5);
}

/* ---- Kinds ---- */

static const struct {
	const char *hex;
	enum trace_insn_kind kind;
	bool reads, writes, uses_stack;
} kinds[] = {
	{ "90", TRACE_INSN_NOP, false, false, false },
	{ "f390", TRACE_INSN_NOP, false, false, false },
	{ "4190", TRACE_INSN_ORDINARY, false, false, false }, /* xchg r8, rax */
	{ "0f1f00", TRACE_INSN_NOP, false, false, false },
	{ "f30f1efa", TRACE_INSN_ENDBR, false, false, false },
	{ "f30f1efb", TRACE_INSN_ENDBR, false, false, false },
	{ "0f1efa", TRACE_INSN_NOP, false, false, false },
	{ "ebfe", TRACE_INSN_JMP_SHORT, false, false, false },
	{ "e9fbffffff", TRACE_INSN_JMP_NEAR, false, false, false },
	{ "75fe", TRACE_INSN_JCC_SHORT, false, false, false },
	{ "0f85faffffff", TRACE_INSN_JCC_NEAR, false, false, false },
	{ "e3fe", TRACE_INSN_LOOP, false, false, false },
	{ "e8fbffffff", TRACE_INSN_CALL_NEAR, false, true, true },
	{ "c7f8faffffff", TRACE_INSN_XBEGIN, false, false, false },
	{ "ffe0", TRACE_INSN_JMP_INDIRECT, false, false, false },
	{ "ff2500000000", TRACE_INSN_JMP_INDIRECT, true, false, false },
	{ "3effe0", TRACE_INSN_JMP_INDIRECT, false, false, false }, /* notrack */
	{ "ffd0", TRACE_INSN_CALL_INDIRECT, false, true, true },
	{ "ff10", TRACE_INSN_CALL_INDIRECT, true, true, true },
	{ "ff18", TRACE_INSN_CALL_FAR, true, true, true },
	{ "ff28", TRACE_INSN_JMP_FAR, true, false, false },
	{ "c3", TRACE_INSN_RET, true, false, true },
	{ "f3c3", TRACE_INSN_RET, true, false, true },
	{ "c21000", TRACE_INSN_RET_IMM, true, false, true },
	{ "48cb", TRACE_INSN_RET_FAR, true, false, true },
	{ "48cf", TRACE_INSN_IRET, true, false, true },
	{ "0f05", TRACE_INSN_SYSCALL, false, false, false },
	{ "480f07", TRACE_INSN_SYSRET, false, false, false },
	{ "cc", TRACE_INSN_INT3, false, false, false },
	{ "cd03", TRACE_INSN_INT, false, false, false },
	{ "f1", TRACE_INSN_INT1, false, false, false },
	{ "0f0b", TRACE_INSN_UD, false, false, false },
	{ "0fb900", TRACE_INSN_UD, false, false, false },
	{ "9c", TRACE_INSN_PUSHF, false, true, true },
	{ "9d", TRACE_INSN_POPF, true, false, true },
	{ "fa", TRACE_INSN_CLI, false, false, false },
	{ "fb", TRACE_INSN_STI, false, false, false },
	{ "8ed0", TRACE_INSN_MOV_SS, false, false, false },
	{ "8ed8", TRACE_INSN_ORDINARY, false, false, false },
	{ "0fb200", TRACE_INSN_ORDINARY, true, false, false }, /* lss holds nothing off */
	{ "f4", TRACE_INSN_HLT, false, false, false },
	{ "0f01c9", TRACE_INSN_MWAIT, false, false, false },
	{ "0f01f8", TRACE_INSN_SWAPGS, false, false, false },
	{ "0f01c1", TRACE_INSN_VM, false, false, false },
	{ "55", TRACE_INSN_ORDINARY, false, true, true },
	{ "5d", TRACE_INSN_ORDINARY, true, false, true },
	{ "8f00", TRACE_INSN_ORDINARY, true, true, true },
	{ "c9", TRACE_INSN_ORDINARY, true, false, true },
	{ "4889e0", TRACE_INSN_ORDINARY, false, false, false },
	{ "f048ff00", TRACE_INSN_ORDINARY, true, true, false },
	{ "f348a5", TRACE_INSN_ORDINARY, true, true, false },
	{ "f3aa", TRACE_INSN_ORDINARY, false, true, false },
	{ "d7", TRACE_INSN_ORDINARY, true, false, false },
	{ "0f18c8", TRACE_INSN_NOP, false, false, false },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct trace_insn insn = decoded(kinds[i].hex);

		if (insn.kind != kinds[i].kind || insn.reads_memory != kinds[i].reads ||
		    insn.writes_memory != kinds[i].writes || insn.uses_stack != kinds[i].uses_stack)
			print_message("%s\n", kinds[i].hex);
		assert_int_equal(insn.kind, kinds[i].kind);
		assert_int_equal(insn.reads_memory, kinds[i].reads);
		assert_int_equal(insn.writes_memory, kinds[i].writes);
		assert_int_equal(insn.uses_stack, kinds[i].uses_stack);
	}
}

/* Every relative one of them above goes to itself. */
static void test_targets(void **state)
{
	int nr = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct trace_insn insn = decoded(kinds[i].hex);

		if (!trace_insn_is_relative(&insn))
			continue;
		nr++;
		assert_true(trace_insn_target(&insn, 0xffffffff80000000) == 0xffffffff80000000);
	}
	assert_int_equal(nr, 7);
}

/* 66 before a branch is what AMD's processors take for 16 bits. */
static void test_vendors(void **state)
{
	(void)state;
	assert_true(decoded("66e800000000").is_vendor_specific);
	assert_true(decoded("66e900000000").is_vendor_specific);
	assert_true(decoded("660f8400000000").is_vendor_specific);
	assert_true(decoded("66c3").is_vendor_specific);
	assert_true(decoded("66ffe0").is_vendor_specific);
	assert_true(!decoded("e800000000").is_vendor_specific);
	assert_true(!decoded("6689c0").is_vendor_specific);
	assert_true(!decoded("66ff30").is_vendor_specific); /* push */
}

static void test_maps(void **state)
{
	struct trace_insn insn = decoded("0f0f4020bf");

	(void)state;
	assert_int_equal(insn.map, TRACE_INSN_MAP_3DNOW);
	assert_int_equal(insn.opcode, 0xbf);
	assert_int_equal(insn.disp, 0x20);
	insn = decoded("660f3a0fc108");
	assert_int_equal(insn.map, TRACE_INSN_MAP_0F3A);
	assert_int_equal(insn.opcode, 0x0f);
	assert_int_equal(insn.opcode_offset, 3);
	assert_int_equal(insn.modrm, 0xc1);
	insn = decoded("62f37d48254001ff");
	assert_int_equal(insn.encoding, TRACE_INSN_EVEX);
	assert_int_equal(insn.map, TRACE_INSN_MAP_0F3A);
	assert_int_equal(insn.opcode, 0x25);
	assert_int_equal(insn.imm, -1);
	insn = decoded("8fea7810c000000080");
	assert_int_equal(insn.encoding, TRACE_INSN_XOP);
	assert_int_equal(insn.map, 10);
	assert_int_equal(insn.imm, INT32_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),	 cmocka_unit_test(test_cut),
		cmocka_unit_test(test_longest),	 cmocka_unit_test(test_undefined),
		cmocka_unit_test(test_prefixes), cmocka_unit_test(test_memory_operand),
		cmocka_unit_test(test_kinds),	 cmocka_unit_test(test_targets),
		cmocka_unit_test(test_vendors),	 cmocka_unit_test(test_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
