/* SPDX-License-Identifier: MIT
 *
 * Measurements as a document: see measured.h. */
#include "answers/advise/measured.h"

#include "answers/rows.h"
#include "util/run/allocate.h"

struct measured_tensor_of {
    const struct dti_measured *measured;
    size_t tensor;
};
struct measured_figure_of {
    const struct dti_measured *measured;
    size_t tensor, format;
};

/* Precomputed values for the rows in measured.def. */
struct measured_tensor {
    const struct dti_measured_tensor *of;
    struct measured_tensor_of place;
};
struct measured_figure {
    const struct dti_measured_figure *of;
    const char *format;
};

static void fill_tensor(struct measured_tensor *ret, const struct measured_tensor_of *of)
{
    *ret = (struct measured_tensor){&of->measured->tensors[of->tensor], *of};
}

static void fill_figure(struct measured_figure *ret, const struct measured_figure_of *of)
{
    *ret = (struct measured_figure){dti_measured_at(of->measured, of->tensor, of->format),
                                    of->measured->formats[of->format]};
}

static void put_figures(struct dti_json *json, const struct measured_tensor *tensor);

#define DTI_ROWS "answers/advise/measured.def"
#include "answers/rows.h"

static void put_figures(struct dti_json *json, const struct measured_tensor *tensor)
{
    const struct dti_measured *const measured = tensor->place.measured;
    for (size_t i = 0; i < measured->format_count; i++) {
        if (dti_measured_at(measured, tensor->place.tensor, i)->there)
            dti_put_measured_figure(
                json, NULL, &(struct measured_figure_of){measured, tensor->place.tensor, i});
    }
}

enum dti_status dti_measured_alloc(struct dti_measured *measured, size_t tensors,
                                   struct dti_error *reterr)
{
    const size_t formats = measured->format_count > 0 ? measured->format_count : 1;
    if (tensors >= SIZE_MAX / sizeof *measured->figures / formats)
        return dti_no_memory(reterr);
    measured->tensors = dti_calloc(tensors + 1, sizeof *measured->tensors);
    measured->figures = dti_calloc(tensors * formats + 1, sizeof *measured->figures);
    measured->tensor_count = tensors;
    return measured->tensors && measured->figures ? DTI_OK : dti_no_memory(reterr);
}

void dti_measured_free(struct dti_measured *measured)
{
    dti_free((void *)measured->formats);
    dti_free(measured->tensors);
    dti_free(measured->figures);
    dti_pool_free(&measured->pool);
}
