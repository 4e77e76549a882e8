/* SPDX-License-Identifier: MIT
 *
 * Quantized tensors that become plain numbers of a file whose other tensors stay quantized: counts
 * what the cast changes, before anything is written. */
#include <assert.h>
#include <math.h>

#include "files/transcode/transcode_view.h"
#include "util/run/allocate.h"

enum { CHUNK = DTI_DEQUANT_CHUNK };

struct numbers_look {
    struct dti_batch_source source;
    const struct dti_plan *narrow, *widen;
    const struct dti_format *format;
    uint64_t row; /* elements of a row */
    bool same;    /* those of this row, up to here */
    float old[CHUNK], new[CHUNK];
    unsigned char codes[CHUNK * sizeof(float)];
};

static enum dti_status count_piece(struct numbers_look *look, const struct dti_dequant_found *found,
                                   uint64_t first, size_t n, struct dti_transcoded *plan,
                                   struct dti_error *reterr)
{
    enum dti_status status =
        dti_plan_run(look->narrow, look->codes, look->old, n, 0, DTI_STORES_CACHED, NULL, reterr);
    if (status == DTI_OK)
        status = dti_plan_run(look->widen, look->new, look->codes, n, 0, DTI_STORES_CACHED, NULL,
                              reterr);
    for (size_t i = 0; i < n && status == DTI_OK; i++) {
        const float old = look->old[i], new = look->new[i];
        const uint64_t element = first + i;
        if (isinf(new) && !isinf(old))
            return dti_transcode_refuse(found, reterr, "element %llu is beyond %s",
                                        (unsigned long long)element, look->format->name);
        if (old != new && (old == old || new == new)) {
            const double error = fabs(((double)new - (double)old) / (double)old);
            plan->worst = error > plan->worst ? error : plan->worst;
            look->same = false;
        }
        if ((first + i + 1) % look->row == 0) {
            plan->blocks++;
            plan->lossless += look->same;
            look->same = true;
        }
    }
    return status;
}

static enum dti_status count_all(struct numbers_look *look, const struct dti_dequant_found *found,
                                 struct dti_transcoded *plan, struct dti_error *reterr)
{
    struct dti_window window = {.way = DTI_WINDOW_COPY};
    void *const scratch = dti_malloc(look->source.scratch_bytes + 1);
    enum dti_status status = scratch ? DTI_OK : dti_no_memory(reterr);
    for (uint64_t first = 0; first < found->shown->elements && status == DTI_OK;) {
        const uint64_t left = found->shown->elements - first;
        const size_t n = left < CHUNK ? (size_t)left : CHUNK;
        status = look->source.read(look->source.context, look->old, n * sizeof(float),
                                   first * sizeof(float), &window, scratch, reterr);
        if (status == DTI_OK)
            status = count_piece(look, found, first, n, plan, reterr);
        first += n;
    }
    dti_window_free(&window);
    dti_free(scratch);
    return status;
}

enum dti_status dti_transcode_count_numbers(const struct dti_file_transcode *transcode,
                                            size_t origin, struct dti_transcoded *plan,
                                            struct dti_error *reterr)
{
    const struct dti_dequant_found *const found = dti_transcode_found(transcode, origin);
    assert(found); /* the tensor is quantized */
    const struct dti_tensor *const shown = found->shown;
    struct dti_file_dequant *const dequant = transcode->dequant;
    struct numbers_look *const look = dti_malloc(sizeof *look);
    const struct dti_input *input;
    uint64_t offset;
    if (!look)
        return dti_no_memory(reterr);
    look->format = dti_format_get(plan->part[0].dtype);
    const struct dti_layout layout = {.swapped = false};
    look->narrow = dti_dequant_narrow_plan(dequant, look->format);
    look->widen = dti_dequant_scale_plan(dequant, look->format, &layout);
    look->row =
        shown->rank > 0 && shown->shape[shown->rank - 1] > 0 ? shown->shape[shown->rank - 1] : 1;
    look->same = true;
    enum dti_status status = look->narrow && look->widen ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_file_dequant_data(dequant, origin, &look->source, &input, &offset, reterr);
    if (status == DTI_OK)
        status = count_all(look, found, plan, reterr);
    dti_free(look);
    return status;
}
