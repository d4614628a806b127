/*
 * Error numbers. Functions return 0 or a negated value; the values are Linux's, because users and
 * tools of tracefs know them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ERRNO_H
#define TRACE_ERRNO_H

#define EPERM	      1
#define ENOENT	      2
#define ESRCH	      3
#define EINTR	      4
#define EIO	      5
#define ENXIO	      6
#define E2BIG	      7
#define ENOEXEC	      8
#define EBADF	      9
#define ECHILD	      10
#define EAGAIN	      11
#define ENOMEM	      12
#define EACCES	      13
#define EFAULT	      14
#define EBUSY	      16
#define EEXIST	      17
#define EXDEV	      18
#define ENODEV	      19
#define ENOTDIR	      20
#define EISDIR	      21
#define EINVAL	      22
#define EMFILE	      24
#define ENOTTY	      25
#define EFBIG	      27
#define ENOSPC	      28
#define ESPIPE	      29
#define EROFS	      30
#define EPIPE	      32
#define EDOM	      33
#define ERANGE	      34
#define EDEADLK	      35
#define ENAMETOOLONG  36
#define ENOSYS	      38
#define ENOTEMPTY     39
#define ELOOP	      40
#define ENODATA	      61
#define ETIME	      62
#define EOVERFLOW     75
#define ELIBBAD	      80
#define EILSEQ	      84
#define ENOTSOCK      88
#define EMSGSIZE      90
#define EOPNOTSUPP    95
#define EAFNOSUPPORT  97
#define EADDRINUSE    98
#define EADDRNOTAVAIL 99
#define ETIMEDOUT     110

#endif
