/* SPDX-License-Identifier: MIT
 *
 * Finds tensors that a cast turns mostly into zeros. A loss does not count zeros that existed
 * before, which may be many in weights, so candidates are read once more, unless the other elements
 * are so few that it makes no difference. */
#include <stdio.h>
#include <string.h>

#include "files/rewrite/rewrite.h"
#include "files/scan/scan.h"

enum { REPORTED_MOST = 3 };

/* Whether more than half of `elements` became zero. */
static bool is_most(const struct dti_loss_summary *loss, uint64_t elements)
{
    return loss->to_zero > elements / 2;
}

static enum dti_status count_nonzero(struct dti_container *container, size_t tensor,
                                     const struct dti_scan_options *options, uint64_t *ret,
                                     struct dti_error *reterr)
{
    struct dti_tensor_stats scanned = {.tensor = tensor};
    const enum dti_status status = dti_scan_stats(container, &scanned, 1, options, reterr);
    if (status == DTI_OK)
        *ret = scanned.stats.elements - scanned.stats.zeros;
    return status;
}

static void tell(const struct dti_rewrite *rewrite, const char *text)
{
    const struct dti_note note = {.code = "mostly_zero", .text = text};
    rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* "all", "99.87 %" */
static const char *spell_share(char text[32], uint64_t part, uint64_t all)
{
    const uint64_t share = all > UINT64_MAX / 10000 ? part / (all / 10000) : 10000 * part / all;
    if (part == all)
        return "all";
    (void)snprintf(text, 32, "%llu.%02llu %%", (unsigned long long)share / 100,
                   (unsigned long long)share % 100);
    return text;
}

/* Whether the answer depends on how many of the exact elements are zero. Shares only shrink with
 * more elements, so if none are and if all are, they are bounds. */
static bool is_open(const struct dti_loss_summary *loss)
{
    char most[32], least[32];
    return !is_most(loss, loss->elements) ||
           strcmp(spell_share(most, loss->to_zero, loss->inexact),
                  spell_share(least, loss->to_zero, loss->elements)) != 0;
}

/* tensor 'a.weight': 99.87 % of its nonzero elements become 0 in int8 */
static void tell_tensor(const struct dti_rewrite *rewrite, size_t at, uint64_t nonzero)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    char name[DTI_QUOTE_SIZE], share[32], text[DTI_QUOTE_SIZE + 96];
    (void)snprintf(text, sizeof text, "tensor %s: %s of its nonzero elements become 0 in %s",
                   dti_quote(name, source->name, source->name_length),
                   spell_share(share, dti_rewrite_outcome(rewrite, at)->loss.to_zero, nonzero),
                   rewrite->tensors[at].way->format->name);
    tell(rewrite, text);
}

enum dti_status dti_rewrite_warn_of_zeros(const struct dti_rewrite *rewrite,
                                          const struct dti_rewrite_options *options,
                                          struct dti_error *reterr)
{
    const struct dti_scan_options how = {
        .team = options->team, .level = rewrite->request.level, .max_memory = options->max_memory};
    enum dti_status status = DTI_OK;
    size_t found = 0;
    if (rewrite->request.recipe != DTI_RECIPE_CAST || !rewrite->counts || !rewrite->request.warn)
        return DTI_OK;
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        const struct dti_loss_summary *const loss = &dti_rewrite_outcome(rewrite, i)->loss;
        uint64_t nonzero = loss->elements;
        /* every inexact element was nonzero */
        if (tensor->fate != DTI_FATE_CHANGED || !is_most(loss, loss->inexact))
            continue;
        if (is_open(loss) && (found < REPORTED_MOST || !is_most(loss, nonzero)))
            status = count_nonzero(rewrite->container, tensor->source, &how, &nonzero, reterr);
        if (status == DTI_OK && is_most(loss, nonzero) && found++ < REPORTED_MOST)
            tell_tensor(rewrite, i, nonzero);
    }
    if (status == DTI_OK && found > REPORTED_MOST) {
        char text[96];
        (void)snprintf(text, sizeof text, "%zu more tensor%s more than half of %s nonzero elements",
                       found - REPORTED_MOST, found - REPORTED_MOST == 1 ? " loses" : "s lose",
                       found - REPORTED_MOST == 1 ? "its" : "their");
        tell(rewrite, text);
    }
    return status;
}
