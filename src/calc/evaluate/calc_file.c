/* SPDX-License-Identifier: MIT
 *
 * Arrays of files: cast piece by piece while they are read, if nothing else needs their own codes,
 * so that only the result is in memory; else read as a whole, then cast. */
#include <string.h>

#include "calc/evaluate/cast_tiles.h"
#include "calc/evaluate/evaluate.h"

struct file_reading {
    struct dti_calc_taker taker; /* first, for casts of its address */
    struct dti_calc_engine *engine;
    size_t node, done;
    bool begun;
    struct dti_calc_recorder recorder;
    struct dti_cast_tiles tiles;
};

/* Where memory is refused, reading the whole array finds out why. */
static bool begin(struct dti_calc_taker *taker, const struct dti_calc_array *array)
{
    struct file_reading *const r = (struct file_reading *)taker;
    const struct dti_format *const format = dti_calc_node_format(r->engine, r->node);
    if (dti_calc_keeps_for_truth(r->engine, array->count))
        return false;
    dti_calc_step_begin(&r->recorder, r->engine, r->node, "file", format);
    if (!dti_cast_tiles_open(&r->tiles, &r->recorder, &array->format, array->count))
        return false;
    r->begun = dti_calc_array_new(r->engine, format, array->rank, array->shape,
                                  &r->engine->slots[r->node].array) == DTI_OK;
    if (!r->begun)
        dti_cast_tiles_close(&r->tiles);
    return r->begun;
}

static bool take(struct dti_calc_taker *taker, const void *codes, size_t n)
{
    struct file_reading *const r = (struct file_reading *)taker;
    const size_t first = r->done;
    r->done += n;
    return dti_cast_tiles_list(&r->tiles, codes, n, first, &r->engine->slots[r->node]);
}

enum dti_status dti_calc_read_file(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_options *const options = engine->options;
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct file_reading reading = {
        .taker = {.begin = begin, .take = take}, .engine = engine, .node = node};
    struct dti_calc_array given;
    if (!options->load)
        return dti_fail(engine->error, DTI_BAD_VALUE, "%s: files are not read here",
                        DTI_QUOTED(n->path, strlen(n->path)));
    enum dti_status status = options->load(options->load_context, n->path, n->tensor,
                                           &reading.taker, &given, engine->error);
    if (reading.begun)
        dti_cast_tiles_close(&reading.tiles);
    if (status != DTI_OK)
        return status;
    if (reading.begun)
        return dti_calc_step_end(&reading.recorder, &slot->array);
    status = dti_calc_array_adopt(engine, &given);
    if (status != DTI_OK) {
        dti_calc_array_free(&given);
        return status;
    }
    slot->given = given;
    if (given.format.kind == DTI_KIND_COMPLEX)
        return dti_fail(engine->error, DTI_WRONG_KIND, "%s holds %s, which has no arithmetic here",
                        DTI_QUOTED(n->path, strlen(n->path)), given.format.name);
    status = dti_calc_cast(engine, node, "file", &given, NULL);
    if (status == DTI_OK && !dti_calc_keeps_for_truth(engine, given.count))
        dti_calc_array_drop(engine, &slot->given);
    return status;
}
