/* SPDX-License-Identifier: MIT
 *
 * Reading a document of `bench`, token by token: members are known by their paths. */
#include "cli/bench/bench_document.h"

#include <stdlib.h>
#include <string.h>

#include "dtinfo/dtype.h"
#include "dtinfo/json_read.h"
#include "dtinfo/number.h"

enum { PATH_SIZE = 64 };

enum document_section { HEAD, RESULT, CANDIDATE };
enum document_type { TEXT, COUNT, NUMBER, FLAG };

static const struct document_member {
    const char *path;
    enum document_section part;
    enum document_type type;
    size_t offset;
} members[] = {
#define ROW(path_, part_, type_, structure, field)         \
    {                                                      \
        .path = (path_), .part = (part_), .type = (type_), \
        .offset = offsetof(struct structure, field)        \
    }
#define ROW_HEAD(path_, type_, field) ROW(path_, HEAD, type_, bench_document_head, field)
#define ROW_RESULT(type_, field) \
    ROW(".results." #field, RESULT, type_, bench_document_result, field)
#define ROW_CANDIDATE(name, type_, field) \
    ROW(".results.candidates." name, CANDIDATE, type_, bench_document_candidate, field)
    ROW_HEAD(".schema", TEXT, schema),
    ROW_HEAD(".benchmark", TEXT, benchmark),
    ROW_HEAD(".host.model", TEXT, model),
    ROW_HEAD(".host.level", TEXT, level),
    ROW_HEAD(".options.data", TEXT, data),
    ROW_HEAD(".options.cache", TEXT, cache),
    ROW_HEAD(".options.round", TEXT, round),
    ROW_HEAD(".options.overflow", TEXT, overflow),
    ROW_HEAD(".options.with_alloc", FLAG, with_alloc),
    ROW_RESULT(TEXT, src),
    ROW_RESULT(TEXT, dst),
    ROW_RESULT(TEXT, place),
    ROW_RESULT(TEXT, device),
    ROW_RESULT(COUNT, src_bytes),
    ROW_RESULT(COUNT, size_bytes),
    ROW_RESULT(COUNT, elements),
    ROW_RESULT(COUNT, m),
    ROW_RESULT(COUNT, n),
    ROW_RESULT(COUNT, k),
    ROW_RESULT(COUNT, threads),
    ROW_CANDIDATE("role", TEXT, role),
    ROW_CANDIDATE("dtype", TEXT, dtype),
    ROW_CANDIDATE("engine", TEXT, engine),
    ROW_CANDIDATE("limit", FLAG, limit),
    ROW_CANDIDATE("loss_report", FLAG, loss_report),
    ROW_CANDIDATE("median_seconds", NUMBER, median),
    ROW_CANDIDATE("low_seconds", NUMBER, low),
    ROW_CANDIDATE("high_seconds", NUMBER, high),
#undef ROW_CANDIDATE
#undef ROW_RESULT
#undef ROW_HEAD
#undef ROW
};

struct document_walk {
    struct dti_json_reader reader;
    struct bench_document *document;
    char path[PATH_SIZE];            /* of the value at hand; elements have that of their array */
    size_t ends[DTI_JSON_DEPTH + 1]; /* of the paths of open containers */
    size_t depth;
    const char *problem;
};

/* One more element of an array that grows; false when there are too many or memory ran out. */
static bool grow(struct document_walk *walk, void **array, size_t *count, size_t *capacity,
                 size_t size)
{
    enum { FIRST = 64 };
    if (*count == *capacity) {
        const size_t wanted = *capacity > 0 ? 2 * *capacity : FIRST;
        void *const larger = *count < BENCH_RECORDS_MAX ? realloc(*array, wanted * size) : NULL;
        if (!larger) {
            walk->problem = *count < BENCH_RECORDS_MAX ? "memory ran out" : "too many results";
            return false;
        }
        *array = larger;
        *capacity = wanted;
    }
    memset((unsigned char *)*array + *count * size, 0, size);
    ++*count;
    return true;
}

static bool open_object(struct document_walk *walk)
{
    struct bench_document *const document = walk->document;
    if (strcmp(walk->path, ".results") == 0) {
        void *array = document->results;
        const bool grown = grow(walk, &array, &document->result_count, &document->result_capacity,
                                sizeof *document->results);
        document->results = array;
        return grown;
    }
    if (strcmp(walk->path, ".results.candidates") != 0 || document->result_count == 0)
        return true;
    void *array = document->candidates;
    const bool grown = grow(walk, &array, &document->candidate_count, &document->candidate_capacity,
                            sizeof *document->candidates);
    document->candidates = array;
    if (grown)
        document->candidates[document->candidate_count - 1].result = document->result_count - 1;
    return grown;
}

static void enter_key(struct document_walk *walk)
{
    const char *key;
    size_t length;
    const size_t at = walk->ends[walk->depth - 1];
    dti_json_string_value(&walk->reader, &key, &length);
    walk->path[at] = '\0';
    if (at + sizeof "." >= PATH_SIZE)
        return; /* longer than the path of any member that is known */
    if (length > PATH_SIZE - sizeof "." - at || memchr(key, '.', length) ||
        memchr(key, '\0', length))
        length = 0;
    walk->path[at] = '.';
    memcpy(walk->path + at + 1, key, length);
    walk->path[at + 1 + length] = '\0';
}

/* The part of the document that is being read. */
static void *part_at(const struct document_walk *walk, enum document_section part)
{
    struct bench_document *const document = walk->document;
    if (part == HEAD)
        return &document->head;
    if (part == RESULT)
        return document->result_count > 0 ? &document->results[document->result_count - 1] : NULL;
    return document->candidate_count > 0 ? &document->candidates[document->candidate_count - 1]
                                         : NULL;
}

static void take_text(struct document_walk *walk, char *field)
{
    const char *text;
    size_t length;
    dti_json_string_value(&walk->reader, &text, &length);
    length = length < BENCH_FIELD ? length : BENCH_FIELD - 1;
    memcpy(field, text, length);
    field[length] = '\0';
}

/* What is no time that can be is left at 0. */
static void take_number(struct document_walk *walk, double *field)
{
    enum { LONGEST = 64 };
    static const double shortest = 1e-15;
    static const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    double number;
    if (walk->reader.token_length > LONGEST ||
        dti_value_parse(&value, walk->reader.token, walk->reader.token_length, NULL) != DTI_OK)
        return;
    dti_encode(dti_format_get(DTI_FP64), &value, &policy, 0, &outcome);
    memcpy(&number, &outcome.code, sizeof number);
    if (number >= shortest && number < 1e9)
        *field = number;
}

static void take(struct document_walk *walk, enum dti_json_token token)
{
    const bool in_object = walk->depth > 0 && strlen(walk->path) > walk->ends[walk->depth - 1];
    for (size_t i = 0; i < sizeof members / sizeof *members && in_object; i++) {
        const struct document_member *const member = &members[i];
        if (strcmp(walk->path, member->path) != 0)
            continue;
        unsigned char *const part = part_at(walk, member->part);
        if (!part)
            return;
        void *const field = part + member->offset;
        if (member->type == TEXT && token == DTI_JSON_STRING)
            take_text(walk, field);
        else if (member->type == COUNT && token == DTI_JSON_NUMBER)
            (void)dti_json_u64(&walk->reader, field);
        else if (member->type == NUMBER && token == DTI_JSON_NUMBER)
            take_number(walk, field);
        else if (member->type == FLAG)
            *(bool *)field = token == DTI_JSON_TRUE;
        return;
    }
}

static bool step(struct document_walk *walk, enum dti_json_token token)
{
    switch (token) {
    case DTI_JSON_OBJECT:
    case DTI_JSON_ARRAY:
        walk->ends[walk->depth++] = strlen(walk->path);
        return token == DTI_JSON_ARRAY || open_object(walk);
    case DTI_JSON_OBJECT_END:
    case DTI_JSON_ARRAY_END:
        walk->path[walk->ends[--walk->depth]] = '\0';
        return true;
    case DTI_JSON_KEY:
        enter_key(walk);
        return true;
    default:
        take(walk, token);
        return true;
    }
}

bool dti_bench_document_read(struct bench_document *ret, const char *text, size_t length,
                             const char **ret_problem, size_t *ret_at)
{
    struct document_walk walk = {.document = ret};
    enum dti_json_token token = DTI_JSON_NULL;
    memset(ret, 0, sizeof *ret);
    dti_json_reader_init(&walk.reader, text, length);
    while (!walk.problem) {
        if (!dti_json_next(&walk.reader, &token)) {
            walk.problem = walk.reader.problem ? walk.reader.problem : "memory ran out";
            break;
        }
        if (token == DTI_JSON_END || !step(&walk, token))
            break;
    }
    *ret_problem = walk.problem;
    *ret_at = (size_t)(walk.reader.at - walk.reader.start);
    dti_json_reader_free(&walk.reader);
    return !walk.problem;
}

void dti_bench_document_free(struct bench_document *document)
{
    free(document->results);
    free(document->candidates);
    *document = (struct bench_document){.result_count = 0};
}
