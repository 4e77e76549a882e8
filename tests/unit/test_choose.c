/* SPDX-License-Identifier: MIT
 *
 * The best choice for a size, and the frontier, against all ways to choose. Errors are multiples
 * of 2^-10, so that sums of them are exact. */
#include <math.h>

#include "files/advise/choose.h"
#include "unit.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

enum { GROUPS = 6, CHOICES = 5, COMBINATIONS = 15625 };

struct instance {
    struct dti_format_choice choices[GROUPS * CHOICES];
    uint32_t starts[GROUPS + 1];
    struct dti_choice_set set;
    struct dti_format_choice all[COMBINATIONS]; /* every combination */
    size_t count;
};

static uint64_t next_random(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

static void combine(struct instance *instance)
{
    instance->count = 1;
    instance->all[0] = (struct dti_format_choice){0};
    for (uint32_t group = 0; group < instance->set.n_groups; group++) {
        const uint32_t first = instance->starts[group], end = instance->starts[group + 1];
        size_t count = 0;
        static struct dti_format_choice longer[COMBINATIONS];
        for (size_t i = 0; i < instance->count; i++) {
            for (uint32_t k = first; k < end; k++) {
                longer[count++] =
                    (struct dti_format_choice){instance->all[i].bytes + instance->choices[k].bytes,
                                               instance->all[i].error + instance->choices[k].error};
            }
        }
        memcpy(instance->all, longer, count * sizeof *longer);
        instance->count = count;
    }
}

static void make(struct instance *ret, uint64_t *random)
{
    static const uint64_t sizes[] = {4, 30, 1000, UINT64_C(1) << 50};
    const uint64_t most = sizes[next_random(random, 4)], range = next_random(random, 2) ? 5 : 5000;
    const bool correlated = next_random(random, 2);
    ret->set = (struct dti_choice_set){ret->choices, ret->starts,
                                       (uint32_t)next_random(random, GROUPS + 1)};
    ret->starts[0] = 0;
    for (uint32_t group = 0; group < ret->set.n_groups; group++) {
        const uint32_t count = 1 + (uint32_t)next_random(random, CHOICES);
        ret->starts[group + 1] = ret->starts[group] + count;
        for (uint32_t i = ret->starts[group]; i < ret->starts[group + 1]; i++) {
            const uint64_t size = most > 1000 ? next_random(random, UINT64_C(1) << 31) << 19
                                              : next_random(random, most);
            const double saved = correlated ? (double)(most - size) * 0x1p-10 : 0;
            ret->choices[i] = (struct dti_format_choice){
                size, floor((double)next_random(random, range) + saved) * 0x1p-10};
        }
    }
    combine(ret);
}

/* The least error within a budget; below 0: nothing fits. */
static double least_error(const struct instance *instance, uint64_t budget)
{
    double least = -1;
    for (size_t i = 0; i < instance->count; i++) {
        if (instance->all[i].bytes <= budget && (least < 0 || instance->all[i].error < least))
            least = instance->all[i].error;
    }
    return least;
}

static uint64_t least_bytes(const struct instance *instance)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < instance->count; i++)
        least = instance->all[i].bytes < least ? instance->all[i].bytes : least;
    return least;
}

static bool choose_and_judge(const struct instance *instance, uint64_t budget)
{
    uint32_t picks[GROUPS];
    struct dti_chosen chosen;
    struct dti_error error;
    uint64_t bytes = 0;
    double sum = 0;
    const double want = least_error(instance, budget);
    const enum dti_status status = dti_choose(&instance->set, budget, picks, &chosen, &error);
    if (want < 0)
        return CHECK(status == DTI_ANSWER_NO) && CHECK_U64(chosen.bytes, least_bytes(instance));
    if (!CHECK(status == DTI_OK))
        return false;
    for (uint32_t group = 0; group < instance->set.n_groups; group++) {
        if (!CHECK(picks[group] >= instance->starts[group] &&
                   picks[group] < instance->starts[group + 1]))
            return false;
        bytes += instance->choices[picks[group]].bytes;
        sum += instance->choices[picks[group]].error;
    }
    return CHECK(bytes <= budget) && CHECK_U64(chosen.bytes, bytes) && CHECK(chosen.error == sum) &&
           CHECK(sum == want) && CHECK(chosen.proved && chosen.bound == sum);
}

static void no_other_choice_has_less_error(void)
{
    static struct instance instance;
    uint64_t random = 37;
    for (size_t i = 0; i < (unit_quick() ? 300 : 3000) / unit_each(3); i++) {
        make(&instance, &random);
        bool good = choose_and_judge(&instance, 0) && choose_and_judge(&instance, UINT64_MAX);
        for (size_t k = 0; good && k < 12; k++) {
            const uint64_t exactly = instance.all[next_random(&random, instance.count)].bytes;
            good = choose_and_judge(&instance, exactly) &&
                   (exactly == 0 || choose_and_judge(&instance, exactly - 1));
        }
        if (!good) {
            printf("  in instance %zu\n", i);
            break;
        }
    }
}

/* Whether no combination lies below the line between two points. */
static bool is_edge(const struct instance *instance, const struct dti_frontier_point *a,
                    const struct dti_frontier_point *b)
{
    const double run = (double)(b->bytes - a->bytes), rise = a->error - b->error;
    for (size_t i = 0; i < instance->count; i++) {
        const double over = (double)instance->all[i].bytes - (double)a->bytes;
        const double line = (a->error - instance->all[i].error) * run - rise * over;
        if (line > (fabs(rise * over) + fabs(a->error * run)) * 0x1p-50)
            return false;
    }
    return true;
}

static bool judge_frontier(const struct instance *instance)
{
    struct dti_frontier_point *points;
    struct dti_error error;
    size_t count;
    uint32_t picks[GROUPS];
    bool good = CHECK(dti_frontier(&instance->set, &points, &count, &error) == DTI_OK);
    if (!good)
        return false;
    good = CHECK_U64(points[0].bytes, least_bytes(instance)) &&
           CHECK(points[0].error == least_error(instance, points[0].bytes)) &&
           CHECK(points[count - 1].error == least_error(instance, UINT64_MAX)) &&
           CHECK(points[0].group == DTI_FRONTIER_START);
    for (uint32_t group = 0; group < instance->set.n_groups; group++) {
        picks[group] = instance->starts[group];
        for (uint32_t i = picks[group]; i < instance->starts[group + 1]; i++) {
            const struct dti_format_choice *const a = &instance->choices[i],
                                                  *const b = &instance->choices[picks[group]];
            if (a->bytes < b->bytes || (a->bytes == b->bytes && a->error < b->error))
                picks[group] = i;
        }
    }
    for (size_t i = 1; good && i < count; i++) {
        const struct dti_format_choice *const old = &instance->choices[picks[points[i].group]],
                                              *const new = &instance->choices[points[i].choice];
        good = CHECK(points[i].choice >= instance->starts[points[i].group] &&
                     points[i].choice < instance->starts[points[i].group + 1]) &&
               CHECK(points[i].bytes > points[i - 1].bytes &&
                     points[i].bytes - points[i - 1].bytes == new->bytes - old->bytes) &&
               CHECK(points[i - 1].error - points[i].error == old->error - new->error) &&
               CHECK(is_edge(instance, &points[i - 1], &points[i]));
        picks[points[i].group] = points[i].choice;
    }
    dti_free(points);
    return good;
}

static void the_frontier_is_the_hull_of_all_choices(void)
{
    static struct instance instance;
    uint64_t random = 38;
    for (size_t i = 0; i < (unit_quick() ? 300 : 3000) / unit_each(3); i++) {
        make(&instance, &random);
        if (!judge_frontier(&instance)) {
            printf("  in instance %zu\n", i);
            break;
        }
    }
}

static void sets_that_cannot_be_added_up_are_refused(void)
{
    static const struct {
        struct dti_format_choice choices[2];
        const char *text;
    } cases[] = {
        {{{1, 0}, {1, -0x1p-1000}}, "an error of group 1 is negative or not finite"},
        {{{1, 0}, {1, INFINITY}}, "an error of group 1 is negative or not finite"},
        {{{1, NAN}, {1, 0}}, "an error of group 0 is negative or not finite"},
        {{{1, 0x1p1023}, {1, 0x1p1023}}, "the sum of all errors is too large"},
        {{{UINT64_MAX, 0}, {1, 0}}, "the groups together exceed 2^63 bytes"},
        {{{UINT64_C(1) << 62, 0}, {UINT64_C(1) << 62, 0}}, "the groups together exceed 2^63 bytes"},
    };
    static const uint32_t starts[] = {0, 1, 2}, empty[] = {0, 0, 1};
    struct dti_frontier_point *points;
    struct dti_chosen chosen;
    struct dti_error error;
    uint32_t picks[2];
    size_t count;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dti_choice_set set = {cases[i].choices, starts, 2};
        CHECK(dti_choose(&set, UINT64_MAX, picks, &chosen, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, cases[i].text);
        CHECK(dti_frontier(&set, &points, &count, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, cases[i].text);
    }
    const struct dti_choice_set set = {cases[0].choices, empty, 2};
    CHECK(dti_choose(&set, 9, picks, &chosen, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "group 0 has no choice");
}

static void a_budget_that_is_too_small_says_what_is_needed(void)
{
    static const struct dti_format_choice choices[] = {{10, 1}, {20, 0}, {7, 0}};
    static const uint32_t starts[] = {0, 2, 3};
    const struct dti_choice_set set = {choices, starts, 2};
    struct dti_chosen chosen;
    struct dti_error error;
    uint32_t picks[2];
    CHECK(dti_choose(&set, 16, picks, &chosen, &error) == DTI_ANSWER_NO);
    CHECK_U64(chosen.bytes, 17);
    CHECK_STR(error.text, "the smallest choices take 17 bytes, 1 more than 16");
}

/* 40 groups whose errors are what they save: the least error is the sum of sizes next to the
 * budget, and finding it is as hard as such problems are. */
static void what_is_not_proved_has_a_bound(void)
{
    static struct dti_format_choice choices[320];
    static uint32_t starts[41];
    struct dti_chosen chosen;
    struct dti_error error;
    uint32_t picks[40];
    uint64_t random = 39, bytes = 0;
    for (uint32_t i = 0; i < 320; i++) {
        const uint64_t size = next_random(&random, UINT64_C(1) << 31) << 14 | 4321;
        choices[i] = (struct dti_format_choice){size, 0x1p46 - (double)size};
        starts[i / 8 + 1] = i + 1;
        bytes += size / 8;
    }
    const struct dti_choice_set set = {choices, starts, 40};
    CHECK(dti_choose(&set, bytes, picks, &chosen, &error) == DTI_OK);
    /* what is saved is the size: no error is below that of the whole budget */
    const double least = 40 * 0x1p46 - (double)bytes;
    CHECK(!chosen.proved && chosen.bytes <= bytes && chosen.bound <= chosen.error);
    CHECK(chosen.error == 40 * 0x1p46 - (double)chosen.bytes);
    CHECK(chosen.bound > least * (1 - 0x1p-40) && chosen.error < least * (1 + 1e-3));
}

struct failing {
    size_t left, held;
};

static void *allocate(void *context, void *old, size_t size, size_t alignment)
{
    struct failing *const failing = context;
    (void)alignment;
    if (size == 0) {
        failing->held -= old != NULL;
        free(old);
        return NULL;
    }
    if (failing->left == 0)
        return NULL;
    failing->left--;
    void *const block = realloc(old, size);
    failing->held += !old && block;
    return block;
}

static void memory_that_runs_out_is_an_error(void)
{
    static struct instance instance;
    uint64_t random = 41;
    do {
        make(&instance, &random);
    } while (instance.count < 5000);
    enum dti_status status = DTI_NO_MEMORY;
    for (size_t most = 0; status == DTI_NO_MEMORY && most < 1000; most++) {
        struct failing failing = {most, 0};
        struct dti_caller caller = {.allocate = allocate, .allocate_context = &failing};
        struct dti_call call;
        struct dti_frontier_point *points = NULL;
        struct dti_chosen chosen;
        struct dti_error error;
        uint32_t picks[GROUPS];
        size_t count;
        dti_call_begin(&call, &caller);
        status = dti_choose(&instance.set, instance.all[instance.count / 2].bytes, picks, &chosen,
                            &error);
        if (status == DTI_OK)
            status = dti_frontier(&instance.set, &points, &count, &error);
        dti_free(points);
        dti_call_end(&call);
        CHECK(status == DTI_NO_MEMORY || status == DTI_OK);
        CHECK_SIZE(failing.held, 0);
    }
    CHECK(status == DTI_OK);
}

UNIT_MAIN(no_other_choice_has_less_error, the_frontier_is_the_hull_of_all_choices,
          sets_that_cannot_be_added_up_are_refused, a_budget_that_is_too_small_says_what_is_needed,
          what_is_not_proved_has_a_bound, memory_that_runs_out_is_an_error)
