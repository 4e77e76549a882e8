/* SPDX-License-Identifier: MIT
 *
 * Reading documents of `bench`. Members are found by the rows that they are written from, so that
 * what is read is what is written. */
#include "answers/bench_document.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "answers/bench_answer.h"
#include "report/json_tree.h"

/* A value, which may be missing, and the rows that its members are written from. */
struct bench_value {
    const struct cJSON *tree;
    const struct dti_object *object;
};

static struct bench_value member(struct bench_value of, const char *key)
{
    const struct dti_member *const row = dti_object_member(of.object, key);
    assert(row);
    return (struct bench_value){dti_tree_member(of.tree, key), row->object};
}

static const char *text_of(struct bench_value of, const char *key)
{
    return dti_tree_text(member(of, key).tree);
}

static uint64_t uint_of(struct bench_value of, const char *key)
{
    return dti_tree_uint(member(of, key).tree);
}

static bool flag_of(struct bench_value of, const char *key)
{
    return dti_tree_is_true(member(of, key).tree);
}

static double number_of(struct bench_value of, const char *key)
{
    return dti_tree_number(member(of, key).tree);
}

static void read_cast(struct dti_bench_subject *subject, struct bench_value options,
                      struct bench_value result, struct bench_value candidate)
{
    subject->data = text_of(options, "data");
    subject->round = text_of(options, "round");
    subject->overflow = text_of(options, "overflow");
    subject->src = text_of(result, "src");
    subject->dst = text_of(result, "dst");
    subject->bytes = uint_of(result, "src_bytes");
    subject->loss_report = flag_of(candidate, "loss_report");
    subject->limit = !subject->role || strcmp(subject->role, "cast") != 0;
}

static void read_item(struct dti_bench_subject *subject, struct bench_value options,
                      struct bench_value result, struct bench_value candidate)
{
    subject->with_alloc = flag_of(options, "with_alloc");
    subject->bytes = uint_of(result, "size_bytes");
    subject->m = uint_of(result, "m");
    subject->n = uint_of(result, "n");
    subject->k = uint_of(result, "k");
    subject->dtype = text_of(candidate, "dtype");
    subject->engine = text_of(candidate, "engine");
    subject->limit = flag_of(candidate, "limit");
}

static enum dti_status read_candidate(struct dti_bench_records *records,
                                      const struct dti_document *schema, const char *benchmark,
                                      struct bench_value document, struct bench_value result,
                                      struct bench_value candidate, const char *name,
                                      struct dti_error *reterr)
{
    const struct bench_value options = member(document, "options");
    struct dti_bench_subject subject = {.benchmark = benchmark,
                                        .role = text_of(candidate, "role"),
                                        .device = text_of(result, "device"),
                                        .place = text_of(result, "place"),
                                        .cache = text_of(options, "cache"),
                                        .elements = uint_of(result, "elements"),
                                        .threads = uint_of(result, "threads"),
                                        .median = number_of(candidate, "median_seconds"),
                                        .low = number_of(candidate, "low_seconds"),
                                        .high = number_of(candidate, "high_seconds")};
    (schema == &dti_schema_bench ? read_cast : read_item)(&subject, options, result, candidate);
    return dti_bench_record(records, &subject, name, reterr);
}

static enum dti_status read_results(struct dti_bench_records *records,
                                    const struct dti_document *schema, const char *benchmark,
                                    struct bench_value document, const char *name,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    size_t count = 0;
    struct bench_value result = member(document, "results");
    for (result.tree = dti_tree_first(result.tree); result.tree && status == DTI_OK;
         result.tree = dti_tree_next(result.tree)) {
        if (count++ == DTI_BENCH_RECORDS_MAX)
            return dti_fail(reterr, DTI_BAD_INPUT, "%s: too many results", name);
        struct bench_value candidate = member(result, "candidates");
        for (candidate.tree = dti_tree_first(candidate.tree); candidate.tree && status == DTI_OK;
             candidate.tree = dti_tree_next(candidate.tree))
            status = read_candidate(records, schema, benchmark, document, result, candidate, name,
                                    reterr);
    }
    return status;
}

/* What is there of it. */
static void copy_word(char word[DTI_BENCH_WORD], const char *text)
{
    (void)snprintf(word, DTI_BENCH_WORD, "%s", text ? text : "");
}

static enum dti_status read_document(struct dti_bench_records *records, const struct cJSON *tree,
                                     const struct dti_document *schema, const char *benchmark,
                                     const char *name, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], found[DTI_BENCH_WORD];
    const struct bench_value document = {tree, schema->object};
    copy_word(found, dti_tree_text(dti_tree_member(tree, "schema")));
    if (strcmp(found, schema->schema) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: its schema is %s; wanted is %s", name,
                        found[0] != '\0' ? dti_quote(quoted, found, strlen(found)) : "not told",
                        schema->schema);
    copy_word(found, text_of(document, "benchmark"));
    if (strcmp(found, benchmark) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: its benchmark is %s; wanted is %s", name,
                        dti_quote(quoted, found, strlen(found)), benchmark);
    copy_word(records->model, text_of(member(document, "host"), "model"));
    copy_word(records->level, text_of(member(document, "host"), "level"));
    return read_results(records, schema, benchmark, document, name, reterr);
}

static enum dti_status read_lines(struct dti_bench_records *records, const char *text,
                                  size_t length, const struct dti_document *schema,
                                  const char *benchmark, const char *name, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    const char *const end = text + length;
    for (size_t line = 1; text < end && status == DTI_OK; line++) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const size_t taken = (size_t)((newline ? newline : end) - text);
        const char *problem;
        size_t at;
        struct cJSON *tree = NULL;
        if (taken > 0)
            status = dti_tree_read(&tree, text, taken, &problem, &at);
        if (status == DTI_BAD_INPUT)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s is not a JSON document a line: line %zu, byte %zu: %s", name, line,
                            at, problem);
        if (status != DTI_OK)
            return dti_fail(reterr, status, "out of memory");
        if (tree)
            status = read_document(records, tree, schema, benchmark, name, reterr);
        dti_tree_free(tree);
        text = newline ? newline + 1 : end;
    }
    return status;
}

enum dti_status dti_bench_records_read(struct dti_bench_records *records, const char *text,
                                       size_t length, const struct dti_document *schema,
                                       const char *benchmark, const char *name,
                                       struct dti_error *reterr)
{
    const char *problem;
    size_t at;
    struct cJSON *tree;
    enum dti_status status = dti_tree_read(&tree, text, length, &problem, &at);
    if (status == DTI_BAD_INPUT) {
        if (length > 0 && memchr(text, '\n', at < length ? at + 1 : length))
            return read_lines(records, text, length, schema, benchmark, name, reterr);
        return dti_fail(reterr, status, "%s is not a JSON document: byte %zu: %s", name, at,
                        problem);
    }
    if (status != DTI_OK)
        return dti_fail(reterr, status, "out of memory");
    status = read_document(records, tree, schema, benchmark, name, reterr);
    dti_tree_free(tree);
    return status;
}
