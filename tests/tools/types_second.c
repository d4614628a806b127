/* The other file of types.c, with a function of the same name as one there. */
extern volatile int sink;
int second(int value);

__attribute__((noinline)) static int twice(long a, long b)
{
	return sink = (int)(a + b);
}

int second(int value)
{
	return twice(value, sink);
}
