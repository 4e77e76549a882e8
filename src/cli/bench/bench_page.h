/* SPDX-License-Identifier: MIT
 *
 * The pages of `bench`, which grow while it measures; sizes, figures, bars and lines on them. */
#ifndef CLI_BENCH_BENCH_PAGE_H
#define CLI_BENCH_BENCH_PAGE_H

#include "cli/bench/bench_job.h"
#include "core/number/spell.h"
#include "report/table.h"

/* bench_page.c: the footnotes of a table, without duplicates. dti_bench_note() returns the mark of
 * its row, a blank without a note; dti_bench_notes_put() writes them below the table and starts
 * over. */
struct bench_notes {
    struct dti_buffer text; /* per note: the style, the words and a NUL */
    size_t count;
};
char dti_bench_note(struct bench_notes *notes, enum dti_style style, const char *text);
void dti_bench_notes_put(struct bench_notes *notes, const struct dti_command_context *cx);

/* A finished measurement. */
struct bench_shown {
    const struct bench_job *job;
    const struct dti_bench_result *result;
    struct bench_notes *notes;
};

/* bench_human.c: the heading; the next measurement; a finished measurement. */
void dti_bench_human_begin(const struct bench_job *job);
void dti_bench_human_pair(const struct bench_shown *first);
void dti_bench_human_result(const struct bench_shown *done);
void dti_bench_human_table_begin(const struct bench_job *job);
void dti_bench_human_table(const struct bench_shown *done);

/* Caveats on figures, joined by "; ": the placement of the threads, disturbances, the accuracy of
 * the median of candidate `at`; and at the end, reasons to doubt figures of this machine. Returns
 * the style. */
enum { BENCH_NOTE_SIZE = 4096 };
enum dti_style dti_bench_caveats_of(char text[BENCH_NOTE_SIZE], const struct bench_shown *done,
                                    size_t at, enum dti_bench_place place);
/* Adds to a note, "; " in between. */
void dti_bench_note_add(char text[BENCH_NOTE_SIZE], const char *format, ...) DTI_PRINTF(2, 3);
void dti_bench_put_caveats(const struct bench_job *job);

/* "1 MiB", "1000 bytes"; then "0.0477" with the given number of decimals. */
const char *dti_bench_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes);
const char *dti_bench_fixed(char buffer[DTI_TEXT_SIZE], double number, unsigned decimals);
/* With three significant digits and no exponent: "0.0477", "12.3", "1230". */
const char *dti_bench_three(char buffer[DTI_TEXT_SIZE], double number);
/* "12.3 ms", "480 ns". */
const char *dti_bench_seconds(char buffer[DTI_TEXT_SIZE], double seconds);
/* "64 %" of a share of 1. */
const char *dti_bench_percent(char buffer[DTI_TEXT_SIZE], double share, unsigned decimals);
/* "1.5 %", or "-" where it is not known. */
const char *dti_bench_mad(char buffer[DTI_TEXT_SIZE], const struct dti_bench_figure *time);
/* "12 samples of 3 passes, 1 discarded" */
enum { BENCH_SAMPLES_SIZE = 96 };
const char *dti_bench_samples(char buffer[BENCH_SAMPLES_SIZE], const struct dti_bench *bench,
                              size_t at, size_t samples);
/* A bar of BENCH_BAR_CELLS characters for a share of 1, longer above 1, up to the width of its
 * column; the line is padded to the end of the column. */
enum { BENCH_BAR_CELLS = 8, BENCH_BAR_COLUMN = 10, BENCH_BAR_GAP = 2 };
void dti_bench_put_bar(struct dti_line *line, double share, bool ascii);

/* Wraps words into lines; `between` separates words, `indent` blanks start each line. */
void dti_bench_put_words(const struct dti_command_context *cx, enum dti_style style, size_t indent,
                         const char *text, const char *between);

#endif
