/*
 * The kernel's version and its compiler, as the banner, `uname` and /proc/version show them. The version is that of
 * CHANGELOG.md; docs/versions.md says how a new one is made.
 */
#ifndef KERNEL_VERSION_H
#define KERNEL_VERSION_H

#define KERNEL_VERSION "0.2"
#ifdef __clang__
#define KERNEL_COMPILER "clang " __clang_version__
#else
#define KERNEL_COMPILER "gcc " __VERSION__
#endif

#endif
