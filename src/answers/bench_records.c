/* SPDX-License-Identifier: MIT
 *
 * Labels of what was measured, and the times of two runs side by side: see bench_records.h. */
#include "answers/bench_records.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Another version of an engine is the same engine: "onednn 2.6.3". */
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

/* A valid time, else 0. */
static double seconds(double number)
{
    return number >= 1e-15 && number < 1e9 ? number : 0;
}

static struct dti_bench_record *add(struct dti_bench_records *records)
{
    enum { FIRST = 64 };
    if (records->count == records->capacity) {
        const size_t wanted = records->capacity > 0 ? 2 * records->capacity : FIRST;
        void *const rows = realloc(records->rows, wanted * sizeof *records->rows);
        if (!rows)
            return NULL;
        records->rows = rows;
        records->capacity = wanted;
    }
    struct dti_bench_record *const record = &records->rows[records->count++];
    memset(record, 0, sizeof *record);
    return record;
}

/* The second record of a label matches its second, regardless of other records. */
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
    struct dti_bench_record *const record = add(records);
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
    free(records->rows);
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
