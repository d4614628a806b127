/* Facts about the system and the process: uname() and its names, options of prctl(), random bytes. */
#include <kernel/cred.h>
#include <kernel/random.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "process/proc_machine.h"
#include "syscall.h"

#define RANDOM_MAX 256u

long sys_newuname(char *name)
{
	char names[NR_UTS_NAMES][UTS_LEN];

	uts_get_all(names);
	return copy_to_user(name, names, sizeof(names)) ? -EFAULT : 0;
}

static long system_set_name(enum uts_name which, const char *from, int len)
{
	char name[UTS_LEN];

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (len < 0 || len > UTS_LEN - 1)
		return -EINVAL;
	if (copy_from_user(name, from, (size_t)len))
		return -EFAULT;
	uts_set(which, name, (size_t)len);
	return 0;
}

long sys_sethostname(const char *name, int len)
{
	return system_set_name(UTS_NODENAME, name, len);
}

long sys_setdomainname(const char *name, int len)
{
	return system_set_name(UTS_DOMAINNAME, name, len);
}

/* The most that a call gives is RANDOM_MAX bytes. */
long sys_getrandom(char *ubuf, size_t len, unsigned int flags)
{
	uint8_t bytes[RANDOM_MAX];

	if (flags & ~7u)
		return -EINVAL;
	if (len > sizeof(bytes))
		len = sizeof(bytes);
	random_bytes(bytes, len);
	return copy_to_user(ubuf, bytes, len) ? -EFAULT : (long)len;
}

#define PR_GET_DUMPABLE	    3
#define PR_SET_DUMPABLE	    4
#define PR_GET_KEEPCAPS	    7
#define PR_SET_KEEPCAPS	    8
#define PR_SET_NAME	    15
#define PR_GET_NAME	    16
#define PR_CAPBSET_READ	    23
#define PR_SET_NO_NEW_PRIVS 38
#define PR_GET_NO_NEW_PRIVS 39

/* Options about capabilities. -EINVAL: it is none. */
static long system_prctl_caps(int option, unsigned long arg)
{
	struct cred cred = *current_cred();

	switch (option) {
	case PR_GET_DUMPABLE:
		return current_task()->mm->is_dumpable;
	case PR_SET_DUMPABLE:
		if (arg > 1)
			return -EINVAL;
		current_task()->mm->is_dumpable = arg;
		return 0;
	case PR_GET_KEEPCAPS:
		return cred.keeps_caps;
	case PR_SET_KEEPCAPS:
		cred.keeps_caps = arg;
		break;
	case PR_CAPBSET_READ:
		return arg <= CAP_LAST ? 1 : -EINVAL;
	case PR_SET_NO_NEW_PRIVS:
		cred.no_new_privs = true;
		break;
	case PR_GET_NO_NEW_PRIVS:
		return cred.no_new_privs;
	default:
		return -EINVAL;
	}
	if (arg > 1 || (option == PR_SET_NO_NEW_PRIVS && !arg))
		return -EINVAL;
	commit_creds(&cred);
	return 0;
}

long sys_prctl(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4,
	       unsigned long arg5)
{
	char name[THREAD_NAME_LEN] = "";

	(void)arg3;
	(void)arg4;
	(void)arg5;
	switch (option) {
	case PR_SET_NAME:
		if (copy_from_user(name, (const void *)arg2, sizeof(name)) == sizeof(name))
			return -EFAULT;
		name[THREAD_NAME_LEN - 1] = '\0';
		thread_set_name(current_thread(), name);
		return 0;
	case PR_GET_NAME:
		strlcpy(name, current_thread()->name, sizeof(name));
		return copy_to_user((void *)arg2, name, sizeof(name)) ? -EFAULT : 0;
	default:
		return system_prctl_caps(option, arg2);
	}
}

/*
 * Restartable sequences would cost each switch of threads a look at the program's memory. The C library knows kernels
 * without them: it asks getcpu() instead.
 */
long sys_rseq(void *rseq, unsigned int rseq_len, int flags, unsigned int sig)
{
	(void)rseq;
	(void)rseq_len;
	(void)flags;
	(void)sig;
	return -ENOSYS;
}
