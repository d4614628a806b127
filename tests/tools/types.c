/* Functions for test_types.py, with types that are hard to get right. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colour {
	RED,
	GREEN = 7,
	BLUE = -2
};

struct point {
	int x, y;
};

struct shape {
	_Atomic uint32_t refs;
	const char *name;
	union {
		struct point at;
		uint64_t both;
	};
	unsigned int kind : 3, is_open : 1;
	char tag[8];
	struct shape *next;
};

struct not_needed {
	int nothing;
};

int volatile sink;
struct not_needed unused_object;
struct frame {
	long width;
	struct shape inside;
} framed; /* whoever has the address of a shape may look at the frame */

__attribute__((noinline)) int paint(struct shape *shape, enum colour colour, bool is_wet)
{
	sink = colour + is_wet;
	return (int)shape->refs;
}

/* clang leaves out the first argument, which has no use. */
__attribute__((noinline)) static int shorten(int unused, const char *text)
{
	(void)unused;
	return text[sink];
}

__attribute__((noinline)) static int twice(int value)
{
	return sink = value;
}

int second(int value);

int main(int argc, char **argv)
{
	struct shape shape = { .refs = 1, .name = argv[0] };

	return paint(&shape, GREEN, argc > 1) + shorten(argc, argv[0]) + twice(argc) + second(argc);
}
