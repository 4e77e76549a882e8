/* SPDX-License-Identifier: MIT
 *
 * Expression probe for the oracle tests: reads lines "EXPR<TAB>DTYPE<TAB>options" and answers
 * each with a line
 *
 *     ok SHAPE CODES EVENTS TRUTHS FIRST          or          error TEXT
 *
 * separated by tabs. CODES are hexadecimal; EVENTS: the counts of enum dti_calc_event_kind and
 * of inexact results; TRUTHS: the texts, '?' if unknown; FIRST: "nan at inf - inf", '-' for
 * none. Options, separated by blanks: round=MODE overflow=MODE seed=N accumulate=DTYPE
 * order=ORDER block=N flush fma truth steps (prints the steps, indented, before the line). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/calc.h"
#include "core/number/spell.h"
#include "util/run/process_environment.h"

static int find(const char *const *names, const char *name)
{
    int i = 0;
    while (names[i] && strcmp(names[i], name) != 0)
        i++;
    if (!names[i]) {
        (void)fprintf(stderr, "unknown '%s'\n", name);
        exit(2);
    }
    return i;
}

static void read_option(struct dti_calc_options *options, char *word)
{
    static const char *const rounds[] = {"nearest-even", "nearest-away", "zero",       "up",
                                         "down",         "odd",          "stochastic", NULL};
    static const char *const overflows[] = {"native", "saturate", "saturate-finite", "wrap", NULL};
    static const char *const orders[] = {"sequential", "pairwise", "blocked", "kahan", NULL};
    char *const value = strchr(word, '=');
    if (value)
        *value = '\0';
    if (strcmp(word, "round") == 0) {
        options->policy.round = (enum dti_round)find(rounds, value + 1);
        options->round_given = true;
    } else if (strcmp(word, "overflow") == 0) {
        options->policy.overflow = (enum dti_overflow)find(overflows, value + 1);
    } else if (strcmp(word, "order") == 0) {
        options->order = (enum dti_calc_order)find(orders, value + 1);
    } else if (strcmp(word, "seed") == 0) {
        options->policy.seed = strtoull(value + 1, NULL, 10);
    } else if (strcmp(word, "block") == 0) {
        options->block = strtoull(value + 1, NULL, 10);
    } else if (strcmp(word, "accumulate") == 0) {
        options->accumulates = true;
        if (dti_format_lookup(value + 1, &options->accumulate, NULL, NULL) != DTI_OK)
            exit(2);
    } else if (strcmp(word, "flush") == 0) {
        options->flush = true;
    } else if (strcmp(word, "fma") == 0) {
        options->fma = true;
    } else if (strcmp(word, "truth") == 0) {
        options->truth = DTI_CALC_TRUTH_YES;
    } else if (strcmp(word, "steps") == 0) {
        options->steps = true;
    } else {
        exit(2);
    }
}

static void put_events(const uint64_t *events)
{
    for (int kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++)
        printf("%s%" PRIu64, kind > 0 ? "," : "", events[kind]);
}

static void put_steps(const struct dti_calc_result *result)
{
    for (size_t i = 0; i < result->step_count; i++) {
        const struct dti_calc_step *const step = &result->steps[i];
        printf("  %s\t%.*s\t%s\t%s\t%zu\t%" PRIu64 "\t", step->op, (int)step->length, step->text,
               step->within ? step->within : "-", step->format.name, step->count, step->inexact);
        put_events(step->events);
        printf("\t%zu:%" PRIx64 "\n", step->worst, step->code);
    }
}

static void put_truths(const struct dti_calc_result *result)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    for (size_t i = 0; i < result->value.count && result->truth; i++) {
        dti_buffer_clear(&text);
        const bool known = dti_calc_true_text(result, i, &text);
        printf("%s%s", i > 0 ? "," : "", known ? text.data : "?");
    }
    dti_buffer_free(&text);
}

static void put_result(const struct dti_calc_result *result)
{
    struct dti_buffer text;
    uint64_t inexact = 0;
    for (size_t i = 0; i < result->step_count; i++)
        inexact += result->steps[i].inexact;
    printf("ok\t");
    for (unsigned i = 0; i < result->value.rank; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", result->value.shape[i]);
    printf("\t");
    for (size_t i = 0; i < result->value.count; i++)
        printf("%s%" PRIx64, i > 0 ? "," : "", dti_calc_code(&result->value, i));
    printf("\t");
    put_events(result->events);
    printf(",%" PRIu64 "\t", inexact);
    put_truths(result);
    dti_buffer_init(&text);
    if (result->went_wrong) {
        dti_buffer_puts(&text, dti_calc_event_name(result->first.kind));
        dti_buffer_puts(&text, " at ");
        dti_calc_event_text(&text, &result->first_step, &result->first);
    }
    printf("\t%s\n", result->went_wrong ? text.data : "-");
    dti_buffer_free(&text);
}

static void answer(const char *text, const char *dtype, char *words)
{
    struct dti_calc_options options = {.truth = DTI_CALC_TRUTH_NO, .block = 1};
    struct dti_calc_tree *tree;
    struct dti_calc_result result;
    struct dti_format format;
    struct dti_error error;
    for (char *word = strtok(words, " \n"); word; word = strtok(NULL, " \n"))
        read_option(&options, word);
    if (dti_format_lookup(dtype, &format, NULL, &error) != DTI_OK ||
        dti_calc_parse(&tree, text, strlen(text), &error) != DTI_OK) {
        printf("error\t%s\n", error.text);
        return;
    }
    if (dti_calc_run(tree, &format, &options, &result, &error) != DTI_OK) {
        printf("error\t%s\n", error.text);
    } else {
        put_steps(&result);
        put_result(&result);
        dti_calc_result_free(&result);
    }
    dti_calc_tree_free(tree);
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    dti_environment_use(true);
    while (getline(&line, &size, stdin) > 0) {
        char *const dtype = strchr(line, '\t');
        char *const words = dtype ? strchr(dtype + 1, '\t') : NULL;
        if (!words)
            return 2;
        *dtype = *words = '\0';
        answer(line, dtype + 1, words + 1);
    }
    free(line);
    return 0;
}
