/* SPDX-License-Identifier: MIT
 *
 * From measurements to choices: what each group of tensors is in each format; and mixtures that
 * are named by a rule instead of found by a search. */
#include <stdio.h>
#include <string.h>

#include "answers/advise/advise.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static enum dti_status make_room(struct dti_advise *advise, struct dti_error *reterr)
{
    const struct dti_measured *const measured = &advise->measured;
    const size_t count = measured->tensor_count, formats = measured->format_count + 1;
    advise->group_of = dti_malloc((count + 1) * sizeof *advise->group_of);
    advise->next_in_group = dti_malloc((count + 1) * sizeof *advise->next_in_group);
    advise->groups = dti_calloc(count + 1, sizeof *advise->groups);
    advise->starts = dti_calloc(count + 1, sizeof *advise->starts);
    advise->picks = dti_calloc(count + 1, sizeof *advise->picks);
    advise->choices = dti_calloc((count + 1) * formats, sizeof *advise->choices);
    advise->choice_formats = dti_calloc((count + 1) * formats, sizeof *advise->choice_formats);
    if (!advise->group_of || !advise->next_in_group || !advise->groups || !advise->starts ||
        !advise->picks || !advise->choices || !advise->choice_formats)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++)
        advise->group_of[i] = advise->next_in_group[i] = UINT32_MAX;
    return DTI_OK;
}

/* Adds a tensor to its group. lasts: the last tensor of each group so far. numbers: the group of
 * each first tensor, or UINT32_MAX. */
static void add_to_group(struct dti_advise *advise, uint32_t at, uint32_t *numbers, uint32_t *lasts)
{
    const struct dti_measured_tensor *const tensor = &advise->measured.tensors[at];
    uint32_t *const number = &numbers[tensor->group];
    if (*number == UINT32_MAX) {
        *number = advise->group_count++;
        advise->groups[*number].first = at;
    } else {
        advise->next_in_group[lasts[*number]] = at;
    }
    lasts[*number] = at;
    advise->group_of[at] = *number;
    struct dti_advise_group *const group = &advise->groups[*number];
    group->tensor_count++;
    group->elements += tensor->elements;
    group->weight += tensor->weight;
    advise->weight += tensor->weight;
}

static bool is_called(const struct dti_measured_tensor *tensor, const char *end)
{
    return dti_text_ends(tensor->name, tensor->name_length, end);
}

/* Whether a tensor that stays keeps its group from being quantized: it is one of the matrices. */
static bool holds_back(const struct dti_measured_tensor *tensor)
{
    return !tensor->taken && tensor->rank == 2 && is_called(tensor, ".weight");
}

static enum dti_status number_groups(struct dti_advise *advise, struct dti_error *reterr)
{
    enum { STAYS = INT32_MAX };
    const struct dti_measured *const measured = &advise->measured;
    const size_t count = measured->tensor_count;
    uint32_t *const numbers = dti_malloc((2 * count + 1) * sizeof *numbers);
    if (!numbers)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++)
        numbers[i] = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        if (holds_back(&measured->tensors[i]))
            numbers[measured->tensors[i].group] = STAYS;
    }
    for (size_t i = 0; i < count; i++) {
        const struct dti_measured_tensor *const tensor = &measured->tensors[i];
        if (tensor->taken && numbers[tensor->group] != STAYS) {
            add_to_group(advise, (uint32_t)i, numbers, numbers + count);
            continue;
        }
        advise->kept_tensors++;
        advise->kept_bytes += tensor->bytes;
    }
    dti_free(numbers);
    return DTI_OK;
}

/* Adds up what the tensors are in each format: sums has an entry for each group and format, and a
 * last one for the group as it is. there: the number of its tensors that the format can hold. */
struct choice_sum {
    uint64_t bytes;
    double error;
    uint32_t there;
};

static void add_tensor(const struct dti_advise *advise, size_t at, struct choice_sum *sums)
{
    const struct dti_measured *const measured = &advise->measured;
    const struct dti_measured_tensor *const tensor = &measured->tensors[at];
    for (size_t f = 0; f < measured->format_count; f++) {
        const struct dti_measured_figure *const figure = dti_measured_at(measured, at, f);
        if (!figure->there)
            continue;
        sums[f].bytes += figure->bytes;
        sums[f].error += tensor->weight * dti_measured_share(figure);
        sums[f].there++;
    }
    sums[measured->format_count].bytes += tensor->bytes;
    sums[measured->format_count].there++;
}

static enum dti_status refuse_group(const struct dti_advise *advise, uint32_t group,
                                    struct dti_error *reterr)
{
    const struct dti_measured_tensor *const tensor =
        &advise->measured.tensors[advise->groups[group].first];
    char name[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "no format of the menu can hold tensor %s and those that share its format; add "
                    "'stored' to the menu",
                    dti_quote(name, tensor->name, tensor->name_length));
}

static enum dti_status list_choices(struct dti_advise *advise, const struct choice_sum *sums,
                                    struct dti_error *reterr)
{
    const size_t formats = advise->measured.format_count + 1;
    uint32_t count = 0;
    for (uint32_t g = 0; g < advise->group_count; g++) {
        advise->starts[g] = count;
        for (size_t f = 0; f < formats; f++) {
            const struct choice_sum *const sum = &sums[g * formats + f];
            const bool stored = f + 1 == formats;
            if (sum->there != advise->groups[g].tensor_count || (stored && !advise->stored))
                continue;
            advise->choices[count] = (struct dti_format_choice){sum->bytes, sum->error};
            advise->choice_formats[count++] = (uint32_t)f;
        }
        if (count == advise->starts[g])
            return refuse_group(advise, g, reterr);
    }
    advise->starts[advise->group_count] = count;
    return DTI_OK;
}

enum dti_status dti_advise_prepare(struct dti_advise *advise, struct dti_error *reterr)
{
    const size_t formats = advise->measured.format_count + 1;
    enum dti_status status = make_room(advise, reterr);
    if (status == DTI_OK)
        status = number_groups(advise, reterr);
    if (status != DTI_OK)
        return status;
    if (advise->group_count == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "no tensor of the model can be quantized: none is a matrix of finite "
                        "numbers that %s loads in "
                        "a format of the menu",
                        advise->row->name);
    struct choice_sum *const sums = dti_calloc(advise->group_count * formats, sizeof *sums);
    if (!sums)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < advise->measured.tensor_count; i++) {
        if (advise->group_of[i] != UINT32_MAX)
            add_tensor(advise, i, sums + advise->group_of[i] * formats);
    }
    status = list_choices(advise, sums, reterr);
    dti_free(sums);
    return status;
}

/* The format of a tensor in a mixture. */
typedef size_t mixture_fn(const struct dti_advise *advise, size_t tensor, size_t format);

static size_t all_of(const struct dti_advise *advise, size_t tensor, size_t format)
{
    (void)advise;
    (void)tensor;
    return format;
}

static size_t format_named(const struct dti_measured *measured, const char *name)
{
    size_t at = 0;
    while (at < measured->format_count && strcmp(measured->formats[at], name) != 0)
        at++;
    return at;
}

/* "blk.12.": 12; SIZE_MAX: it is of no layer. */
static size_t layer_of(const struct dti_measured_tensor *tensor)
{
    size_t layer = 0, at = 4;
    if (tensor->name_length < 6 || memcmp(tensor->name, "blk.", 4) != 0 ||
        !dti_ascii_digit(tensor->name[at]))
        return SIZE_MAX;
    for (; at < tensor->name_length && at < 12 && dti_ascii_digit(tensor->name[at]); at++)
        layer = 10 * layer + (size_t)(tensor->name[at] - '0');
    return layer;
}

static size_t layer_count(const struct dti_measured *measured)
{
    size_t count = 0;
    for (size_t i = 0; i < measured->tensor_count; i++) {
        const size_t layer = layer_of(&measured->tensors[i]);
        if (layer != SIZE_MAX && layer >= count)
            count = layer + 1;
    }
    return count;
}

/* llama-quantize's Q4_K_M, for models that are neither of 70B nor of 8 experts: llama.cpp's
 * llama-quant.cpp, llama_tensor_get_type(). `layers` is the number of layers. */
static size_t q4_k_m(const struct dti_advise *advise, size_t at, size_t layers)
{
    const struct dti_measured *const measured = &advise->measured;
    const struct dti_measured_tensor *const tensor = &measured->tensors[at];
    const size_t layer = layer_of(tensor);
    const bool more = layer != SIZE_MAX && (layer < layers / 8 || layer >= 7 * layers / 8 ||
                                            (layer - layers / 8) % 3 == 2);
    const bool six = is_called(tensor, "output.weight") && layer == SIZE_MAX;
    if (six ||
        (more && (is_called(tensor, ".attn_v.weight") || is_called(tensor, ".ffn_down.weight"))))
        return format_named(measured, "q6_k");
    return format_named(measured, is_called(tensor, ".attn_qkv.weight") ? "q5_k" : "q4_k");
}

static void add_mixture(struct dti_advise *advise, const char *name, mixture_fn *rule,
                        size_t argument)
{
    const struct dti_measured *const measured = &advise->measured;
    struct dti_advise_mixture *const mixture = &advise->mixtures[advise->mixture_count++];
    *mixture = (struct dti_advise_mixture){.bytes = advise->kept_bytes};
    (void)snprintf(mixture->name, sizeof mixture->name, "%s", name);
    for (size_t i = 0; i < measured->tensor_count; i++) {
        if (advise->group_of[i] == UINT32_MAX)
            continue;
        const size_t format = rule(advise, i, argument);
        const struct dti_measured_tensor *const tensor = &measured->tensors[i];
        const struct dti_measured_figure *const figure =
            format < measured->format_count ? dti_measured_at(measured, i, format) : NULL;
        if (!figure || !figure->there) {
            mixture->bytes += tensor->bytes;
            mixture->without++;
            continue;
        }
        mixture->bytes += figure->bytes;
        mixture->error += tensor->weight * dti_measured_share(figure);
    }
}

enum dti_status dti_advise_mix(struct dti_advise *advise, struct dti_error *reterr)
{
    const struct dti_measured *const measured = &advise->measured;
    const size_t none = measured->format_count;
    advise->mixtures = dti_calloc(none + 1, sizeof *advise->mixtures);
    if (!advise->mixtures)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < none; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "all %s", measured->formats[i]);
        add_mixture(advise, name, all_of, i);
    }
    if (advise->row->gguf && format_named(measured, "q4_k") < none &&
        format_named(measured, "q5_k") < none && format_named(measured, "q6_k") < none)
        add_mixture(advise, "Q4_K_M", q4_k_m, layer_count(measured));
    return DTI_OK;
}

void dti_advise_free(struct dti_advise *advise)
{
    dti_measured_free(&advise->measured);
    dti_measured_free(&advise->file);
    dti_free(advise->groups);
    dti_free(advise->group_of);
    dti_free(advise->next_in_group);
    dti_free(advise->choices);
    dti_free(advise->choice_formats);
    dti_free(advise->starts);
    dti_free(advise->picks);
    dti_free(advise->mixtures);
    dti_free(advise->frontier);
    dti_buffer_free(&advise->document);
    dti_warnings_free(&advise->warnings);
}
