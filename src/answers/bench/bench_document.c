/* SPDX-License-Identifier: MIT
 *
 * Parses documents of `bench`: members are found through the rows that write them, so reader and
 * writer agree. Also labels of measurements, and the times of two runs side by side: see
 * bench_records.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/bench/bench_answer.h"
#include "answers/bench/bench_records.h"
#include "core/number/number.h"
#include "kernels/fp64.h"
#include "report/json_tree.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

struct label {
    char *data;
    size_t length;
};

/* Appends as much as fits. */
static void DTI_PRINTF(2, 3) append(struct label *label, const char *format, ...)
{
    const size_t available = DTI_BENCH_LABEL - label->length;
    va_list args;
    va_start(args, format);
    const int wanted = vsnprintf(label->data + label->length, available, format, args);
    va_end(args);
    if (wanted > 0)
        label->length += (size_t)wanted < available ? (size_t)wanted : available - 1;
}

/* Words of documents may be of any length. */
static void append_word(struct label *label, const char *before, const char *word,
                        const char *usual)
{
    if (word && word[0] != '\0' && strcmp(word, usual) != 0)
        append(label, "%s%.*s", before, DTI_BENCH_WORD - 1, word);
}

static void append_size(struct label *label, const struct dti_bench_subject *subject)
{
    if (subject->m > 0)
        append(label, ", %llux%llux%llu", (unsigned long long)subject->m,
               (unsigned long long)subject->n, (unsigned long long)subject->k);
    else if (subject->bytes > 0)
        append(label, ", %llu bytes", (unsigned long long)subject->bytes);
    else
        append(label, ", %llu elements", (unsigned long long)subject->elements);
}

/* Different versions count as the same engine: "onednn 2.6.3". */
static void append_engine(struct label *label, const char *engine)
{
    char name[DTI_BENCH_WORD];
    (void)snprintf(name, sizeof name, "%s", engine ? engine : "");
    for (char *at = name; at[0] != '\0'; at++) {
        if (at > name && at[0] == ' ' && at[1] >= '0' && at[1] <= '9')
            at[0] = at[1] = '\0';
    }
    append_word(label, ", ", name, "");
}

static void make_label(char text[DTI_BENCH_LABEL], const struct dti_bench_subject *subject)
{
    struct label label = {.data = text};
    append_word(&label, "", subject->benchmark, "");
    if (subject->src && subject->src[0] != '\0') {
        append_word(&label, " ", subject->src, "");
        append(&label, " -> ");
        append_word(&label, "", subject->dst, "");
    }
    append_word(&label, " ", subject->role, subject->benchmark);
    append(&label, "%s", subject->loss_report ? " with loss" : "");
    append_word(&label, " ", subject->dtype, "");
    append_size(&label, subject);
    append_word(&label, ", ", subject->device, "cpu");
    append(&label, ", %llu thread%s", (unsigned long long)subject->threads,
           subject->threads == 1 ? "" : "s");
    append_word(&label, " ", subject->place, "alone");
    append_word(&label, ", ", subject->cache, "hot");
    append_word(&label, ", ", subject->data, "normal");
    append_word(&label, ", ", subject->round, "nearest-even");
    append_word(&label, ", ", subject->overflow, "native");
    append(&label, "%s", subject->with_alloc ? ", with allocation" : "");
    append_engine(&label, subject->engine);
}

/* The time if it is valid, else 0. */
static double seconds(double number)
{
    return number >= 1e-15 && number < 1e9 ? number : 0;
}

static struct dti_bench_record *add_record(struct dti_bench_records *records)
{
    struct dti_bench_record *const rows =
        dti_grown(records->rows, records->count, &records->capacity, sizeof *rows);
    if (!rows)
        return NULL;
    records->rows = rows;
    struct dti_bench_record *const record = &records->rows[records->count++];
    memset(record, 0, sizeof *record);
    return record;
}

/* Numbers repeated labels, so that the second record matches the second one of the other run. */
static void number_label(const struct dti_bench_records *records, char label[DTI_BENCH_LABEL])
{
    size_t before = 0;
    const size_t length = strlen(label);
    for (size_t i = 0; i + 1 < records->count; i++) {
        const char *const other = records->rows[i].label;
        before += strncmp(other, label, length) == 0 &&
                  (other[length] == '\0' || strncmp(other + length, " #", 2) == 0);
    }
    if (before > 0 && length + sizeof " #8192" < DTI_BENCH_LABEL)
        (void)snprintf(label + length, DTI_BENCH_LABEL - length, " #%zu", before + 1);
}

enum dti_status dti_bench_record(struct dti_bench_records *records,
                                 const struct dti_bench_subject *subject, const char *name,
                                 struct dti_error *reterr)
{
    const double median = seconds(subject->median), low = seconds(subject->low),
                 high = seconds(subject->high);
    if (subject->limit || median <= 0)
        return DTI_OK;
    if (records->count == DTI_BENCH_RECORDS_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: too many results", name);
    struct dti_bench_record *const record = add_record(records);
    if (!record)
        return dti_no_memory(reterr);
    make_label(record->label, subject);
    number_label(records, record->label);
    record->time = (struct dti_bench_figure){
        .samples = 1, .median = median, .minimum = median, .low = low, .high = high};
    record->time.has_interval = low > 0 && low <= median && median <= high;
    return DTI_OK;
}

void dti_bench_records_free(struct dti_bench_records *records)
{
    dti_free(records->rows);
    *records = (struct dti_bench_records){.count = 0};
}

void dti_bench_compare_times(struct dti_bench_figure *ret, const struct dti_bench_figure *then,
                             const struct dti_bench_figure *now)
{
    *ret = (struct dti_bench_figure){.samples = 1, .median = now->median / then->median};
    ret->minimum = ret->low = ret->high = ret->median;
    ret->has_interval = then->has_interval && now->has_interval;
    if (!ret->has_interval)
        return;
    ret->low = now->low / then->high;
    ret->high = now->high / then->low;
}

bool dti_bench_is_regression(const struct dti_bench_comparison *comparison,
                             const struct dti_bench_figure *ratio)
{
    return comparison->gate && ratio->median > 1 + comparison->allowed &&
           dti_bench_judge(ratio) == DTI_BENCH_MORE;
}

size_t dti_bench_match(struct dti_bench_records *then, struct dti_bench_records *now)
{
    size_t pairs = 0;
    for (size_t i = 0; i < then->count; i++)
        then->rows[i].partner = SIZE_MAX;
    for (size_t i = 0; i < now->count; i++) {
        now->rows[i].partner = SIZE_MAX;
        for (size_t j = 0; j < then->count; j++) {
            if (then->rows[j].partner == SIZE_MAX &&
                strcmp(then->rows[j].label, now->rows[i].label) == 0) {
                now->rows[i].partner = j;
                then->rows[j].partner = i;
                pairs++;
                break;
            }
        }
    }
    return pairs;
}

const struct dti_bench_record *dti_bench_partner(const struct dti_bench_comparison *comparison,
                                                 const struct dti_bench_record *now)
{
    return &comparison->then.rows[now->partner];
}

struct dti_bench_outcome dti_bench_compare(struct dti_bench_comparison *comparison)
{
    struct dti_bench_outcome outcome = {.pairs =
                                            dti_bench_match(&comparison->then, &comparison->now)};
    for (size_t i = 0; comparison->gate && i < comparison->now.count; i++) {
        const struct dti_bench_record *const now = &comparison->now.rows[i];
        struct dti_bench_figure ratio;
        if (now->partner == SIZE_MAX)
            continue;
        dti_bench_compare_times(&ratio, &dti_bench_partner(comparison, now)->time, &now->time);
        outcome.slower = outcome.slower || dti_bench_is_regression(comparison, &ratio);
        outcome.unknown += !ratio.has_interval;
    }
    return outcome;
}

/* A value, which may be missing, and the rows that define its members. */
struct bench_value {
    const struct dti_tree *tree;
    dti_object_rows *object;
};

/* An empty value if the document's schema lacks the member. */
static struct bench_value member(struct bench_value of, const char *key)
{
    struct dti_member row;
    if (!dti_object_member(&row, of.object, key))
        return (struct bench_value){NULL, NULL};
    return (struct bench_value){dti_tree_member(of.tree, key), row.object};
}

static const char *text_of(struct bench_value of, const char *key)
{
    return dti_tree_text(member(of, key).tree);
}

/* A number rounded to nearest; 0 if it is missing. */
static double number_of(struct bench_value of, const char *key)
{
    const char *const text = dti_tree_number(member(of, key).tree);
    struct dti_value value;
    struct dti_error ignored;
    if (!text || dti_value_parse(&value, text, strlen(text), &ignored) != DTI_OK)
        return 0;
    return dti_fp64_from_value(&value);
}

/* An integer from 0 to 2^53, or 0. */
static uint64_t uint_of(struct bench_value of, const char *key)
{
    static const double most = 9007199254740992; /* 2^53 */
    const double number = number_of(of, key);
    if (!(number >= 0 && number <= most))
        return 0;
    const uint64_t whole = (uint64_t)number;
    return (double)whole == number ? whole : 0;
}

static bool flag_of(struct bench_value of, const char *key)
{
    return dti_tree_is_true(member(of, key).tree);
}

/* The document being parsed, and what it must match. */
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

/* Copies as much as fits; NULL becomes "". */
static void copy_word(char word[DTI_BENCH_WORD], const char *text)
{
    (void)snprintf(word, DTI_BENCH_WORD, "%s", text ? text : "");
}

static enum dti_status read_document(struct bench_reading *reading, const struct dti_tree *tree,
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
        struct dti_tree *tree = NULL;
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
    struct dti_tree *tree;
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
