/* SPDX-License-Identifier: MIT
 *
 * Reading documents of `bench`. Members are found by the rows that write them, so reading and
 * writing agree. */
#include <stdio.h>
#include <string.h>

#include "answers/bench_answer.h"
#include "report/json_tree.h"

/* A value, which may be missing, and the rows that its members are written from. */
struct bench_value {
    const struct cJSON *tree;
    const struct dti_object *object;
};

/* Nothing if documents of that schema lack the member. */
static struct bench_value member(struct bench_value of, const char *key)
{
    const struct dti_member *const row = dti_object_member(of.object, key);
    return row ? (struct bench_value){dti_tree_member(of.tree, key), row->object}
               : (struct bench_value){NULL, NULL};
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

/* The document being read, and what is expected of it. */
struct bench_reading {
    struct dti_bench_records *records;
    const struct dti_document *schema;
    const char *benchmark, *name;
    struct bench_value document;
};

static enum dti_status read_candidate(const struct bench_reading *reading,
                                      struct bench_value result, struct bench_value candidate,
                                      struct dti_error *reterr)
{
    const struct bench_value options = member(reading->document, "options");
    const bool casts = reading->schema == &dti_schema_bench;
    const char *const role = text_of(candidate, "role");
    const struct dti_bench_subject subject = {
        .benchmark = reading->benchmark,
        .src = text_of(result, "src"),
        .dst = text_of(result, "dst"),
        .role = role,
        .dtype = text_of(candidate, "dtype"),
        .engine = text_of(candidate, "engine"),
        .device = text_of(result, "device"),
        .place = text_of(result, "place"),
        .cache = text_of(options, "cache"),
        .data = text_of(options, "data"),
        .round = text_of(options, "round"),
        .overflow = text_of(options, "overflow"),
        .limit = casts ? !role || strcmp(role, "cast") != 0 : flag_of(candidate, "limit"),
        .loss_report = flag_of(candidate, "loss_report"),
        .with_alloc = flag_of(options, "with_alloc"),
        .bytes = uint_of(result, casts ? "src_bytes" : "size_bytes"),
        .elements = uint_of(result, "elements"),
        .m = uint_of(result, "m"),
        .n = uint_of(result, "n"),
        .k = uint_of(result, "k"),
        .threads = uint_of(result, "threads"),
        .median = number_of(candidate, "median_seconds"),
        .low = number_of(candidate, "low_seconds"),
        .high = number_of(candidate, "high_seconds"),
    };
    return dti_bench_record(reading->records, &subject, reading->name, reterr);
}

static enum dti_status read_results(const struct bench_reading *reading, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    size_t count = 0;
    struct bench_value result = member(reading->document, "results");
    for (result.tree = dti_tree_first(result.tree); result.tree && status == DTI_OK;
         result.tree = dti_tree_next(result.tree)) {
        if (count++ == DTI_BENCH_RECORDS_MAX)
            return dti_fail(reterr, DTI_BAD_INPUT, "%s: too many results", reading->name);
        struct bench_value candidate = member(result, "candidates");
        for (candidate.tree = dti_tree_first(candidate.tree); candidate.tree && status == DTI_OK;
             candidate.tree = dti_tree_next(candidate.tree))
            status = read_candidate(reading, result, candidate, reterr);
    }
    return status;
}

/* What is there of it. */
static void copy_word(char word[DTI_BENCH_WORD], const char *text)
{
    (void)snprintf(word, DTI_BENCH_WORD, "%s", text ? text : "");
}

static enum dti_status read_document(struct bench_reading *reading, const struct cJSON *tree,
                                     struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], found[DTI_BENCH_WORD];
    const struct dti_document *const schema = reading->schema;
    const struct bench_value document = {tree, schema->object}, host = member(document, "host");
    copy_word(found, dti_tree_text(dti_tree_member(tree, "schema")));
    if (strcmp(found, schema->schema) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: expected the schema %s, got %s", reading->name,
                        schema->schema,
                        found[0] != '\0' ? dti_quote(quoted, found, strlen(found)) : "none");
    copy_word(found, text_of(document, "benchmark"));
    if (strcmp(found, reading->benchmark) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: expected the benchmark %s, got %s",
                        reading->name, reading->benchmark, dti_quote(quoted, found, strlen(found)));
    copy_word(reading->records->model, text_of(host, "model"));
    copy_word(reading->records->level, text_of(host, "level"));
    reading->document = document;
    return read_results(reading, reterr);
}

static enum dti_status read_lines(struct bench_reading *reading, const char *text, size_t length,
                                  struct dti_error *reterr)
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
            return dti_fail(reterr, DTI_BAD_INPUT, "%s is not JSON Lines: line %zu, byte %zu: %s",
                            reading->name, line, at, problem);
        if (status != DTI_OK)
            return dti_no_memory(reterr);
        if (tree)
            status = read_document(reading, tree, reterr);
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
    struct bench_reading reading = {
        .records = records, .schema = schema, .benchmark = benchmark, .name = name};
    const char *problem;
    size_t at;
    struct cJSON *tree;
    enum dti_status status = dti_tree_read(&tree, text, length, &problem, &at);
    if (status == DTI_BAD_INPUT && length > 0 && memchr(text, '\n', at < length ? at + 1 : length))
        return read_lines(&reading, text, length, reterr);
    if (status == DTI_BAD_INPUT)
        return dti_fail(reterr, status, "%s is not a JSON document: byte %zu: %s", name, at,
                        problem);
    if (status != DTI_OK)
        return dti_no_memory(reterr);
    status = read_document(&reading, tree, reterr);
    dti_tree_free(tree);
    return status;
}
