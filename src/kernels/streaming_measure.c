/* SPDX-License-Identifier: MIT
 *
 * Measures how much data stays in the last-level cache, and the speed of each way of streaming.
 * The usable cache is found by latency, not by its reported size: read an array, load lines
 * spread over it, each address depending on the previous load; then flush these lines and load
 * them again. Loads from a cache are faster. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */
#include "kernels/streaming_measure.h"

#include <sys/mman.h>

#include "kernels/cast/copy.h"
#include "util/run/clock.h"

enum {
    BELIEVED = 4
};                                /* accept a reported size up to this multiple of what was
                                   * confirmed */
static const double cached = 0.8; /* loads below this fraction of memory latency come from a
                                   * cache */

size_t dti_cache_judge(const struct dti_cache_step *steps, size_t count, size_t least,
                       size_t reported)
{
    size_t most = least;
    double near = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dti_cache_step *const step = &steps[i];
        near = i == 0 || step->left < near ? step->left : near;
        if (near > cached * step->flushed || step->left > (near + step->flushed) / 2)
            return most;
        most = step->bytes;
    }
    return count > 0 && reported > most && reported / BELIEVED <= most ? reported : most;
}

#ifdef DTI_HAVE_X86

enum {
    LINE = 64,
    LOADS = 256,
    TRIES = 3,                      /* per step, if time allows: */
    PATIENT_NANOSECONDS = 20000000, /* if at least this much */
    ELEMENTS = 1 << 16,             /* 4 bytes in, 2 out: more than a core keeps in flight */
    ROUNDS_MAX = 16,
    MARGIN = 1 << 16, /* after the source, because prefetching goes beyond its end */
};
#define HUGE_PAGE ((size_t)2 << 20)
static const size_t most_mapped = (size_t)1 << 30;

static unsigned char *map(size_t bytes, void **ret_mapping)
{
    void *const mapping =
        mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return NULL;
    *ret_mapping = mapping;
    const size_t over = (size_t)((uintptr_t)mapping % HUGE_PAGE);
    unsigned char *const data = (unsigned char *)mapping + (over > 0 ? HUGE_PAGE - over : 0);
#ifdef MADV_HUGEPAGE
    (void)madvise(data, bytes, MADV_HUGEPAGE);
#endif
    return data;
}

static void flush(const unsigned char *line)
{
    __asm__ volatile("clflush %0" : : "m"(*line));
}

/* Waits until flushes and stores have reached memory. */
static void settle(void)
{
    __asm__ volatile("mfence" ::: "memory");
}

/* A pseudorandom line of the array, the same on each call. */
static size_t place(size_t i, size_t bytes)
{
    uint64_t mixed = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t)((mixed ^ mixed >> 29) % (bytes / LINE)) * LINE;
}

/* Nanoseconds per load. The array is zero, which the compiler does not know, so each address
 * depends on the previous load. */
static double load_time(const unsigned char *data, size_t bytes)
{
    const uint64_t start = dti_clock_now();
    size_t sum = 0;
    for (size_t i = 0; i < LOADS; i++)
        sum += *(const volatile unsigned char *)(data + place(i, bytes) + sum);
    return (double)(dti_clock_now() - start) / LOADS;
}

static void measure_step(struct dti_cache_step *step, const unsigned char *data)
{
    const volatile unsigned char *const bytes = data;
    for (size_t at = 0; at < step->bytes; at += LINE)
        (void)bytes[at];
    const double left = load_time(data, step->bytes);
    for (size_t i = 0; i < LOADS; i++)
        flush(data + place(i, step->bytes));
    settle();
    const double flushed = load_time(data, step->bytes);
    step->left = step->left == 0 || left < step->left ? left : step->left;
    step->flushed = step->flushed == 0 || flushed < step->flushed ? flushed : step->flushed;
}

size_t dti_cache_measure(struct dti_cache_step steps[DTI_CACHE_STEPS_MAX], size_t least,
                         size_t most, uint64_t nanoseconds)
{
    const uint64_t start = dti_clock_now();
    const int tries = nanoseconds >= PATIENT_NANOSECONDS ? TRIES : 1;
    uint64_t spent = 0, last = 0;
    size_t count = 0, touched = 0;
    void *mapping;
    most = most < most_mapped ? most : most_mapped;
    unsigned char *const data = map(most, &mapping);
    if (!data)
        return 0;
    for (size_t bytes = 2 * least; count < DTI_CACHE_STEPS_MAX && touched < most; bytes *= 2) {
        struct dti_cache_step *const step = &steps[count];
        /* a step takes twice as long as the previous one */
        if (count > 0 && spent + 2 * last > nanoseconds)
            break;
        *step = (struct dti_cache_step){.bytes = bytes < most ? bytes : most};
        for (; touched < step->bytes; touched += LINE) {
            *(volatile unsigned char *)(data + touched) = 0;
            /* in case the system is slow to provide memory; one step is always measured */
            if (count > 0 && touched % HUGE_PAGE == 0 && dti_clock_now() - start > nanoseconds)
                break;
        }
        if (touched < step->bytes)
            break;
        for (int i = 0; i < tries; i++)
            measure_step(step, data);
        last = dti_clock_now() - start - spent;
        spent += last;
        count++;
        if (dti_cache_judge(steps, count, 0, 0) < step->bytes)
            break;
    }
    (void)munmap(mapping, most + HUGE_PAGE);
    return count;
}

/* The kernel with the widest registers that moves as much as a cast from 4 bytes to 2. */
static const struct dti_copy *traffic(void)
{
    const struct dti_copy *widest = NULL;
    for (size_t i = 0; i < dti_copy_count; i++) {
        if (dti_copies[i].in == 4 && dti_copies[i].out == 2 &&
            dti_level_present(dti_copies[i].level))
            widest = &dti_copies[i];
    }
    return widest;
}

void dti_streaming_times(double seconds[DTI_STREAMING_COUNT], uint64_t nanoseconds)
{
    enum { SRC = 4 * ELEMENTS, DST = 2 * ELEMENTS, ALL = SRC + MARGIN + DST };
    const struct dti_copy *const copy = traffic();
    dti_copy_fn *const run = copy ? dti_copy_run(copy) : NULL;
    const uint64_t start = dti_clock_now();
    void *mapping;
    unsigned char *const src = copy ? map(ALL, &mapping) : NULL;
    if (!src)
        return;
    for (size_t at = 0; at < ALL; at += LINE)
        *(volatile unsigned char *)(src + at) = 0;
    /* the first round warms up */
    for (size_t round = 0; round < ROUNDS_MAX; round++) {
        for (size_t i = 0; i < DTI_STREAMING_COUNT; i++) {
            if ((size_t)dti_streamings[i].streams * dti_streamings[i].stretch > SRC)
                continue;
            for (size_t at = 0; at < SRC + MARGIN; at += LINE)
                flush(src + at);
            settle();
            const uint64_t begin = dti_clock_now();
            run(src + SRC + MARGIN, src, ELEMENTS, &dti_streamings[i]);
            dti_stores_order();
            const double taken = (double)(dti_clock_now() - begin) * 1e-9;
            if (round == 1 || (round > 1 && taken < seconds[i]))
                seconds[i] = taken;
        }
        /* predict the next round by the average so far */
        const uint64_t spent = dti_clock_now() - start;
        if (round > 0 && spent + spent / (round + 1) > nanoseconds)
            break;
    }
    (void)munmap(mapping, ALL + HUGE_PAGE);
}

#else

size_t dti_cache_measure(struct dti_cache_step steps[DTI_CACHE_STEPS_MAX], size_t least,
                         size_t most, uint64_t nanoseconds)
{
    (void)steps, (void)least, (void)most, (void)nanoseconds;
    return 0;
}

void dti_streaming_times(double seconds[DTI_STREAMING_COUNT], uint64_t nanoseconds)
{
    (void)seconds, (void)nanoseconds;
}

#endif
