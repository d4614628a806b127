/*
 * The opcode maps 0F 38 and 0F 3A in their legacy form (SDM volume 2, tables ), and the
 * suffixes of 3DNow! (AMD's manual, volume 3), for decode.c.
 */
#include <stddef.h>
#include "decode_tables.h"

#define ROW(first, last, pp, mod, what)                                                            \
	{                                                                                          \
		first, last, pp, mod, 0xff, 0xff, what, TRACE_INSN_ORDINARY                        \
	}

#define PP_NO_66 (PP_NO | PP_66)

static const struct decode_row rows_38[] = {
	ROW(0x00, 0x0b, PP_NO_66, BOTH, R),
	ROW(0x10, 0x10, PP_66, BOTH, R),
	ROW(0x14, 0x15, PP_66, BOTH, R),
	ROW(0x17, 0x17, PP_66, BOTH, R),
	ROW(0x1c, 0x1e, PP_NO_66, BOTH, R),
	ROW(0x20, 0x25, PP_66, BOTH, R),
	ROW(0x28, 0x29, PP_66, BOTH, R),
	ROW(0x2a, 0x2a, PP_66, MEM, R), /* movntdqa */
	ROW(0x2b, 0x2b, PP_66, BOTH, R),
	ROW(0x30, 0x35, PP_66, BOTH, R),
	ROW(0x37, 0x41, PP_66, BOTH, R),
	ROW(0x80, 0x82, PP_66, MEM, R), /* invept, invvpid, invpcid */
	ROW(0xc8, 0xcd, PP_NO, BOTH, R),
	ROW(0xcf, 0xcf, PP_66, BOTH, R),
	{ 0xd8, 0xd8, PP_F3, MEM, 0x0f, 0xff, R,
	  TRACE_INSN_ORDINARY }, /* aesencwide128kl and kin */
	ROW(0xdb, 0xdb, PP_66, BOTH, R),
	ROW(0xdc, 0xdc, PP_66, BOTH, R),
	ROW(0xdc, 0xdc, PP_F3, MEM, R), /* aesenc128kl and kin */
	ROW(0xdc, 0xdc, PP_F3, REG, 0), /* loadiwkey */
	ROW(0xdd, 0xdf, PP_66, BOTH, R),
	ROW(0xdd, 0xdf, PP_F3, MEM, R),
	ROW(0xf0, 0xf0, PP_NO_66, MEM, R), /* movbe */
	ROW(0xf0, 0xf0, PP_F2, BOTH, R),   /* crc32 */
	ROW(0xf1, 0xf1, PP_NO_66, MEM, W),
	ROW(0xf1, 0xf1, PP_F2, BOTH, R),
	ROW(0xf5, 0xf5, PP_66, MEM, W),			    /* wruss */
	ROW(0xf6, 0xf6, PP_NO, MEM, W),			    /* wrss */
	ROW(0xf6, 0xf6, PP_66 | PP_F3, BOTH, R),	    /* adcx, adox */
	ROW(0xf8, 0xf8, PP_66 | PP_F3 | PP_F2, MEM, R | W), /* movdir64b, enqcmds, enqcmd */
	ROW(0xf9, 0xf9, PP_NO, MEM, W),			    /* movdiri */
	ROW(0xfa, 0xfb, PP_F3, REG, 0),			    /* encodekey128, encodekey256 */
};

static const struct decode_row rows_3a[] = {
	ROW(0x08, 0x0e, PP_66, BOTH, IB | R),
	ROW(0x0f, 0x0f, PP_NO_66, BOTH, IB | R),
	ROW(0x14, 0x17, PP_66, BOTH, IB | W),
	ROW(0x20, 0x22, PP_66, BOTH, IB | R),
	ROW(0x40, 0x42, PP_66, BOTH, IB | R),
	ROW(0x44, 0x44, PP_66, BOTH, IB | R),
	ROW(0x60, 0x63, PP_66, BOTH, IB | R),
	ROW(0xcc, 0xcc, PP_NO, BOTH, IB | R),
	ROW(0xce, 0xcf, PP_66, BOTH, IB | R),
	ROW(0xdf, 0xdf, PP_66, BOTH, IB | R),
	{ 0xf0, 0xf0, PP_F3, REG, 0x01, 0x01, IB, TRACE_INSN_ORDINARY }, /* hreset */
};

static const uint8_t suffixes_3dnow[] = {
	0x0c, 0x0d, 0x1c, 0x1d, 0x8a, 0x8e, 0x90, 0x94, 0x96, 0x97, 0x9a, 0x9e,
	0xa0, 0xa4, 0xa6, 0xa7, 0xaa, 0xae, 0xb0, 0xb4, 0xb6, 0xb7, 0xbb, 0xbf,
};

const struct decode_map trace_decode_0f38 = { rows_38, sizeof(rows_38) / sizeof(rows_38[0]) };
const struct decode_map trace_decode_0f3a = { rows_3a, sizeof(rows_3a) / sizeof(rows_3a[0]) };

bool trace_decode_3dnow_exists(uint8_t suffix)
{
	for (size_t i = 0; i < sizeof(suffixes_3dnow); i++) {
		if (suffixes_3dnow[i] == suffix)
			return true;
	}
	return false;
}
