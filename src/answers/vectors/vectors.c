/* SPDX-License-Identifier: MIT
 *
 * Pairs of test vectors: how they are read, which belong to the published set, and who writes them.
 */
#include "answers/vectors/vectors.h"

#include <string.h>

#include "answers/vectors/vectors_lines.h"
#include "util/text/nearest.h"

static const char *const operation_names[] = {
#define ROW(id, name, operands) [DTI_VECTORS_##id] = (name),
    DTI_VECTORS_OPERATIONS(ROW)
#undef ROW
};

static const char *const kind_names[] = {[DTI_VECTORS_CAST] = "cast",
                                         [DTI_VECTORS_STOCHASTIC] = "stochastic",
                                         [DTI_VECTORS_DECODE] = "decode",
                                         [DTI_VECTORS_BLOCK] = "block",
                                         [DTI_VECTORS_ARITH] = "arith"};

const char *dti_vectors_kind_name(enum dti_vectors_kind kind)
{
    return kind_names[kind];
}

const char *dti_vectors_operation_name(enum dti_vectors_operation operation)
{
    return operation_names[operation];
}

/* 16 bits and less: what the set has, and what is decoded. */
enum { DECODED = 16 };

static bool find_operation(const char *name, enum dti_vectors_operation *ret)
{
    for (unsigned i = 0; i < DTI_VECTORS_OPERATION_COUNT; i++) {
        if (strcmp(name, operation_names[i]) == 0) {
            *ret = (enum dti_vectors_operation)i;
            return true;
        }
    }
    return false;
}

static enum dti_status lookup(struct dti_vectors *what, const char *name, struct dti_format *ret,
                              struct dti_error *reterr)
{
    const char *note;
    const enum dti_status status = dti_format_lookup(name, ret, &note, reterr);
    if (status != DTI_OK)
        return status;
    what->note = note ? note : what->note;
    if (ret->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "%s has two numbers, and test vectors have one; use %s", ret->name,
                        dti_real_format(ret)->name);
    return DTI_OK;
}

/* "fp32:mxfp4": blocks are made of fp32. */
static enum dti_status read_block(struct dti_vectors *ret, const char *source,
                                  struct dti_error *reterr)
{
    ret->kind = DTI_VECTORS_BLOCK;
    if (ret->from_text || ret->source.id != DTI_FP32)
        return dti_fail_word(reterr, DTI_USAGE, source, strlen(source),
                             "blocks are made of fp32; use fp32:%s", ret->block->name);
    return DTI_OK;
}

static enum dti_status read_kind(struct dti_vectors *ret, const char *source, const char *target,
                                 struct dti_error *reterr)
{
    enum dti_status status;
    ret->from_text = strcmp(source, "text") == 0;
    ret->kind = DTI_VECTORS_CAST;
    if (find_operation(source, &ret->operation)) {
        ret->kind = DTI_VECTORS_ARITH;
        status = lookup(ret, target, &ret->target, reterr);
        if (status == DTI_OK && !dti_format_is_float(&ret->target))
            return dti_fail(reterr, DTI_WRONG_KIND, "%s is not a float dtype", ret->target.name);
        return status;
    }
    if (!ret->from_text) {
        status = lookup(ret, source, &ret->source, reterr);
        if (status != DTI_OK)
            return status;
    }
    if (strcmp(target, "text") == 0 && !ret->from_text) {
        ret->kind = DTI_VECTORS_DECODE;
        ret->target = ret->source;
        if (ret->target.width > DECODED)
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "%s has too many codes to list; dtypes of 16 bits and less are decoded",
                            ret->target.name);
        return DTI_OK;
    }
    ret->block = dti_block_lookup(target);
    return ret->block ? read_block(ret, source, reterr) : lookup(ret, target, &ret->target, reterr);
}

enum dti_status dti_vectors_read(struct dti_vectors *ret, const char *pair,
                                 struct dti_error *reterr)
{
    enum { MOST = 2 * DTI_NAME_SIZE };
    char source[MOST];
    const char *const colon = strchr(pair, ':');
    const size_t length = colon ? (size_t)(colon - pair) : 0;
    ret->note = NULL;
    if (!colon || length == 0 || length >= MOST || colon[1] == '\0' || strchr(colon + 1, ':'))
        return dti_fail_word(reterr, DTI_USAGE, pair, strlen(pair),
                             "%s is not a pair; give SOURCE:TARGET, as fp32:fp8_e4m3fn",
                             DTI_QUOTED(pair, strlen(pair)));
    memcpy(source, pair, length);
    source[length] = '\0';
    return read_kind(ret, source, colon + 1, reterr);
}

static void put_title(struct dti_vectors_out *out)
{
    const struct dti_vectors *const what = out->what;
    const char *first = "";
    if (what->kind == DTI_VECTORS_ARITH)
        first = operation_names[what->operation];
    else if (what->kind != DTI_VECTORS_DECODE)
        first = what->from_text ? "text" : what->source.name;
    dti_buffer_print(&out->text, "# dtinfo vectors %d\n# %s%s%s %s", DTI_VECTORS_VERSION,
                     kind_names[what->kind], first[0] ? " " : "", first,
                     what->kind == DTI_VECTORS_BLOCK ? what->block->name : what->target.name);
    dti_vectors_end_line(out);
}

/* Passes on the rest, and frees it. */
static enum dti_status finish(struct dti_vectors_out *out, bool ok, struct dti_error *reterr)
{
    const bool failed = out->text.failed || !ok;
    if (!failed && !out->lost)
        out->lost = out->sink->write(out->sink->context, out->text.data, out->text.length) != 0;
    dti_buffer_free(&out->text);
    if (failed)
        return dti_no_memory(reterr);
    return out->lost ? dti_fail(reterr, DTI_WRITE_FAILED, "%s", "") : DTI_OK;
}

enum dti_status dti_vectors_write(const struct dti_vectors *what, const struct dti_sink *sink,
                                  struct dti_error *reterr)
{
    static bool (*const writers[])(struct dti_vectors_out *) = {
        [DTI_VECTORS_CAST] = dti_vectors_cast,
        [DTI_VECTORS_STOCHASTIC] = dti_vectors_stochastic,
        [DTI_VECTORS_DECODE] = dti_vectors_decode,
        [DTI_VECTORS_BLOCK] = dti_vectors_block,
        [DTI_VECTORS_ARITH] = dti_vectors_arith,
    };
    struct dti_vectors_out out = {.what = what, .sink = sink};
    dti_buffer_init(&out.text);
    put_title(&out);
    return finish(&out, writers[what->kind](&out), reterr);
}

/* Formats whose arithmetic is in the set: those with hardware, and the narrowest. */
static bool has_arithmetic(enum dti_dtype id)
{
    static const enum dti_dtype with[] = {DTI_FP16,        DTI_BF16,        DTI_FP8_E5M2,
                                          DTI_FP8_E4M3FN,  DTI_FP6_E3M2,    DTI_FP6_E2M3,
                                          DTI_FP4_E2M1,    DTI_BINARY8P3SE, DTI_BINARY8P4SE,
                                          DTI_BINARY4P2SE, DTI_BINARY4P2SF};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        if (with[i] == id)
            return true;
    }
    return false;
}

static void each_of(const struct dti_format *f, dti_vectors_each_fn *each, void *context)
{
    static const char *const sources[] = {"fp64", "fp32", "fp16", "bf16", "int64", "text"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (strcmp(sources[i], f->name) != 0)
            each(context, DTI_VECTORS_CAST, sources[i], f->name);
    }
    each(context, DTI_VECTORS_DECODE, f->name, "text");
    for (size_t i = 0; i < 2 && dti_format_is_float(f); i++) {
        if (f->specials != DTI_SPECIALS_POSIT)
            each(context, DTI_VECTORS_STOCHASTIC, sources[i], f->name);
    }
    for (unsigned i = 0; i < DTI_VECTORS_OPERATION_COUNT && has_arithmetic(f->id); i++)
        each(context, DTI_VECTORS_ARITH, operation_names[i], f->name);
}

void dti_vectors_each(dti_vectors_each_fn *each, void *context)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *const f = dti_format_get((enum dti_dtype)id);
        if (f->kind != DTI_KIND_COMPLEX && f->width <= DECODED)
            each_of(f, each, context);
    }
    for (size_t i = 0; i < dti_block_format_count; i++)
        each(context, DTI_VECTORS_BLOCK, "fp32", dti_block_formats[i].name);
}
