/* SPDX-License-Identifier: MIT
 *
 * Documents of `bench` as times with labels. Two results with the same label measured the same, as
 * far as documents tell; how they were computed (kernels, levels) may differ. */
#include "cli/bench/bench_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench_document.h"

struct text {
    char *data;
    size_t length;
};

/* Appends as much as there is room for. */
static void append(struct text *text, const char *before, const char *word)
{
    const size_t available = BENCH_RECORD_LABEL - text->length;
    const int wanted = snprintf(text->data + text->length, available, "%s%s", before, word);
    if (wanted > 0)
        text->length += (size_t)wanted < available ? (size_t)wanted : available - 1;
}

static void append_number(struct text *text, const char *before, uint64_t number, const char *unit)
{
    char word[32];
    (void)snprintf(word, sizeof word, "%llu", (unsigned long long)number);
    append(text, before, word);
    append(text, unit[0] != '\0' ? " " : "", unit);
}

static void append_unless(struct text *text, const char *before, const char *word,
                          const char *usual)
{
    if (word[0] != '\0' && strcmp(word, usual) != 0)
        append(text, before, word);
}

static void append_size(struct text *text, const struct bench_document_result *result)
{
    if (result->m > 0) {
        append_number(text, ", ", result->m, "");
        append_number(text, "x", result->n, "");
        append_number(text, "x", result->k, "");
    } else if (result->src_bytes > 0 || result->size_bytes > 0) {
        append_number(text, ", ", result->src_bytes + result->size_bytes, "bytes");
    } else {
        append_number(text, ", ", result->elements, "elements");
    }
}

/* Another version of an engine is the same engine: "onednn 2.6.3". */
static void append_engine(struct text *text, const char *engine)
{
    char name[BENCH_FIELD];
    (void)snprintf(name, sizeof name, "%s", engine);
    for (char *at = name; at[0] != '\0'; at++) {
        if (at > name && at[0] == ' ' && at[1] >= '0' && at[1] <= '9')
            at[0] = at[1] = '\0';
    }
    append_unless(text, ", ", name, "");
}

static void make_label(char label[BENCH_RECORD_LABEL], const struct bench_document *document,
                       const struct bench_document_candidate *candidate)
{
    const struct bench_document_head *const head = &document->head;
    const struct bench_document_result *const result = &document->results[candidate->result];
    struct text text = {.data = label};
    append(&text, "", head->benchmark);
    if (result->src[0] != '\0') {
        append(&text, " ", result->src);
        append(&text, " -> ", result->dst);
    }
    append_unless(&text, " ", candidate->role, head->benchmark);
    append(&text, candidate->loss_report ? " with loss" : "", "");
    append_unless(&text, " ", candidate->dtype, "");
    append_size(&text, result);
    append_unless(&text, ", ", result->device, "cpu");
    append_number(&text, ", ", result->threads, result->threads == 1 ? "thread" : "threads");
    append_unless(&text, " ", result->place, "alone");
    append_unless(&text, ", ", head->cache, "hot");
    append_unless(&text, ", ", head->data, "normal");
    append_unless(&text, ", ", head->round, "nearest-even");
    append_unless(&text, ", ", head->overflow, "native");
    append(&text, head->with_alloc ? ", with memory" : "", "");
    append_engine(&text, candidate->engine);
}

/* The second of the same label is its second, whatever else there is. */
static bool add(struct bench_records *records, const char *label,
                const struct bench_document_candidate *candidate)
{
    enum { FIRST = 64 };
    if (records->count == BENCH_RECORDS_MAX)
        return false;
    if (records->count == records->capacity) {
        const size_t wanted = records->capacity > 0 ? 2 * records->capacity : FIRST;
        void *const rows = realloc(records->rows, wanted * sizeof *records->rows);
        if (!rows)
            return false;
        records->rows = rows;
        records->capacity = wanted;
    }
    size_t before = 0;
    const size_t length = strlen(label);
    for (size_t i = 0; i < records->count; i++) {
        const char *const other = records->rows[i].label;
        before += strncmp(other, label, length) == 0 &&
                  (other[length] == '\0' || strncmp(other + length, " #", 2) == 0);
    }
    struct bench_record *const record = &records->rows[records->count++];
    memset(record, 0, sizeof *record);
    (void)snprintf(record->label, sizeof record->label, "%s", label);
    if (before > 0 && length + sizeof " #8192" < sizeof record->label)
        (void)snprintf(record->label + length, sizeof record->label - length, " #%zu", before + 1);
    record->time = (struct dti_bench_figure){.samples = 1,
                                             .median = candidate->median,
                                             .minimum = candidate->median,
                                             .low = candidate->low,
                                             .high = candidate->high};
    record->time.has_interval = candidate->low > 0 && candidate->low <= candidate->median &&
                                candidate->median <= candidate->high;
    return true;
}

/* Copies and shapes beside casts are limits, too. */
static bool is_subject(const struct bench_document *document,
                       const struct bench_document_candidate *candidate)
{
    if (candidate->limit || candidate->median <= 0)
        return false;
    return strcmp(document->head.benchmark, "cast") != 0 || strcmp(candidate->role, "cast") == 0;
}

static enum dti_status add_document(struct bench_records *records,
                                    const struct bench_document *document, const char *schema,
                                    const char *benchmark, const char *name,
                                    struct dti_error *reterr)
{
    char label[BENCH_RECORD_LABEL], found[DTI_QUOTE_SIZE];
    const struct bench_document_head *const head = &document->head;
    if (strcmp(head->schema, schema) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: its schema is %s; wanted is %s", name,
                        head->schema[0] != '\0'
                            ? dti_quote(found, head->schema, strlen(head->schema))
                            : "not told",
                        schema);
    if (strcmp(head->benchmark, benchmark) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: its benchmark is %s; wanted is %s", name,
                        dti_quote(found, head->benchmark, strlen(head->benchmark)), benchmark);
    memcpy(records->model, head->model, sizeof records->model);
    memcpy(records->level, head->level, sizeof records->level);
    for (size_t i = 0; i < document->candidate_count; i++) {
        const struct bench_document_candidate *const candidate = &document->candidates[i];
        if (!is_subject(document, candidate))
            continue;
        make_label(label, document, candidate);
        if (!add(records, label, candidate))
            return dti_fail(reterr, DTI_NO_MEMORY, "%s: too many results", name);
    }
    return DTI_OK;
}

enum dti_status dti_bench_records_read(struct bench_records *records, const char *text,
                                       size_t length, const char *schema, const char *benchmark,
                                       const char *name, struct dti_error *reterr)
{
    struct bench_document document;
    const char *problem;
    size_t at, line = 0;
    enum dti_status status = DTI_OK;
    if (dti_bench_document_read(&document, text, length, &problem, &at)) {
        status = add_document(records, &document, schema, benchmark, name, reterr);
        dti_bench_document_free(&document);
        return status;
    }
    dti_bench_document_free(&document);
    const char *const end = text + length;
    const bool lines = length > 0 && memchr(text, '\n', at < length ? at + 1 : length);
    if (!lines)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is not a JSON document: byte %zu: %s", name, at,
                        problem);
    while (text < end && status == DTI_OK) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const size_t taken = (size_t)((newline ? newline : end) - text);
        line++;
        if (taken == 0) {
            text++;
            continue;
        }
        const bool good = dti_bench_document_read(&document, text, taken, &problem, &at);
        if (good)
            status = add_document(records, &document, schema, benchmark, name, reterr);
        else
            status = dti_fail(reterr, DTI_BAD_INPUT,
                              "%s is not a JSON document a line: line %zu, byte %zu: %s", name,
                              line, at, problem);
        dti_bench_document_free(&document);
        text = newline ? newline + 1 : end;
    }
    return status;
}

void dti_bench_records_free(struct bench_records *records)
{
    free(records->rows);
    *records = (struct bench_records){.count = 0};
}
