/* SPDX-License-Identifier: MIT
 *
 * Advice and plans as documents: see advise.h. */
#include "answers/advise/advise.h"

#include "answers/rows.h"
#include "files/stored/quant_layout.h"
#include "util/text/utf8.h"

/* A group, a mixture, a point of the frontier or a tensor, by its number. */
struct advise_place {
    const struct dti_advise *advise;
    size_t at;
};

/* Precomputed values for the rows in advise.def. */
struct advise_facts {
    const struct dti_advise *of;
    double mean;
    size_t formats;
};
struct advise_group {
    const struct dti_advise_group *of;
    struct advise_place place;
    const char *format;
    uint64_t bytes;
    double error;
};
struct advise_mixture {
    const struct dti_advise_mixture *of;
    double mean;
    bool fits;
};
struct advise_point {
    const struct dti_frontier_point *of;
    uint64_t bytes;
    const char *tensor, *format;
    size_t tensor_length;
};
struct plan_tensor {
    const struct dti_measured_tensor *of;
    const char *format;
};

DTI_WORDS(written_words, "safetensors", "gguf")
DTI_WORDS(per_words, "tensor", "channel")

static const char *layout_words(size_t index)
{
    return index < DTI_LAYOUT_COUNT ? dti_quant_layout_name((enum dti_quant_layout)index) : NULL;
}

static void fill_advise(struct advise_facts *ret, const struct dti_advise *advise)
{
    *ret = (struct advise_facts){advise, dti_advise_mean(advise, advise->chosen.error),
                                 advise->measured.format_count};
}

static void fill_group(struct advise_group *ret, const struct advise_place *of)
{
    const struct dti_advise *const advise = of->advise;
    const uint32_t pick = advise->picks[of->at];
    *ret = (struct advise_group){
        .of = &advise->groups[of->at],
        .place = *of,
        .format = dti_advise_format_name(advise, advise->choice_formats[pick]),
        .bytes = advise->choices[pick].bytes,
        .error = advise->choices[pick].error,
    };
}

static void fill_mixture(struct advise_mixture *ret, const struct advise_place *of)
{
    const struct dti_advise_mixture *const mixture = &of->advise->mixtures[of->at];
    *ret = (struct advise_mixture){
        .of = mixture,
        .mean = dti_advise_mean(of->advise, mixture->error),
        .fits = mixture->bytes <= of->advise->budget,
    };
}

static void fill_point(struct advise_point *ret, const struct advise_place *of)
{
    const struct dti_advise *const advise = of->advise;
    const struct dti_frontier_point *const point = &advise->frontier[of->at];
    *ret = (struct advise_point){.of = point, .bytes = advise->kept_bytes + point->bytes};
    if (point->group == DTI_FRONTIER_START)
        return;
    const struct dti_measured_tensor *const first =
        &advise->measured.tensors[advise->groups[point->group].first];
    ret->tensor = first->name;
    ret->tensor_length = first->name_length;
    ret->format = dti_advise_format_name(advise, advise->choice_formats[point->choice]);
}

static void fill_tensor(struct plan_tensor *ret, const struct advise_place *of)
{
    *ret = (struct plan_tensor){
        &of->advise->measured.tensors[of->at],
        dti_advise_format_name(of->advise, dti_advise_format_of(of->advise, of->at))};
}

static void put_names(struct dti_json *json, const struct advise_group *group);
static void put_hexes(struct dti_json *json, const char *key, const struct advise_group *group);
static void put_plan(struct dti_json *json, const struct dti_advise *advise);

#define DTI_ROWS "answers/advise/advise.def"
#include "answers/rows.h"

static void put_names(struct dti_json *json, const struct advise_group *group)
{
    const struct dti_advise *const advise = group->place.advise;
    for (uint32_t at = group->of->first; at != UINT32_MAX; at = advise->next_in_group[at]) {
        const struct dti_measured_tensor *const tensor = &advise->measured.tensors[at];
        (void)dti_json_text(json, NULL, tensor->name, tensor->name_length);
    }
}

/* One entry for each name, so that both lists go together; null where every name says it all. */
static void put_hexes(struct dti_json *json, const char *key, const struct advise_group *group)
{
    const struct dti_advise *const advise = group->place.advise;
    const struct dti_measured_tensor *const tensors = advise->measured.tensors;
    uint32_t at = group->of->first;
    while (at != UINT32_MAX && dti_utf8_valid(tensors[at].name, tensors[at].name_length))
        at = advise->next_in_group[at];
    if (at == UINT32_MAX) {
        dti_json_null(json, key);
        return;
    }
    dti_json_array(json, key);
    for (at = group->of->first; at != UINT32_MAX; at = advise->next_in_group[at]) {
        if (dti_utf8_valid(tensors[at].name, tensors[at].name_length))
            dti_json_null(json, NULL);
        else
            dti_put_hex(json, NULL, tensors[at].name, tensors[at].name_length);
    }
    dti_json_end(json);
}

static void put_plan(struct dti_json *json, const struct dti_advise *advise)
{
    for (size_t i = 0; i < advise->measured.tensor_count; i++) {
        if (dti_advise_format_of(advise, i) < advise->measured.format_count)
            dti_put_plan_tensor(json, NULL, &(struct advise_place){advise, i});
    }
}
