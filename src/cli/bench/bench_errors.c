/* SPDX-License-Identifier: MIT
 *
 * How far results of `bench` are off, in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_page.h"
#include "cli/shared/human.h"

enum { CELL = 256 };

static const char *digits(char text[DTI_TEXT_SIZE], double number, unsigned count)
{
    struct dti_value value;
    dti_double_value(number, &value);
    (void)dti_spell_digits(text, &value, count);
    return text;
}

/* How far a sum is from the exact one, which is known as fp64. */
static void sum_words(char text[4 * CELL], const struct bench_shown *done,
                      const struct dti_bench_item *item)
{
    char got[DTI_TEXT_SIZE], exact[DTI_TEXT_SIZE], error[DTI_TEXT_SIZE], relative[DTI_TEXT_SIZE];
    enum { DIGITS = 10 };
    const bool product = done->result->setup->kind->size_is == DTI_BENCH_PRODUCT;
    const char *const which = product ? "at worst " : "";
    (void)digits(got, item->sum, DIGITS);
    if (item->error == 0 && strcmp(item->dtype, "int8") == 0) {
        (void)snprintf(text, 4 * CELL, "all is exact that was checked");
        return;
    }
    if (item->error == 0) {
        (void)snprintf(text, 4 * CELL, "%s%s, exact to the last place of fp64", which, got);
        return;
    }
    (void)digits(exact, item->exact, DIGITS);
    const bool alike = strcmp(got, exact) == 0;
    (void)snprintf(text, 4 * CELL, "%s%s%s%s%s off by %s (%s of %s)", which, got,
                   alike ? "" : " instead of ", alike ? "" : exact, alike ? "," : ":",
                   digits(error, item->error, 3), digits(relative, item->relative_error, 3),
                   product ? "the sum of magnitudes" : "it");
}

/* The error of rounded or quantized operands as well. False where that is the same. */
static bool total_words(char text[4 * CELL], const struct dti_bench_item *item)
{
    const struct dti_bench_total *const total = &item->total;
    char a[DTI_TEXT_SIZE], b[DTI_TEXT_SIZE], c[DTI_TEXT_SIZE];
    size_t length = 0;
    enum { DIGITS = 10 };
    if (total->elements == 0 || (total->elements == 1 && total->exact == item->exact))
        return false;
    if (item->scales[0] > 0)
        length = (size_t)snprintf(text, 4 * CELL, "scales %s and %s; ",
                                  digits(a, (double)item->scales[0], 3),
                                  digits(b, (double)item->scales[1], 3));
    if (total->elements == 1)
        (void)snprintf(text + length, 4 * CELL - length,
                       "in all %s instead of %s, relative error %s", digits(a, total->got, DIGITS),
                       digits(b, total->exact, DIGITS), digits(c, total->relative, 3));
    else
        (void)snprintf(
            text + length, 4 * CELL - length,
            "in all relative error %s, SQNR %s dB, at most %s off", digits(a, total->relative, 3),
            isfinite(total->sqnr) ? digits(b, total->sqnr, 4) : "-", digits(c, total->largest, 3));
    return true;
}

static void append(char text[12 * CELL], const char *words, const char *more)
{
    const size_t length = strlen(text);
    (void)snprintf(text + length, 12 * CELL - length, "%s%s%s", length > 0 ? "; " : "", words,
                   more);
}

/* What it computed in, and how well, below its row. */
void dti_bench_put_errors(const struct bench_shown *done, const struct dti_bench_item *item,
                          size_t indent)
{
    char text[12 * CELL] = "", sum[4 * CELL], ulp[DTI_TEXT_SIZE];
    if (item->arithmetic[0] != '\0')
        append(text, "computed in ", item->arithmetic);
    if (item->has_ulp) {
        append(text, "at most ", dti_bench_three(ulp, item->max_ulp));
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), " ulp off");
    }
    if (item->has_sum) {
        sum_words(sum, done, item);
        append(text, sum, "");
    }
    if (total_words(sum, item))
        append(text, sum, "");
    if (text[0] != '\0')
        dti_bench_put_words(done->job->cx, DTI_STYLE_DIM, indent, text, " ");
}
