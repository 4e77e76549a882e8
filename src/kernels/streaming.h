/* SPDX-License-Identifier: MIT
 *
 * Streaming (non-temporal) stores, which bypass the caches. When they pay off, and how to move
 * the data fastest, depends on the processor family, and a virtual machine may report a cache
 * that it does not have to itself. So both are measured once per process, when the first large
 * job asks, unless whole arrays were measured on such processors before. This is the only place
 * that decides; the resulting bytes are the same in any case. */
#ifndef KERNELS_STREAMING_H
#define KERNELS_STREAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a kernel moves a long array with streaming stores. */
struct dti_streaming {
    const char *name;  /* "nt_pages" */
    const char *words; /* "streaming, 4 pages" */
    unsigned ahead;    /* prefetch distance for the source in bytes; 0: hardware prefetch only */
    unsigned streams;  /* parts of the array processed in parallel */
    unsigned stretch;  /* how many source bytes they are apart */
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
    DTI_STORES_STREAMED, /* the result is larger than the caches and not read again soon */
    DTI_STORES_AUTO,     /* stream if both arrays together exceed the usable cache */
};

/* Whether a job with that many source and destination bytes uses streaming stores. */
bool dti_stores_stream(enum dti_stores stores, uint64_t bytes);
/* The fastest way here to stream a call with that many bytes. Small calls get
 * DTI_STREAMING_PLAIN without measuring anything. */
const struct dti_streaming *dti_streaming_for(uint64_t bytes);

/* The part of the last-level cache that this process can really use; at most
 * dti_last_cache_bytes(), which the processor reports. */
size_t dti_usable_cache_bytes(void);
/* Measures it now, for at most about that many nanoseconds, unless already done so. The decisions
 * above do not change: they are those of a process that cannot wait. */
void dti_usable_cache_measure(uint64_t nanoseconds);

/* The decisions, separate from the timing. */
enum { DTI_CACHE_STEPS_MAX = 16 };
/* Average load latencies for lines spread over the last `bytes` bytes read. */
struct dti_cache_step {
    size_t bytes;
    double left;    /* lines left in the caches */
    double flushed; /* the same lines after a flush, from memory */
};
/* The largest size that stays in a cache, or `least` if even the first step does not. Steps must
 * increase. If all of them stay, `reported` is used if it is at most four times the last step. */
size_t dti_cache_judge(const struct dti_cache_step *steps, size_t count, size_t least,
                       size_t reported);
/* The fastest measured way (0: not measured). Prefers DTI_STREAMING_FAR unless another is
 * clearly faster, because prefetching helps casts, which compute, more than the measured loops. */
enum dti_streaming_id dti_streaming_judge(const double seconds[DTI_STREAMING_COUNT]);

#endif
