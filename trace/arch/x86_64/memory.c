/*
 * memcpy and its kin for libraries of hosts in user mode (`make libtrace FOR=process`): those of
 * the C library use vector registers, which trampolines do not save. `make libtrace` gives these
 * names of their own, so that the program keeps the C library's for itself.
 */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);

void *memcpy(void *to, const void *from, size_t len)
{
	void *end = to;

	__asm__ volatile("rep movsb" : "+D"(end), "+S"(from), "+c"(len) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t len)
{
	if ((uintptr_t)to - (uintptr_t)from >= len)
		return memcpy(to, from, len);
	while (len--)
		((volatile uint8_t *)to)[len] = ((const uint8_t *)from)[len];
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	void *end = to;

	__asm__ volatile("rep stosb" : "+D"(end), "+c"(len) : "a"(byte) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t len)
{
	const uint8_t *x = a, *y = b;

	for (; len; x++, y++, len--) {
		if (*x != *y)
			return *x - *y;
	}
	return 0;
}
