/* SPDX-License-Identifier: MIT
 *
 * What `check` is asked: the options as a list of assertions. */
#include <stdlib.h>
#include <string.h>

#include "cli/check/check_job.h"
#include "cli/shared/dtype_operands.h"
#include "cli/shell/remedy_words.h"
#include "dtinfo/ascii.h"
#include "dtinfo/glob.h"
#include "dtinfo/number.h"

static enum dti_status add(struct check_job *job, enum dti_check_kind kind, const char *argument,
                           struct dti_check_assertion **ret, struct dti_error *reterr)
{
    struct dti_check_request *const request = &job->request;
    if (request->assertion_count == DTI_CHECK_ASSERTIONS)
        return dti_fail(reterr, DTI_USAGE, "more than %d assertions; use two commands",
                        (int)DTI_CHECK_ASSERTIONS);
    *ret = &request->assertions[request->assertion_count++];
    memset(*ret, 0, sizeof **ret);
    (*ret)->kind = kind;
    (*ret)->argument = argument;
    return DTI_OK;
}

static enum dti_status bad_argument(const char *text, const char *piece, size_t length,
                                    struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE, "%s; %s is not", text, dti_quote(quoted, piece, length));
    dti_error_argument(reterr, piece, length);
    return DTI_USAGE;
}

/* A dtype's name that is part of a longer text. */
static enum dti_status look_up(struct check_job *job, const char *text, size_t length,
                               struct dti_format *ret, struct dti_error *reterr)
{
    char name[64];
    struct dti_dtype_operand operand;
    if (length >= sizeof name)
        return bad_argument("takes names of dtypes", text, length, reterr);
    memcpy(name, text, length);
    name[length] = '\0';
    const enum dti_status status = dti_dtype_operand_read(name, NULL, job->cx, &operand, reterr);
    if (status != DTI_OK)
        return status;
    *ret = operand.format;
    if (operand.note && job->note_count < DTI_CHECK_ASSERTIONS + job->source.note_count)
        job->notes[job->note_count++] = operand.note;
    return DTI_OK;
}

static enum dti_status add_fits(struct check_job *job, struct dti_error *reterr)
{
    struct dti_check_assertion *assertion = NULL;
    for (const char *name = job->args->fits; name; name = strchr(name, ',')) {
        name += *name == ',';
        struct dti_format format;
        enum dti_status status = look_up(job, name, strcspn(name, ","), &format, reterr);
        if (status == DTI_OK)
            status = add(job, DTI_CHECK_FITS, NULL, &assertion, reterr);
        if (status != DTI_OK)
            return status;
        assertion->format = *dti_real_format(&format);
        assertion->argument = assertion->format.name;
    }
    return DTI_OK;
}

static enum dti_status add_max_abs(struct check_job *job, struct dti_error *reterr)
{
    const char *const text = job->args->max_abs;
    struct dti_check_assertion *assertion = NULL;
    struct dti_value limit;
    if (!text)
        return DTI_OK;
    enum dti_status status = dti_value_parse(&limit, text, strlen(text), reterr);
    if (status == DTI_NO_MEMORY)
        return status;
    if (status != DTI_OK || limit.class == DTI_CLASS_NAN ||
        (limit.negative && limit.class != DTI_CLASS_ZERO))
        return bad_argument("--max-abs takes a number that is not negative", text, strlen(text),
                            reterr);
    status = add(job, DTI_CHECK_MAX_ABS, text, &assertion, reterr);
    if (status == DTI_OK)
        assertion->limit = limit;
    return status;
}

/* Room for as many items as there can be. */
static bool make_items(struct dti_check_assertion *assertion, const char *text, char separator)
{
    size_t count = 1;
    for (const char *at = strchr(text, separator); at; at = strchr(at + 1, separator))
        count++;
    assertion->items = calloc(count, sizeof *assertion->items);
    return assertion->items != NULL;
}

/* "bf16", "fp32:*norm*", "q8_0" */
static enum dti_status read_dtype_item(struct check_job *job, const char *text, size_t length,
                                       struct dti_check_item *item, struct dti_error *reterr)
{
    const char *const colon = memchr(text, ':', length);
    const size_t name_length = colon ? (size_t)(colon - text) : length;
    char name[64] = "";
    if (colon) {
        item->glob = colon + 1;
        item->glob_length = length - name_length - 1;
    }
    if (name_length < sizeof name)
        memcpy(name, text, name_length);
    item->block = dti_block_lookup(name);
    return item->block ? DTI_OK : look_up(job, text, name_length, &item->format, reterr);
}

static enum dti_status add_dtype(struct check_job *job, struct dti_error *reterr)
{
    const char *text = job->args->dtype;
    struct dti_check_assertion *assertion = NULL;
    if (!text)
        return DTI_OK;
    enum dti_status status = add(job, DTI_CHECK_DTYPE, text, &assertion, reterr);
    if (status != DTI_OK)
        return status;
    if (!make_items(assertion, text, ','))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (;;) {
        const size_t length = dti_glob_list_item(text); /* a comma in a pattern is "\," */
        status =
            read_dtype_item(job, text, length, &assertion->items[assertion->item_count++], reterr);
        if (status != DTI_OK || text[length] == '\0')
            return status;
        text += length + 1;
    }
}

/* "GLOB:2,3" or "2,3": what stands behind the last colon is the shape. */
static enum dti_status read_shape_item(const char *text, size_t length, struct dti_check_item *item,
                                       struct dti_error *reterr)
{
    size_t at = length;
    while (at > 0 && text[at - 1] != ':')
        at--;
    item->shape = text + at;
    item->shape_length = length - at;
    if (at > 0) {
        item->glob = text;
        item->glob_length = at - 1;
    }
    if (dti_check_shape_is_pattern(item->shape, item->shape_length))
        return DTI_OK;
    return bad_argument("--shape takes GLOB:N,... with '*' for any N, as in '*norm*:4096'", text,
                        length, reterr);
}

static enum dti_status add_shape(struct check_job *job, struct dti_error *reterr)
{
    const char *text = job->args->shape;
    struct dti_check_assertion *assertion = NULL;
    if (!text)
        return DTI_OK;
    enum dti_status status = add(job, DTI_CHECK_SHAPE, text, &assertion, reterr);
    if (status != DTI_OK)
        return status;
    if (!make_items(assertion, text, ';'))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (;;) {
        const size_t length = strcspn(text, ";");
        status = read_shape_item(text, length, &assertion->items[assertion->item_count++], reterr);
        if (status != DTI_OK || text[length] == '\0')
            return status;
        text += length + 1;
    }
}

static enum dti_status bad_digest(const char *text, const char *problem, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE, "--digest takes sha256:HEX or a list of sha256sum; %s %s",
                   dti_quote(quoted, text, strlen(text)), problem);
    dti_error_argument(reterr, text, strlen(text));
    return DTI_USAGE;
}

/* Bytes of "sha512:" in front of hexadecimal digits alone; 0: it is the name of a list. */
static size_t algorithm(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t length = strspn(text, letters);
    if (length == 0 || text[length] != ':')
        return 0;
    const char *const rest = text + length + 1;
    return rest[strspn(rest, "0123456789abcdefABCDEF")] == '\0' ? length + 1 : 0;
}

static enum dti_status read_digest(struct check_job *job, struct dti_error *reterr)
{
    const char *const text = job->args->digest;
    const size_t name = algorithm(text), length = strlen(text + name);
    const bool sha256 = name == DTI_DIGEST_NAME && dti_ascii_equal_start(text, "sha256", 6);
    if (name > 0 && !sha256)
        return bad_digest(text, "is of another algorithm", reterr);
    if (name == 0 && dti_digest_parse(text, length, &job->request.digest))
        return bad_digest(text, "lacks sha256: in front", reterr);
    if (name == 0)
        return dti_digest_list_read(&job->request.list, text, reterr);
    if (length == DTI_DIGEST_DIGITS && dti_digest_parse(text + name, length, &job->request.digest))
        return DTI_OK;
    char problem[48];
    (void)snprintf(problem, sizeof problem, "has %zu digits, not %d", length,
                   (int)DTI_DIGEST_DIGITS);
    return bad_digest(text, problem, reterr);
}

static enum dti_status add_digest(struct check_job *job, struct dti_error *reterr)
{
    struct dti_check_assertion *assertion = NULL;
    if (!job->args->digest)
        return DTI_OK;
    const enum dti_status status =
        add(job, DTI_CHECK_DIGEST, job->args->digest, &assertion, reterr);
    return status == DTI_OK ? read_digest(job, reterr) : status;
}

static enum dti_status add_flag(struct check_job *job, bool given, enum dti_check_kind kind,
                                struct dti_error *reterr)
{
    struct dti_check_assertion *assertion = NULL;
    return given ? add(job, kind, NULL, &assertion, reterr) : DTI_OK;
}

enum dti_status dti_check_init(struct check_job *ret, const struct check_args *args,
                               struct dti_context *cx, struct dti_error *reterr)
{
    const bool others = args->no_nan || args->no_inf || args->fits || args->dtype ||
                        args->max_abs || args->shape || args->digest;
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->cx = cx;
    if (args->ints && !args->fits)
        return dti_fail(reterr, DTI_USAGE, "--ints is for --fits; give that, or leave it out");
    ret->request.container = &ret->source.options;
    ret->request.words = dti_remedy_words;
    ret->request.only = args->only;
    ret->request.ints = args->ints;
    enum dti_status status =
        dti_file_reading_init(&ret->request.reading, &ret->bar, &args->file, cx, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, cx, reterr);
    for (size_t i = 0; i < ret->source.note_count; i++)
        ret->notes[ret->note_count++] = ret->source.notes[i];
    if (status == DTI_OK)
        status = add_flag(ret, args->valid || !others, DTI_CHECK_VALID, reterr);
    if (status == DTI_OK)
        status = add_digest(ret, reterr);
    if (status == DTI_OK)
        status = add_dtype(ret, reterr);
    if (status == DTI_OK)
        status = add_shape(ret, reterr);
    if (status == DTI_OK)
        status = add_flag(ret, args->no_nan, DTI_CHECK_NO_NAN, reterr);
    if (status == DTI_OK)
        status = add_flag(ret, args->no_inf, DTI_CHECK_NO_INF, reterr);
    if (status == DTI_OK)
        status = add_max_abs(ret, reterr);
    return status == DTI_OK ? add_fits(ret, reterr) : status;
}

void dti_check_free(struct check_job *job)
{
    for (size_t i = 0; i < job->request.assertion_count; i++)
        free(job->request.assertions[i].items);
    dti_digest_list_free(&job->request.list);
}
