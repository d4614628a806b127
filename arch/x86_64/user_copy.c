/* Copying from and to programs: see <arch/user.h>, and user_copy.asm for the loops. */
#include <arch/user.h>

size_t user_copy(void *to, const void *from, size_t bytes);

size_t copy_from_user(void *to, const void *from, size_t bytes)
{
	return access_ok((uintptr_t)from, bytes) ? user_copy(to, from, bytes) : bytes;
}

size_t copy_to_user(void *to, const void *from, size_t bytes)
{
	return access_ok((uintptr_t)to, bytes) ? user_copy(to, from, bytes) : bytes;
}
