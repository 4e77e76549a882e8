/* SPDX-License-Identifier: MIT
 *
 * The C library for WebAssembly has no locks of streams: there is one thread. */
#ifndef TOOLS_SITE_WASM_STDIO_H
#define TOOLS_SITE_WASM_STDIO_H

#include_next <stdio.h>

static inline void flockfile(FILE *stream)
{
    (void)stream;
}

static inline void funlockfile(FILE *stream)
{
    (void)stream;
}

#endif
