/* SPDX-License-Identifier: MIT
 *
 * Sizes, figures, bars and lines of `bench` as people read them. */
#ifndef DTINFO_CLI_BENCH_WORDS_H
#define DTINFO_CLI_BENCH_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/shell/command.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

/* "1 MiB", "1000 bytes"; "0.0477" with so many decimals. */
const char *dti_bench_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes);
const char *dti_bench_fixed(char buffer[DTI_TEXT_SIZE], double number, unsigned decimals);
/* With three significant digits and no exponent: "0.0477", "12.3", "1230". */
const char *dti_bench_three(char buffer[DTI_TEXT_SIZE], double number);
/* "12.3 ms", "480 ns". */
const char *dti_bench_seconds(char buffer[DTI_TEXT_SIZE], double seconds);
/* "64 %" of a share of 1. */
const char *dti_bench_percent(char buffer[DTI_TEXT_SIZE], double share, unsigned decimals);
/* A bar of `cells` characters for a share of 1, longer beyond that up to a quarter more. */
enum { BENCH_BAR_SIZE = 128, BENCH_BAR_CELLS = 20 };
const char *dti_bench_bar(char buffer[BENCH_BAR_SIZE], double share, bool utf8);
/* Whether the locale's characters are UTF-8, as the environment tells. */
bool dti_bench_utf8(void);

/* As many words as fit in each line; `between` stands between words, `indent` blanks before them.
 */
void dti_bench_put_words(const struct dti_context *cx, enum dti_style style, size_t indent,
                         const char *text, const char *between);

#endif
