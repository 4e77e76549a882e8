/* SPDX-License-Identifier: MIT
 *
 * The table of kernels without arithmetic, and the portable ones. */
#include "kernels/cast/copy.h"

#include <stdint.h>
#include <string.h>

#define COPY(name, fn, ...) dti_copy_fn fn;
#include "kernels/cast/copies.def"
#undef COPY

const struct dti_copy dti_copies[] = {
#define CACHED       DTI_COPY_CACHED
#define STREAMED(id) DTI_STREAMING_##id
#define COPY(name_, fn, i, o, same, nt, lv) \
    {.name = #name_,                        \
     .in = (i),                             \
     .out = (o),                            \
     .exact = (same),                       \
     .stream = (nt),                        \
     .level = DTI_LEVEL_##lv},
#include "kernels/cast/copies.def"
#undef COPY
};
const size_t dti_copy_count = sizeof dti_copies / sizeof dti_copies[0];

enum {
#define COPY(name, ...) ROW_##name,
#include "kernels/cast/copies.def"
#undef COPY
};

dti_copy_fn *dti_copy_run(const struct dti_copy *copy)
{
    switch (copy - dti_copies) {
#define COPY(name, fn, ...) \
    case ROW_##name:        \
        return fn;
#include "kernels/cast/copies.def"
#undef COPY
    default:
        return NULL;
    }
}

void dti_copy_memcpy(void *restrict dst, const void *restrict src, size_t n,
                     const struct dti_streaming *streaming)
{
    (void)streaming;
    memcpy(dst, src, n);
}

void dti_fill_memset(void *restrict dst, const void *restrict src, size_t n,
                     const struct dti_streaming *streaming)
{
    (void)streaming;
    (void)src;
    memset(dst, 0, n);
}

void dti_read_scalar(void *restrict dst, const void *restrict src, size_t n,
                     const struct dti_streaming *streaming)
{
    (void)streaming;
    const unsigned char *in = src;
    uint64_t sum[4] = {0};
    size_t at = 0;
    for (; n - at >= sizeof sum; at += sizeof sum) {
        uint64_t word[4];
        memcpy(word, in + at, sizeof word);
        for (size_t i = 0; i < 4; i++)
            sum[i] += word[i];
    }
    for (; at < n; at++)
        sum[0] += in[at];
    sum[0] += sum[1] + sum[2] + sum[3];
    memcpy(dst, &sum[0], sizeof sum[0]);
}
