/* SPDX-License-Identifier: MIT
 *
 * The contents of files as JSON. Tensors are written as they are built, so memory does not grow
 * with their number. */
#include "answers/inspect/inspect.h"

#include <string.h>

#include "answers/common.h"
#include "answers/part_words.h"
#include "answers/rows.h"
#include "answers/tensors.h"

DTI_WORDS(sort_words, "file", "name", "size", "elements", "dtype", "offset")
DTI_WORDS(order_words, "row-major", "fortran", "strided")
DTI_WORDS(endian_words, "little", "big")
DTI_WORDS(packing_words, "low", "high", "bytes")
DTI_WORDS(part_words, DTI_PART_WORDS)
DTI_WORDS(metadata_words, "string", "token", "array")

/* Sources of objects: a file; a tensor by its index among those shown; its statistics, or those of
 * all without one; a cast of it. */
struct file_of {
    const struct dti_inspect_request *request;
    const struct dti_inspect_file *file;
    const struct dti_sink *out;
};
struct tensor_of {
    const struct dti_inspect_report *report;
    size_t at;
};
struct figures_of {
    const struct dti_inspect_figures *figures;
    const struct dti_tensor *tensor;
};
struct cast_of {
    const struct tensor_of *tensor;
    size_t at;
};

/* Precomputed values for the rows in inspect.def. */
struct extreme {
    const struct dti_tensor *tensor; /* without a name if there is none */
    const struct dti_format *format; /* format of the code */
    uint64_t code;
    struct dti_place place;
};
struct inspected_stats {
    const struct dti_inspect_figures *figures;
    bool some; /* there are finite numbers */
    struct extreme min, max, absmax;
    struct dti_place first_nan, first_inf; /* first positions in the tensor */
};
struct binade {
    int64_t exponent;
    uint64_t count;
};
struct inspected_cast {
    const char *to;
    const struct dti_loss_summary *loss;
    uint64_t nonzero;
    double to_zero_share, clipped_share;
};
struct stored_part {
    const struct dti_tensor *tensor;
    size_t part; /* index into the words */
};
struct inspected_tensor {
    struct tensor_of of;
    const struct dti_tensor *tensor;
    const char *dtype, *block, *refusal; /* or NULL */
    size_t order;                        /* index into the words */
    bool ordered, big, packed, cast; /* ordered: there is a byte order; big: highest byte first */
    size_t as_count;
    const struct figures_of *stats; /* NULL unless requested, and histogram */
    const struct dti_inspect_figures *histogram;
    const struct dti_code_limits *limits; /* NULL unless requested */
    struct figures_of figures;
    char words[DTI_REMEDY_WORDS];
};
struct inspected_shard {
    struct dti_inspect_shard of;
    const char *digest; /* NULL if not requested */
    char room[DTI_DIGEST_TEXT];
};
struct inspected_file {
    struct file_of of;
    bool read, there; /* there: the document covers more than one tensor of it */
    const struct dti_inspect_report *report; /* NULL unless there, with the others */
    const struct dti_container *container;
    const struct dti_inspect_totals *totals;
    const char *version, *index_digest, *argument; /* or NULL */
    size_t stored_count;
    const struct figures_of *stats;
    const struct dti_inspect_figures *histogram;
    const struct inspected_file *failed; /* the file itself if it failed, or NULL */
    struct figures_of figures;
    char room[DTI_DIGEST_TEXT];
};

static struct extreme extreme_of(bool there, const struct dti_inspect_extreme *of, bool magnitude)
{
    static const struct dti_tensor nowhere;
    if (!there)
        return (struct extreme){.tensor = &nowhere};
    return (struct extreme){of->tensor, dti_inspect_extreme_format(of->tensor, magnitude), of->code,
                            dti_place_of(of->tensor, of->index)};
}

static void fill_stats(struct inspected_stats *ret, const struct figures_of *of)
{
    const struct dti_inspect_figures *const figures = of->figures;
    const bool some = figures->finite > 0;
    *ret = (struct inspected_stats){
        .figures = figures,
        .some = some,
        .min = extreme_of(some, &figures->min, false),
        .max = extreme_of(some, &figures->max, false),
        .absmax = extreme_of(some, &figures->absmax, true),
    };
    if (of->tensor) {
        ret->first_nan = dti_place_of(of->tensor, figures->first_nan);
        ret->first_inf = dti_place_of(of->tensor, figures->first_inf);
    }
}

static void put_fits(struct dti_json *json, const struct dti_inspect_figures *figures)
{
    for (unsigned i = 0; i < DTI_INSPECT_LADDER; i++) {
        if (figures->fits >> i & 1)
            dti_json_string(json, NULL, dti_format_get(dti_inspect_ladder[i])->name);
    }
}

static void fill_cast(struct inspected_cast *ret, const struct cast_of *of)
{
    const struct dti_inspect_report *const report = of->tensor->report;
    const struct dti_reading *const reading = &report->request->reading;
    const struct dti_inspect_figures *const figures = &report->figures[of->tensor->at];
    const struct dti_loss_summary *const loss =
        &report->losses[of->tensor->at * reading->as_count + of->at];
    ret->to = reading->as[of->at].name;
    ret->loss = loss;
    ret->nonzero = figures->elements - figures->zeros;
    ret->to_zero_share = (double)loss->to_zero / (double)ret->nonzero;
    ret->clipped_share = (double)loss->overflowed / (double)loss->elements;
}

static void fill_tensor(struct inspected_tensor *ret, const struct tensor_of *of)
{
    const struct dti_inspect_report *const report = of->report;
    const struct dti_inspect_request *const request = report->request;
    const struct dti_tensor *const tensor = report->shown[of->at];
    const bool read = report->figures && report->figures[of->at].there;
    *ret = (struct inspected_tensor){.of = *of, .tensor = tensor};
    ret->dtype = tensor->format && !dti_tensor_form(tensor) ? tensor->format->name : NULL;
    ret->block = dti_tensor_block(tensor)  ? dti_tensor_block(tensor)->name
                 : dti_tensor_gguf(tensor) ? dti_tensor_gguf(tensor)->word
                                           : NULL;
    ret->order = tensor->strided ? 2 : tensor->fortran;
    ret->ordered = dti_inspect_has_byte_order(tensor, &ret->big);
    ret->packed = tensor->format && dti_format_packs(dti_real_format(tensor->format));
    ret->refusal = request->words(ret->words, tensor->remedy, dti_tensor_refusal(tensor));
    ret->as_count = request->reading.as_count;
    ret->cast = read && ret->as_count > 0;
    ret->limits = report->limits ? report->limits[of->at] : NULL;
    if (read) {
        ret->figures = (struct figures_of){&report->figures[of->at], tensor};
        ret->stats = request->stats ? &ret->figures : NULL;
        ret->histogram = request->each ? ret->figures.figures : NULL;
    }
}

/* The digest of a file; NULL if not requested. */
static const char *digest_of(char buffer[DTI_DIGEST_TEXT], const struct dti_inspect_report *report,
                             size_t file)
{
    const bool there = report->digests && file < dti_digest_count(report->container);
    return there ? dti_digest_spell(buffer, &report->digests[file]) : NULL;
}

static void fill_file(struct inspected_file *ret, const struct file_of *of)
{
    const struct dti_inspect_report *const report = of->file->report;
    const struct dti_error *const error = of->file->error;
    *ret = (struct inspected_file){
        .of = *of, .read = report != NULL, .there = report && !of->file->part};
    if (error) {
        ret->failed = ret;
        ret->argument = error->argument[0] != '\0' ? error->argument : NULL;
    }
    if (!ret->there)
        return;
    ret->report = report;
    ret->container = report->container;
    ret->totals = &report->totals;
    ret->version = report->container->version;
    ret->stored_count = dti_logical_stored_count(report->container);
    ret->index_digest = digest_of(ret->room, report, report->container->file_count);
    if (report->all.there) {
        ret->figures = (struct figures_of){&report->all, NULL};
        ret->stats = of->request->stats ? &ret->figures : NULL;
        ret->histogram = of->request->histogram ? &report->all : NULL;
    }
}

bool dti_inspect_note(struct dti_inspect_note *ret, const struct dti_inspect_report *report,
                      size_t at)
{
    const struct dti_container *const container = report->container;
    if (at >= container->note_count + (report->scaled.count > 0 ? 1 : 0))
        return false;
    const struct dti_note note = at < container->note_count
                                     ? container->notes[at]
                                     : dti_scaled_codes_note(&report->scaled, ret->text);
    ret->code = note.code;
    ret->message = report->request->words(ret->words, note.remedy, note.text);
    return true;
}

static void put_binades(struct dti_json *json, const struct dti_inspect_histogram *histogram);
static void put_parts(struct dti_json *json, const struct dti_dequant_form *form);
static void put_shards(struct dti_json *json, const struct dti_inspect_report *report);
static void put_notes(struct dti_json *json, const struct dti_inspect_report *report);
static void put_files(struct dti_json *json, const struct dti_inspect_answer *answer);

#define DTI_ROWS "answers/inspect/inspect.def"
#include "answers/rows.h"

static void put_binades(struct dti_json *json, const struct dti_inspect_histogram *histogram)
{
    for (unsigned i = 0; i < histogram->count; i++) {
        const struct binade binade = {(int64_t)histogram->first + i - DTI_BINADE_ZERO,
                                      histogram->binade[i]};
        if (binade.count > 0)
            dti_put_histogram_binade(json, NULL, &binade);
    }
}

static void put_parts(struct dti_json *json, const struct dti_dequant_form *form)
{
    for (size_t i = 0; form && i < DTI_PART_COUNT; i++) {
        if (dti_form_part(form, i))
            dti_put_stored_part(json, NULL, &(struct stored_part){dti_form_part(form, i), i});
    }
}

static void put_shards(struct dti_json *json, const struct dti_inspect_report *report)
{
    struct inspected_shard shard = {.digest = NULL};
    while (shard.of.number < report->container->file_count) {
        shard.digest = digest_of(shard.room, report, shard.of.number);
        (void)dti_inspect_next_shard(report->container, &shard.of);
        dti_put_inspect_shard(json, NULL, &shard);
    }
}

static void put_notes(struct dti_json *json, const struct dti_inspect_report *report)
{
    struct dti_inspect_note note;
    for (size_t i = 0; dti_inspect_note(&note, report, i); i++)
        dti_put_inspect_note(json, NULL, &note);
}

static void put_files(struct dti_json *json, const struct dti_inspect_answer *answer)
{
    for (const struct dti_inspect_file *file; (file = answer->next(answer->context)) != NULL;)
        dti_put_inspected_file(json, NULL, &(struct file_of){answer->request, file, answer->out});
}
