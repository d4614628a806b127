/*
 * The version of the library: `#if TRACE_VERSION >= 200` for 0.2.0. The last number changes with
 * repairs, the middle one when something is added, and before 1.0 also when a host has to change
 * something; CHANGELOG.md of Fathom lists the changes. `make install-libtrace` tells pkg-config the
 * text. An archive belongs to the headers that it was made with: there is no binary interface that
 * stays from one version to the next.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_VERSION_H
#define TRACE_VERSION_H

#define TRACE_VERSION_MAJOR 0
#define TRACE_VERSION_MINOR 2
#define TRACE_VERSION_PATCH 0
#define TRACE_VERSION                                                                              \
	(TRACE_VERSION_MAJOR * 10000 + TRACE_VERSION_MINOR * 100 + TRACE_VERSION_PATCH)
#define TRACE_VERSION_TEXT "0.2.0"

#endif
