/* SPDX-License-Identifier: MIT
 *
 * The loop shared by all kernels in this folder. A kernel defines how to process one block,
 * which is a fixed number of units (elements, or groups of packed ones). This code covers an
 * array of any length and alignment with blocks:
 *
 *     cached:    block, block, ..., and finally the block that ends with the array
 *     streamed:  one block at the start, then blocks from the first unit whose result starts a
 *                cache line, one page after the other or several in parallel, and the same end
 *
 * Blocks at the ends may process units twice, which is harmless because the arrays do not
 * overlap. An array shorter than a block goes through a buffer. Masked loads and stores would
 * also work, but in the main loop they cost up to three times the time. */
#ifndef KERNELS_X86_BLOCKS_H
#define KERNELS_X86_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/lanes.h"
#include "kernels/streaming.h"

/* DTI_SCAN_AHEAD: how far kernels that only read prefetch, in bytes: to the next page, where
 * processors do not go by themselves. */
enum {
    DTI_CACHE_LINE = 64,
    DTI_PREFETCH_DISTANCE = 8192,
    DTI_SCAN_AHEAD = 4096,
    DTI_BLOCK_BYTES_MAX = 512
};

/* Processes one block. constants: precomputed by the kernel. stream: dst is aligned to a cache
 * line, and stores bypass the caches. */
typedef void dti_block_fn(const void *constants, unsigned char *dst, const unsigned char *src,
                          bool stream);

struct dti_blocks {
    dti_block_fn *run;
    size_t units;              /* per block; their results fill at least one cache line */
    size_t src_unit, dst_unit; /* bytes per unit */
    bool prefetch;             /* computes much per cache line: prefetch in software */
};

/* Prefetches the lines that begin `ahead` bytes after `from`. The addresses need not be valid. */
DTI_INLINE void prefetch_lines(const void *from, size_t ahead, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += DTI_CACHE_LINE)
        __builtin_prefetch((const void *)((uintptr_t)from + ahead + line));
}

/* Processes the block at unit `at`; prefetches the source `ahead` bytes further on. */
DTI_INLINE void dti_blocks_one(struct dti_blocks blocks, const void *constants, unsigned char *dst,
                               const unsigned char *src, size_t at, bool fetch, size_t ahead,
                               bool stream)
{
    const unsigned char *const from = src + at * blocks.src_unit;
    if (fetch)
        prefetch_lines(from, ahead, blocks.units * blocks.src_unit);
    blocks.run(constants, dst + at * blocks.dst_unit, from, stream);
}

/* Processes as many blocks as fit, from unit `at` on. */
DTI_INLINE size_t dti_blocks_middle(struct dti_blocks blocks, const void *constants,
                                    unsigned char *dst, const unsigned char *src, size_t at,
                                    size_t n, bool fetch, size_t ahead, bool stream)
{
    for (; n - at >= blocks.units; at += blocks.units)
        dti_blocks_one(blocks, constants, dst, src, at, fetch, ahead, stream);
    return at;
}

/* How many units the streams are apart in the next span, of at most n units: whole pages less than
 * asked for at the end of the array; 0: they would be so near that one stream is as good. */
__attribute__((unused)) static DTI_NOINLINE size_t
dti_blocks_stretch(size_t units, size_t src_unit, size_t n, const struct dti_streaming *streaming)
{
    enum { PAGE = 4096 };
    const size_t share = n / streaming->streams * src_unit, all = streaming->stretch;
    const size_t less = share < all ? (all - share + PAGE - 1) / PAGE * PAGE : 0;
    const size_t bytes = less < all ? all - less : 0;
    return bytes < all / 32 ? 0 : bytes / (units * src_unit) * units;
}

/* The same with streaming stores. What does not fill a span of several streams is processed as one,
 * by the same loop, so that a kernel's block is there once. */
DTI_INLINE size_t dti_blocks_streamed(struct dti_blocks blocks, const void *constants,
                                      unsigned char *dst, const unsigned char *src, size_t at,
                                      size_t n, const struct dti_streaming *streaming)
{
    size_t streams = streaming->streams, ahead = streaming->ahead;
    while (n - at >= blocks.units) {
        size_t stretch =
            streams > 1 ? dti_blocks_stretch(blocks.units, blocks.src_unit, n - at, streaming) : 0;
        if (stretch == 0) {
            streams = 1;
            stretch = (n - at) / blocks.units * blocks.units;
            ahead = ahead == 0 && blocks.prefetch ? DTI_PREFETCH_DISTANCE : ahead;
        }
        for (size_t unit = at; unit < at + stretch; unit += blocks.units) {
            for (size_t lane = 0; lane < streams; lane++)
                dti_blocks_one(blocks, constants, dst, src, unit + lane * stretch, ahead > 0, ahead,
                               true);
        }
        at += streams * stretch;
    }
    return at;
}

/* Processes n units, with streaming stores if requested (not NULL) and if the alignment of the
 * arrays permits. */
DTI_INLINE void dti_blocks_run(struct dti_blocks blocks, const void *constants, void *dst,
                               const void *src, size_t n, const struct dti_streaming *streaming)
{
    unsigned char *out = dst;
    const unsigned char *in = src;
    if (n < blocks.units) {
        unsigned char src_block[DTI_BLOCK_BYTES_MAX], dst_block[DTI_BLOCK_BYTES_MAX];
        if (n == 0)
            return;
        memset(src_block, 0, blocks.units * blocks.src_unit);
        memcpy(src_block, in, n * blocks.src_unit);
        blocks.run(constants, dst_block, src_block, false);
        memcpy(out, dst_block, n * blocks.dst_unit);
        return;
    }
    size_t at = 0;
    const size_t before =
        (uintptr_t)out % DTI_CACHE_LINE == 0 ? 0 : DTI_CACHE_LINE - (uintptr_t)out % DTI_CACHE_LINE;
    if (streaming && before % blocks.dst_unit == 0 && n >= 2 * blocks.units) {
        if (before != 0)
            blocks.run(constants, out, in, false);
        at =
            dti_blocks_streamed(blocks, constants, out, in, before / blocks.dst_unit, n, streaming);
    } else {
        at = dti_blocks_middle(blocks, constants, out, in, 0, n, blocks.prefetch,
                               DTI_PREFETCH_DISTANCE, false);
    }
    if (at < n) {
        at = n - blocks.units;
        blocks.run(constants, out + at * blocks.dst_unit, in + at * blocks.src_unit, false);
    }
}

#endif
