/* SPDX-License-Identifier: MIT
 *
 * The assertion that a program loads a model: the rules of loader_rules.def, the releases of
 * ComfyUI, and what the program does where a rule of check --quantized is broken. */
#include "answers/check/check_answer.h"

#include <stdio.h>
#include <string.h>

#include "files/loaders/demands.h"

struct loading {
    struct dti_check_report *report;
    const struct dti_check_assertion *assertion;
    struct dti_loader_demands demands;
    struct dti_check_failure failure; /* what all have */
    const char *since;                /* the newest of the oldest releases; NULL: none so far */
    bool undated;                     /* something has none */
};

static const struct dti_loader_row *row_of(const struct loading *loading)
{
    return &dti_loaders[loading->assertion->loader];
}

/* Adds a failure; without a verdict it stays unclear. */
static enum dti_status fail(const struct loading *loading, enum dti_loader_verdict verdict,
                            size_t tensor, const char *source, const char *text,
                            struct dti_error *reterr)
{
    static const enum dti_lint_outcome effects[] = {
        [DTI_LOADER_UNKNOWN] = DTI_LINT_UNKNOWN,
        [DTI_LOADER_LOADS] = DTI_LINT_NONE,
        [DTI_LOADER_REFUSES] = DTI_LINT_REFUSE,
        [DTI_LOADER_MISREADS] = DTI_LINT_MISREAD,
    };
    struct dti_check_failure failure = loading->failure;
    failure.fault = verdict == DTI_LOADER_UNKNOWN ? DTI_CHECK_UNCLEAR : DTI_CHECK_LOADS;
    failure.effect = effects[verdict];
    failure.tensor = tensor;
    failure.source = source;
    failure.index = loading->report->failure_count; /* report order */
    return dti_check_fail_text(loading->report, &failure, reterr, "%s", text);
}

/* Keeps the newest of the releases from which on something is known to be loaded. */
static void add_since(struct loading *loading, const char *text)
{
    struct dti_loader_release release, newest;
    if (!dti_loader_release_read(text, strlen(text), &release))
        loading->undated = true;
    else if (!loading->since ||
             (dti_loader_release_read(loading->since, strlen(loading->since), &newest) &&
              dti_loader_release_compare(&release, &newest) > 0))
        loading->since = text;
}

/* "modelopt nvfp4 group" and the like. */
static void put_subject(char ret[DTI_CHECK_DETAIL], const struct dti_loader_demand *demand)
{
    static const char *const before[] = {
        [DTI_LOADER_KIND] = "a file of kind ", [DTI_LOADER_CONFIG] = "",
        [DTI_LOADER_METHOD] = "quant_method ", [DTI_LOADER_LAYOUT] = "",
        [DTI_LOADER_DTYPE] = "dtype ",         [DTI_LOADER_GGUF] = "type ",
        [DTI_LOADER_ARCH] = "architecture "};
    const bool typed = demand->topic == DTI_LOADER_GGUF;
    const char *const space = strrchr(demand->subject, ' ');
    const char *const subject = !typed ? demand->subject
                                : strstr(demand->subject, "not ggml's")
                                    ? "of another program than ggml"
                                    : space + 1;
    char many[32] = "";
    if (demand->tensors > 1)
        (void)snprintf(many, sizeof many, " (%zu tensors)", demand->tensors);
    (void)snprintf(ret, DTI_CHECK_DETAIL, "%s%s%s", before[demand->topic], subject, many);
}

/* Appends why: "refused: ..." */
static void put_reason(char ret[DTI_CHECK_DETAIL], const struct loading *loading,
                       const struct dti_loader_ruling *ruling)
{
    static const char *const verdicts[] = {"not known", "loaded", "refused", "misread"};
    const struct dti_loader_rule *const rule = &ruling->rule;
    const struct dti_loader_row *const row = row_of(loading);
    const size_t used = strlen(ret), room = DTI_CHECK_DETAIL - used;
    char *const at = ret + used;
    switch (ruling->ground) {
    case DTI_LOADER_RULED:
        (void)snprintf(at, room, ": %s%s%s", verdicts[ruling->verdict],
                       rule->note[0] != '\0' ? ": " : "", rule->note);
        break;
    case DTI_LOADER_TOO_OLD:
        (void)snprintf(at, room, ": refused by %s and older; it is known to load in %s",
                       rule->lacks, rule->has[0] != '\0' ? rule->has : row->examined);
        break;
    case DTI_LOADER_GONE:
        (void)snprintf(at, room, ": refused since %s: %s", rule->gone, rule->note);
        break;
    case DTI_LOADER_UNDATED:
        (void)snprintf(at, room,
                       ": not known of a release this old; %s is the oldest that is known",
                       rule->has[0] != '\0' ? rule->has : row->examined);
        break;
    case DTI_LOADER_NO_RULE:
        (void)snprintf(at, room, ": not known: there is no rule of %s for it", row->name);
        break;
    }
}

/* Whether a configuration fact or a dtype without a row needs none. */
static bool is_free(const struct loading *loading, const struct dti_loader_demand *demand)
{
    const bool comfyui = loading->assertion->loader == DTI_LOADER_COMFYUI;
    if (demand->topic == DTI_LOADER_LAYOUT)
        return comfyui && strncmp(demand->subject, "comfy ", 6) == 0; /* check_comfyui() */
    return demand->topic == DTI_LOADER_CONFIG || demand->topic == DTI_LOADER_ARCH ||
           (comfyui && demand->topic == DTI_LOADER_METHOD);
}

static enum dti_status check_demand(struct loading *loading, const struct dti_loader_demand *demand,
                                    enum dti_loader_verdict *ret, struct dti_error *reterr)
{
    char text[DTI_CHECK_DETAIL];
    struct dti_loader_ruling ruling;
    dti_loader_judge(&ruling, loading->assertion->loader, &loading->assertion->release,
                     demand->topic, demand->subject);
    const bool ruled = ruling.ground != DTI_LOADER_NO_RULE;
    *ret = ruling.verdict;
    if (!ruled && is_free(loading, demand))
        return DTI_OK;
    if (ruling.verdict == DTI_LOADER_LOADS) {
        add_since(loading, ruling.rule.has);
        return DTI_OK;
    }
    if (demand->unsure)
        *ret = ruling.verdict = DTI_LOADER_UNKNOWN;
    put_subject(text, demand);
    put_reason(text, loading, &ruling);
    return fail(loading, ruling.verdict, demand->tensor, ruled ? ruling.rule.source : NULL, text,
                reterr);
}

/* Its own layers, by release. */
static enum dti_status check_comfyui(struct loading *loading, struct dti_error *reterr)
{
    const size_t *const layers = dti_logical_comfy(loading->report->container);
    const struct dti_loader_release *const release = &loading->assertion->release;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; layers && i < DTI_COMFY_FORMATS && status == DTI_OK; i++) {
        const struct dti_comfy_format *const format = &dti_comfy_formats[i];
        struct dti_loader_release since;
        char text[DTI_CHECK_DETAIL];
        if (layers[i] == 0)
            continue;
        const bool dated =
            dti_loader_release_read(format->release, strlen(format->release), &since);
        if (dated && !(release->given && dti_loader_release_compare(release, &since) < 0)) {
            add_since(loading, format->release);
            continue;
        }
        (void)snprintf(text, sizeof text, "%s (%zu layer%s): %s%s", format->name, layers[i],
                       layers[i] == 1 ? "" : "s",
                       dated                             ? "refused: loaded since "
                       : format->known == DTI_COMFY_NONE ? "refused: no release loads it"
                                                         : "not known since which release",
                       format->release);
        status =
            fail(loading,
                 dated || format->known == DTI_COMFY_NONE ? DTI_LOADER_REFUSES : DTI_LOADER_UNKNOWN,
                 SIZE_MAX, format->source, text, reterr);
    }
    return status;
}

/* Whether the model has what a row is about: "nvfp4" of "ComfyUI (nvfp4)". */
static bool has_word(const struct loading *loading, const char *word, size_t length)
{
    for (size_t i = 0; i < loading->demands.count; i++) {
        const char *at = loading->demands.list[i].subject;
        while ((at = strchr(at, word[0])) != NULL && strncmp(at, word, length) != 0)
            at++;
        if (at)
            return true;
    }
    return false;
}

/* Whether a row of lint_effects.def is about the program. transformers loads compressed-tensors by
 * the package of that name. */
static bool is_about(const struct loading *loading, const char *loader)
{
    const char *const program = row_of(loading)->program;
    const size_t length = strlen(program), whole = strlen(loader);
    if (loading->assertion->loader == DTI_LOADER_TRANSFORMERS &&
        strcmp(loader, "compressed-tensors") == 0)
        return strcmp(loading->demands.method, loader) == 0;
    if (strncmp(loader, program, length) != 0)
        return false;
    return whole == length || (whole > length + 3 && loader[length + 1] == '(' &&
                               has_word(loading, loader + length + 2, whole - length - 3));
}

/* The worst that the program is known to do where a rule is broken; NULL: nothing is known. */
static const struct dti_lint_effect *effect_of(const struct loading *loading,
                                               enum dti_lint_rule rule)
{
    const struct dti_lint_effect *worst = NULL;
    for (size_t i = 0; i < dti_lint_effect_count; i++) {
        const struct dti_lint_effect *const effect = &dti_lint_effects[i];
        if (effect->rule == rule && is_about(loading, effect->loader) &&
            (!worst || effect->outcome > worst->outcome))
            worst = effect;
    }
    return worst;
}

/* The findings of the lint, as the program takes them. */
static enum dti_status check_findings(struct loading *loading, struct dti_error *reterr)
{
    size_t count = 0;
    const struct dti_lint_finding *const findings =
        loading->report->lint ? dti_lint_findings(loading->report->lint, &count) : NULL;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_lint_finding *const finding = &findings[i];
        const struct dti_lint_effect *const effect = effect_of(loading, finding->rule);
        char text[DTI_CHECK_DETAIL];
        enum dti_loader_verdict verdict = DTI_LOADER_UNKNOWN;
        if (effect && (effect->outcome == DTI_LINT_NONE || effect->outcome == DTI_LINT_SLOW))
            continue;
        if (effect)
            verdict = effect->outcome == DTI_LINT_REFUSE ? DTI_LOADER_REFUSES : DTI_LOADER_MISREADS;
        (void)snprintf(text, sizeof text, "%.400s; %s", finding->text,
                       !effect                         ? "what becomes of it is not known"
                       : verdict == DTI_LOADER_REFUSES ? "refused: "
                                                       : "misread: ");
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s", effect ? effect->about : "");
        loading->failure.finding = finding;
        status = fail(loading, verdict, SIZE_MAX, effect ? effect->source : NULL, text, reterr);
        loading->failure.finding = NULL;
    }
    return status;
}

static enum dti_status check(struct loading *loading, struct dti_error *reterr)
{
    const struct dti_loader_demands *const demands = &loading->demands;
    enum dti_loader_verdict verdict;
    enum dti_status status = check_demand(loading, &demands->list[0], &verdict, reterr);
    if (status != DTI_OK || verdict != DTI_LOADER_LOADS)
        return status; /* the kind decides */
    for (size_t i = 1; i < demands->count && status == DTI_OK; i++)
        status = check_demand(loading, &demands->list[i], &verdict, reterr);
    if (status == DTI_OK && loading->assertion->loader == DTI_LOADER_COMFYUI)
        status = check_comfyui(loading, reterr);
    return status == DTI_OK ? check_findings(loading, reterr) : status;
}

enum dti_status dti_check_loader(struct dti_check_report *report, size_t at, const size_t *tensors,
                                 size_t count, struct dti_error *reterr)
{
    struct loading loading = {.report = report,
                              .assertion = &report->request->assertions[at],
                              .failure = {.assertion = at, .index = UINT64_MAX}};
    struct dti_check_tally *const tally = &report->tally[at];
    tally->tensors = count;
    enum dti_status status =
        dti_loader_demands(&loading.demands, report->container, tensors, count, reterr);
    if (status == DTI_OK)
        status = check(&loading, reterr);
    dti_loader_demands_free(&loading.demands);
    if (tally->failures == 0 && !loading.undated && !loading.assertion->release.given)
        tally->since = loading.since;
    return status;
}
