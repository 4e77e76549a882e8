/* SPDX-License-Identifier: MIT
 *
 * Decides which stores and which way of streaming a call gets, from measurements cached for the
 * life of the process. */
#include "kernels/streaming.h"

#include <stdatomic.h>

#include "kernels/cpu.h"
#include "kernels/streaming_measure.h"
#include "util/run/once.h"

enum {
    LARGE = 8 << 20,             /* bytes; smaller jobs finish before a measurement would */
    QUICK_NANOSECONDS = 1000000, /* for each measurement */
};
static const double clearly = 0.95; /* fraction of the default's time */

const struct dti_streaming dti_streamings[DTI_STREAMING_COUNT] = {
#define STREAMING(id, name_, words_, ahead_, streams_, stretch_) \
    [DTI_STREAMING_##id] = {.name = name_,                       \
                            .words = words_,                     \
                            .ahead = ahead_,                     \
                            .streams = streams_,                 \
                            .stretch = stretch_},
#include "kernels/streamings.def"
#undef STREAMING
};

enum dti_streaming_id dti_streaming_judge(const double seconds[DTI_STREAMING_COUNT])
{
    enum dti_streaming_id best = DTI_STREAMING_FAR;
    double least = clearly * seconds[best];
    for (size_t i = 0; i < DTI_STREAMING_COUNT; i++) {
        if (seconds[i] > 0 && seconds[i] < least) {
            best = (enum dti_streaming_id)i;
            least = seconds[i];
        }
    }
    return best;
}

/* A value measured by the first thread that asks while the others wait. 0: not yet. */
struct figure {
    struct dti_once once;
    atomic_size_t value;
};
static struct figure cache, patient_cache, streaming; /* id + 1 */

static size_t measure_cache(uint64_t nanoseconds)
{
    struct dti_cache_step steps[DTI_CACHE_STEPS_MAX];
    const size_t second = dti_cache_bytes(2), last = dti_last_cache_bytes();
    const size_t least = second > 0 && second < last ? second : last;
    const size_t count = dti_cache_measure(steps, least, last, nanoseconds);
    /* nothing measured: use what the processor reports */
    return count > 0 ? dti_cache_judge(steps, count, least, last) : last;
}

/* Where whole arrays were measured, as what streams far apart gain does not show in a short time;
 * DTI_STREAMING_COUNT elsewhere. */
static size_t known_streaming(void)
{
    enum { ZEN_3_AND_4 = 25, SAPPHIRE_RAPIDS = 143, EMERALD_RAPIDS = 207 };
    unsigned model;
    if (dti_cpu_family("AuthenticAMD", &model) == ZEN_3_AND_4) /* only Zen 4 has AVX-512 */
        return dti_level_present(DTI_LEVEL_AVX512) ? DTI_STREAMING_SPREAD : DTI_STREAMING_STAGGERED;
    if (dti_cpu_family("GenuineIntel", &model) == 6 &&
        (model == SAPPHIRE_RAPIDS || model == EMERALD_RAPIDS))
        return DTI_STREAMING_STAGGERED_AHEAD;
    return DTI_STREAMING_COUNT;
}

static size_t measure_streaming(uint64_t nanoseconds)
{
    const size_t known = known_streaming();
    if (known < DTI_STREAMING_COUNT)
        return known + 1;
    double seconds[DTI_STREAMING_COUNT] = {0};
    dti_streaming_times(seconds, nanoseconds);
    return (size_t)dti_streaming_judge(seconds) + 1;
}

static size_t figure_of(struct figure *figure, size_t (*measure)(uint64_t nanoseconds),
                        uint64_t nanoseconds)
{
    if (dti_once_begin(&figure->once)) {
        atomic_store(&figure->value, measure(nanoseconds));
        dti_once_end(&figure->once, true);
    }
    return atomic_load(&figure->value);
}

void dti_usable_cache_measure(uint64_t nanoseconds)
{
    (void)figure_of(&patient_cache, measure_cache, nanoseconds);
}

static size_t quick_cache(void)
{
    return figure_of(&cache, measure_cache, QUICK_NANOSECONDS);
}

size_t dti_usable_cache_bytes(void)
{
    const size_t patient = atomic_load(&patient_cache.value);
    return patient > 0 ? patient : quick_cache();
}

const struct dti_streaming *dti_streaming_for(uint64_t bytes)
{
    return bytes < LARGE
               ? &dti_streamings[DTI_STREAMING_PLAIN]
               : &dti_streamings[figure_of(&streaming, measure_streaming, QUICK_NANOSECONDS) - 1];
}

bool dti_stores_stream(enum dti_stores stores, uint64_t bytes)
{
    if (stores != DTI_STORES_AUTO)
        return stores == DTI_STORES_STREAMED;
    return bytes >= LARGE / 2 && bytes > quick_cache();
}
