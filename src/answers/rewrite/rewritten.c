/* SPDX-License-Identifier: MIT
 *
 * Rewrites as JSON, and values derived from a completed or planned rewrite: see rewritten.h.
 * Tensors are written one at a time, so memory does not grow with their number. */
#include "answers/rewrite/rewritten.h"

#include <string.h>

#include "answers/part_words.h"
#include "answers/rows.h"

static const struct dti_dequant_form *form_of(const struct dti_rewrite *rewrite, size_t at)
{
    return dti_file_dequant_form(rewrite->request.dequant,
                                 dti_rewrite_place(rewrite, rewrite->tensors[at].source));
}

struct dti_rewrite_origin dti_rewrite_origin(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const enum dti_rewrite_kind recipe = rewrite->request.recipe;
    if (recipe == DTI_RECIPE_ENCODE || recipe == DTI_RECIPE_DEQUANTIZE) {
        const struct dti_dequant_form *const form = form_of(rewrite, at);
        if (form->is->dtype)
            return (struct dti_rewrite_origin){form->is->dtype, form->is->stored_bytes};
    }
    const struct dti_model_view *const view = rewrite->request.model_view;
    const uint32_t *const places = rewrite->request.model_places;
    const size_t tensor = rewrite->tensors[at].source;
    const struct dti_tensor *const stored =
        view ? dti_model_view_stored(view, places ? places[tensor] : tensor) : source;
    return (struct dti_rewrite_origin){stored->format->name, stored->bytes};
}

struct dti_dequantized dti_dequantized(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_dequant_form *const form = form_of(rewrite, at);
    struct dti_dequantized ret = {.form = form->is->dtype ? form : NULL};
    ret.changed = ret.form || tensor->fate == DTI_FATE_CHANGED;
    dti_file_dequant_specials(rewrite->request.dequant, dti_rewrite_place(rewrite, tensor->source),
                              &ret.nan, &ret.inf);
    return ret;
}

struct dti_translated dti_translated_of(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_file_transcode *const transcode = rewrite->request.transcode;
    const size_t place = dti_rewrite_place(rewrite, rewrite->tensors[at].source);
    const size_t origin = dti_file_transcode_origin(transcode, place);
    const struct dti_transcode_verdict *const verdict =
        dti_file_transcode_verdict(transcode, origin);
    return (struct dti_translated){
        .numbers = dti_file_transcode_numbers(transcode, origin),
        .form = dti_file_transcode_form(transcode, origin),
        .verdict = verdict,
        .first = dti_file_transcode_first(transcode, origin) == place,
        .lossless = verdict->lossless == verdict->blocks,
    };
}

static void sum_dequantized(struct dti_dequant_totals *ret, const struct dti_rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_dequantized one = dti_dequantized(rewrite, i);
        ret->dequantized += one.form != NULL;
        ret->cast += !one.form && one.changed;
        ret->kept += !one.changed;
        ret->nan += one.nan;
        ret->inf += one.inf;
    }
}

static void sum_translated(struct dti_transcode_totals *ret, const struct dti_rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_translated one = dti_translated_of(rewrite, i);
        const struct dti_transcode_verdict *const verdict = one.verdict;
        if (!one.first)
            continue;
        if (!verdict->changed) {
            ret->kept += rewrite->tensors[i].fate != DTI_FATE_CHANGED; /* or it is widened */
            ret->stored_bytes += dti_rewrite_source(rewrite, i)->bytes;
            continue;
        }
        ret->stored_bytes += one.form->is->stored_bytes;
        ret->translated++;
        ret->lossless += one.lossless;
        ret->blocks += verdict->blocks;
        ret->lossless_blocks += verdict->lossless;
        ret->worst = verdict->worst > ret->worst ? verdict->worst : ret->worst;
    }
    ret->lossy = ret->lossless < ret->translated;
}

static const char *layout_of(const struct dti_rewrite_request *request)
{
    switch (request->recipe) {
    case DTI_RECIPE_QUANTIZE:
        return dti_quant_layout_name(request->quantize.layout);
    case DTI_RECIPE_ENCODE:
        return "gguf";
    case DTI_RECIPE_TRANSCODE:
        return dti_file_transcode_request(request->transcode)->reconcile
                   ? NULL
                   : dti_transcode_layout_name(
                         dti_file_transcode_request(request->transcode)->layout);
    default:
        return NULL;
    }
}

/* The bytes read of a dequantized tensor are those of its stored parts. */
static void sum_bytes(struct dti_rewrite_answer *answer)
{
    const struct dti_rewrite *const rewrite = answer->rewrite;
    const enum dti_rewrite_kind recipe = rewrite->request.recipe;
    answer->input.data_bytes = rewrite->input_bytes;
    answer->changed_bytes = rewrite->changed_input;
    if (recipe == DTI_RECIPE_TRANSCODE)
        answer->input.data_bytes = answer->transcode.stored_bytes;
    if (recipe != DTI_RECIPE_ENCODE && recipe != DTI_RECIPE_DEQUANTIZE)
        return;
    answer->input.data_bytes = answer->changed_bytes = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const uint64_t bytes = dti_rewrite_origin(rewrite, i).bytes;
        answer->input.data_bytes += bytes;
        answer->changed_bytes += rewrite->tensors[i].fate == DTI_FATE_CHANGED ? bytes : 0;
    }
}

/* Figures of all tensors or of one; loss: NULL if nothing was quantized. GGUF blocks have neither
 * numbers beyond the range of codes nor NaNs to count. */
static struct dti_quant_figures dti_quant_figures_of(const struct dti_rewrite_answer *answer,
                                                     const struct dti_quant_count *count,
                                                     const struct dti_loss_summary *loss)
{
    return (struct dti_quant_figures){
        .counted = loss && answer->rewrite->request.recipe != DTI_RECIPE_ENCODE,
        .in_blocks = loss && answer->target->scheme.block,
        .count = count,
        .loss = loss,
    };
}

void dti_rewrite_answer_fill(struct dti_rewrite_answer *answer)
{
    const struct dti_rewrite *const rewrite = answer->rewrite;
    const struct dti_rewrite_request *const request = &rewrite->request;
    const bool dequantizes = request->recipe == DTI_RECIPE_DEQUANTIZE;
    const bool translates = request->recipe == DTI_RECIPE_TRANSCODE;
    if (dequantizes)
        sum_dequantized(&answer->dequant, rewrite);
    if (translates)
        sum_translated(&answer->transcode, rewrite);
    answer->reconciled = translates && dti_file_transcode_request(request->transcode)->reconcile
                             ? dti_file_transcode_reconciled(request->transcode)
                             : NULL;
    answer->input.path = answer->path;
    answer->input.container = rewrite->container;
    sum_bytes(answer);
    answer->kind = answer->text ? "text" : dti_container_name(request->kind);
    answer->layout = layout_of(request);
    answer->config = dequantizes || translates ? dti_file_dequant_config(request->dequant) : NULL;
    answer->sized = !answer->text || !answer->dry_run;
    answer->data_bytes = answer->text ? answer->text_bytes : rewrite->output_bytes;
    answer->kept = rewrite->tensor_count - rewrite->changed_count;
    answer->fused = dti_rewrite_fused_count(rewrite);
    dti_rewrite_loss(rewrite, &answer->loss_sum);
    if (answer->losses && (!dequantizes || rewrite->changed_count > 0))
        answer->loss = &answer->loss_sum;
    answer->located = answer->loss && answer->loss->max_absolute > 0;
    if (answer->target)
        answer->figures = dti_quant_figures_of(answer, &rewrite->count, answer->loss);
    if (rewrite->quant_plan_count > 0)
        answer->kernels =
            dti_quant_plan_describe(rewrite->quant_plans[0], false, answer->kernel_room);
}

/* Sources of objects: a tensor by its index; a new file. */
struct tensor_at {
    const struct dti_rewrite_answer *answer;
    size_t at;
};
struct new_file {
    const char *path; /* NULL without an output */
    uint64_t bytes;
    bool known; /* its size is known */
};

/* Precomputed values for the rows on a tensor in rewritten.def. */
struct written {
    const struct dti_rewrite_answer *answer;
    const struct dti_rewrite_tensor *tensor;
    const struct dti_rewrite_part *part; /* the first one */
    size_t file;                         /* that holds it */
    uint64_t bytes;                      /* of all parts */
    const struct dti_tensor *source;
    struct dti_rewrite_origin from;
    const char *to;
    size_t fate;                         /* index into the words */
    bool ran;                            /* it was changed, and its losses are known */
    const struct dti_loss_summary *loss; /* or NULL */
    struct dti_dequantized stored;       /* of a dequantization */
    bool counted;                        /* its NaNs are counted */
    const struct dti_tensor *numbers;    /* of a translation: the tensor that it is a part of */
};
struct quant_tensor {
    struct written as;
    const struct tensor_at *of;
    const struct dti_quantized_tensor *outcome;
    const struct dti_fused_set *fused; /* or NULL */
    size_t fused_count;                /* how many other members it has */
    bool has_axis, ranged, scaled, shifted;
    uint32_t min, max, scale; /* in fp32 */
    struct dti_quant_figures figures;
};
struct quant_part {
    const char *part, *name;
    size_t name_length;
    const struct dti_rewrite_part *written;
    const char *dtype;
    unsigned rank;
    const uint64_t *shape;
    size_t file; /* that holds it */
};
struct translated_tensor {
    struct dti_translated as;
    bool lossy;
};
struct quant_type {
    const char *pattern;
    size_t length;
    const char *dtype;
};
struct transcode_options {
    const char *dtype;              /* or NULL */
    const char *mode;               /* or NULL */
    const struct dti_format *scale; /* or NULL */
    bool lossless, reconcile;
};

DTI_WORDS(config_words, "config.json", "hf_quant_config.json")
DTI_WORDS(part_words, DTI_PART_WORDS, [DTI_PART_COUNT] = "tensor")
/* The writable container kinds without these traits, then `after` or NULL. */
static const char *written_words(size_t index, unsigned without, const char *after)
{
    for (enum dti_container_kind kind = 0; dti_container_is_known(kind); kind++) {
        if (dti_container_is_written(kind) && !dti_container_has(kind, without) && index-- == 0)
            return dti_container_name(kind);
    }
    return index == 0 ? after : NULL;
}

static const char *kind_words(size_t index)
{
    return written_words(index, DTI_TRAIT_BARE, NULL);
}

static const char *cast_kind_words(size_t index)
{
    return written_words(index, 0, "text");
}

/* Indexed by enum dti_fate, except that DTI_FATE_BLOCKS and DTI_FATE_CONVENTION follow
 * DTI_FATE_PART. */
DTI_WORDS(cast_fate_words, [DTI_FATE_CHANGED] = "cast", [DTI_FATE_SAME] = "same_dtype",
          [DTI_FATE_KEEP] = "keep", [DTI_FATE_ONLY] = "not_only", [DTI_FATE_INTEGER] = "integer",
          [DTI_FATE_COMPLEX] = "complex", [DTI_FATE_PART] = "part", [DTI_FATE_PART + 1] = "blocks",
          [DTI_FATE_PART + 2] = "convention")
/* Indexed by enum dti_fate, without DTI_FATE_SAME. */
DTI_WORDS(quant_fate_words, "quantized", [DTI_FATE_KEEP - 1] = "keep",
          [DTI_FATE_ONLY - 1] = "not_only", [DTI_FATE_INTEGER - 1] = "integer",
          [DTI_FATE_COMPLEX - 1] = "complex", [DTI_FATE_NARROW - 1] = "narrow",
          [DTI_FATE_SCALAR - 1] = "scalar", [DTI_FATE_PART - 1] = "part",
          [DTI_FATE_BLOCKS - 1] = "blocks", [DTI_FATE_CONVENTION - 1] = "convention",
          [DTI_FATE_UNNAMED - 1] = "not_a_module", [DTI_FATE_UNNAMED] = "same_dtype")
/* After the first entry: indexed by enum dti_fate. */
DTI_WORDS(dequant_fate_words, "dequantized", [1 + DTI_FATE_CHANGED] = "cast",
          [1 + DTI_FATE_SAME] = "same_dtype", [1 + DTI_FATE_KEEP] = "keep",
          [1 + DTI_FATE_ONLY] = "not_only", [1 + DTI_FATE_INTEGER] = "integer",
          [1 + DTI_FATE_COMPLEX] = "complex", [2 + DTI_FATE_COMPLEX] = "convention")
DTI_WORDS(transcode_fate_words, [DTI_FATE_CHANGED] = "translated", [DTI_FATE_SAME] = "copied",
          [DTI_FATE_KEEP] = "keep", [DTI_FATE_ONLY] = "not_only")

static const char *quant_layout_words(size_t index)
{
    return index < DTI_LAYOUT_COUNT    ? dti_quant_layout_name((enum dti_quant_layout)index)
           : index == DTI_LAYOUT_COUNT ? "gguf"
                                       : NULL;
}

static const char *transcode_layout_words(size_t index)
{
    return index < DTI_TRANSCODE_COUNT ? dti_transcode_layout_name((enum dti_transcode_layout)index)
                                       : NULL;
}

static const char *transcode_mode_words(size_t index)
{
    static const char *const names[] = {
#define TRANSCODE_MODE(id, name, help) name,
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_MODE
    };
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static void fill_written(struct written *ret, const struct tensor_at *of)
{
    const struct dti_rewrite *const rewrite = of->answer->rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[of->at];
    memset(ret, 0, sizeof *ret);
    ret->answer = of->answer;
    ret->tensor = tensor;
    ret->part = &rewrite->parts[tensor->part];
    ret->file = dti_rewrite_file(rewrite, ret->part);
    ret->bytes = dti_rewrite_bytes(rewrite, of->at);
    ret->source = dti_rewrite_source(rewrite, of->at);
    ret->from = dti_rewrite_origin(rewrite, of->at);
    ret->to = dti_rewrite_dtype(rewrite, of->at);
    ret->ran = tensor->fate == DTI_FATE_CHANGED && of->answer->losses;
    ret->loss = ret->ran ? &dti_rewrite_outcome(rewrite, of->at)->loss : NULL;
}

static void fill_cast(struct written *ret, const struct tensor_at *of)
{
    fill_written(ret, of);
    const enum dti_fate fate = ret->tensor->fate;
    ret->fate = fate == DTI_FATE_BLOCKS       ? DTI_FATE_PART + 1
                : fate == DTI_FATE_CONVENTION ? DTI_FATE_PART + 2
                                              : (size_t)fate;
}

static void fill_dequantized(struct written *ret, const struct tensor_at *of)
{
    fill_written(ret, of);
    ret->stored = dti_dequantized(of->answer->rewrite, of->at);
    ret->fate = ret->stored.form                           ? 0
                : ret->tensor->fate == DTI_FATE_CONVENTION ? 2 + DTI_FATE_COMPLEX
                                                           : 1 + (size_t)ret->tensor->fate;
    ret->counted = ret->stored.form && of->answer->losses;
}

static void fill_part(struct written *ret, const struct tensor_at *of)
{
    fill_written(ret, of);
    ret->numbers = dti_translated_of(of->answer->rewrite, of->at).numbers;
    ret->fate = ret->tensor->fate > DTI_FATE_ONLY ? DTI_FATE_SAME : ret->tensor->fate;
}

static void fill_translated(struct translated_tensor *ret, const struct tensor_at *of)
{
    ret->as = dti_translated_of(of->answer->rewrite, of->at);
    ret->lossy = !ret->as.lossless;
}

static void fill_options(struct transcode_options *ret, const struct dti_rewrite_answer *answer)
{
    const struct dti_file_transcode_request *const request =
        dti_file_transcode_request(answer->rewrite->request.transcode);
    ret->dtype = request->nvfp4 ? "nvfp4" : NULL;
    ret->mode = request->moded ? dti_transcode_mode_name(request->mode) : NULL;
    ret->scale = request->narrow ? dti_format_get(request->scale) : NULL;
    ret->lossless = request->lossless;
    ret->reconcile = request->reconcile;
}

static uint32_t code_of(float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return code;
}

static void fill_quantized(struct quant_tensor *ret, const struct tensor_at *of)
{
    const struct dti_rewrite *const rewrite = of->answer->rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[of->at];
    const struct dti_quantized_tensor *const outcome =
        &dti_rewrite_outcome(rewrite, of->at)->quantized;
    fill_written(&ret->as, of);
    ret->as.fate = tensor->fate == DTI_FATE_SAME  ? DTI_FATE_UNNAMED
                   : tensor->fate > DTI_FATE_SAME ? tensor->fate - 1
                                                  : 0;
    ret->as.to = dti_rewrite_dtype(rewrite, of->at);
    ret->of = of;
    ret->outcome = outcome;
    ret->has_axis = tensor->way->by && tensor->way->by->recipe->scheme.per != DTI_PER_TENSOR &&
                    !dti_quant_is_flat(tensor->way->by->row);
    ret->ranged = ret->as.ran && !tensor->way->type && outcome->min <= outcome->max;
    ret->scaled = ret->as.ran && outcome->scale > 0;
    ret->shifted = ret->scaled && tensor->way->by && tensor->way->by->zero_points;
    ret->min = code_of(outcome->min);
    ret->max = code_of(outcome->max);
    ret->scale = code_of(outcome->scale);
    ret->fused = dti_rewrite_fused(rewrite, of->at);
    ret->fused_count = ret->fused ? ret->fused->count - 1 : 0;
    ret->figures = dti_quant_figures_of(of->answer, &outcome->count, ret->as.loss);
}

/* The member of a set at an index, not counting the tensor itself. */
static const struct dti_tensor *fused_tensor(const struct quant_tensor *of, size_t at)
{
    const struct dti_rewrite *const rewrite = of->as.answer->rewrite;
    const size_t own = of->as.tensor->source; /* index in the whole container */
    size_t i = 0;
    while (of->fused->members[i].tensor == own || at-- > 0)
        i++;
    return &rewrite->fused->container->tensors[of->fused->members[i].tensor];
}

/* The path of the plan that names tensors, or NULL. */
static const char *plan_of(const struct dti_rewrite_answer *answer)
{
    const struct dti_rewrite_request *const request = &answer->rewrite->request;
    const struct dti_named_types *const named =
        request->quantize_named ? request->quantize_named : request->encode.named;
    return named ? named->source : NULL;
}

static size_t quant_type_count(const struct dti_rewrite_answer *answer)
{
    const struct dti_rewrite_request *const request = &answer->rewrite->request;
    return plan_of(answer) ? 0 : request->quantize_rule_count + request->encode.count;
}

/* A recipe has rules of one kind. */
static struct quant_type quant_type_at(const struct dti_rewrite_answer *answer, size_t at)
{
    const struct dti_rewrite_request *const request = &answer->rewrite->request;
    if (request->encode.count > 0)
        return (struct quant_type){request->encode.rules[at].pattern,
                                   request->encode.rules[at].length,
                                   request->encode.rules[at].type->word};
    return (struct quant_type){request->quantize_rules[at].pattern,
                               request->quantize_rules[at].length,
                               request->quantize_rules[at].recipe.dtype};
}

static void put_kernels(struct dti_json *json, const struct dti_rewrite *rewrite)
{
    char kernels[DTI_PLAN_TEXT_SIZE];
    for (size_t i = 0; i < rewrite->plan_count; i++)
        dti_json_string(json, NULL, dti_plan_describe_device(rewrite->plans[i], kernels));
}

static void put_parts(struct dti_json *json, const struct tensor_at *of);
static void put_translated(struct dti_json *json, const struct dti_rewrite_answer *answer);

#define DTI_ROWS "answers/rewrite/rewritten.def"
#include "answers/rows.h"

static void put_translated(struct dti_json *json, const struct dti_rewrite_answer *answer)
{
    dti_json_stream(json, answer->stream);
    for (size_t i = 0; i < answer->rewrite->tensor_count; i++) {
        const struct dti_translated one = dti_translated_of(answer->rewrite, i);
        if (one.first && one.verdict->changed)
            dti_put_transcode_tensor(json, NULL, &(struct tensor_at){answer, i});
    }
}

static void put_part(struct dti_json *json, const struct tensor_at *of, size_t part,
                     const struct dti_quant_part_shape *shape)
{
    const struct dti_rewrite *const rewrite = of->answer->rewrite;
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, of->at);
    struct dti_buffer name;
    char room[256]; /* enough for most names */
    dti_buffer_borrow(&name, room, sizeof room);
    const char *suffix;
    const size_t stem =
        dti_quant_part_stem(rewrite->tensors[of->at].way->by->row, (enum dti_quant_part)part,
                            source->name_length, &suffix);
    dti_buffer_append(&name, source->name, stem);
    dti_buffer_puts(&name, suffix);
    if (name.failed)
        dti_json_out_of_memory(json);
    const struct dti_rewrite_part *const written =
        dti_rewrite_part(rewrite, of->at, (enum dti_quant_part)part);
    dti_put_quant_part(json, NULL,
                       &(struct quant_part){
                           .part = part_words(part),
                           .name = name.data,
                           .name_length = name.length,
                           .written = written,
                           .file = dti_rewrite_file(rewrite, written),
                           .dtype = dti_format_get(shape->dtype)->name,
                           .rank = shape->rank,
                           .shape = shape->shape,
                       });
    dti_buffer_free(&name);
}

/* GGUF: the scale of a whole tensor, if it has one. */
static void put_gguf_scale(struct dti_json *json, const struct dti_rewrite *rewrite, size_t at)
{
    static const uint64_t shape[] = {1};
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    struct dti_buffer name;
    char room[256]; /* enough for most names */
    if ((tensor->parts >> DTI_PART_TENSOR_SCALE & 1) == 0)
        return;
    dti_buffer_borrow(&name, room, sizeof room);
    dti_buffer_append(&name, source->name, dti_gguf_scale_stem(source));
    dti_buffer_puts(&name, DTI_GGUF_SCALE);
    if (name.failed)
        dti_json_out_of_memory(json);
    const struct dti_rewrite_part *const scale =
        dti_rewrite_part(rewrite, at, DTI_PART_TENSOR_SCALE);
    dti_put_quant_part(json, NULL,
                       &(struct quant_part){part_words(DTI_PART_TENSOR_SCALE), name.data,
                                            name.length, scale, dti_format_get(DTI_FP32)->name, 1,
                                            shape, dti_rewrite_file(rewrite, scale)});
    dti_buffer_free(&name);
}

/* A tensor that is kept is its own only part; blocks of GGUF may have a scale besides. */
static void put_parts(struct dti_json *json, const struct tensor_at *of)
{
    const struct dti_rewrite *const rewrite = of->answer->rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[of->at];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, of->at);
    const struct dti_rewrite_part *const only = &rewrite->parts[tensor->part];
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    struct dti_error error;
    if (tensor->way->format) {
        dti_put_quant_part(json, NULL,
                           &(struct quant_part){part_words(DTI_PART_COUNT), source->name,
                                                source->name_length, only,
                                                tensor->way->format->name, source->rank,
                                                source->shape, dti_rewrite_file(rewrite, only)});
        put_gguf_scale(json, rewrite, of->at);
        return;
    }
    dti_rewrite_stored(rewrite, of->at, &stored);
    if (dti_quant_parts(&stored, parts, &error) != DTI_OK)
        return; /* ruled out by the plan */
    for (size_t i = 0; i < DTI_PART_COUNT; i++) {
        if (parts[i].there)
            put_part(json, of, i, &parts[i]);
    }
}
