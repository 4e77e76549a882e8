/* SPDX-License-Identifier: MIT
 *
 * Runs quantizations to codes with parts. Kernels want numbers and scales at addresses that are
 * multiples of their size, so parts elsewhere are copied; so are scales that are nested. */
#include <math.h>
#include <string.h>

#include "library/quantizers.h"
#include "util/run/allocate.h"

/* A buffer of the caller, or aligned memory in its place. */
struct part_place {
    void *given, *used;
    size_t bytes;
};

static bool place_new(struct part_place *ret, const void *given, size_t bytes, size_t alignment,
                      bool always)
{
    *ret = (struct part_place){.given = (void *)(uintptr_t)given, .bytes = bytes};
    const bool copies = bytes > 0 && (always || (uintptr_t)given % alignment != 0);
    ret->used = copies ? dti_malloc(bytes) : ret->given;
    return ret->used || bytes == 0;
}

static void place_load(const struct part_place *place)
{
    if (place->used != place->given)
        memcpy(place->used, place->given, place->bytes);
}

static void place_store(const struct part_place *place)
{
    if (place->used != place->given)
        memcpy(place->given, place->used, place->bytes);
}

static void place_free(const struct part_place *place)
{
    if (place->used != place->given)
        dti_free(place->used);
}

enum { NUMBERS, CODES, SCALES, ZERO_POINTS, PLACES };

static enum dti_status places_new(const struct dti_quantizer *quantizer,
                                  const struct dti_quantized *parts, const void *numbers,
                                  struct part_place ret[PLACES], struct dti_error *reterr)
{
    const struct dti_quantized_sizes *const sizes = &quantizer->sizes;
    const bool nested = quantizer->target.scheme.nested;
    const size_t number = (size_t)dti_format_container(&quantizer->number);
    const size_t scales = (size_t)quantizer->scales * quantizer->scale_bytes;
    memset(ret, 0, PLACES * sizeof *ret);
    const bool made =
        place_new(&ret[NUMBERS], numbers, (size_t)sizes->elements * number, number, false) &&
        place_new(&ret[CODES], parts->codes, sizes->codes, quantizer->code_bytes, false) &&
        place_new(&ret[SCALES], parts->scales, scales, quantizer->scale_bytes, nested) &&
        place_new(&ret[ZERO_POINTS], parts->zero_points, sizes->zero_points, sizeof(int32_t),
                  false);
    if (!made)
        return dti_no_memory(reterr);
    if (sizes->zero_points == 0)
        ret[ZERO_POINTS].used = ret[ZERO_POINTS].given = NULL;
    return DTI_OK;
}

static void places_free(const struct part_place places[PLACES])
{
    for (size_t i = 0; i < PLACES; i++)
        place_free(&places[i]);
}

static struct dti_quantized_array array_of(const struct part_place places[PLACES],
                                           const struct dti_quantized *parts)
{
    return (struct dti_quantized_array){.codes = places[CODES].used,
                                        .scales = places[SCALES].used,
                                        .zero_points = places[ZERO_POINTS].used,
                                        .tensor_scale = parts->tensor_scale};
}

/* Quantizes the scales. */
static enum dti_status nest(const struct dti_quantizer *quantizer, const float *scales,
                            float offset, struct dti_quantized *ret, struct dti_error *reterr)
{
    float map[DTI_NESTED_CODES];
    if (!isfinite(offset))
        return dti_fail_remedy(reterr, DTI_NOT_REPRESENTABLE, DTI_REMEDY_KEEP,
                               "the array has a NaN or an infinity, and nested scales can hold "
                               "neither");
    for (size_t at = 0; at < quantizer->scales; at += DTI_NESTED_BLOCK) {
        const size_t left = (size_t)quantizer->scales - at;
        const float own =
            dti_nested_quantize(scales + at, left < DTI_NESTED_BLOCK ? left : DTI_NESTED_BLOCK,
                                offset, (unsigned char *)ret->scales + at);
        memcpy((unsigned char *)ret->nested_scales + at / DTI_NESTED_BLOCK * sizeof own, &own,
               sizeof own);
    }
    dti_nested_map(map);
    memcpy(ret->nested_map, map, sizeof map);
    ret->tensor_scale = offset;
    return DTI_OK;
}

static void unnest(const struct dti_quantizer *quantizer, const struct dti_quantized *parts,
                   float *ret)
{
    const unsigned char *const codes = parts->scales;
    float map[DTI_NESTED_CODES], own = 0;
    memcpy(map, parts->nested_map, sizeof map);
    for (size_t i = 0; i < quantizer->scales; i++) {
        if (i % DTI_NESTED_BLOCK == 0)
            memcpy(&own,
                   (const unsigned char *)parts->nested_scales + i / DTI_NESTED_BLOCK * sizeof own,
                   sizeof own);
        ret[i] = dti_nested_back(map[codes[i]], own, parts->tensor_scale);
    }
}

enum dti_status dti_quantized_parts_run(const struct dti_quantizer *quantizer,
                                        struct dti_team *team, const void *numbers,
                                        struct dti_quantized *ret, struct dti_quant_report *report,
                                        struct dti_error *reterr)
{
    struct part_place places[PLACES];
    enum dti_status status = places_new(quantizer, ret, numbers, places, reterr);
    if (status == DTI_OK) {
        struct dti_quantized_array array = array_of(places, ret);
        place_load(&places[NUMBERS]);
        status = dti_quant_array(quantizer->plan, team, places[NUMBERS].used, &array,
                                 DTI_STORES_AUTO, report, reterr);
        ret->tensor_scale = array.tensor_scale;
        if (status == DTI_OK && quantizer->target.scheme.nested)
            status = nest(quantizer, places[SCALES].used, array.offset, ret, reterr);
        else if (status == DTI_OK)
            place_store(&places[SCALES]);
    }
    if (status == DTI_OK) {
        place_store(&places[CODES]);
        place_store(&places[ZERO_POINTS]);
    }
    places_free(places);
    return status;
}

enum dti_status dti_quantized_parts_back(const struct dti_quantizer *quantizer,
                                         struct dti_team *team, const struct dti_quantized *parts,
                                         void *numbers, struct dti_error *reterr)
{
    struct part_place places[PLACES];
    enum dti_status status = places_new(quantizer, parts, numbers, places, reterr);
    if (status == DTI_OK) {
        struct dti_quantized_array array = array_of(places, parts);
        if (!quantizer->sizes.has_tensor_scale || quantizer->target.scheme.nested)
            array.tensor_scale = 1;
        place_load(&places[CODES]);
        place_load(&places[ZERO_POINTS]);
        if (quantizer->target.scheme.nested)
            unnest(quantizer, parts, places[SCALES].used);
        else
            place_load(&places[SCALES]);
        status = dti_quant_array_back(quantizer->plan, team, &array, places[NUMBERS].used,
                                      DTI_STORES_AUTO, reterr);
    }
    if (status == DTI_OK)
        place_store(&places[NUMBERS]);
    places_free(places);
    return status;
}
