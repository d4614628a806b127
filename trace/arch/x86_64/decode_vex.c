/*
 * The opcode maps with VEX (SDM volume 2, tables, and the page of each instruction) and
 * with XOP (AMD's manual, volume 6), for decode_vector.c.
 */
#include <stddef.h>
#include "decode_vector_rows.h"

/* VEX, 0F */
static const struct decode_vector_row vex_0f[] = {
	ROW(0x10, 0x10, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R),	  /* vmovups */
	ROW(0x10, 0x10, PP_F3 | PP_F2, MEM, W_ANY | L_ANY, ALL, R),	  /* vmovss */
	ROW(0x10, 0x10, PP_F3 | PP_F2, REG, W_ANY | L_ANY, ALL, VV),	  /* vmovss */
	ROW(0x11, 0x11, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, W),	  /* vmovups */
	ROW(0x11, 0x11, PP_F3 | PP_F2, MEM, W_ANY | L_ANY, ALL, W),	  /* vmovss */
	ROW(0x11, 0x11, PP_F3 | PP_F2, REG, W_ANY | L_ANY, ALL, VV),	  /* vmovss */
	ROW(0x12, 0x12, PP_NO, BOTH, W_ANY | L128, ALL, R | VV),	  /* vmovlps */
	ROW(0x12, 0x12, PP_66, MEM, W_ANY | L128, ALL, R | VV),		  /* vmovlpd */
	ROW(0x12, 0x12, PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R),	  /* vmovsldup */
	ROW(0x13, 0x13, PP_NO | PP_66, MEM, W_ANY | L128, ALL, W),	  /* vmovlps */
	ROW(0x14, 0x15, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV), /* vunpcklps, vunpckhps */
	ROW(0x16, 0x16, PP_NO, BOTH, W_ANY | L128, ALL, R | VV),	  /* vmovhps */
	ROW(0x16, 0x16, PP_66, MEM, W_ANY | L128, ALL, R | VV),		  /* vmovhpd */
	ROW(0x16, 0x16, PP_F3, BOTH, W_ANY | L_ANY, ALL, R),		  /* vmovshdup */
	ROW(0x17, 0x17, PP_NO | PP_66, MEM, W_ANY | L128, ALL, W),	  /* vmovhps */
	ROW(0x28, 0x28, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R),	  /* vmovaps */
	ROW(0x29, 0x29, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, W),	  /* vmovaps */
	ROW(0x2a, 0x2a, PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | VV), /* vcvtsi2ss */
	ROW(0x2b, 0x2b, PP_NO | PP_66, MEM, W_ANY | L_ANY, ALL, W),	  /* vmovntps */
	ROW(0x2c, 0x2d, PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R), /* vcvttss2si, vcvtss2si */
	ROW(0x2e, 0x2f, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R), /* vucomiss, vcomiss */
	ROW(0x41, 0x42, PP_NO | PP_66, REG, W_ANY | L256, ALL, VV | V8 | REG8), /* kandw, kandnw */
	ROW(0x44, 0x44, PP_NO | PP_66, REG, W_ANY | L128, ALL, REG8),		/* knotw */
	ROW(0x45, 0x47, PP_NO | PP_66, REG, W_ANY | L256, ALL, VV | V8 | REG8), /* korw, ... */
	ROW(0x4a, 0x4a, PP_NO | PP_66, REG, W_ANY | L256, ALL, VV | V8 | REG8), /* kaddw */
	ROW(0x4b, 0x4b, PP_NO, REG, W_ANY | L256, ALL, VV | V8 | REG8),		/* kunpckwd */
	ROW(0x4b, 0x4b, PP_66, REG, W0 | L256, ALL, VV | V8 | REG8),		/* kunpckbw */
	ROW(0x50, 0x50, PP_NO | PP_66, REG, W_ANY | L_ANY, ALL, 0),		/* vmovmskps */
	ROW(0x51, 0x51, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R),		/* vsqrtps */
	ROW(0x51, 0x51, PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | VV),	/* vsqrtss */
	ROW(0x52, 0x53, PP_NO, BOTH, W_ANY | L_ANY, ALL, R),		     /* vrsqrtps, vrcpps */
	ROW(0x52, 0x53, PP_F3, BOTH, W_ANY | L_ANY, ALL, R | VV),	     /* vrsqrtss, vrcpss */
	ROW(0x54, 0x57, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),    /* vandps, ... */
	ROW(0x58, 0x59, PP_ANY, BOTH, W_ANY | L_ANY, ALL, R | VV),	     /* vaddps, vmulps */
	ROW(0x5a, 0x5a, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R),	     /* vcvtps2pd */
	ROW(0x5a, 0x5a, PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | VV),    /* vcvtss2sd */
	ROW(0x5b, 0x5b, PP_NO | PP_66 | PP_F3, BOTH, W_ANY | L_ANY, ALL, R), /* vcvtdq2ps */
	ROW(0x5c, 0x5f, PP_ANY, BOTH, W_ANY | L_ANY, ALL, R | VV),	     /* vsubps, ... */
	ROW(0x60, 0x6d, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	     /* vpunpcklbw, ... */
	ROW(0x6e, 0x6e, PP_66, BOTH, W_ANY | L128, ALL, R),		     /* vmovd */
	ROW(0x6f, 0x6f, PP_66 | PP_F3, BOTH, W_ANY | L_ANY, ALL, R),	     /* vmovdqa */
	ROW(0x70, 0x70, PP_66 | PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | IB), /* vpshufd */
	ROW(0x71, 0x72, PP_66, REG, W_ANY | L_ANY, N(2) | N(4) | N(6),
	    IB | VV), /* vpsrlw, vpsrld */
	ROW(0x73, 0x73, PP_66, REG, W_ANY | L_ANY, N(2) | N(3) | N(6) | N(7), IB | VV), /* vpsrlq */
	ROW(0x74, 0x76, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	   /* vpcmpeqb, ... */
	ROW(0x77, 0x77, PP_NO, BOTH, W_ANY | L_ANY, ALL, 0),		   /* vzeroupper */
	ROW(0x7c, 0x7d, PP_66 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | VV),  /* vhaddpd, vhsubpd */
	ROW(0x7e, 0x7e, PP_66, BOTH, W_ANY | L128, ALL, W),		   /* vmovd */
	ROW(0x7e, 0x7e, PP_F3, BOTH, W_ANY | L128, ALL, R),		   /* vmovq */
	ROW(0x7f, 0x7f, PP_66 | PP_F3, BOTH, W_ANY | L_ANY, ALL, W),	   /* vmovdqa */
	ROW(0x90, 0x90, PP_NO | PP_66, BOTH, W_ANY | L128, ALL, R | REG8), /* kmovw */
	ROW(0x91, 0x91, PP_NO | PP_66, MEM, W_ANY | L128, ALL, W | REG8),  /* kmovw */
	ROW(0x92, 0x92, PP_NO | PP_66, REG, W0 | L128, ALL, REG8),	   /* kmovw */
	ROW(0x92, 0x92, PP_F2, REG, W_ANY | L128, ALL, REG8),		   /* kmovd */
	ROW(0x93, 0x93, PP_NO | PP_66, REG, W0 | L128, ALL, 0),		   /* kmovw */
	ROW(0x93, 0x93, PP_F2, REG, W_ANY | L128, ALL, 0),		   /* kmovd */
	ROW(0x98, 0x99, PP_NO | PP_66, REG, W_ANY | L128, ALL, REG8),	   /* kortestw, ktestw */
	ROW(0xae, 0xae, PP_NO, MEM, W_ANY | L128, N(2), R),		   /* vldmxcsr */
	ROW(0xae, 0xae, PP_NO, MEM, W_ANY | L128, N(3), W),		   /* vstmxcsr */
	ROW(0xc2, 0xc2, PP_ANY, BOTH, W_ANY | L_ANY, ALL, R | IB | VV),	   /* vcmpps */
	ROW(0xc4, 0xc4, PP_66, BOTH, W_ANY | L128, ALL, R | IB | VV),	   /* vpinsrw */
	ROW(0xc5, 0xc5, PP_66, REG, W_ANY | L128, ALL, IB),		   /* vpextrw */
	ROW(0xc6, 0xc6, PP_NO | PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vshufps */
	ROW(0xd0, 0xd0, PP_66 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | VV),      /* vaddsubpd */
	ROW(0xd1, 0xd5, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	       /* vpsrlw, ... */
	ROW(0xd6, 0xd6, PP_66, BOTH, W_ANY | L128, ALL, W),		       /* vmovq */
	ROW(0xd7, 0xd7, PP_66, REG, W_ANY | L_ANY, ALL, 0),		       /* vpmovmskb */
	ROW(0xd8, 0xe5, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	       /* vpsubusb, ... */
	ROW(0xe6, 0xe6, PP_66 | PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R),   /* vcvttpd2dq */
	ROW(0xe7, 0xe7, PP_66, MEM, W_ANY | L_ANY, ALL, W),		       /* vmovntdq */
	ROW(0xe8, 0xef, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	       /* vpsubsb, ... */
	ROW(0xf0, 0xf0, PP_F2, MEM, W_ANY | L_ANY, ALL, R),		       /* vlddqu */
	ROW(0xf1, 0xf6, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	       /* vpsllw, ... */
	ROW(0xf7, 0xf7, PP_66, REG, W_ANY | L128, ALL, 0),		       /* vmaskmovdqu */
	ROW(0xf8, 0xfe, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	       /* vpsubb, ... */
};

/* VEX, 0F 38 */
static const struct decode_vector_row vex_0f38[] = {
	ROW(0x00, 0x0b, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),  /* vpshufb, ... */
	ROW(0x0c, 0x0d, PP_66, BOTH, W0 | L_ANY, ALL, R | VV),	   /* vpermilps, vpermilpd */
	ROW(0x0e, 0x0f, PP_66, BOTH, W0 | L_ANY, ALL, R),	   /* vtestps, vtestpd */
	ROW(0x13, 0x13, PP_66, BOTH, W0 | L_ANY, ALL, R),	   /* vcvtph2ps */
	ROW(0x16, 0x16, PP_66, BOTH, W0 | L256, ALL, R | VV),	   /* vpermps */
	ROW(0x17, 0x17, PP_66, BOTH, W_ANY | L_ANY, ALL, R),	   /* vptest */
	ROW(0x18, 0x18, PP_66, BOTH, W0 | L_ANY, ALL, R),	   /* vbroadcastss */
	ROW(0x19, 0x19, PP_66, BOTH, W0 | L256, ALL, R),	   /* vbroadcastsd */
	ROW(0x1a, 0x1a, PP_66, MEM, W0 | L256, ALL, R),		   /* vbroadcastf128 */
	ROW(0x1c, 0x1e, PP_66, BOTH, W_ANY | L_ANY, ALL, R),	   /* vpabsb, ... */
	ROW(0x20, 0x25, PP_66, BOTH, W_ANY | L_ANY, ALL, R),	   /* vpmovsxbw, ... */
	ROW(0x28, 0x29, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),  /* vpmuldq, vpcmpeqq */
	ROW(0x2a, 0x2a, PP_66, MEM, W_ANY | L_ANY, ALL, R),	   /* vmovntdqa */
	ROW(0x2b, 0x2b, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),  /* vpackusdw */
	ROW(0x2c, 0x2d, PP_66, MEM, W0 | L_ANY, ALL, R | VV),	   /* vmaskmovps, vmaskmovpd */
	ROW(0x2e, 0x2f, PP_66, MEM, W0 | L_ANY, ALL, W | VV),	   /* vmaskmovps, vmaskmovpd */
	ROW(0x30, 0x35, PP_66, BOTH, W_ANY | L_ANY, ALL, R),	   /* vpmovzxbw, ... */
	ROW(0x36, 0x36, PP_66, BOTH, W0 | L256, ALL, R | VV),	   /* vpermd */
	ROW(0x37, 0x40, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),  /* vpcmpgtq, ... */
	ROW(0x41, 0x41, PP_66, BOTH, W_ANY | L128, ALL, R),	   /* vphminposuw */
	ROW(0x45, 0x45, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),  /* vpsrlvd */
	ROW(0x46, 0x46, PP_66, BOTH, W0 | L_ANY, ALL, R | VV),	   /* vpsravd */
	ROW(0x47, 0x47, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),  /* vpsllvd */
	ROW(0x49, 0x49, PP_NO, MEM, W0 | L128, N(0), R),	   /* ldtilecfg */
	ROW(0x49, 0x49, PP_NO, REG, W0 | L128, N(0), R | FIXED),   /* tilerelease */
	ROW(0x49, 0x49, PP_66, MEM, W0 | L128, N(0), W),	   /* sttilecfg */
	ROW(0x49, 0x49, PP_F2, REG, W0 | L128, ALL, REG8 | FIXED), /* tilezero */
	ROW(0x4b, 0x4b, PP_66 | PP_F2, MEM, W0 | L128, ALL, R | REG8 | FIXED), /* tileloaddt1 */
	ROW(0x4b, 0x4b, PP_F3, MEM, W0 | L128, ALL, W | REG8 | FIXED),	       /* tilestored */
	ROW(0x50, 0x53, PP_66, BOTH, W0 | L_ANY, ALL, R | VV),		       /* vpdpbusd, ... */
	ROW(0x58, 0x59, PP_66, BOTH, W0 | L_ANY, ALL, R), /* vpbroadcastd, vpbroadcastq */
	ROW(0x5a, 0x5a, PP_66, MEM, W0 | L256, ALL, R),	  /* vbroadcasti128 */
	ROW(0x5c, 0x5c, PP_F3, REG, W0 | L128, ALL,
	    VV | V8 | REG8 | RM8 | DISTINCT), /* tdpbf16ps */
	ROW(0x5e, 0x5e, PP_ANY, REG, W0 | L128, ALL, VV | V8 | REG8 | RM8 | DISTINCT), /* tdpbuud */
	ROW(0x78, 0x79, PP_66, BOTH, W0 | L_ANY, ALL, R),	 /* vpbroadcastb, vpbroadcastw */
	ROW(0x8c, 0x8c, PP_66, MEM, W_ANY | L_ANY, ALL, R | VV), /* vpmaskmovd */
	ROW(0x8e, 0x8e, PP_66, MEM, W_ANY | L_ANY, ALL, W | VV), /* vpmaskmovd */
	ROW(0x90, 0x93, PP_66, MEM, W_ANY | L_ANY, ALL,
	    R | VV | VSIB | DISTINCT),				  /* vpgatherdd, ... */
	ROW(0x96, 0x9f, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV), /* vfmaddsub132ps, ... */
	ROW(0xa6, 0xaf, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV), /* vfmaddsub213ps, ... */
	ROW(0xb6, 0xbf, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV), /* vfmaddsub231ps, ... */
	ROW(0xcf, 0xcf, PP_66, BOTH, W0 | L_ANY, ALL, R | VV),	  /* vgf2p8mulb */
	ROW(0xdb, 0xdb, PP_66, BOTH, W_ANY | L128, ALL, R),	  /* vaesimc */
	ROW(0xdc, 0xdf, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV), /* vaesenc, ... */
	ROW(0xf2, 0xf2, PP_NO, BOTH, W_ANY | L128, ALL, R | VV),  /* andn */
	ROW(0xf3, 0xf3, PP_NO, BOTH, W_ANY | L128, N(1) | N(2) | N(3), R | VV),	 /* blsr */
	ROW(0xf5, 0xf5, PP_NO | PP_F3 | PP_F2, BOTH, W_ANY | L128, ALL, R | VV), /* bzhi */
	ROW(0xf6, 0xf6, PP_F2, BOTH, W_ANY | L128, ALL, R | VV),		 /* mulx */
	ROW(0xf7, 0xf7, PP_ANY, BOTH, W_ANY | L128, ALL, R | VV),		 /* bextr */
};

/* VEX, 0F 3A */
static const struct decode_vector_row vex_0f3a[] = {
	ROW(0x00, 0x01, PP_66, BOTH, W1 | L256, ALL, R | IB),	       /* vpermq, vpermpd */
	ROW(0x02, 0x02, PP_66, BOTH, W0 | L_ANY, ALL, R | IB | VV),    /* vpblendd */
	ROW(0x04, 0x05, PP_66, BOTH, W0 | L_ANY, ALL, R | IB),	       /* vpermilps, vpermilpd */
	ROW(0x06, 0x06, PP_66, BOTH, W0 | L256, ALL, R | IB | VV),     /* vperm2f128 */
	ROW(0x08, 0x09, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB),      /* vroundps, vroundpd */
	ROW(0x0a, 0x0f, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vroundss, ... */
	ROW(0x14, 0x17, PP_66, BOTH, W_ANY | L128, ALL, W | IB),       /* vpextrb, ... */
	ROW(0x18, 0x18, PP_66, BOTH, W0 | L256, ALL, R | IB | VV),     /* vinsertf128 */
	ROW(0x19, 0x19, PP_66, BOTH, W0 | L256, ALL, W | IB),	       /* vextractf128 */
	ROW(0x1d, 0x1d, PP_66, BOTH, W0 | L_ANY, ALL, W | IB),	       /* vcvtps2ph */
	ROW(0x20, 0x22, PP_66, BOTH, W_ANY | L128, ALL, R | IB | VV),  /* vpinsrb, ... */
	ROW(0x30, 0x33, PP_66, REG, W_ANY | L128, ALL, IB | REG8),     /* kshiftrb, ... */
	ROW(0x38, 0x38, PP_66, BOTH, W0 | L256, ALL, R | IB | VV),     /* vinserti128 */
	ROW(0x39, 0x39, PP_66, BOTH, W0 | L256, ALL, W | IB),	       /* vextracti128 */
	ROW(0x40, 0x40, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vdpps */
	ROW(0x41, 0x41, PP_66, BOTH, W_ANY | L128, ALL, R | IB | VV),  /* vdppd */
	ROW(0x42, 0x42, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vmpsadbw */
	ROW(0x44, 0x44, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vpclmulqdq */
	ROW(0x46, 0x46, PP_66, BOTH, W0 | L256, ALL, R | IB | VV),     /* vperm2i128 */
	ROW(0x48, 0x49, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vpermil2ps, vpermil2pd */
	ROW(0x4a, 0x4c, PP_66, BOTH, W0 | L_ANY, ALL, R | IB | VV),    /* vblendvps, ... */
	ROW(0x5c, 0x5f, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vfmaddsubps, ... */
	ROW(0x60, 0x63, PP_66, BOTH, W_ANY | L128, ALL, R | IB),       /* vpcmpestrm, ... */
	ROW(0x68, 0x6f, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vfmaddps, ... */
	ROW(0x78, 0x7f, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vfnmaddps, ... */
	ROW(0xce, 0xcf, PP_66, BOTH, W1 | L_ANY, ALL,
	    R | IB | VV), /* vgf2p8affineqb, vgf2p8affineinvqb */
	ROW(0xdf, 0xdf, PP_66, BOTH, W_ANY | L128, ALL, R | IB), /* vaeskeygenassist */
	ROW(0xf0, 0xf0, PP_F2, BOTH, W_ANY | L128, ALL, R | IB), /* rorx */
};

/* XOP, 8 */
static const struct decode_vector_row xop_8[] = {
	ROW(0x85, 0x87, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpmacssww, ... */
	ROW(0x8e, 0x8f, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpmacssdd, vpmacssdqh */
	ROW(0x95, 0x97, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpmacsww, ... */
	ROW(0x9e, 0x9f, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpmacsdd, vpmacsdqh */
	ROW(0xa2, 0xa2, PP_NO, BOTH, W_ANY | L_ANY, ALL, R | IB | VV), /* vpcmov */
	ROW(0xa3, 0xa3, PP_NO, BOTH, W_ANY | L128, ALL, R | IB | VV),  /* vpperm */
	ROW(0xa6, 0xa6, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpmadcsswd */
	ROW(0xb6, 0xb6, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpmadcswd */
	ROW(0xc0, 0xc3, PP_NO, BOTH, W0 | L128, ALL, R | IB),	       /* vprotb, ... */
	ROW(0xcc, 0xcf, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpcomb, ... */
	ROW(0xec, 0xef, PP_NO, BOTH, W0 | L128, ALL, R | IB | VV),     /* vpcomub, ... */
};

/* XOP, 9 */
static const struct decode_vector_row xop_9[] = {
	ROW(0x01, 0x01, PP_NO, BOTH, W_ANY | L128, N(1) | N(2) | N(3) | N(4) | N(5) | N(6) | N(7),
	    R | VV),							 /* blcfill */
	ROW(0x02, 0x02, PP_NO, BOTH, W_ANY | L128, N(1) | N(6), R | VV), /* blcmsk */
	ROW(0x12, 0x12, PP_NO, REG, W_ANY | L128, N(0) | N(1), 0),	 /* llwpcb */
	ROW(0x80, 0x81, PP_NO, BOTH, W0 | L_ANY, ALL, R),		 /* vfrczps, vfrczpd */
	ROW(0x82, 0x83, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vfrczss, vfrczsd */
	ROW(0x90, 0x9b, PP_NO, BOTH, W_ANY | L128, ALL, R | VV),	 /* vprotb, ... */
	ROW(0xc1, 0xc3, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vphaddbw, ... */
	ROW(0xc6, 0xc7, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vphaddwd, vphaddwq */
	ROW(0xcb, 0xcb, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vphadddq */
	ROW(0xd1, 0xd3, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vphaddubw, ... */
	ROW(0xd6, 0xd7, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vphadduwd, vphadduwq */
	ROW(0xdb, 0xdb, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vphaddudq */
	ROW(0xe1, 0xe3, PP_NO, BOTH, W0 | L128, ALL, R),		 /* vphsubbw, ... */
};

/* XOP, 10 */
static const struct decode_vector_row xop_10[] = {
	ROW(0x10, 0x10, PP_NO, BOTH, W_ANY | L128, ALL, R | ID),	      /* bextr */
	ROW(0x12, 0x12, PP_NO, BOTH, W_ANY | L128, N(0) | N(1), R | ID | VV), /* lwpins */
};

const struct decode_vector_map trace_decode_vex_0f = MAP(vex_0f);
const struct decode_vector_map trace_decode_vex_0f38 = MAP(vex_0f38);
const struct decode_vector_map trace_decode_vex_0f3a = MAP(vex_0f3a);
const struct decode_vector_map trace_decode_xop_8 = MAP(xop_8);
const struct decode_vector_map trace_decode_xop_9 = MAP(xop_9);
const struct decode_vector_map trace_decode_xop_10 = MAP(xop_10);
