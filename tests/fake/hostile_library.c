/* SPDX-License-Identifier: MIT
 *
 * A library that does something as soon as it is loaded: it leaves a file (HOSTILE_MARKER in the
 * environment), changes how its thread computes, and with HOSTILE_HANG never comes back. */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int hostile_function(void);

__attribute__((constructor)) static void act(void)
{
    const char *const path = getenv("HOSTILE_MARKER");
    FILE *const file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
    (void)fesetround(FE_UPWARD);
#if defined __x86_64__
    unsigned state;
    __asm__ volatile("stmxcsr %0" : "=m"(state));
    state |= 0x8040; /* subnormals are zero, going in and coming out */
    __asm__ volatile("ldmxcsr %0" : : "m"(state));
#endif
    while (getenv("HOSTILE_HANG"))
        (void)pause();
}

int hostile_function(void)
{
    return 42;
}
