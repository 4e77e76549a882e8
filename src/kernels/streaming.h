/* SPDX-License-Identifier: MIT
 *
 * Streaming: results that go to memory past the caches. When that pays, and which way of moving the
 * data is fastest, differs from one family of processors to the next, and a virtual machine may see
 * a cache that it does not own; so both are measured, once per process, the first time that large
 * work asks. This is the one place that decides; results are the same bytes in any case. */
#ifndef KERNELS_STREAMING_H
#define KERNELS_STREAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a kernel moves a long array whose result is streamed. */
struct dti_streaming {
    const char *name;  /* "nt_pages" */
    const char *words; /* "streaming, 4 pages" */
    unsigned ahead;    /* bytes that the source is prefetched ahead; 0: left to the hardware */
    unsigned pages;    /* of 4 KiB of the source that are processed side by side */
};

/* Rows of streamings.def. */
enum dti_streaming_id {
#define STREAMING(id, ...) DTI_STREAMING_##id,
#include "kernels/streamings.def"
#undef STREAMING
    DTI_STREAMING_COUNT
};
extern const struct dti_streaming dti_streamings[DTI_STREAMING_COUNT];

enum dti_stores {
    DTI_STORES_CACHED,   /* the result is read again soon: files, small arrays */
    DTI_STORES_STREAMED, /* it is not, and is larger than the caches */
    DTI_STORES_AUTO,     /* streamed when both arrays together exceed the usable cache */
};

/* Whether work on so many bytes of source and destination streams its result. */
bool dti_stores_stream(enum dti_stores stores, uint64_t bytes);
/* The fastest way to stream a call of that many bytes here. Small calls get DTI_STREAMING_PLAIN and
 * measure nothing. */
const struct dti_streaming *dti_streaming_for(uint64_t bytes);

/* The part of the last-level cache that this process really gets: not above dti_last_cache_bytes(),
 * which is what the processor reports. */
size_t dti_usable_cache_bytes(void);
/* Measures both now, for at most about that many nanoseconds, unless they were measured before. */
void dti_streaming_measure(uint64_t nanoseconds);

/* The judgements, apart from the clock. */
enum { DTI_CACHE_STEPS_MAX = 16 };
/* Average times of loads of lines spread over the last `bytes` bytes that were read. */
struct dti_cache_step {
    size_t bytes;
    double left;    /* of lines left as they were */
    double flushed; /* of the same lines, from memory */
};
/* The most bytes that stay in a cache; `least` if not even the first step does. Steps grow; if all
 * of them stay, `reported` is believed where it is at most four times the last one. */
size_t dti_cache_judge(const struct dti_cache_step *steps, size_t count, size_t least,
                       size_t reported);
/* The fastest of those measured (0: not measured); DTI_STREAMING_FAR unless another is clearly
 * faster, because prefetching helps casts, which compute, more than the loops that are measured. */
enum dti_streaming_id dti_streaming_judge(const double seconds[DTI_STREAMING_COUNT]);

#endif
