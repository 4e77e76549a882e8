/* SPDX-License-Identifier: MIT
 *
 * Loss probe for one tile, for the oracle tests. A request is a line
 *
 *   LEVEL SRC DST ROUND OVERFLOW SEED INDEX N
 *
 * followed by N source codes and N stored codes, as hexadecimal words; LEVEL is "definition" or
 * a level, whose kernel for the pair's hub is used. The answer is one line: the counts, decimal,
 * in the order of struct dti_loss, then the maxima, the three sums, mean and root mean square as
 * fp64 bits, hexadecimal; or "skipped" if this machine lacks the level. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/fp64.h"
#include "kernels/scan/loss.h"
#include "request.h"

static struct dti_value source_value[DTI_TILE];
static uint64_t source_code[DTI_TILE], stored_code[DTI_TILE];

static double number_of(const struct dti_format *format, uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    if (value.kind == DTI_CLASS_NAN)
        return NAN;
    const double sign = value.negative ? -1 : 1;
    if (value.kind == DTI_CLASS_FINITE)
        return dti_fp64_from_value(&value);
    return copysign(value.kind == DTI_CLASS_INF ? INFINITY : 0, sign);
}

static void run_kernel(const struct dti_loss_rule *rule, enum dti_level level, size_t n,
                       uint64_t index, struct dti_loss *loss)
{
    static float x32[DTI_TILE], y32[DTI_TILE];
    static double x64[DTI_TILE], y64[DTI_TILE];
    const struct dti_loss_kernel *kernel = dti_loss_kernel_find(rule->hub, level);
    const void *source = source_code, *stored = stored_code;
    for (size_t i = 0; i < n && rule->hub != DTI_LOSS_WIDE; i++) {
        x64[i] = number_of(&rule->src, source_code[i]);
        y64[i] = number_of(&rule->dst, stored_code[i]);
        x32[i] = (float)x64[i];
        y32[i] = (float)y64[i];
    }
    if (rule->hub == DTI_LOSS_HUB32) {
        source = x32;
        stored = y32;
    } else if (rule->hub == DTI_LOSS_HUB64) {
        source = x64;
        stored = y64;
    }
    kernel->run(rule, source, stored, n, index, loss);
}

static void answer(const struct dti_loss *l)
{
    const double figures[] = {l->max_absolute,
                              l->max_relative,
                              dti_exact_sum_value(&l->sum_absolute),
                              dti_exact_sum_value(&l->sum_squared),
                              dti_exact_sum_value(&l->sum_source_squared),
                              dti_loss_mean_absolute(l),
                              dti_loss_root_mean_square(l)};
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, l->elements, l->inexact,
           l->overflowed, l->to_zero, l->to_subnormal);
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, l->nan_in,
           l->inf_in, l->no_code, l->compared, l->max_index, l->first_no_code);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        printf(" %" PRIx64, dti_fp64_bits(figures[i]));
    printf("\n");
}

static bool read_codes(uint64_t *codes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (scanf("%" SCNx64, &codes[i]) != 1)
            return false;
    return true;
}

int main(void)
{
    enum { REQUEST_WORDS = 8, WORD = 64 };
    static char text[REQUEST_WORDS][WORD];
    for (;;) {
        struct request rq = {.count = REQUEST_WORDS};
        for (size_t i = 0; i < REQUEST_WORDS; i++) {
            if (scanf("%63s", text[i]) != 1)
                return i == 0 ? 0 : 1;
            rq.words[i] = text[i];
        }
        const struct dti_format src = *format_word(&rq, 1), dst = *format_word(&rq, 2);
        const struct dti_policy policy = {.round = round_word(&rq, 3),
                                          .overflow = overflow_word(&rq, 4),
                                          .seed = number_word(&rq, 5, 16)};
        const uint64_t index = number_word(&rq, 6, 10);
        const size_t n = (size_t)number_word(&rq, 7, 10);
        enum dti_level level = DTI_LEVEL_COUNT;
        if (strcmp(text[0], "definition") != 0 && dti_level_lookup(text[0], &level, NULL) != DTI_OK)
            refuse(&rq, "unknown level");
        if (rq.error || n > DTI_TILE || !read_codes(source_code, n) ||
            !read_codes(stored_code, n)) {
            fprintf(stderr, "loss_probe: %s\n", rq.error ? rq.error : "bad request");
            return 1;
        }
        struct dti_loss_rule rule;
        struct dti_loss loss;
        dti_loss_rule_init(&rule, &src, &dst, &policy);
        dti_loss_init(&loss);
        for (size_t i = 0; i < n; i++)
            dti_decode(&src, source_code[i], &source_value[i]);
        if (level == DTI_LEVEL_COUNT) {
            dti_loss_add_values(&rule, source_value, stored_code, n, index, &loss);
        } else if (dti_level_present(level)) {
            run_kernel(&rule, level, n, index, &loss);
        } else {
            printf("skipped\n");
            continue;
        }
        answer(&loss);
    }
}
