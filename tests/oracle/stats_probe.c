/* SPDX-License-Identifier: MIT
 *
 * Probe of array statistics and comparisons, for the oracle tests. A request is one of
 *
 *   stats LEVEL DTYPE SHIFT INDEX N SKEW              and N codes
 *   compare LEVEL DTYPE DTYPE ATOL RTOL INDEX N SKEW  and N codes, N codes
 *
 * with codes and fp64 bits in hexadecimal; SHIFT may be "auto". SKEW is the misalignment of the
 * arrays in bytes. The array is passed to the level's kernel tile by tile, with every second
 * tile in a separate partial result that is merged at the end. The answer is one line: counts
 * and indices decimal, codes and fp64 hexadecimal, in the order of the structs; for statistics
 * also the non-empty binades, then the effect of each range on the elements; or "skipped" if
 * this machine lacks the level. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fp64.h"
#include "kernels/scan/comparison.h"
#include "kernels/scan/stats.h"
#include "request.h"

enum { MOST = 1 << 17, SKEW = 64 };

static uint64_t codes[2][MOST];
static unsigned char arrays[2][MOST * sizeof(uint64_t) + SKEW];

static void put(unsigned char *to, const struct dti_format *hub, const struct dti_format *format,
                uint64_t code)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome = {.code = code};
    if (hub && hub->id != format->id) {
        dti_decode(format, code, &value);
        dti_encode(hub, &value, &nearest, 0, &outcome);
    }
    if (hub && hub->width == 32) {
        const uint32_t narrow = (uint32_t)outcome.code;
        memcpy(to, &narrow, sizeof narrow);
    } else {
        memcpy(to, &outcome.code, sizeof outcome.code);
    }
}

/* The array as the kernel sees it; *ret_size: bytes per number. */
static const unsigned char *make_array(unsigned which, const struct dti_format *hub,
                                       const struct dti_format *format, size_t n, size_t skew,
                                       size_t *ret_size)
{
    unsigned char *const array = arrays[which] + skew;
    *ret_size = hub && hub->width == 32 ? 4 : 8;
    for (size_t i = 0; i < n; i++)
        put(array + i * *ret_size, hub, format, codes[which][i]);
    return array;
}

static void print_bits(double number)
{
    printf(" %" PRIx64, isnan(number) ? UINT64_C(0x7ff8) << 48 : dti_fp64_bits(number));
}

static void answer_stats(const struct dti_stats *s, const struct dti_histogram *h)
{
    const bool any = s->finite > 0;
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, s->elements,
           s->nan, s->inf, s->negative_inf, s->zeros, s->negative);
    printf(" %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64 " %" PRIx64, s->subnormals, s->finite,
           any ? s->min : 0, any ? s->max : 0, any ? s->absmax : 0);
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64, any ? s->min_index : 0, any ? s->max_index : 0,
           any ? s->absmax_index : 0);
    printf(" %" PRIu64 " %" PRIu64, s->first_nan, s->first_inf);
    print_bits(s->shift);
    print_bits(dti_exact_sum_value(&s->sum));
    print_bits(dti_exact_sum_value(&s->sum_squared));
    print_bits(dti_stats_mean(s));
    print_bits(dti_stats_deviation(s));
    for (unsigned i = 0; i < DTI_BINADES; i++)
        if (h->binade[i] > 0)
            printf(" %d:%" PRIu64, (int)i - DTI_BINADE_ZERO, h->binade[i]);
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++)
        printf(" %" PRIu64 "/%" PRIu64 "/%" PRIu64, h->overflow[i], h->to_zero[i],
               h->to_subnormal[i]);
    printf("\n");
}

static void do_stats(enum dti_level level, const struct dti_format *format, const char *shift,
                     uint64_t index, size_t n, size_t skew)
{
    struct dti_stats_rule rule;
    struct dti_stats stats[2];
    struct dti_histogram histogram[2];
    size_t size;
    dti_stats_rule_init(&rule, format, 0);
    const unsigned char *const array =
        make_array(0, dti_stats_hub_format(rule.hub), format, n, skew, &size);
    rule.shift = strcmp(shift, "auto") == 0
                     ? dti_stats_choose_shift(&rule, array, n < DTI_TILE ? n : DTI_TILE)
                     : dti_fp64_from_bits(strtoull(shift, NULL, 16));
    for (unsigned i = 0; i < 2; i++) {
        dti_stats_init(&stats[i], &rule);
        dti_histogram_init(&histogram[i]);
    }
    for (size_t at = 0; at < n; at += DTI_TILE) {
        const size_t count = n - at < DTI_TILE ? n - at : DTI_TILE;
        const unsigned part = at / DTI_TILE % 2;
        dti_stats_kernel(rule.hub, level)(&rule, array + at * size, count, index + at,
                                          &stats[part]);
        dti_histogram_kernel(rule.hub, level)(&rule, array + at * size, count, &histogram[part]);
    }
    dti_stats_merge(&stats[1], &stats[0]);
    dti_histogram_merge(&histogram[1], &histogram[0]);
    answer_stats(&stats[1], &histogram[1]);
}

static void answer_comparison(const struct dti_comparison *c)
{
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, c->elements, c->differing,
           c->unmatched, c->exceeding, c->compared);
    print_bits(c->max_absolute);
    printf(" %" PRIu64, c->max_index);
    print_bits(c->max_relative);
    print_bits(c->max_ulp);
    printf(" %" PRIu64 " %" PRIu64, c->first_differing, c->first_unmatched);
    print_bits(dti_exact_sum_value(&c->sum_absolute));
    print_bits(dti_exact_sum_value(&c->sum_squared));
    print_bits(dti_exact_sum_value(&c->sum_aa));
    print_bits(dti_exact_sum_value(&c->sum_bb));
    print_bits(dti_exact_sum_value(&c->sum_ab));
    print_bits(dti_comparison_mean_absolute(c));
    print_bits(dti_comparison_root_mean_square(c));
    print_bits(dti_comparison_cosine(c));
    printf("\n");
}

static void do_comparison(enum dti_level level, const struct dti_comparison_rule *rule,
                          uint64_t index, size_t n, size_t skew)
{
    struct dti_comparison part[2];
    size_t size;
    const struct dti_format *const hub = dti_comparison_hub_format(rule->hub);
    const unsigned char *const a = make_array(0, hub, &rule->a, n, skew, &size);
    const unsigned char *const b = make_array(1, hub, &rule->b, n, skew / 2, &size);
    dti_comparison_init(&part[0]);
    dti_comparison_init(&part[1]);
    for (size_t at = 0; at < n; at += DTI_TILE) {
        const size_t count = n - at < DTI_TILE ? n - at : DTI_TILE;
        dti_comparison_kernel(rule->hub, level)(rule, a + at * size, b + at * size, count,
                                                index + at, &part[at / DTI_TILE % 2]);
    }
    dti_comparison_merge(&part[1], &part[0]);
    answer_comparison(&part[1]);
}

static bool read_codes(uint64_t *ret, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (scanf("%" SCNx64, &ret[i]) != 1)
            return false;
    return true;
}

int main(void)
{
    enum { WORDS = 9, WORD = 64 };
    static char text[WORDS][WORD];
    while (scanf("%63s", text[0]) == 1) {
        const bool two = strcmp(text[0], "compare") == 0;
        struct request rq = {.count = two ? 9 : 7};
        rq.words[0] = text[0];
        for (size_t i = 1; i < rq.count; i++) {
            if (scanf("%63s", text[i]) != 1)
                return 1;
            rq.words[i] = text[i];
        }
        const struct dti_format a = *format_word(&rq, 2);
        const struct dti_format b = two ? *format_word(&rq, 3) : a;
        const size_t at = rq.count - 3;
        const uint64_t index = number_word(&rq, at, 10);
        const size_t n = (size_t)number_word(&rq, at + 1, 10);
        const size_t skew = (size_t)number_word(&rq, at + 2, 10);
        enum dti_level level;
        if (dti_level_lookup(text[1], &level, NULL) != DTI_OK)
            refuse(&rq, "unknown level");
        if (rq.error || n > MOST || skew >= SKEW || !read_codes(codes[0], n) ||
            (two && !read_codes(codes[1], n))) {
            fprintf(stderr, "stats_probe: %s\n", rq.error ? rq.error : "bad request");
            return 1;
        }
        if (!dti_level_present(level)) {
            printf("skipped\n");
        } else if (two) {
            struct dti_comparison_rule rule;
            dti_comparison_rule_init(&rule, &a, &b, dti_fp64_from_bits(number_word(&rq, 4, 16)),
                                     dti_fp64_from_bits(number_word(&rq, 5, 16)));
            do_comparison(level, &rule, index, n, skew);
        } else {
            do_stats(level, &a, text[3], index, n, skew);
        }
    }
    return 0;
}
