/* SPDX-License-Identifier: MIT
 *
 * A library that misbehaves as soon as it is loaded: it creates a file (HOSTILE_MARKER in the
 * environment), changes the thread's floating-point mode, and with HOSTILE_HANG never returns. */
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
    state |= 0x8040; /* FTZ and DAZ: flush subnormal results and operands to zero */
    __asm__ volatile("ldmxcsr %0" : : "m"(state));
#endif
    while (getenv("HOSTILE_HANG"))
        (void)pause();
}

int hostile_function(void)
{
    return 42;
}
