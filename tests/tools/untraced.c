/* A file without call sites. */
int untraced_file(int a);

int untraced_file(int a)
{
	__asm__ volatile("");
	return a + 9;
}
