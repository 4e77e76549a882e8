/* SPDX-License-Identifier: MIT
 *
 * Expressions on behalf of a caller: memory that runs out at each allocation, two callers in two
 * threads, and a call that is cancelled. */
#include <pthread.h>

#include "calc/calc.h"
#include "tally.h"
#include "unit.h"

struct evaluation {
    const char *text;
    enum dti_dtype dtype;
    enum dti_calc_truths truth;
    double sum; /* of the relative errors: reads all true values */
};

static enum dti_status evaluate(void *context, struct dti_error *reterr)
{
    struct evaluation *const e = context;
    const struct dti_calc_options options = {.block = 1, .truth = e->truth, .steps = true};
    struct dti_calc_tree *tree = NULL;
    struct dti_calc_result result;
    enum dti_status status = dti_calc_parse(&tree, e->text, strlen(e->text), reterr);
    if (status != DTI_OK)
        return status;
    status = dti_calc_run(tree, dti_format_get(e->dtype), &options, &result, reterr);
    if (status == DTI_OK) {
        for (size_t i = 0; i < result.value.count && i < 100; i++) {
            struct dti_calc_true truth;
            dti_calc_true_get(&result, i, &truth);
            e->sum += truth.known;
        }
        dti_calc_result_free(&result);
    }
    dti_calc_tree_free(tree);
    return status;
}

static const struct evaluation short_one = {
    .text = "exp([1/3, 2, 3.5] * sum(linspace(0, 1, 30))) / softmax([1, 2, 3]) + sqrt(2)",
    .dtype = DTI_BF16};

/* Without GMP and MPFR. */
static const struct evaluation plain_one = {.text = "[1/3, 2, 3.5] * sum(linspace(0, 1, 30))",
                                            .dtype = DTI_BF16,
                                            .truth = DTI_CALC_TRUTH_NO};

static void memory_may_run_out_at_each_allocation(void)
{
    enum dti_status status = DTI_NO_MEMORY;
    size_t failed = 0;
    for (size_t n = 1; status == DTI_NO_MEMORY && n < 100000; n++) {
        struct tally tally = {.fails_at = n};
        struct dti_caller caller = tally_caller(&tally);
        struct evaluation e = UNIT_LEAKS_COUNT ? plain_one : short_one;
        struct dti_call call;
        struct dti_error error = {.text = ""};
        dti_call_begin(&call, &caller);
        status = dti_calc_guarded(evaluate, &e, &error);
        CHECK_SIZE(atomic_load(&tally.live), 0);
        dti_call_end(&call);
        failed += status != DTI_OK;
        /* Without true values the marks of rounded elements, made last, are not needed. */
        CHECK(status != DTI_OK || UNIT_LEAKS_COUNT || atomic_load(&tally.calls) < n);
        if (!tally_is_even(&caller, &tally) || status == DTI_UNAVAILABLE)
            break;
    }
    if (status != DTI_UNAVAILABLE) /* without libmpfr */
        CHECK(status == DTI_OK && failed > 10);
}

struct worker {
    struct tally tally;
    struct dti_caller caller;
    pthread_t thread;
    unsigned errors;
};

static void *work(void *context)
{
    struct worker *const worker = context;
    for (unsigned i = 0; i < 20; i++) {
        struct evaluation e = short_one;
        struct dti_call call;
        struct dti_error error;
        dti_call_begin(&call, &worker->caller);
        const enum dti_status status = dti_calc_guarded(evaluate, &e, &error);
        worker->errors += status != DTI_OK && status != DTI_UNAVAILABLE;
        dti_call_end(&call);
    }
    return NULL;
}

static void two_callers_evaluate_at_once(void)
{
    static struct worker workers[2];
    for (size_t i = 0; i < 2; i++) {
        workers[i].caller = tally_caller(&workers[i].tally);
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK_U64(workers[i].errors, 0);
        tally_is_even(&workers[i].caller, &workers[i].tally);
    }
}

static bool at_once(void *context)
{
    ++*(unsigned *)context;
    return true;
}

static void long_expressions_can_be_cancelled(void)
{
    static const struct evaluation long_ones[] = {
        {.text = "sum(rand(20000000))", .dtype = DTI_FP32, .truth = DTI_CALC_TRUTH_NO},
        {.text = "exp(linspace(0, 1, 10000000))",
         .dtype = DTI_FP8_E5M2,
         .truth = DTI_CALC_TRUTH_NO},
        {.text = "prod(1 + repeat(0.5, 3000000))", .dtype = DTI_FP64, .truth = DTI_CALC_TRUTH_NO},
        {.text = "dot(repeat(0.5, 100000000), repeat(0.25, 100000000)) * 2", .dtype = DTI_FP32},
        {.text = "sum(exp(linspace(0, 1, 60000)))", .dtype = DTI_FP16, .truth = DTI_CALC_TRUTH_YES},
    };
    for (size_t i = 0; i < sizeof long_ones / sizeof long_ones[0]; i++) {
        struct tally tally = {0};
        struct evaluation e = long_ones[i];
        unsigned asked = 0;
        struct dti_caller caller = tally_caller(&tally);
        struct dti_call call;
        struct dti_error error;
        caller.interrupted = at_once;
        caller.interrupted_context = &asked;
        dti_call_begin(&call, &caller);
        const enum dti_status status = dti_calc_guarded(evaluate, &e, &error);
        dti_call_end(&call);
        if (!CHECK((status == DTI_CANCELLED && asked == 1) || status == DTI_UNAVAILABLE))
            printf("  %s: %s\n", e.text, status == DTI_OK ? "ok" : error.text);
        tally_is_even(&caller, &tally);
    }
}

static void orders_that_no_enum_has_are_refused(void)
{
    struct dti_calc_options options = {.order = (enum dti_calc_order)9};
    struct dti_calc_tree *tree = NULL;
    struct dti_calc_result result;
    struct dti_error error;
    CHECK(dti_calc_parse(&tree, "1 + 1", 5, &error) == DTI_OK);
    CHECK(dti_calc_run(tree, dti_format_get(DTI_FP32), &options, &result, &error) == DTI_USAGE);
    options.order = DTI_CALC_BLOCKED;
    CHECK(dti_calc_run(tree, dti_format_get(DTI_FP32), &options, &result, &error) == DTI_USAGE);
    options = (struct dti_calc_options){.policy = {.overflow = (enum dti_overflow)4}};
    CHECK(dti_calc_run(tree, dti_format_get(DTI_FP32), &options, &result, &error) == DTI_USAGE);
    dti_calc_tree_free(tree);
}

UNIT_MAIN(memory_may_run_out_at_each_allocation, two_callers_evaluate_at_once,
          long_expressions_can_be_cancelled, orders_that_no_enum_has_are_refused)
