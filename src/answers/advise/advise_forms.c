/* SPDX-License-Identifier: MIT
 *
 * The documents of other programs: see advise_forms.h. */
#include "answers/advise/advise_forms.h"

#include "containers/json_quoted.h"
#include "files/config/quant_config_layers.h"
#include "files/stored/quant_marks.h"

static const struct dti_advise_form_row rows[] = {
#define ADVISE_FORM(id, word_, loader_, menu_, label_) \
    {.word = word_, .loader = loader_, .menu = menu_, .label = label_},
#include "answers/advise/advise_forms.def"
};

const struct dti_advise_form_row *dti_advise_form_row(enum dti_advise_form form)
{
    return &rows[form];
}

bool dti_advise_has_algorithm(const char *format, enum dti_quant_per per)
{
    const struct dti_block_format *const block = dti_block_lookup(format);
    struct dti_format number = {.id = DTI_NONE};
    struct dti_error ignored;
    const char *note = NULL;
    if (!block && dti_format_lookup(format, &number, &note, &ignored) != DTI_OK)
        return false;
    return dti_config_algorithm_of(block, number.id, per).name != NULL;
}

static enum dti_status put_algorithms(const struct dti_rewrite *rewrite, struct dti_buffer *ret,
                                      struct dti_error *reterr)
{
    struct dti_config_layers layers;
    enum dti_status status = DTI_OK;
    char place[DTI_TENSOR_PLACE];
    dti_config_layers_init(&layers);
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        const struct dti_quantize_form *const by = rewrite->tensors[i].way->by;
        if (!by)
            continue;
        const struct dti_quant_scheme *const scheme = &by->recipe->scheme;
        const struct dti_config_algorithm algorithm =
            dti_config_algorithm_of(scheme->block, by->row->number, scheme->per);
        if (!dti_config_add_layer(&layers, tensor->name, tensor->name_length, &algorithm))
            status =
                dti_fail(reterr, DTI_WRONG_KIND, "%s: there is no algorithm for %s",
                         dti_tensor_place(rewrite->container, rewrite->tensors[i].source, place),
                         by->recipe->dtype);
    }
    if (status == DTI_OK)
        dti_config_put_layers_alone(ret, &layers);
    dti_config_layers_free(&layers);
    return status;
}

/* The layers of all files together. */
static enum dti_status put_marks(const struct dti_rewrite *rewrite, struct dti_buffer *ret,
                                 struct dti_error *reterr)
{
    struct dti_buffer layers;
    enum dti_status status = DTI_OK;
    dti_buffer_init(&layers);
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        struct dti_quant_part_shape parts[DTI_PART_COUNT];
        struct dti_quant_stored stored;
        char text[DTI_QUANT_MARK_SIZE];
        if (!rewrite->tensors[i].way->by)
            continue;
        dti_rewrite_stored(rewrite, i, &stored);
        status = dti_quant_parts(&stored, parts, reterr);
        if (status != DTI_OK)
            break; /* cannot happen: it was planned */
        (void)dti_quant_mark_text(&stored, dti_quant_is_filled_up(&stored, &parts[DTI_PART_CODES]),
                                  text);
        dti_buffer_puts(&layers, layers.length == 0 ? "{" : ", ");
        dti_json_quoted(&layers, tensor->name, dti_quant_mark_stem(tensor->name_length));
        dti_buffer_puts(&layers, ": ");
        dti_buffer_puts(&layers, text);
    }
    dti_buffer_puts(&layers, "}");
    dti_quant_marks_entry(layers.data, layers.length, ret);
    dti_buffer_puts(ret, "\n");
    ret->failed = ret->failed || layers.failed;
    dti_buffer_free(&layers);
    return status;
}

static enum dti_status put_groups(const struct dti_rewrite *rewrite, struct dti_buffer *ret,
                                  struct dti_error *reterr)
{
    const char *why = NULL;
    const enum dti_status status = dti_rewrite_quant_config(rewrite, ret, &why, reterr);
    if (status == DTI_OK && why)
        return dti_fail(
            reterr, DTI_WRONG_KIND,
            "there is no quantization_config: %s; choose from other formats, or write a plan", why);
    dti_buffer_puts(ret, "\n");
    return status;
}

enum dti_status dti_advise_document(enum dti_advise_form form, const struct dti_rewrite *rewrite,
                                    struct dti_buffer *ret, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (form == DTI_ADVISE_AS_PLAN || form == DTI_ADVISE_AS_TENSOR_TYPES)
        return DTI_OK;
    if (rewrite->changed_count == 0)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "the choice quantizes nothing, and %s has no word for that; write a plan, "
                        "or give a smaller size",
                        rows[form].word);
    if (form == DTI_ADVISE_AS_ALGORITHMS)
        status = put_algorithms(rewrite, ret, reterr);
    else if (form == DTI_ADVISE_AS_MARKS)
        status = put_marks(rewrite, ret, reterr);
    else
        status = put_groups(rewrite, ret, reterr);
    return status == DTI_OK && ret->failed ? dti_no_memory(reterr) : status;
}
