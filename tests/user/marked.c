/*
 * `marked N`: passes markers of <sys/sdt.h> N times, that are noticed by a probe alone. It prints how often one of
 * them was wanted. Without that header it has notes of the same form.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef HAS_SDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#else
#define NOTE(name, semaphore, args)                                                                \
	"990: nop\n.pushsection .note.stapsdt, \"?\", \"note\"\n.balign 4\n"                       \
	".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                \
	"993: .8byte 990b, _.stapsdt.base, " semaphore "\n.asciz \"marked\"\n.asciz \"" name       \
	"\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
#define PROBES(name, semaphore, args, ...)                                                         \
	__asm__ volatile(NOTE(name, semaphore, args) : : __VA_ARGS__)
#define STAP_PROBE(provider, name) PROBES(#name, #provider "_" #name "_semaphore", "", "i"(0))
#define STAP_PROBE3(provider, name, a, b, c)                                                       \
	PROBES(#name, "0", "-4@%k0 8@%1 -2@%2", "r"(a), "m"(b), "i"(c))
__asm__(".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.popsection\n");
#endif

__attribute__((section(".probes"), used)) volatile unsigned short marked_wanted_semaphore;
#ifdef HAS_SDT
__attribute__((section(".probes"), used)) volatile unsigned short marked_step_semaphore;
#endif
static volatile unsigned long total = 1000;

__attribute__((noinline)) static void step(int number)
{
	total += (unsigned long)number;
	STAP_PROBE3(marked, step, number, total, (short)-7);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, times = 0;

	for (int i = 0; i < rounds; i++) {
		step(i);
		if (marked_wanted_semaphore) {
			STAP_PROBE(marked, wanted);
			times++;
		}
	}
	printf("%d of %d\n", times, rounds);
	return 0;
}
