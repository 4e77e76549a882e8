/* SPDX-License-Identifier: MIT
 *
 * The processor's own copy instruction, "rep movsb". It needs no particular CPU level. */
#include "kernels/cast/copy.h"

#define COPY(name, fn, ...) dti_copy_fn fn;
#include "kernels/cast/copies.def"
#undef COPY

void dti_copy_movsb(void *restrict dst, const void *restrict src, size_t n,
                    const struct dti_streaming *streaming)
{
    (void)streaming;
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n) : : "memory");
}
