/* SPDX-License-Identifier: MIT
 *
 * Weights of errors from the search state of NVIDIA's ModelOpt, mtq.auto_quantize(checkpoint=...):
 * a file of torch.save() with a dict of which
 *
 *     candidate_stats: {"X.quant_recipe": {"formats": [...], "scores": [0.02, 0.001, 0],
 *         "costs": [2048.0, 4096.0, 8192.0], "module_names": ["X", ...], ...}, ...}
 *
 * counts: for each group of modules by how much the loss rises in each format, and what the weights
 * then take. In the smallest format all groups lose about the same share, so its score is the
 * weight of that error. The formats are objects that only Python could rebuild; they are not
 * needed. Source: modelopt 0.47 (torch/quantization/algorithms.py, initialize_candidate_stats();
 * torch/opt/searcher.py, save_search_checkpoint()). */
#include <string.h>

#include "containers/container.h"
#include "containers/pickle/pickle.h"
#include "requests/advise/advise_args.h"
#include "requests/advise/advise_group_weights.h"

enum {
    NO_VALUE = DTI_PICKLE_NONE,
    /* a pickle may refer to one value any number of times, so work is bounded by these */
    MEMBERS_MOST = 64,
    FORMATS_MOST = 256,
    LAYERS_MOST = 1 << 20,
};

struct search_reading {
    struct dti_group_weights weights;
    const struct dti_pickle *pickle;
    char label[DTI_QUOTE_SIZE];
    bool seen; /* a pickle */
    enum dti_status status;
    struct dti_error *reterr;
};

/* Keeps the first failure. */
static void refuse(struct search_reading *reading, const char *why)
{
    if (reading->status == DTI_OK)
        reading->status = dti_fail(reading->reterr, DTI_BAD_INPUT, "%s: %s", reading->label, why);
}

/* The value of a member of a dict; NO_VALUE: there is none. */
static uint32_t member(const struct dti_pickle *pickle, uint32_t dict, const char *name)
{
    struct dti_pickle_items items;
    uint32_t key, value, found = NO_VALUE, left = MEMBERS_MOST;
    if (dti_pickle_type(pickle, dict) != DTI_PICKLE_DICT)
        return NO_VALUE;
    items = dti_pickle_items(pickle, dict);
    while (left-- > 0 && dti_pickle_next(pickle, &items, &key) &&
           dti_pickle_next(pickle, &items, &value)) {
        size_t length;
        if (dti_pickle_type(pickle, key) == DTI_PICKLE_TEXT &&
            strcmp(dti_pickle_text(pickle, key, &length), name) == 0)
            found = value; /* the last one, as in Python */
    }
    return found;
}

/* The score of the format that takes least. */
static bool score_of(const struct dti_pickle *pickle, uint32_t scores, uint32_t costs, double *ret)
{
    struct dti_pickle_items one, other;
    uint32_t value, cost_value;
    double least = 0;
    unsigned count = 0;
    if (dti_pickle_type(pickle, scores) != DTI_PICKLE_LIST ||
        dti_pickle_type(pickle, costs) != DTI_PICKLE_LIST)
        return false;
    one = dti_pickle_items(pickle, scores);
    other = dti_pickle_items(pickle, costs);
    while (dti_pickle_next(pickle, &one, &value)) {
        double score, cost;
        if (count == FORMATS_MOST || !dti_pickle_next(pickle, &other, &cost_value) ||
            !dti_pickle_double(pickle, value, &score) ||
            !dti_pickle_double(pickle, cost_value, &cost) ||
            !(score > -1e100 && score < 1e100 && cost >= 0 && cost < 1e100))
            return false;
        if (count++ == 0 || cost < least) {
            least = cost;
            *ret = score > 0 ? score : 0;
        }
    }
    return count > 0 && !dti_pickle_next(pickle, &other, &cost_value);
}

static void add_layers(struct search_reading *reading, uint32_t names)
{
    const struct dti_pickle *const pickle = reading->pickle;
    struct dti_pickle_items items;
    uint32_t name;
    if (dti_pickle_type(pickle, names) != DTI_PICKLE_LIST) {
        refuse(reading, "a group lacks its module_names; search with a newer release");
        return;
    }
    items = dti_pickle_items(pickle, names);
    while (reading->status == DTI_OK && dti_pickle_next(pickle, &items, &name)) {
        size_t length;
        const char *const text = dti_pickle_text(pickle, name, &length);
        if (!text || dti_pickle_type(pickle, name) != DTI_PICKLE_TEXT)
            refuse(reading, "a module has no name");
        else if (reading->weights.layers.count == LAYERS_MOST)
            refuse(reading, "it names more than 1048576 modules");
        else if (!dti_group_weights_layer(&reading->weights, text, length))
            reading->status = dti_no_memory(reading->reterr);
    }
}

static void add_group(struct search_reading *reading, uint32_t group)
{
    const struct dti_pickle *const pickle = reading->pickle;
    double score;
    if (!score_of(pickle, member(pickle, group, "scores"), member(pickle, group, "costs"),
                  &score)) {
        refuse(reading, "a group lacks a score and a cost, numbers, for each of its formats");
        return;
    }
    add_layers(reading, member(pickle, group, "module_names"));
    if (reading->status == DTI_OK && !dti_group_weights_add(&reading->weights, score))
        reading->status = dti_no_memory(reading->reterr);
}

static void take(void *context, const struct dti_pickle *pickle)
{
    struct search_reading *const reading = context;
    const uint32_t stats = member(pickle, pickle->root, "candidate_stats");
    struct dti_pickle_items items;
    uint32_t key, value;
    reading->seen = true;
    reading->pickle = pickle;
    if (dti_pickle_type(pickle, stats) != DTI_PICKLE_DICT) {
        refuse(reading, "this is no search state of auto_quantize: it has no candidate_stats");
        return;
    }
    items = dti_pickle_items(pickle, stats);
    while (reading->status == DTI_OK && dti_pickle_next(pickle, &items, &key) &&
           dti_pickle_next(pickle, &items, &value))
        add_group(reading, value);
    if (reading->weights.count == 0)
        refuse(reading, "its candidate_stats are empty: the search was stopped before the scores");
}

enum dti_status dti_advise_weigh_scores(struct dti_measured *measured, const char *path,
                                        struct dti_error *reterr)
{
    struct search_reading reading = {.reterr = reterr};
    struct dti_container *container = NULL;
    struct dti_error error;
    const struct dti_container_options options = {
        .lenient = true, .pickled = take, .pickled_context = &reading};
    dti_quote(reading.label, path, strlen(path));
    /* tensors and objects do not matter: only what is wrong with the pickle itself does */
    const enum dti_status opened = dti_container_open(&container, path, &options, &error);
    if (opened != DTI_OK && !reading.seen) {
        if (reterr)
            *reterr = error;
        reading.status = opened;
    }
    dti_container_free(container);
    if (!reading.seen)
        refuse(&reading, "this is no file of torch.save()");
    if (reading.status == DTI_OK)
        reading.status = dti_group_weights_apply(&reading.weights, measured, reading.label, reterr);
    dti_group_weights_free(&reading.weights);
    return reading.status;
}
