/*
 * The opcode map 0F in 64-bit mode (SDM volume 2, table A-3; groups A-6), for decode.c.
 * Instructions of AMD and VIA are in it, because Intel has no other ones there.
 */
#include <stddef.h>
#include "decode_tables.h"

#define ROW(first, last, pp, mod, reg, rm, what, kind)                                             \
	{                                                                                          \
		first, last, pp, mod, reg, rm, what, TRACE_INSN_##kind                             \
	}
#define ANY	   0xff
#define N(n)	   (1 << (n))
#define N_TO(a, b) ((2 << (b)) - (1 << (a)))

#define PLAIN(first, last, what)	  ROW(first, last, PP_ANY, 0, 0, 0, what, ORDINARY)
#define FLOW(opcode, what, kind)	  ROW(opcode, opcode, PP_ANY, 0, 0, 0, what, kind)
#define MODRM(first, last, what)	  ROW(first, last, PP_ANY, BOTH, ANY, ANY, what, ORDINARY)
#define SSE(first, last, pp, what)	  ROW(first, last, pp, BOTH, ANY, ANY, what, ORDINARY)
#define SSE_MEM(first, last, pp, what)	  ROW(first, last, pp, MEM, ANY, ANY, what, ORDINARY)
#define SSE_REG(first, last, pp, what)	  ROW(first, last, pp, REG, ANY, ANY, what, ORDINARY)
#define GROUP(opcode, pp, mod, reg, what) ROW(opcode, opcode, pp, mod, reg, ANY, what, ORDINARY)
/* One byte behind the opcode that says it all. */
#define WORD(opcode, pp, reg, rm, what, kind) ROW(opcode, opcode, pp, REG, reg, rm, what, kind)

#define PP_NO_66    (PP_NO | PP_66)
#define PP_NO_F3    (PP_NO | PP_F3)
#define PP_66_F2    (PP_66 | PP_F2)
#define PP_NO_66_F3 (PP_NO | PP_66 | PP_F3)

static const struct decode_row decode_0f_rows[] = {
	GROUP(0x00, PP_ANY, BOTH, N_TO(0, 1), W), /* sldt, str */
	GROUP(0x00, PP_ANY, BOTH, N_TO(2, 5), R), /* lldt, ltr, verr, verw */

	GROUP(0x01, PP_ANY, MEM, N_TO(0, 1) | N(4), W), /* sgdt, sidt, smsw */
	GROUP(0x01, PP_ANY, MEM, N_TO(2, 3) | N(6), R), /* lgdt, lidt, lmsw */
	GROUP(0x01, PP_F3, MEM, N(5), R | W),		/* rstorssp */
	GROUP(0x01, PP_ANY, MEM, N(7), 0),		/* invlpg */
	WORD(0x01, PP_NO, N(0), N_TO(0, 4), 0, VM), /* enclv, vmcall, vmlaunch, vmresume, vmxoff */
	WORD(0x01, PP_NO, N(0), N(5), 0, ORDINARY), /* pconfig */
	WORD(0x01, PP_NO, N(1), N(0), 0, ORDINARY), /* monitor */
	WORD(0x01, PP_NO, N(1), N(1), 0, MWAIT),
	WORD(0x01, PP_NO, N(1), N_TO(2, 3), 0, ORDINARY), /* clac, stac */
	WORD(0x01, PP_NO, N(1), N(7), 0, VM),		  /* encls */
	WORD(0x01, PP_66, N(1), N_TO(4, 7), 0, VM),	  /* tdcall, seamret, seamops, seamcall */
	WORD(0x01, PP_NO, N(2), N_TO(0, 1), 0, ORDINARY), /* xgetbv, xsetbv */
	WORD(0x01, PP_NO, N(2), N(4), 0, VM),		  /* vmfunc */
	WORD(0x01, PP_NO, N(2), N(5), 0, XEND),
	WORD(0x01, PP_NO, N(2), N(6), 0, ORDINARY),  /* xtest */
	WORD(0x01, PP_NO, N(2), N(7), 0, VM),	     /* enclu */
	WORD(0x01, PP_ANY, N(3), N_TO(0, 6), 0, VM), /* AMD: vmrun, vmmcall, vmload to skinit */
	WORD(0x01, PP_ANY, N(3), N(7), 0, ORDINARY), /* invlpga */
	GROUP(0x01, PP_ANY, REG, N(4) | N(6), 0),    /* smsw, lmsw */
	WORD(0x01, PP_NO, N(5), N(0) | N_TO(6, 7), 0, ORDINARY), /* serialize, rdpkru, wrpkru */
	WORD(0x01, PP_F2, N(5), N_TO(0, 1), 0, ORDINARY),	 /* xsusldtrk, xresldtrk */
	WORD(0x01, PP_F3, N(5), N(0), R | W | ALWAYS, ORDINARY), /* setssbsy */
	WORD(0x01, PP_F3, N(5), N(2), W | ALWAYS, ORDINARY),	 /* saveprevssp */
	WORD(0x01, PP_F3, N(5), N(4), POP, UIRET),
	WORD(0x01, PP_F3, N(5), N_TO(5, 7), 0, ORDINARY), /* testui, clui, stui */
	WORD(0x01, PP_ANY, N(7), N(0), 0, SWAPGS),
	WORD(0x01, PP_ANY, N(7), N(1), 0, ORDINARY),		  /* rdtscp */
	WORD(0x01, PP_NO_F3, N(7), N(2), 0, ORDINARY),		  /* monitorx, mcommit */
	WORD(0x01, PP_NO, N(7), N(3), 0, MWAIT),		  /* mwaitx */
	WORD(0x01, PP_ANY, N(7), N(4), W | ALWAYS, ORDINARY),	  /* clzero */
	WORD(0x01, PP_ANY, N(7), N(5), 0, ORDINARY),		  /* rdpru */
	WORD(0x01, PP_NO, N(7), N_TO(6, 7), 0, ORDINARY),	  /* invlpgb, tlbsync */
	WORD(0x01, PP_F3 | PP_F2, N(7), N_TO(6, 7), 0, ORDINARY), /* rmpadjust, pvalidate and kin */

	MODRM(0x02, 0x03, R), /* lar, lsl */
	FLOW(0x05, 0, SYSCALL),
	PLAIN(0x06, 0x06, 0), /* clts */
	FLOW(0x07, 0, SYSRET),
	PLAIN(0x08, 0x09, 0), /* invd, wbinvd, wbnoinvd */
	FLOW(0x0b, 0, UD),
	ROW(0x0d, 0x0d, PP_ANY, BOTH, ANY, ANY, 0, NOP), /* prefetch */
	PLAIN(0x0e, 0x0e, 0),				 /* femms */
	MODRM(0x0f, 0x0f, R),				 /* 3DNow! */

	SSE(0x10, 0x10, PP_ANY, R), /* movups and kin */
	SSE(0x11, 0x11, PP_ANY, W),
	SSE(0x12, 0x12, PP_ANY & ~PP_66, R), /* movlps, movhlps, movsldup, movddup */
	SSE_MEM(0x12, 0x12, PP_66, R),	     /* movlpd */
	SSE_MEM(0x13, 0x13, PP_NO_66, W),
	SSE(0x14, 0x15, PP_NO_66, R),
	SSE(0x16, 0x16, PP_NO_F3, R),
	SSE_MEM(0x16, 0x16, PP_66, R),
	SSE_MEM(0x17, 0x17, PP_NO_66, W),
	ROW(0x18, 0x1d, PP_ANY, BOTH, ANY, ANY, 0, NOP), /* prefetch, MPX, cldemote, reserved */
	WORD(0x1e, PP_F3, N(7), N_TO(2, 3), 0, ENDBR),
	ROW(0x1e, 0x1e, PP_ANY, BOTH, ANY, ANY, 0, NOP), /* rdssp */
	ROW(0x1f, 0x1f, PP_ANY, BOTH, ANY, ANY, 0, NOP),
	ROW(0x20, 0x20, PP_ANY, BOTH, N(0) | N_TO(2, 4), ANY, CR, ORDINARY), /* cr0, 2, 3, 4, 8 */
	ROW(0x21, 0x21, PP_ANY, BOTH, ANY, ANY, CR, ORDINARY),		     /* dr0 to 7 */
	ROW(0x22, 0x22, PP_ANY, BOTH, N(0) | N_TO(2, 4), ANY, CR, ORDINARY),
	ROW(0x23, 0x23, PP_ANY, BOTH, ANY, ANY, CR, ORDINARY),
	SSE(0x28, 0x28, PP_NO_66, R),
	SSE(0x29, 0x29, PP_NO_66, W),
	SSE(0x2a, 0x2a, PP_ANY, R), /* cvtpi2ps and kin */
	SSE_MEM(0x2b, 0x2b, PP_ANY, W),
	SSE(0x2c, 0x2d, PP_ANY, R),
	SSE(0x2e, 0x2f, PP_NO_66, R),

	PLAIN(0x30, 0x33, 0), /* wrmsr, rdtsc, rdmsr, rdpmc */
	FLOW(0x34, STACK, SYSENTER),
	FLOW(0x35, STACK, SYSEXIT),
	ROW(0x37, 0x37, PP_NO, 0, 0, 0, 0, VM), /* getsec */
	MODRM(0x40, 0x4f, R),			/* cmov */
	SSE_REG(0x50, 0x50, PP_NO_66, 0),
	SSE(0x51, 0x51, PP_ANY, R),
	SSE(0x52, 0x53, PP_NO_F3, R),
	SSE(0x54, 0x57, PP_NO_66, R),
	SSE(0x58, 0x5a, PP_ANY, R),
	SSE(0x5b, 0x5b, PP_NO_66_F3, R),
	SSE(0x5c, 0x5f, PP_ANY, R),
	SSE(0x60, 0x6b, PP_NO_66, R),
	SSE(0x6c, 0x6d, PP_66, R),
	SSE(0x6e, 0x6e, PP_NO_66, R),
	SSE(0x6f, 0x6f, PP_NO_66_F3, R),
	SSE(0x70, 0x70, PP_ANY, IB | R),
	GROUP(0x71, PP_NO_66, REG, N(2) | N(4) | N(6), IB), /* shifts */
	GROUP(0x72, PP_NO_66, REG, N(2) | N(4) | N(6), IB),
	GROUP(0x73, PP_NO_66, REG, N(2) | N(6), IB),
	GROUP(0x73, PP_66, REG, N(3) | N(7), IB),
	SSE(0x74, 0x76, PP_NO_66, R),
	ROW(0x77, 0x77, PP_NO, 0, 0, 0, 0, ORDINARY), /* emms */
	SSE(0x78, 0x78, PP_NO, W),		      /* vmread */
	GROUP(0x78, PP_66, REG, N(0), IBIB),	      /* extrq */
	GROUP(0x78, PP_F2, REG, ANY, IBIB),	      /* insertq */
	SSE(0x79, 0x79, PP_NO, R),		      /* vmwrite */
	SSE_REG(0x79, 0x79, PP_66_F2, 0),
	SSE(0x7c, 0x7d, PP_66_F2, R),
	SSE(0x7e, 0x7e, PP_NO_66, W),
	SSE(0x7e, 0x7e, PP_F3, R),
	SSE(0x7f, 0x7f, PP_NO_66_F3, W),

	ROW(0x80, 0x8f, PP_ANY, 0, 0, 0, JZ, JCC_NEAR),
	MODRM(0x90, 0x9f, W),	 /* setcc */
	PLAIN(0xa0, 0xa0, PUSH), /* fs */
	PLAIN(0xa1, 0xa1, POP),
	PLAIN(0xa2, 0xa2, 0), /* cpuid */
	MODRM(0xa3, 0xa3, R), /* bt */
	MODRM(0xa4, 0xa4, IB | R | W),
	MODRM(0xa5, 0xa5, R | W),
	WORD(0xa6, PP_F3, N_TO(0, 2), N(0), R | W | ALWAYS, ORDINARY), /* VIA: xsha1 and kin */
	WORD(0xa7, PP_NO_66_F3, N(0), N(0), W | ALWAYS, ORDINARY),     /* VIA: xstore */
	WORD(0xa7, PP_F3, N_TO(1, 5), N(0), R | W | ALWAYS, ORDINARY), /* VIA: xcryptecb and kin */
	PLAIN(0xa8, 0xa8, PUSH),				       /* gs */
	PLAIN(0xa9, 0xa9, POP),
	FLOW(0xaa, 0, VM),		 /* rsm */
	MODRM(0xab, 0xab, R | W | LOCK), /* bts */
	MODRM(0xac, 0xac, IB | R | W),
	MODRM(0xad, 0xad, R | W),
	GROUP(0xae, PP_NO, MEM, N(0) | N(3), W),	     /* fxsave, stmxcsr */
	GROUP(0xae, PP_NO, MEM, N(4) | N(6), R | W),	     /* xsave, xsaveopt */
	GROUP(0xae, PP_NO, MEM, N_TO(1, 2) | N(5), R),	     /* fxrstor, ldmxcsr, xrstor */
	GROUP(0xae, PP_NO_66, MEM, N(7), 0),		     /* clflush, clflushopt */
	GROUP(0xae, PP_66, MEM, N(6), 0),		     /* clwb */
	GROUP(0xae, PP_F3, MEM, N(4), R),		     /* ptwrite */
	GROUP(0xae, PP_F3, MEM, N(6), R | W),		     /* clrssbsy */
	GROUP(0xae, PP_F3, REG, N_TO(0, 5), 0),		     /* rdfsbase and kin, ptwrite, incssp */
	GROUP(0xae, PP_F3, REG, N(6), 0),		     /* umonitor */
	ROW(0xae, 0xae, PP_66_F2, REG, N(6), ANY, 0, MWAIT), /* tpause, umwait */
	GROUP(0xae, PP_NO, REG, N_TO(5, 7), 0),		     /* fences */
	MODRM(0xaf, 0xaf, R),				     /* imul */

	MODRM(0xb0, 0xb1, R | W | LOCK), /* cmpxchg */
	SSE_MEM(0xb2, 0xb2, PP_ANY, R),	 /* lss */
	MODRM(0xb3, 0xb3, R | W | LOCK), /* btr */
	SSE_MEM(0xb4, 0xb5, PP_ANY, R),	 /* lfs, lgs */
	MODRM(0xb6, 0xb7, R),		 /* movzx */
	SSE(0xb8, 0xb8, PP_F3, R),	 /* popcnt */
	ROW(0xb9, 0xb9, PP_ANY, BOTH, ANY, ANY, 0, UD),
	GROUP(0xba, PP_ANY, BOTH, N(4), IB | R), /* bt */
	GROUP(0xba, PP_ANY, BOTH, N_TO(5, 7), IB | R | W | LOCK),
	MODRM(0xbb, 0xbb, R | W | LOCK), /* btc */
	MODRM(0xbc, 0xbf, R),		 /* bsf, tzcnt, bsr, lzcnt, movsx */
	MODRM(0xc0, 0xc1, R | W | LOCK), /* xadd */
	SSE(0xc2, 0xc2, PP_ANY, IB | R),
	SSE_MEM(0xc3, 0xc3, PP_NO, W), /* movnti */
	SSE(0xc4, 0xc4, PP_NO_66, IB | R),
	SSE_REG(0xc5, 0xc5, PP_NO_66, IB),
	SSE(0xc6, 0xc6, PP_NO_66, IB | R),
	GROUP(0xc7, PP_ANY, MEM, N(1), R | W | LOCK), /* cmpxchg8b, cmpxchg16b */
	GROUP(0xc7, PP_NO, MEM, N(3), R),	      /* xrstors */
	GROUP(0xc7, PP_NO, MEM, N_TO(4, 5), W),	      /* xsavec, xsaves */
	GROUP(0xc7, PP_NO, MEM, N(6), R),	      /* vmptrld */
	GROUP(0xc7, PP_66, MEM, N(6), R | W),	      /* vmclear */
	GROUP(0xc7, PP_F3, MEM, N(6), R),	      /* vmxon */
	GROUP(0xc7, PP_NO, MEM, N(7), W),	      /* vmptrst */
	GROUP(0xc7, PP_NO_66, REG, N_TO(6, 7), 0),    /* rdrand, rdseed */
	GROUP(0xc7, PP_F3, REG, N_TO(6, 7), 0),	      /* senduipi, rdpid */
	PLAIN(0xc8, 0xcf, 0),			      /* bswap */

	SSE(0xd0, 0xd0, PP_66_F2, R),
	SSE(0xd1, 0xd5, PP_NO_66, R),
	SSE(0xd6, 0xd6, PP_66, W),
	SSE_REG(0xd6, 0xd6, PP_F3 | PP_F2, 0),
	SSE_REG(0xd7, 0xd7, PP_NO_66, 0),
	SSE(0xd8, 0xe5, PP_NO_66, R),
	SSE(0xe6, 0xe6, PP_ANY & ~PP_NO, R),
	SSE_MEM(0xe7, 0xe7, PP_NO_66, W),
	SSE(0xe8, 0xef, PP_NO_66, R),
	SSE_MEM(0xf0, 0xf0, PP_F2, R),
	SSE(0xf1, 0xf6, PP_NO_66, R),
	SSE_REG(0xf7, 0xf7, PP_NO_66, W | ALWAYS), /* maskmovq, to where rdi points */
	SSE(0xf8, 0xfe, PP_NO_66, R),
	ROW(0xff, 0xff, PP_ANY, BOTH, ANY, ANY, 0, UD),
};

const struct decode_map trace_decode_0f = { decode_0f_rows,
					    sizeof(decode_0f_rows) / sizeof(decode_0f_rows[0]) };
