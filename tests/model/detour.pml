/*
 * Model of a probe with a jump (trace/kprobes/kprobe_jump.c, trace/arch/x86_64/probe_jump.c): the
 * five bytes of the jump take the place of two instructions, A and B. CPUs come to A, and may be
 * stopped between A and B for as long as they like; NMIs run over A, too, whatever they interrupt.
 *
 *   text     first byte: of A, int3, of the jump;  tail: the rest of A and B, or of the jump
 *   slot     a copy of A, and a jump to B
 *   detour   copies of A and B, and a jump behind B
 *
 * What a CPU has fetched is as in poke.pml. Must never happen: B, or the rest of A, executed from
 * the bytes of the jump, or the other way round; an int3 without an answer; code executed that is
 * not written yet or has been freed.
 *
 * Each macro of the form NO_... or ..._EARLY takes one rule away: a mutant, which must fail. See run.
 */
#define NCPU 2
#define NCTX 4 /* thread and NMI of each CPU */

#define OLD  0 /* bytes of A and B */
#define JUMP 1 /* bytes of the jump */
#define INT3 2 /* as a first byte */
#define NONE 3 /* not fetched */

#define OUT    0 /* where a context is */
#define AT_A   1
#define AT_B   2
#define SLOT   3
#define DETOUR 4

byte mem_first = OLD, mem_tail = OLD;
byte first[NCPU], tail[NCPU];	/* what each CPU has fetched */
byte ticket = 0;		/* syncs asked for */
byte done[NCPU];		/* syncs answered */
byte pc[NCTX];
bool in_nmi[NCPU];
bool in_trap[NCTX];		/* in the handler of #BP: interrupts are off */
bool is_known = false;		/* the probe is in the table */
byte copy = SLOT;		/* where the handler goes on */
bool has_slot = true, has_detour = false; /* the code is there */

inline serialise(cpu)
{
	d_step {
		first[cpu] = NONE;
		tail[cpu] = NONE
	}
}

/* An NMI has the CPU until it is done. */
#define HAS_CPU(cpu, ctx) (in_nmi[cpu] == (ctx) % 2)

/* Read where to go on, and then go there: the probe may change in between. */
inline trap(cpu, ctx)
{
	if
	:: atomic { HAS_CPU(cpu, ctx) && is_known -> goal = copy }
	:: atomic { HAS_CPU(cpu, ctx) && !is_known -> assert(mem_first != INT3); goal = AT_A }
	fi;
	atomic {
		HAS_CPU(cpu, ctx) -> pc[ctx] = goal;
		goal = OUT;
		in_trap[ctx] = false;
		serialise(cpu) /* IRET */
	}
}

inline leave(cpu, ctx)
{
	pc[ctx] = OUT;
	if
	:: ctx % 2 -> in_nmi[cpu] = false
	:: else -> skip
	fi
}

inline execute(cpu, ctx)
{
	if
	:: atomic { HAS_CPU(cpu, ctx) && pc[ctx] == OUT -> pc[ctx] = AT_A }
	:: atomic { HAS_CPU(cpu, ctx) && pc[ctx] == AT_A && first[cpu] == INT3 ->
		in_trap[ctx] = true }; trap(cpu, ctx)
	:: atomic { HAS_CPU(cpu, ctx) && pc[ctx] == AT_A && first[cpu] == OLD && tail[cpu] != NONE ->
		assert(tail[cpu] == OLD); pc[ctx] = AT_B }
	:: atomic { HAS_CPU(cpu, ctx) && pc[ctx] == AT_A && first[cpu] == JUMP && tail[cpu] != NONE ->
		assert(tail[cpu] == JUMP); pc[ctx] = DETOUR }
	:: atomic { HAS_CPU(cpu, ctx) && pc[ctx] == AT_B && tail[cpu] != NONE ->
		assert(tail[cpu] == OLD); leave(cpu, ctx) }
	:: atomic { HAS_CPU(cpu, ctx) && pc[ctx] == SLOT -> assert(has_slot); pc[ctx] = AT_B }
	:: atomic { HAS_CPU(cpu, ctx) && pc[ctx] == DETOUR -> assert(has_detour); leave(cpu, ctx) }
	fi
}

/* Fetching goes its own way, whatever the CPU executes meanwhile. */
proctype fetch(byte cpu)
{
end:	do
	:: atomic { first[cpu] == NONE -> first[cpu] = mem_first }
	:: atomic { tail[cpu] == NONE -> tail[cpu] = mem_tail }
	:: atomic { first[cpu] != NONE -> first[cpu] = NONE }
	:: atomic { tail[cpu] != NONE -> tail[cpu] = NONE }
	od
}

/* The thread, and when it is not in a handler, interrupts. */
proctype thread(byte cpu)
{
	byte goal;

end:	do
	:: execute(cpu, 2 * cpu)
	:: atomic { !in_nmi[cpu] && done[cpu] < ticket -> serialise(cpu); done[cpu] = ticket }
	od
}

/* One NMI, at any moment, in the handler, too. */
proctype nmi(byte cpu)
{
	byte goal;

	atomic { in_nmi[cpu] = true; pc[2 * cpu + 1] = AT_A };
	do
	:: pc[2 * cpu + 1] == OUT -> break
	:: else -> execute(cpu, 2 * cpu + 1)
	od
}

inline sync()
{
	ticket++;
	i = 0;
	do
	:: i == NCPU -> break
	:: i < NCPU && done[i] >= ticket -> i++
	od
}

/* A batch of text changes: see poke.pml for what each sync is good for. */
inline change(to_first, to_tail)
{
	mem_first = INT3;
#ifndef NO_SYNC_INT3
	sync();
#endif
	mem_tail = to_tail;
#ifndef NO_SYNC_TAIL
	sync();
#endif
	mem_first = to_first;
	sync()
}

/* No CPU is any more in a handler that it was in. */
inline wait_for_handlers()
{
	for (i : 0 .. NCPU - 1) {
		!in_trap[2 * i] && !in_nmi[i]
	}
}

/* Each thread is seen once where it is in none of both. One in a handler seems to be at A. */
inline wait_for_threads(one, other)
{
	for (i : 0 .. NCPU - 1) {
		pc[2 * i] != one && pc[2 * i] != other
	}
}

inline make_jump()
{
#ifndef DETOUR_LATE
	has_detour = true;
#endif
#ifndef NO_COPY
	copy = DETOUR;
#endif
#ifndef NO_WAIT_FOR_HANDLERS
	wait_for_handlers();
#endif
#ifndef NO_WAIT_FOR_THREADS
	wait_for_threads(SLOT, AT_B);
#endif
	change(JUMP, JUMP);
#ifdef DETOUR_LATE
	has_detour = true
#endif
}

/* Behind the batch that takes the probe away. */
inline release()
{
	is_known = false;
#ifndef FREE_EARLY
	wait_for_handlers();
	wait_for_threads(SLOT, DETOUR);
#endif
	has_slot = false;
	has_detour = false
}

proctype poker()
{
	byte i;

#ifndef KNOWN_LATE
	is_known = true;
#endif
	change(INT3, OLD);
#ifdef KNOWN_LATE
	is_known = true;
#endif
	make_jump();
	if
	:: change(INT3, OLD); copy = SLOT; change(OLD, OLD) /* another probe comes first */
	:: change(OLD, OLD)
	fi;
	release()
}

init {
	byte n;

	atomic {
		for (n : 0 .. NCPU - 1) {
			first[n] = NONE;
			tail[n] = NONE;
			run fetch(n);
			run thread(n)
		}
		run nmi(0);
		run poker()
	}
}
