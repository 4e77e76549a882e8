/* SPDX-License-Identifier: MIT
 *
 * dtinfo explain: the recipes by which a file was made from another. For people: the verdict,
 * tensors that share a recipe, tensors without a recipe. */
#include <stdlib.h>
#include <string.h>

#include "answers/explain/explain.h"
#include "answers/tensors.h"
#include "cli/shared/file_bar.h"
#include "cli/shared/human.h"
#include "cli/shell/command.h"
#include "requests/explain/explain_request.h"
#include "util/run/allocate.h"

enum { SHOWN = 10 }; /* tensors without a recipe that are listed */

static const char gap[] = "   ";

/* Tensors with one recipe. */
struct explain_group {
    char words[DTI_RECIPE_WORDS];
    size_t count, first; /* first: index of the first result */
    size_t others;       /* of the first result */
};

struct explain_view {
    const struct dti_command_context *cx;
    const struct dti_explain *explain;
    struct dti_line line;
    bool lost; /* out of memory for a name */
    struct explain_group *groups;
    size_t group_count;
};

static void put_safe(struct explain_view *view, const char *text, size_t length)
{
    if (!dti_line_safe(&view->line, DTI_STYLE_PLAIN, text, length))
        view->lost = true;
}

static void put_name(struct explain_view *view, const struct dti_explain_result *result)
{
    const struct dti_tensor *const tensor = dti_explain_tensor(view->explain, result);
    put_safe(view, tensor->name, tensor->name_length);
}

static void put_verdict(struct explain_view *view)
{
    const struct dti_explain *const explain = view->explain;
    const size_t found = explain->outcomes[DTI_EXPLAIN_FOUND], all = explain->tensors;
    const char *const plural = all == 1 ? "" : "s";
    if (found == all)
        dti_line_print(&view->line, DTI_STYLE_GOOD, "explained: %zu tensor%s", all, plural);
    else
        dti_line_print(&view->line, DTI_STYLE_BAD, "not explained: %zu of %zu tensor%s",
                       all - found, all, plural);
    dti_line_end(&view->line);
}

/* There are few recipes: the results of a search share one struct. */
struct explain_use {
    const struct dti_recipe *recipe;
    size_t result;
};

static int by_recipe(const void *a, const void *b)
{
    const struct explain_use *const x = a, *const y = b;
    if (x->recipe != y->recipe)
        return x->recipe < y->recipe ? -1 : 1;
    return (x->result > y->result) - (x->result < y->result);
}

static int by_words(const void *a, const void *b)
{
    const struct explain_group *const x = a, *const y = b;
    const int order = strcmp(x->words, y->words);
    return order != 0 ? order : (x->first > y->first) - (x->first < y->first);
}

static int by_first(const void *a, const void *b)
{
    const struct explain_group *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Merges groups with equal words. */
static void join_groups(struct explain_view *view)
{
    size_t count = 0;
    if (view->group_count > 0)
        qsort(view->groups, view->group_count, sizeof *view->groups, by_words);
    for (size_t i = 0; i < view->group_count; i++) {
        if (count > 0 && strcmp(view->groups[count - 1].words, view->groups[i].words) == 0)
            view->groups[count - 1].count += view->groups[i].count;
        else
            view->groups[count++] = view->groups[i];
    }
    view->group_count = count;
    if (count > 0)
        qsort(view->groups, count, sizeof *view->groups, by_first);
}

static bool make_groups(struct explain_view *view)
{
    const struct dti_explain *const explain = view->explain;
    struct explain_use *const uses = dti_calloc(explain->result_count + 1, sizeof *uses);
    size_t count = 0, groups = 0;
    for (size_t i = 0; i < explain->result_count && uses; i++) {
        if (explain->results[i].outcome == DTI_EXPLAIN_FOUND)
            uses[count++] = (struct explain_use){explain->results[i].recipe, i};
    }
    if (count > 0)
        qsort(uses, count, sizeof *uses, by_recipe);
    for (size_t i = 0; i < count; i++)
        groups += i == 0 || uses[i].recipe != uses[i - 1].recipe;
    view->groups = uses ? dti_calloc(groups + 1, sizeof *view->groups) : NULL;
    for (size_t i = 0; i < count && view->groups; i++) {
        if (i == 0 || uses[i].recipe != uses[i - 1].recipe) {
            struct explain_group *const group = &view->groups[view->group_count++];
            group->first = uses[i].result;
            group->others = explain->results[uses[i].result].others;
            explain->words(group->words, uses[i].recipe);
        }
        view->groups[view->group_count - 1].count++;
    }
    dti_free(uses);
    if (view->groups)
        join_groups(view);
    return view->groups != NULL;
}

/* "  cast bf16   4 tensors   and 12 other recipes (head.weight)" */
static void put_groups(struct explain_view *view)
{
    size_t widest = 0;
    for (size_t i = 0; i < view->group_count; i++) {
        const size_t length = strlen(view->groups[i].words);
        widest = length > widest ? length : widest;
    }
    for (size_t i = 0; i < view->group_count; i++) {
        const struct explain_group *const group = &view->groups[i];
        dti_line_text(&view->line, "  ");
        dti_line_put(&view->line, DTI_STYLE_BOLD, group->words);
        dti_line_to(&view->line, 2 + widest + 2);
        dti_line_print(&view->line, DTI_STYLE_PLAIN, "%zu tensor%s", group->count,
                       group->count == 1 ? "" : "s");
        if (group->others > 0) {
            dti_line_print(&view->line, DTI_STYLE_DIM, "%s%zu other recipe%s give%s the bytes of ",
                           gap, group->others, group->others == 1 ? "" : "s",
                           group->others == 1 ? "s" : "");
            put_name(view, &view->explain->results[group->first]);
        }
        dti_line_end(&view->line);
    }
}

static void put_difference(struct explain_view *view, const struct dti_explain_result *result)
{
    const struct dti_verdict *const verdict = &result->verdict;
    const struct dti_container *const stored = dti_stored_container(view->explain->b);
    const struct dti_tensor *const tensor = &stored->tensors[verdict->tensor];
    char share[DTI_TEXT_SIZE], expected[DTI_TEXT_SIZE], found[DTI_TEXT_SIZE], place[DTI_SHAPE_SIZE];
    char words[DTI_RECIPE_WORDS];
    dti_line_print(&view->line, DTI_STYLE_PLAIN, "%s%s: ", gap,
                   view->explain->words(words, result->recipe));
    if (verdict->elements > verdict->differing)
        dti_line_print(
            &view->line, DTI_STYLE_PLAIN, "%s of the elements are equal; ",
            dti_human_share(share, verdict->elements - verdict->differing, verdict->elements));
    else
        dti_line_text(&view->line, "no element is equal; ");
    dti_line_text(&view->line, "the first that differs is ");
    if (tensor->name_length != dti_explain_tensor(view->explain, result)->name_length) {
        put_safe(view, tensor->name, tensor->name_length);
        dti_line_text(&view->line, " at ");
    }
    if (verdict->format)
        dti_line_text(&view->line, dti_place_words(place, tensor, verdict->first));
    else
        dti_line_print(&view->line, DTI_STYLE_PLAIN, "byte %llu",
                       (unsigned long long)verdict->first);
    if (verdict->format) {
        struct dti_value recipe, there;
        dti_decode(verdict->format, verdict->expected, &recipe);
        dti_decode(verdict->format, verdict->found, &there);
        dti_spell_stored(expected, verdict->format, verdict->expected, &recipe);
        dti_spell_stored(found, verdict->format, verdict->found, &there);
        dti_line_print(&view->line, DTI_STYLE_PLAIN, ": %s (0x%llx), found %s (0x%llx)", expected,
                       (unsigned long long)verdict->expected, found,
                       (unsigned long long)verdict->found);
    }
}

/* Results with a given outcome, one per line. */
static void put_rest(struct explain_view *view, enum dti_explain_outcome outcome, const char *title)
{
    const struct dti_explain *const explain = view->explain;
    const size_t limit = view->cx->verbose ? SIZE_MAX : SHOWN;
    char reason[DTI_EXPLAIN_REASON];
    size_t shown = 0;
    if (explain->outcomes[outcome] == 0)
        return;
    dti_line_print(&view->line, DTI_STYLE_PLAIN, "  %s:\n", title);
    for (size_t i = 0; i < explain->result_count && shown < limit; i++) {
        const struct dti_explain_result *const result = &explain->results[i];
        if (result->outcome != outcome)
            continue;
        shown++;
        dti_line_text(&view->line, "    ");
        put_name(view, result);
        if (outcome == DTI_EXPLAIN_DIFFERS)
            put_difference(view, result);
        else if (outcome == DTI_EXPLAIN_NONE)
            dti_line_print(&view->line, DTI_STYLE_PLAIN, "%s%s", gap,
                           dti_explain_reason(reason, explain, result));
        dti_line_end(&view->line);
    }
    if (explain->outcomes[outcome] > shown)
        dti_line_print(&view->line, DTI_STYLE_DIM, "    ... and %zu more; -v shows all\n",
                       explain->outcomes[outcome] - shown);
}

/* Every tensor that has a recipe. */
static void put_all(struct explain_view *view)
{
    char words[DTI_RECIPE_WORDS];
    dti_line_text(&view->line, "  tensors:\n");
    for (size_t i = 0; i < view->explain->result_count; i++) {
        const struct dti_explain_result *const result = &view->explain->results[i];
        if (result->outcome != DTI_EXPLAIN_FOUND)
            continue;
        dti_line_text(&view->line, "    ");
        put_name(view, result);
        dti_line_print(&view->line, DTI_STYLE_PLAIN, "%s%s", gap,
                       view->explain->words(words, result->recipe));
        dti_line_end(&view->line);
    }
}

static enum dti_status show(const struct dti_command_context *cx, const struct dti_explain *explain,
                            struct dti_error *reterr)
{
    struct explain_view view = {.cx = cx, .explain = explain, .line = dti_command_context_line(cx)};
    if (!make_groups(&view))
        return dti_no_memory(reterr);
    put_verdict(&view);
    put_groups(&view);
    put_rest(&view, DTI_EXPLAIN_DIFFERS, "differ from the best recipe");
    put_rest(&view, DTI_EXPLAIN_NONE, "no recipe");
    put_rest(&view, DTI_EXPLAIN_ONLY_B, "only in the second file");
    put_rest(&view, DTI_EXPLAIN_ONLY_A, "only in the first file");
    if (cx->verbose && explain->outcomes[DTI_EXPLAIN_FOUND] > 0)
        put_all(&view);
    dti_free(view.groups);
    return view.lost ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status check_operands(char **operands, int count, struct dti_error *reterr)
{
    if (count == 2)
        return DTI_OK;
    if (count < 2)
        return dti_fail(reterr, DTI_USAGE,
                        "expected two files, as in 'dtinfo explain model.safetensors "
                        "half.safetensors'");
    return dti_fail_word(reterr, DTI_USAGE, operands[2], strlen(operands[2]),
                         "explains one file by another; %s is one operand too many",
                         DTI_QUOTED(operands[2], strlen(operands[2])));
}

static enum dti_status run_explain(const void *all_args, char **operands, int operand_count,
                                   struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct explain_args *const args = all_args;
    struct explain_job job;
    struct dti_file_bar bar;
    enum dti_status status = check_operands(operands, operand_count, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_explain_init(&job, args, &cx->asker, reterr);
    const struct dti_explain *const explain = &job.explain;
    dti_file_bar_attach(&bar, &job.explain.reading, &args->file, cx);
    job.explain.out = &cx->sink;
    if (status == DTI_OK)
        status = dti_explain_ask(&job, (const char *const *)operands, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, explain, explain, reterr);
    else if (status == DTI_OK && !cx->quiet)
        status = show(cx, explain, reterr);
    if (status == DTI_OK)
        status = dti_explain_verdict(explain, reterr);
    dti_explain_free(&job.explain);
    return status;
}

const struct dti_command dti_command_explain = {
    .name = "explain",
    .group = "files",
    .summary = "find out how the tensors of a file were made from another",
    .reads = true,
    .synopsis = "A B",
    .details = "Casts and quantizes the tensors of A with one recipe after another, until the\n"
               "bytes of B come out. A recipe is a command with its options, and may add that\n"
               "elements are in another order. For a tensor that no recipe explains, the best\n"
               "one is shown, and where it first differs. --json has all tensors; 'dtinfo\n"
               "verify' takes that as its recipe. The exit code is 0 if every tensor of B is\n"
               "explained, and 1 if not. Metadata is not compared.",
    .examples = "dtinfo explain model.safetensors model.safetensors\n"
                "dtinfo explain model.safetensors model.safetensors.index.json -v\n",
    .schema = "dtinfo.explain/1",
    .operands = DTI_OPERANDS_FILES,
    .options = dti_explain_options,
    .args_size = sizeof(struct explain_args),
    .run = run_explain,
};
