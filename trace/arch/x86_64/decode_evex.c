/*
 * The opcode maps 0F and 0F 38 with EVEX (SDM volume 2, the page of each instruction), for
 * decode_vector.c.
 */
#include <stddef.h>
#include "decode_vector_rows.h"

/* 0F */
static const struct decode_vector_row evex_0f[] = {
	ROW(0x10, 0x10, PP_NO, BOTH, W0 | L_ANY, ALL, R | MZ),		/* vmovups */
	ROW(0x10, 0x10, PP_66, BOTH, W1 | L_ANY, ALL, R | MZ),		/* vmovupd */
	ROW(0x10, 0x10, PP_F3, MEM, W0 | L_ANY, ALL, R | MZ),		/* vmovss */
	ROW(0x10, 0x10, PP_F3, REG, W0 | L_ANY, ALL, VMZ),		/* vmovss */
	ROW(0x10, 0x10, PP_F2, MEM, W1 | L_ANY, ALL, R | MZ),		/* vmovsd */
	ROW(0x10, 0x10, PP_F2, REG, W1 | L_ANY, ALL, VMZ),		/* vmovsd */
	ROW(0x11, 0x11, PP_NO | PP_F3, MEM, W0 | L_ANY, ALL, W | MASK), /* vmovups */
	ROW(0x11, 0x11, PP_NO, REG, W0 | L_ANY, ALL, MZ),		/* vmovups */
	ROW(0x11, 0x11, PP_66 | PP_F2, MEM, W1 | L_ANY, ALL, W | MASK), /* vmovupd */
	ROW(0x11, 0x11, PP_66, REG, W1 | L_ANY, ALL, MZ),		/* vmovupd */
	ROW(0x11, 0x11, PP_F3, REG, W0 | L_ANY, ALL, VMZ),		/* vmovss */
	ROW(0x11, 0x11, PP_F2, REG, W1 | L_ANY, ALL, VMZ),		/* vmovsd */
	ROW(0x12, 0x12, PP_NO, BOTH, W0 | L128, ALL, R | VV),		/* vmovlps */
	ROW(0x12, 0x12, PP_66, MEM, W1 | L128, ALL, R | VV),		/* vmovlpd */
	ROW(0x12, 0x12, PP_F3, BOTH, W0 | L_ANY, ALL, R | MZ),		/* vmovsldup */
	ROW(0x12, 0x12, PP_F2, BOTH, W1 | L_ANY, ALL, R | MZ),		/* vmovddup */
	ROW(0x13, 0x13, PP_NO, MEM, W0 | L128, ALL, W),			/* vmovlps */
	ROW(0x13, 0x13, PP_66, MEM, W1 | L128, ALL, W),			/* vmovlpd */
	ROW(0x14, 0x15, PP_NO, BCST, W0 | L_ANY, ALL, R | VMZ),		/* vunpcklps, vunpckhps */
	ROW(0x14, 0x15, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),		/* vunpcklpd, vunpckhpd */
	ROW(0x16, 0x16, PP_NO, BOTH, W0 | L128, ALL, R | VV),		/* vmovhps */
	ROW(0x16, 0x16, PP_66, MEM, W1 | L128, ALL, R | VV),		/* vmovhpd */
	ROW(0x16, 0x16, PP_F3, BOTH, W0 | L_ANY, ALL, R | MZ),		/* vmovshdup */
	ROW(0x17, 0x17, PP_NO, MEM, W0 | L128, ALL, W),			/* vmovhps */
	ROW(0x17, 0x17, PP_66, MEM, W1 | L128, ALL, W),			/* vmovhpd */
	ROW(0x28, 0x28, PP_NO, BOTH, W0 | L_ANY, ALL, R | MZ),		/* vmovaps */
	ROW(0x28, 0x28, PP_66, BOTH, W1 | L_ANY, ALL, R | MZ),		/* vmovapd */
	ROW(0x29, 0x29, PP_NO, MEM, W0 | L_ANY, ALL, W | MASK),		/* vmovaps */
	ROW(0x29, 0x29, PP_NO, REG, W0 | L_ANY, ALL, MZ),		/* vmovaps */
	ROW(0x29, 0x29, PP_66, MEM, W1 | L_ANY, ALL, W | MASK),		/* vmovapd */
	ROW(0x29, 0x29, PP_66, REG, W1 | L_ANY, ALL, MZ),		/* vmovapd */
	ROW(0x2a, 0x2a, PP_F3 | PP_F2, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VV), /* vcvtsi2ss */
	ROW(0x2b, 0x2b, PP_NO, MEM, W0 | L_ANY, ALL, W),			  /* vmovntps */
	ROW(0x2b, 0x2b, PP_66, MEM, W1 | L_ANY, ALL, W),			  /* vmovntpd */
	ROW(0x2c, 0x2d, PP_F3 | PP_F2, BOTH | REG_B, W_ANY | L_ANY, ALL,
	    R | REG16),							/* vcvttss2si, vcvtss2si */
	ROW(0x2e, 0x2f, PP_NO, BOTH | REG_B, W0 | L_ANY, ALL, R),	/* vucomiss, vcomiss */
	ROW(0x2e, 0x2f, PP_66, BOTH | REG_B, W1 | L_ANY, ALL, R),	/* vucomisd, vcomisd */
	ROW(0x51, 0x51, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	/* vsqrtps */
	ROW(0x51, 0x51, PP_66, BCST | REG_B, W1 | L_ANY, ALL, R | MZ),	/* vsqrtpd */
	ROW(0x51, 0x51, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vsqrtss */
	ROW(0x51, 0x51, PP_F2, BOTH | REG_B, W1 | L_ANY, ALL, R | VMZ), /* vsqrtsd */
	ROW(0x54, 0x57, PP_NO, BCST, W0 | L_ANY, ALL, R | VMZ),		/* vandps, ... */
	ROW(0x54, 0x57, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),		/* vandpd, ... */
	ROW(0x58, 0x59, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vaddps, vmulps */
	ROW(0x58, 0x59, PP_66, BCST | REG_B, W1 | L_ANY, ALL, R | VMZ), /* vaddpd, vmulpd */
	ROW(0x58, 0x59, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vaddss, vmulss */
	ROW(0x58, 0x59, PP_F2, BOTH | REG_B, W1 | L_ANY, ALL, R | VMZ), /* vaddsd, vmulsd */
	ROW(0x5a, 0x5a, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	/* vcvtps2pd */
	ROW(0x5a, 0x5a, PP_66, BCST | REG_B, W1 | L_ANY, ALL, R | MZ),	/* vcvtpd2ps */
	ROW(0x5a, 0x5a, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vcvtss2sd */
	ROW(0x5a, 0x5a, PP_F2, BOTH | REG_B, W1 | L_ANY, ALL, R | VMZ), /* vcvtsd2ss */
	ROW(0x5b, 0x5b, PP_NO, BCST | REG_B, W_ANY | L_ANY, ALL, R | MZ),      /* vcvtdq2ps */
	ROW(0x5b, 0x5b, PP_66 | PP_F3, BCST | REG_B, W0 | L_ANY, ALL, R | MZ), /* vcvtps2dq */
	ROW(0x5c, 0x5f, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ),	       /* vsubps, ... */
	ROW(0x5c, 0x5f, PP_66, BCST | REG_B, W1 | L_ANY, ALL, R | VMZ),	       /* vsubpd, ... */
	ROW(0x5c, 0x5f, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ),	       /* vsubss, ... */
	ROW(0x5c, 0x5f, PP_F2, BOTH | REG_B, W1 | L_ANY, ALL, R | VMZ),	       /* vsubsd, ... */
	ROW(0x60, 0x61, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ), /* vpunpcklbw, vpunpcklwd */
	ROW(0x62, 0x62, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ),	   /* vpunpckldq */
	ROW(0x63, 0x63, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ), /* vpacksswb */
	ROW(0x64, 0x65, PP_66, BOTH, W_ANY | L_ANY, ALL,
	    R | VV | REG8 | MASK), /* vpcmpgtb, vpcmpgtw */
	ROW(0x66, 0x66, PP_66, BCST, W0 | L_ANY, ALL, R | VV | REG8 | MASK), /* vpcmpgtd */
	ROW(0x67, 0x69, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpackuswb, ... */
	ROW(0x6a, 0x6b, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ), /* vpunpckhdq, vpackssdw */
	ROW(0x6c, 0x6d, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ), /* vpunpcklqdq, vpunpckhqdq */
	ROW(0x6e, 0x6e, PP_66, BOTH, W_ANY | L128, ALL, R),	/* vmovd */
	ROW(0x6f, 0x6f, PP_66 | PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | MZ), /* vmovdqa32 */
	ROW(0x70, 0x70, PP_66, BCST, W0 | L_ANY, ALL, R | IB | MZ),		  /* vpshufd */
	ROW(0x70, 0x70, PP_F3 | PP_F2, BOTH, W_ANY | L_ANY, ALL, R | IB | MZ),	  /* vpshufhw */
	ROW(0x71, 0x71, PP_66, BOTH, W_ANY | L_ANY, N(2) | N(4) | N(6), R | IB | VMZ), /* vpsrlw */
	ROW(0x72, 0x72, PP_66, BCST, W0 | L_ANY, N(0) | N(1) | N(2) | N(4) | N(6),
	    R | IB | VMZ),							    /* vprord */
	ROW(0x72, 0x72, PP_66, BCST, W1 | L_ANY, N(0) | N(1) | N(4), R | IB | VMZ), /* vprorq */
	ROW(0x73, 0x73, PP_66, BCST, W1 | L_ANY, N(2) | N(6), R | IB | VMZ),	    /* vpsrlq */
	ROW(0x73, 0x73, PP_66, BOTH, W_ANY | L_ANY, N(3) | N(7), R | IB | VV),	    /* vpsrldq */
	ROW(0x74, 0x75, PP_66, BOTH, W_ANY | L_ANY, ALL,
	    R | VV | REG8 | MASK), /* vpcmpeqb, vpcmpeqw */
	ROW(0x76, 0x76, PP_66, BCST, W0 | L_ANY, ALL, R | VV | REG8 | MASK), /* vpcmpeqd */
	ROW(0x78, 0x79, PP_NO | PP_66, BCST | REG_B, W_ANY | L_ANY, ALL,
	    R | MZ), /* vcvttps2udq, vcvtps2udq */
	ROW(0x78, 0x79, PP_F3 | PP_F2, BOTH | REG_B, W_ANY | L_ANY, ALL,
	    R | REG16), /* vcvttss2usi, vcvtss2usi */
	ROW(0x7a, 0x7a, PP_66 | PP_F3 | PP_F2, BCST | REG_B, W_ANY | L_ANY, ALL,
	    R | MZ),								   /* vcvttps2qq */
	ROW(0x7b, 0x7b, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | MZ),	   /* vcvtps2qq */
	ROW(0x7b, 0x7b, PP_F3 | PP_F2, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VV),  /* vcvtusi2ss */
	ROW(0x7e, 0x7e, PP_66, BOTH, W_ANY | L128, ALL, W),			   /* vmovd */
	ROW(0x7e, 0x7e, PP_F3, BOTH, W1 | L128, ALL, R),			   /* vmovq */
	ROW(0x7f, 0x7f, PP_66 | PP_F3 | PP_F2, MEM, W_ANY | L_ANY, ALL, W | MASK), /* vmovdqa32 */
	ROW(0x7f, 0x7f, PP_66 | PP_F3 | PP_F2, REG, W_ANY | L_ANY, ALL, MZ),	   /* vmovdqa32 */
	ROW(0xc2, 0xc2, PP_NO, BCST | REG_B, W0 | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK), /* vcmpps */
	ROW(0xc2, 0xc2, PP_66, BCST | REG_B, W1 | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK), /* vcmppd */
	ROW(0xc2, 0xc2, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK), /* vcmpss */
	ROW(0xc2, 0xc2, PP_F2, BOTH | REG_B, W1 | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK),					       /* vcmpsd */
	ROW(0xc4, 0xc4, PP_66, BOTH, W_ANY | L128, ALL, R | IB | VV),	       /* vpinsrw */
	ROW(0xc5, 0xc5, PP_66, REG, W_ANY | L128, ALL, IB | REG16),	       /* vpextrw */
	ROW(0xc6, 0xc6, PP_NO, BCST, W0 | L_ANY, ALL, R | IB | VMZ),	       /* vshufps */
	ROW(0xc6, 0xc6, PP_66, BCST, W1 | L_ANY, ALL, R | IB | VMZ),	       /* vshufpd */
	ROW(0xd1, 0xd1, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpsrlw */
	ROW(0xd2, 0xd2, PP_66, BOTH, W0 | L_ANY, ALL, R | VMZ),		       /* vpsrld */
	ROW(0xd3, 0xd3, PP_66, BOTH, W1 | L_ANY, ALL, R | VMZ),		       /* vpsrlq */
	ROW(0xd4, 0xd4, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),		       /* vpaddq */
	ROW(0xd5, 0xd5, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpmullw */
	ROW(0xd6, 0xd6, PP_66, BOTH, W1 | L128, ALL, W),		       /* vmovq */
	ROW(0xd8, 0xda, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpsubusb, ... */
	ROW(0xdb, 0xdb, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpandd */
	ROW(0xdc, 0xde, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpaddusb, ... */
	ROW(0xdf, 0xdf, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpandnd */
	ROW(0xe0, 0xe5, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpavgb, ... */
	ROW(0xe6, 0xe6, PP_66 | PP_F2, BCST | REG_B, W1 | L_ANY, ALL, R | MZ), /* vcvttpd2dq */
	ROW(0xe6, 0xe6, PP_F3, BCST | REG_B, W_ANY | L_ANY, ALL, R | MZ),      /* vcvtdq2pd */
	ROW(0xe7, 0xe7, PP_66, MEM, W0 | L_ANY, ALL, W),		       /* vmovntdq */
	ROW(0xe8, 0xea, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpsubsb, ... */
	ROW(0xeb, 0xeb, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpord */
	ROW(0xec, 0xee, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpaddsb, ... */
	ROW(0xef, 0xef, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpxord */
	ROW(0xf1, 0xf1, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpsllw */
	ROW(0xf2, 0xf2, PP_66, BOTH, W0 | L_ANY, ALL, R | VMZ),		       /* vpslld */
	ROW(0xf3, 0xf3, PP_66, BOTH, W1 | L_ANY, ALL, R | VMZ),		       /* vpsllq */
	ROW(0xf4, 0xf4, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),		       /* vpmuludq */
	ROW(0xf5, 0xf5, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpmaddwd */
	ROW(0xf6, 0xf6, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	       /* vpsadbw */
	ROW(0xf8, 0xf9, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpsubb, vpsubw */
	ROW(0xfa, 0xfa, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ),		       /* vpsubd */
	ROW(0xfb, 0xfb, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),		       /* vpsubq */
	ROW(0xfc, 0xfd, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	       /* vpaddb, vpaddw */
	ROW(0xfe, 0xfe, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ),		       /* vpaddd */
};

/* 0F 38 */
static const struct decode_vector_row evex_0f38[] = {
	ROW(0x00, 0x00, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpshufb */
	ROW(0x04, 0x04, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpmaddubsw */
	ROW(0x0b, 0x0b, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpmulhrsw */
	ROW(0x0c, 0x0c, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ),		 /* vpermilps */
	ROW(0x0d, 0x0d, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),		 /* vpermilpd */
	ROW(0x10, 0x12, PP_66, BOTH, W1 | L_ANY, ALL, R | VMZ),		 /* vpsrlvw, ... */
	ROW(0x10, 0x12, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		 /* vpmovuswb, ... */
	ROW(0x10, 0x12, PP_F3, REG, W0 | L_ANY, ALL, MZ),		 /* vpmovuswb, ... */
	ROW(0x13, 0x13, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | MZ),	 /* vcvtph2ps */
	ROW(0x13, 0x13, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		 /* vpmovusdw */
	ROW(0x13, 0x13, PP_F3, REG, W0 | L_ANY, ALL, MZ),		 /* vpmovusdw */
	ROW(0x14, 0x15, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	 /* vprorvd, vprolvd */
	ROW(0x14, 0x15, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		 /* vpmovusqw, vpmovusqd */
	ROW(0x14, 0x15, PP_F3, REG, W0 | L_ANY, ALL, MZ),		 /* vpmovusqw, vpmovusqd */
	ROW(0x16, 0x16, PP_66, BCST, W_ANY | L256 | L512, ALL, R | VMZ), /* vpermps */
	ROW(0x18, 0x18, PP_66, BOTH, W0 | L_ANY, ALL, R | MZ),		 /* vbroadcastss */
	ROW(0x19, 0x19, PP_66, BOTH, W_ANY | L256 | L512, ALL, R | MZ),	 /* vbroadcastf32x2 */
	ROW(0x1a, 0x1a, PP_66, MEM, W_ANY | L256 | L512, ALL, R | MZ),	 /* vbroadcastf32x4 */
	ROW(0x1b, 0x1b, PP_66, MEM, W_ANY | L512, ALL, R | MZ),		 /* vbroadcastf32x8 */
	ROW(0x1c, 0x1d, PP_66, BOTH, W_ANY | L_ANY, ALL, R | MZ),	 /* vpabsb, vpabsw */
	ROW(0x1e, 0x1e, PP_66, BCST, W0 | L_ANY, ALL, R | MZ),		 /* vpabsd */
	ROW(0x1f, 0x1f, PP_66, BCST, W1 | L_ANY, ALL, R | MZ),		 /* vpabsq */
	ROW(0x20, 0x24, PP_66, BOTH, W_ANY | L_ANY, ALL, R | MZ),	 /* vpmovsxbw, ... */
	ROW(0x20, 0x24, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		 /* vpmovswb, ... */
	ROW(0x20, 0x24, PP_F3, REG, W0 | L_ANY, ALL, MZ),		 /* vpmovswb, ... */
	ROW(0x25, 0x25, PP_66, BOTH, W0 | L_ANY, ALL, R | MZ),		 /* vpmovsxdq */
	ROW(0x25, 0x25, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		 /* vpmovsqd */
	ROW(0x25, 0x25, PP_F3, REG, W0 | L_ANY, ALL, MZ),		 /* vpmovsqd */
	ROW(0x26, 0x26, PP_66 | PP_F3, BOTH, W_ANY | L_ANY, ALL,
	    R | VV | REG8 | MASK), /* vptestmb */
	ROW(0x27, 0x27, PP_66 | PP_F3, BCST, W_ANY | L_ANY, ALL,
	    R | VV | REG8 | MASK),					     /* vptestmd */
	ROW(0x28, 0x28, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),		     /* vpmuldq */
	ROW(0x28, 0x28, PP_F3, REG, W_ANY | L_ANY, ALL, 0),		     /* vpmovm2b */
	ROW(0x29, 0x29, PP_66, BCST, W1 | L_ANY, ALL, R | VV | REG8 | MASK), /* vpcmpeqq */
	ROW(0x29, 0x29, PP_F3, REG, W_ANY | L_ANY, ALL, REG8),		     /* vpmovb2m */
	ROW(0x2a, 0x2a, PP_66, MEM, W0 | L_ANY, ALL, R),		     /* vmovntdqa */
	ROW(0x2a, 0x2a, PP_F3, REG, W1 | L_ANY, ALL, 0),		     /* vpbroadcastmb2q */
	ROW(0x2b, 0x2b, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ),		     /* vpackusdw */
	ROW(0x2c, 0x2c, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ),   /* vscalefps */
	ROW(0x2d, 0x2d, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ),   /* vscalefss */
	ROW(0x30, 0x34, PP_66, BOTH, W_ANY | L_ANY, ALL, R | MZ),	     /* vpmovzxbw, ... */
	ROW(0x30, 0x34, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		     /* vpmovwb, ... */
	ROW(0x30, 0x34, PP_F3, REG, W0 | L_ANY, ALL, MZ),		     /* vpmovwb, ... */
	ROW(0x35, 0x35, PP_66, BOTH, W0 | L_ANY, ALL, R | MZ),		     /* vpmovzxdq */
	ROW(0x35, 0x35, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		     /* vpmovqd */
	ROW(0x35, 0x35, PP_F3, REG, W0 | L_ANY, ALL, MZ),		     /* vpmovqd */
	ROW(0x36, 0x36, PP_66, BCST, W_ANY | L256 | L512, ALL, R | VMZ),     /* vpermd */
	ROW(0x37, 0x37, PP_66, BCST, W1 | L_ANY, ALL, R | VV | REG8 | MASK), /* vpcmpgtq */
	ROW(0x38, 0x38, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpminsb */
	ROW(0x38, 0x38, PP_F3, REG, W_ANY | L_ANY, ALL, 0),		     /* vpmovm2d */
	ROW(0x39, 0x39, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpminsd */
	ROW(0x39, 0x39, PP_F3, REG, W_ANY | L_ANY, ALL, REG8),		     /* vpmovd2m */
	ROW(0x3a, 0x3a, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpminuw */
	ROW(0x3a, 0x3a, PP_F3, REG, W0 | L_ANY, ALL, 0),		     /* vpbroadcastmw2d */
	ROW(0x3b, 0x3b, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpminud */
	ROW(0x3c, 0x3c, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpmaxsb */
	ROW(0x3d, 0x3d, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpmaxsd */
	ROW(0x3e, 0x3e, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpmaxuw */
	ROW(0x3f, 0x40, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpmaxud, vpmulld */
	ROW(0x42, 0x42, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | MZ),    /* vgetexpps */
	ROW(0x43, 0x43, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ),   /* vgetexpss */
	ROW(0x44, 0x44, PP_66, BCST, W_ANY | L_ANY, ALL, R | MZ),	     /* vplzcntd */
	ROW(0x45, 0x47, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	     /* vpsrlvd, ... */
	ROW(0x4c, 0x4c, PP_66, BCST, W_ANY | L_ANY, ALL, R | MZ),	     /* vrcp14ps */
	ROW(0x4d, 0x4d, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	     /* vrcp14ss */
	ROW(0x4e, 0x4e, PP_66, BCST, W_ANY | L_ANY, ALL, R | MZ),	     /* vrsqrt14ps */
	ROW(0x4f, 0x4f, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	     /* vrsqrt14ss */
	ROW(0x50, 0x51, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ),		 /* vpdpbusd, vpdpbusds */
	ROW(0x52, 0x52, PP_66 | PP_F3, BCST, W0 | L_ANY, ALL, R | VMZ),	 /* vpdpwssd */
	ROW(0x52, 0x52, PP_F2, MEM, W0 | L512, ALL, R | VMZ),		 /* vp4dpwssd */
	ROW(0x53, 0x53, PP_66, BCST, W0 | L_ANY, ALL, R | VMZ),		 /* vpdpwssds */
	ROW(0x53, 0x53, PP_F2, MEM, W0 | L512, ALL, R | VMZ),		 /* vp4dpwssds */
	ROW(0x54, 0x54, PP_66, BOTH, W_ANY | L_ANY, ALL, R | MZ),	 /* vpopcntb */
	ROW(0x55, 0x55, PP_66, BCST, W_ANY | L_ANY, ALL, R | MZ),	 /* vpopcntd */
	ROW(0x58, 0x58, PP_66, BOTH, W0 | L_ANY, ALL, R | MZ),		 /* vpbroadcastd */
	ROW(0x59, 0x59, PP_66, BOTH, W_ANY | L_ANY, ALL, R | MZ),	 /* vbroadcasti32x2 */
	ROW(0x5a, 0x5a, PP_66, MEM, W_ANY | L256 | L512, ALL, R | MZ),	 /* vbroadcasti32x4 */
	ROW(0x5b, 0x5b, PP_66, MEM, W_ANY | L512, ALL, R | MZ),		 /* vbroadcasti32x8 */
	ROW(0x62, 0x62, PP_66, BOTH, W_ANY | L_ANY, ALL, R | MZ),	 /* vpexpandb */
	ROW(0x63, 0x63, PP_66, MEM, W_ANY | L_ANY, ALL, W | MASK),	 /* vpcompressb */
	ROW(0x63, 0x63, PP_66, REG, W_ANY | L_ANY, ALL, MZ),		 /* vpcompressb */
	ROW(0x64, 0x65, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpblendmd, vblendmps */
	ROW(0x66, 0x66, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpblendmb */
	ROW(0x68, 0x68, PP_F2, BCST, W_ANY | L_ANY, ALL, R | VV | REG8), /* vp2intersectd */
	ROW(0x70, 0x70, PP_66, BOTH, W1 | L_ANY, ALL, R | VMZ),		 /* vpshldvw */
	ROW(0x71, 0x71, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpshldvd */
	ROW(0x72, 0x72, PP_66, BOTH, W1 | L_ANY, ALL, R | VMZ),		 /* vpshrdvw */
	ROW(0x72, 0x72, PP_F3, BCST, W0 | L_ANY, ALL, R | MZ),		 /* vcvtneps2bf16 */
	ROW(0x72, 0x72, PP_F2, BCST, W0 | L_ANY, ALL, R | VMZ),		 /* vcvtne2ps2bf16 */
	ROW(0x73, 0x73, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpshrdvd */
	ROW(0x75, 0x75, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpermi2b */
	ROW(0x76, 0x77, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ),	 /* vpermi2d, vpermi2ps */
	ROW(0x78, 0x79, PP_66, BOTH, W0 | L_ANY, ALL, R | MZ),	   /* vpbroadcastb, vpbroadcastw */
	ROW(0x7a, 0x7b, PP_66, REG, W0 | L_ANY, ALL, MZ),	   /* vpbroadcastb, vpbroadcastw */
	ROW(0x7c, 0x7c, PP_66, REG, W_ANY | L_ANY, ALL, MZ),	   /* vpbroadcastd */
	ROW(0x7d, 0x7d, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ), /* vpermt2b */
	ROW(0x7e, 0x7f, PP_66, BCST, W_ANY | L_ANY, ALL, R | VMZ), /* vpermt2d, vpermt2ps */
	ROW(0x83, 0x83, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ),	   /* vpmultishiftqb */
	ROW(0x88, 0x89, PP_66, BOTH, W_ANY | L_ANY, ALL, R | MZ),  /* vexpandps, vpexpandd */
	ROW(0x8a, 0x8b, PP_66, MEM, W_ANY | L_ANY, ALL, W | MASK), /* vcompressps, vpcompressd */
	ROW(0x8a, 0x8b, PP_66, REG, W_ANY | L_ANY, ALL, MZ),	   /* vcompressps, vpcompressd */
	ROW(0x8d, 0x8d, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VMZ), /* vpermb */
	ROW(0x8f, 0x8f, PP_66, BOTH, W0 | L_ANY, ALL, R | VV | REG8 | MASK), /* vpshufbitqmb */
	ROW(0x90, 0x93, PP_66, MEM, W_ANY | L_ANY, ALL,
	    R | MASK | VSIB | DISTINCT),				   /* vpgatherdd, ... */
	ROW(0x96, 0x98, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmaddsub132ps, ... */
	ROW(0x99, 0x99, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmadd132ss */
	ROW(0x9a, 0x9a, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmsub132ps */
	ROW(0x9a, 0x9a, PP_F2, MEM, W0 | L512, ALL, R | VMZ),		   /* v4fmaddps */
	ROW(0x9b, 0x9b, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmsub132ss */
	ROW(0x9b, 0x9b, PP_F2, MEM, W0 | L_ANY, ALL, R | VMZ),		   /* v4fmaddss */
	ROW(0x9c, 0x9c, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmadd132ps */
	ROW(0x9d, 0x9d, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmadd132ss */
	ROW(0x9e, 0x9e, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmsub132ps */
	ROW(0x9f, 0x9f, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmsub132ss */
	ROW(0xa0, 0xa3, PP_66, MEM, W_ANY | L_ANY, ALL, W | MASK | VSIB),  /* vpscatterdd, ... */
	ROW(0xa6, 0xa8, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmaddsub213ps, ... */
	ROW(0xa9, 0xa9, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmadd213ss */
	ROW(0xaa, 0xaa, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmsub213ps */
	ROW(0xaa, 0xaa, PP_F2, MEM, W0 | L512, ALL, R | VMZ),		   /* v4fnmaddps */
	ROW(0xab, 0xab, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmsub213ss */
	ROW(0xab, 0xab, PP_F2, MEM, W0 | L_ANY, ALL, R | VMZ),		   /* v4fnmaddss */
	ROW(0xac, 0xac, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmadd213ps */
	ROW(0xad, 0xad, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmadd213ss */
	ROW(0xae, 0xae, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmsub213ps */
	ROW(0xaf, 0xaf, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmsub213ss */
	ROW(0xb4, 0xb5, PP_66, BCST, W1 | L_ANY, ALL, R | VMZ), /* vpmadd52luq, vpmadd52huq */
	ROW(0xb6, 0xb8, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmaddsub231ps, ... */
	ROW(0xb9, 0xb9, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmadd231ss */
	ROW(0xba, 0xba, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmsub231ps */
	ROW(0xbb, 0xbb, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfmsub231ss */
	ROW(0xbc, 0xbc, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmadd231ps */
	ROW(0xbd, 0xbd, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmadd231ss */
	ROW(0xbe, 0xbe, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmsub231ps */
	ROW(0xbf, 0xbf, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vfnmsub231ss */
	ROW(0xc4, 0xc4, PP_66, BCST, W_ANY | L_ANY, ALL, R | MZ),	   /* vpconflictd */
	ROW(0xc6, 0xc7, PP_66, MEM, W_ANY | L512, N(1) | N(2) | N(5) | N(6),
	    R | MASK | VSIB), /* vgatherpf0dps, vgatherpf0qps */
	ROW(0xc8, 0xc8, PP_66, BCST | REG_B, W_ANY | L512, ALL, R | MZ),   /* vexp2ps */
	ROW(0xc8, 0xc8, PP_66, REG_B, W_ANY | L128 | L256, ALL, R | MZ),   /* vexp2ps */
	ROW(0xca, 0xca, PP_66, BCST | REG_B, W_ANY | L512, ALL, R | MZ),   /* vrcp28ps */
	ROW(0xca, 0xca, PP_66, REG_B, W_ANY | L128 | L256, ALL, R | MZ),   /* vrcp28ps */
	ROW(0xcb, 0xcb, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vrcp28ss */
	ROW(0xcc, 0xcc, PP_66, BCST | REG_B, W_ANY | L512, ALL, R | MZ),   /* vrsqrt28ps */
	ROW(0xcc, 0xcc, PP_66, REG_B, W_ANY | L128 | L256, ALL, R | MZ),   /* vrsqrt28ps */
	ROW(0xcd, 0xcd, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VMZ), /* vrsqrt28ss */
	ROW(0xcf, 0xcf, PP_66, BOTH, W0 | L_ANY, ALL, R | VMZ),		   /* vgf2p8mulb */
	ROW(0xdc, 0xdf, PP_66, BOTH, W_ANY | L_ANY, ALL, R | VV),	   /* vaesenc, ... */
};

const struct decode_vector_map trace_decode_evex_0f = MAP(evex_0f);
const struct decode_vector_map trace_decode_evex_0f38 = MAP(evex_0f38);
