/* Copying from and to programs: see <arch/user.h>, and user_copy.asm for the loops. */
#include <arch/user.h>

size_t user_copy(void *to, const void *from, size_t bytes);

static bool user_is_range(const void *at, size_t bytes)
{
	uintptr_t addr = (uintptr_t)at;

	return bytes <= TASK_SIZE_MAX && addr <= TASK_SIZE_MAX - bytes;
}

size_t copy_from_user(void *to, const void *from, size_t bytes)
{
	return user_is_range(from, bytes) ? user_copy(to, from, bytes) : bytes;
}

size_t copy_to_user(void *to, const void *from, size_t bytes)
{
	return user_is_range(to, bytes) ? user_copy(to, from, bytes) : bytes;
}
