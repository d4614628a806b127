/* Functions of every kind, with call sites where they can have one. Not meant to be read. */
int untraced_file(int a);
int assembly_routine(int a);
int traced_plain(int a);
int traced_and_inlined(int a);
int caller_one(int a), caller_two(int a), caller_three(int a), caller_four(int a);
int marked_notrace(int a);
int splits(int a);
void seldom(int a);
int clones(int a);
int entry(int a);

#define KEEP __asm__ volatile("")

static inline int only_inlined(int a)
{
	return a * a + 3;
}

static inline int never_used(int a)
{
	return a - 1;
}

__attribute__((no_instrument_function, noinline)) int marked_notrace(int a)
{
	KEEP;
	return a + 5;
}

int traced_plain(int a)
{
	KEEP;
	return a + 1;
}

int traced_and_inlined(int a)
{
	KEEP;
	return a * 7;
}

int caller_one(int a)
{
	return only_inlined(a);
}

int caller_two(int a)
{
	return only_inlined(a) + traced_and_inlined(a);
}

int caller_three(int a)
{
	return only_inlined(a + 1) + marked_notrace(a);
}

int caller_four(int a)
{
	return only_inlined(a + 2) + untraced_file(a) + assembly_routine(a);
}

__attribute__((cold, noinline)) void seldom(int a)
{
	KEEP;
	(void)a;
}

int splits(int a)
{
	if (__builtin_expect(a > 1000, 0)) {
		seldom(a);
		return 7;
	}
	return a;
}

static __attribute__((noinline)) int cloned(int *a, int b)
{
	KEEP;
	return *a * b;
}

int clones(int a)
{
	return cloned(&a, 4) + cloned(&a, 4);
}

int entry(int a)
{
	return caller_one(a) + caller_two(a) + caller_three(a) + caller_four(a) + splits(a) +
	       clones(a) + traced_plain(a);
}

const int constant_table[] __attribute__((used)) = { 3, 1, 2 };
