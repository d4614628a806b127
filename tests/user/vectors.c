/*
 * vectors N: keeps a pattern of its own in all vector registers and in FS and GS while it is preempted; ends
 * with 0 if they never change. With AVX, where the kernel switches that, otherwise with SSE.
 */
#include "nolib.h"

static int has_avx(void)
{
	unsigned int a = 1, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return (c >> 27 & 3) == 3; /* OSXSAVE, AVX */
}

static unsigned char in[16][32] __attribute__((aligned(32))),
	out[16][32] __attribute__((aligned(32)));

/* clang-format off */
#define ALL(INSN)                                                                                  \
	INSN(0) INSN(1) INSN(2) INSN(3) INSN(4) INSN(5) INSN(6) INSN(7) INSN(8) INSN(9) INSN(10)   \
	INSN(11) INSN(12) INSN(13) INSN(14) INSN(15)
/* clang-format on */
#define LOAD_AVX(n)  "vmovdqa " #n "*32(%0), %%ymm" #n "\n"
#define STORE_AVX(n) "vmovdqa %%ymm" #n ", " #n "*32(%1)\n"
#define LOAD_SSE(n)  "movdqa " #n "*32(%0), %%xmm" #n "\n"
#define STORE_SSE(n) "movdqa %%xmm" #n ", " #n "*32(%1)\n"
#define SPIN	     "mov $20000, %%ecx\n1: dec %%ecx\njnz 1b\n"

static void turn(int avx)
{
	if (avx)
		__asm__ volatile(ALL(LOAD_AVX) SPIN ALL(STORE_AVX)
				 :
				 : "r"(in), "r"(out)
				 : "rcx", "memory");
	else
		__asm__ volatile(ALL(LOAD_SSE) SPIN ALL(STORE_SSE)
				 :
				 : "r"(in), "r"(out)
				 : "rcx", "memory");
}

void main_program(long *sp)
{
	const char *arg = ((char **)(sp + 1))[1];
	int seed = arg[0], avx = has_avx(), bytes = avx ? 32 : 16;
	long base = (long)in, fs, gs;

	CALL2(NR_ARCH_PRCTL, 0x1002, base + seed);
	CALL2(NR_ARCH_PRCTL, 0x1001, base + seed + 8);
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 32; j++)
			in[i][j] = (unsigned char)(seed * 16 + i * 7 + j);
	for (int round = 0; round < 2000; round++) {
		turn(avx);
		for (int i = 0; i < 16; i++)
			for (int j = 0; j < bytes; j++)
				if (out[i][j] != in[i][j])
					sys_exit(1);
	}
	__asm__ volatile("movq %%fs:0, %0; movq %%gs:0, %1" : "=r"(fs), "=r"(gs));
	if (fs != *(long *)(base + seed) || gs != *(long *)(base + seed + 8))
		sys_exit(2);
	put(avx ? "avx kept\n" : "sse kept\n");
	sys_exit(0);
}
