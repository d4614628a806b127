/*
 * The opcode maps 0F 3A, 5 and 6 with EVEX, for decode_vector.c. Maps 5 and 6 are those of numbers
 * of 16 bits (SDM volume 2, the page of each instruction).
 */
#include <stddef.h>
#include "decode_vector_rows.h"

/* 0F 3A */
static const struct decode_vector_row evex_0f3a[] = {
	ROW(0x00, 0x01, PP_66, BCST, W1 | L256 | L512, ALL, R | IB | MZ), /* vpermq, vpermpd */
	ROW(0x03, 0x03, PP_66, BCST, W_ANY | L_ANY, ALL, R | IB | VMZ),	  /* valignd */
	ROW(0x04, 0x04, PP_66, BCST, W0 | L_ANY, ALL, R | IB | MZ),	  /* vpermilps */
	ROW(0x05, 0x05, PP_66, BCST, W1 | L_ANY, ALL, R | IB | MZ),	  /* vpermilpd */
	ROW(0x08, 0x08, PP_NO | PP_66, BCST | REG_B, W0 | L_ANY, ALL,
	    R | IB | MZ),						    /* vrndscaleph */
	ROW(0x09, 0x09, PP_66, BCST | REG_B, W1 | L_ANY, ALL, R | IB | MZ), /* vrndscalepd */
	ROW(0x0a, 0x0a, PP_NO | PP_66, BOTH | REG_B, W0 | L_ANY, ALL,
	    R | IB | VMZ),						      /* vrndscalesh */
	ROW(0x0b, 0x0b, PP_66, BOTH | REG_B, W1 | L_ANY, ALL, R | IB | VMZ),  /* vrndscalesd */
	ROW(0x0f, 0x0f, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VMZ),	      /* vpalignr */
	ROW(0x14, 0x17, PP_66, BOTH, W_ANY | L128, ALL, W | IB),	      /* vpextrb, ... */
	ROW(0x18, 0x18, PP_66, BOTH, W_ANY | L256 | L512, ALL, R | IB | VMZ), /* vinsertf32x4 */
	ROW(0x19, 0x19, PP_66, MEM, W_ANY | L256 | L512, ALL, W | IB | MASK), /* vextractf32x4 */
	ROW(0x19, 0x19, PP_66, REG, W_ANY | L256 | L512, ALL, IB | MZ),	      /* vextractf32x4 */
	ROW(0x1a, 0x1a, PP_66, BOTH, W_ANY | L512, ALL, R | IB | VMZ),	      /* vinsertf32x8 */
	ROW(0x1b, 0x1b, PP_66, MEM, W_ANY | L512, ALL, W | IB | MASK),	      /* vextractf32x8 */
	ROW(0x1b, 0x1b, PP_66, REG, W_ANY | L512, ALL, IB | MZ),	      /* vextractf32x8 */
	ROW(0x1d, 0x1d, PP_66, MEM, W0 | L_ANY, ALL, W | IB | MASK),	      /* vcvtps2ph */
	ROW(0x1d, 0x1d, PP_66, REG | REG_B, W0 | L_ANY, ALL, IB | MZ),	      /* vcvtps2ph */
	ROW(0x1e, 0x1f, PP_66, BCST, W_ANY | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK),					       /* vpcmpud, vpcmpd */
	ROW(0x20, 0x20, PP_66, BOTH, W_ANY | L128, ALL, R | IB | VV),	       /* vpinsrb */
	ROW(0x21, 0x21, PP_66, BOTH, W0 | L128, ALL, R | IB | VV),	       /* vinsertps */
	ROW(0x22, 0x22, PP_66, BOTH, W_ANY | L128, ALL, R | IB | VV),	       /* vpinsrd */
	ROW(0x23, 0x23, PP_66, BCST, W_ANY | L256 | L512, ALL, R | IB | VMZ),  /* vshuff32x4 */
	ROW(0x25, 0x25, PP_66, BCST, W_ANY | L_ANY, ALL, R | IB | VMZ),	       /* vpternlogd */
	ROW(0x26, 0x26, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | IB | MZ),    /* vgetmantph */
	ROW(0x26, 0x26, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | IB | MZ), /* vgetmantps */
	ROW(0x27, 0x27, PP_NO, BOTH | REG_B, W0 | L_ANY, ALL, R | IB | VMZ),   /* vgetmantsh */
	ROW(0x27, 0x27, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | IB | VMZ), /* vgetmantss */
	ROW(0x38, 0x38, PP_66, BOTH, W_ANY | L256 | L512, ALL, R | IB | VMZ),	/* vinserti32x4 */
	ROW(0x39, 0x39, PP_66, MEM, W_ANY | L256 | L512, ALL, W | IB | MASK),	/* vextracti32x4 */
	ROW(0x39, 0x39, PP_66, REG, W_ANY | L256 | L512, ALL, IB | MZ),		/* vextracti32x4 */
	ROW(0x3a, 0x3a, PP_66, BOTH, W_ANY | L512, ALL, R | IB | VMZ),		/* vinserti32x8 */
	ROW(0x3b, 0x3b, PP_66, MEM, W_ANY | L512, ALL, W | IB | MASK),		/* vextracti32x8 */
	ROW(0x3b, 0x3b, PP_66, REG, W_ANY | L512, ALL, IB | MZ),		/* vextracti32x8 */
	ROW(0x3e, 0x3f, PP_66, BOTH, W_ANY | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK),					      /* vpcmpub, vpcmpb */
	ROW(0x42, 0x42, PP_66, BOTH, W0 | L_ANY, ALL, R | IB | VMZ),	      /* vdbpsadbw */
	ROW(0x43, 0x43, PP_66, BCST, W_ANY | L256 | L512, ALL, R | IB | VMZ), /* vshufi32x4 */
	ROW(0x44, 0x44, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | VV),	      /* vpclmulqdq */
	ROW(0x50, 0x50, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | IB | VMZ), /* vrangeps */
	ROW(0x51, 0x51, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | IB | VMZ), /* vrangess */
	ROW(0x54, 0x54, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | IB | VMZ), /* vfixupimmps */
	ROW(0x55, 0x55, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | IB | VMZ), /* vfixupimmss */
	ROW(0x56, 0x56, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | IB | MZ),	/* vreduceph */
	ROW(0x56, 0x56, PP_66, BCST | REG_B, W_ANY | L_ANY, ALL, R | IB | MZ),	/* vreduceps */
	ROW(0x57, 0x57, PP_NO, BOTH | REG_B, W0 | L_ANY, ALL, R | IB | VMZ),	/* vreducesh */
	ROW(0x57, 0x57, PP_66, BOTH | REG_B, W_ANY | L_ANY, ALL, R | IB | VMZ), /* vreducess */
	ROW(0x66, 0x66, PP_NO, BCST, W0 | L_ANY, ALL, R | IB | REG8 | MASK),	/* vfpclassph */
	ROW(0x66, 0x66, PP_66, BCST, W_ANY | L_ANY, ALL, R | IB | REG8 | MASK), /* vfpclassps */
	ROW(0x67, 0x67, PP_NO, BOTH, W0 | L_ANY, ALL, R | IB | REG8 | MASK),	/* vfpclasssh */
	ROW(0x67, 0x67, PP_66, BOTH, W_ANY | L_ANY, ALL, R | IB | REG8 | MASK), /* vfpclassss */
	ROW(0x70, 0x70, PP_66, BOTH, W1 | L_ANY, ALL, R | IB | VMZ),		/* vpshldw */
	ROW(0x71, 0x71, PP_66, BCST, W_ANY | L_ANY, ALL, R | IB | VMZ),		/* vpshldd */
	ROW(0x72, 0x72, PP_66, BOTH, W1 | L_ANY, ALL, R | IB | VMZ),		/* vpshrdw */
	ROW(0x73, 0x73, PP_66, BCST, W_ANY | L_ANY, ALL, R | IB | VMZ),		/* vpshrdd */
	ROW(0xc2, 0xc2, PP_NO, BCST | REG_B, W0 | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK), /* vcmpph */
	ROW(0xc2, 0xc2, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL,
	    R | IB | VV | REG8 | MASK), /* vcmpsh */
	ROW(0xce, 0xcf, PP_66, BCST, W1 | L_ANY, ALL,
	    R | IB | VMZ), /* vgf2p8affineqb, vgf2p8affineinvqb */
};

/* 5 */
static const struct decode_vector_row evex_5[] = {
	ROW(0x10, 0x10, PP_F3, MEM, W0 | L_ANY, ALL, R | MZ),		  /* vmovsh */
	ROW(0x10, 0x10, PP_F3, REG, W0 | L_ANY, ALL, VMZ),		  /* vmovsh */
	ROW(0x11, 0x11, PP_F3, MEM, W0 | L_ANY, ALL, W | MASK),		  /* vmovsh */
	ROW(0x11, 0x11, PP_F3, REG, W0 | L_ANY, ALL, VMZ),		  /* vmovsh */
	ROW(0x1d, 0x1d, PP_NO, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ),	  /* vcvtss2sh */
	ROW(0x1d, 0x1d, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	  /* vcvtps2phx */
	ROW(0x2a, 0x2a, PP_F3, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VV), /* vcvtsi2sh */
	ROW(0x2c, 0x2d, PP_F3, BOTH | REG_B, W_ANY | L_ANY, ALL,
	    R | REG16),							/* vcvttsh2si, vcvtsh2si */
	ROW(0x2e, 0x2f, PP_NO, BOTH | REG_B, W0 | L_ANY, ALL, R),	/* vucomish, vcomish */
	ROW(0x51, 0x51, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	/* vsqrtph */
	ROW(0x51, 0x51, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vsqrtsh */
	ROW(0x58, 0x59, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vaddph, vmulph */
	ROW(0x58, 0x59, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vaddsh, vmulsh */
	ROW(0x5a, 0x5a, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	/* vcvtph2pd */
	ROW(0x5a, 0x5a, PP_66, BCST | REG_B, W1 | L_ANY, ALL, R | MZ),	/* vcvtpd2ph */
	ROW(0x5a, 0x5a, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vcvtsh2sd */
	ROW(0x5a, 0x5a, PP_F2, BOTH | REG_B, W1 | L_ANY, ALL, R | VMZ), /* vcvtsd2sh */
	ROW(0x5b, 0x5b, PP_NO, BCST | REG_B, W_ANY | L_ANY, ALL, R | MZ),      /* vcvtdq2ph */
	ROW(0x5b, 0x5b, PP_66 | PP_F3, BCST | REG_B, W0 | L_ANY, ALL, R | MZ), /* vcvtph2dq */
	ROW(0x5c, 0x5f, PP_NO, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ),	       /* vsubph, ... */
	ROW(0x5c, 0x5f, PP_F3, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ),	       /* vsubsh, ... */
	ROW(0x6e, 0x6e, PP_66, BOTH, W_ANY | L128, ALL, R),		       /* vmovw */
	ROW(0x78, 0x79, PP_NO | PP_66, BCST | REG_B, W0 | L_ANY, ALL,
	    R | MZ), /* vcvttph2udq, vcvtph2udq */
	ROW(0x78, 0x79, PP_F3, BOTH | REG_B, W_ANY | L_ANY, ALL,
	    R | REG16),						       /* vcvttsh2usi, vcvtsh2usi */
	ROW(0x7a, 0x7a, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | MZ), /* vcvttph2qq */
	ROW(0x7a, 0x7a, PP_F2, BCST | REG_B, W_ANY | L_ANY, ALL, R | MZ),      /* vcvtudq2ph */
	ROW(0x7b, 0x7b, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	       /* vcvtph2qq */
	ROW(0x7b, 0x7b, PP_F3, BOTH | REG_B, W_ANY | L_ANY, ALL, R | VV),      /* vcvtusi2sh */
	ROW(0x7c, 0x7c, PP_NO | PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | MZ), /* vcvttph2uw */
	ROW(0x7d, 0x7d, PP_ANY, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	       /* vcvtph2uw */
	ROW(0x7e, 0x7e, PP_66, BOTH, W_ANY | L128, ALL, W),		       /* vmovw */
};

/* 6 */
static const struct decode_vector_row evex_6[] = {
	ROW(0x13, 0x13, PP_NO, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vcvtsh2ss */
	ROW(0x13, 0x13, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	/* vcvtph2psx */
	ROW(0x2c, 0x2c, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vscalefph */
	ROW(0x2d, 0x2d, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vscalefsh */
	ROW(0x42, 0x42, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | MZ),	/* vgetexpph */
	ROW(0x43, 0x43, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vgetexpsh */
	ROW(0x4c, 0x4c, PP_66, BCST, W0 | L_ANY, ALL, R | MZ),		/* vrcpph */
	ROW(0x4d, 0x4d, PP_66, BOTH, W0 | L_ANY, ALL, R | VMZ),		/* vrcpsh */
	ROW(0x4e, 0x4e, PP_66, BCST, W0 | L_ANY, ALL, R | MZ),		/* vrsqrtph */
	ROW(0x4f, 0x4f, PP_66, BOTH, W0 | L_ANY, ALL, R | VMZ),		/* vrsqrtsh */
	ROW(0x56, 0x56, PP_F3 | PP_F2, BCST | REG_B, W0 | L_ANY, ALL,
	    R | VMZ | DISTINCT), /* vfmaddcph */
	ROW(0x57, 0x57, PP_F3 | PP_F2, BOTH | REG_B, W0 | L_ANY, ALL,
	    R | VMZ | DISTINCT),					/* vfmaddcsh */
	ROW(0x96, 0x98, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmaddsub132ph, ... */
	ROW(0x99, 0x99, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmadd132sh */
	ROW(0x9a, 0x9a, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmsub132ph */
	ROW(0x9b, 0x9b, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmsub132sh */
	ROW(0x9c, 0x9c, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmadd132ph */
	ROW(0x9d, 0x9d, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmadd132sh */
	ROW(0x9e, 0x9e, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmsub132ph */
	ROW(0x9f, 0x9f, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmsub132sh */
	ROW(0xa6, 0xa8, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmaddsub213ph, ... */
	ROW(0xa9, 0xa9, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmadd213sh */
	ROW(0xaa, 0xaa, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmsub213ph */
	ROW(0xab, 0xab, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmsub213sh */
	ROW(0xac, 0xac, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmadd213ph */
	ROW(0xad, 0xad, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmadd213sh */
	ROW(0xae, 0xae, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmsub213ph */
	ROW(0xaf, 0xaf, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmsub213sh */
	ROW(0xb6, 0xb8, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmaddsub231ph, ... */
	ROW(0xb9, 0xb9, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmadd231sh */
	ROW(0xba, 0xba, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmsub231ph */
	ROW(0xbb, 0xbb, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfmsub231sh */
	ROW(0xbc, 0xbc, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmadd231ph */
	ROW(0xbd, 0xbd, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmadd231sh */
	ROW(0xbe, 0xbe, PP_66, BCST | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmsub231ph */
	ROW(0xbf, 0xbf, PP_66, BOTH | REG_B, W0 | L_ANY, ALL, R | VMZ), /* vfnmsub231sh */
	ROW(0xd6, 0xd6, PP_F3 | PP_F2, BCST | REG_B, W0 | L_ANY, ALL,
	    R | VMZ | DISTINCT), /* vfmulcph */
	ROW(0xd7, 0xd7, PP_F3 | PP_F2, BOTH | REG_B, W0 | L_ANY, ALL,
	    R | VMZ | DISTINCT), /* vfmulcsh */
};

const struct decode_vector_map trace_decode_evex_0f3a = MAP(evex_0f3a);
const struct decode_vector_map trace_decode_evex_5 = MAP(evex_5);
const struct decode_vector_map trace_decode_evex_6 = MAP(evex_6);
