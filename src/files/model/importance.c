/* SPDX-License-Identifier: MIT
 *
 * Reads importance matrices: see importance.h. A count is of one matrix, or of all. Where it is 0,
 * nothing was seen: llama-quantize then weights all columns of the matrix alike or, in the old
 * form, takes the sums as they are. */
#include "files/model/importance.h"

#include <float.h>
#include <string.h>

#include "containers/gguf/gguf_edits.h"
#include "containers/name_order.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

/* A name, where its sums are, and what divides them. */
struct importance_entry {
    const char *name;
    size_t name_length;
    uint64_t values, sums_at;      /* their number, and the offset of the first */
    uint64_t counts, counts_at;    /* GGUF: likewise, of fp32 numbers */
    float calls;                   /* the old form: the only count */
    const struct dti_input *input; /* with the sums */
    const struct dti_input *counts_input;
};

struct dti_importance {
    const char *path;
    struct dti_container *container; /* GGUF; else NULL */
    struct dti_input input;          /* the old form */
    bool is_open;
    struct dti_pool pool;
    struct importance_entry *entries;
    size_t count;
    struct dti_name_order order;
    const char *dataset; /* or NULL */
    size_t dataset_length;
    uint64_t chunks;
};

static enum dti_status refuse(const struct dti_importance *importance, const char *text,
                              struct dti_error *reterr)
{
    const char *const path = importance->path;
    return dti_fail(reterr, DTI_BAD_INPUT, "%s %s", DTI_QUOTED(path, strlen(path)), text);
}

static enum dti_status refuse_entry(const struct dti_importance *importance, const char *name,
                                    size_t length, const char *text, struct dti_error *reterr)
{
    char path[DTI_QUOTE_SIZE];
    dti_quote(path, importance->path, strlen(importance->path));
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: entry %s %s", path, DTI_QUOTED(name, length), text);
}

static const char sums_ending[] = ".in_sum2", counts_ending[] = ".counts";
enum { SUMS = sizeof sums_ending - 1, COUNTS = sizeof counts_ending - 1 };

static bool ends(const struct dti_tensor *tensor, const char *ending, size_t length)
{
    return tensor->name_length > length &&
           memcmp(tensor->name + tensor->name_length - length, ending, length) == 0;
}

static bool is_fp32(const struct dti_tensor *tensor)
{
    return tensor->format && tensor->format->id == DTI_FP32 && !tensor->layout.swapped;
}

/* The counts of sums; NULL: there are none, and *ret_status says whether that is an error. */
static const struct dti_tensor *counts_of(const struct dti_importance *importance,
                                          const struct dti_name_order *names,
                                          const struct dti_tensor *sums,
                                          enum dti_status *ret_status, struct dti_error *reterr)
{
    const size_t stem = sums->name_length - SUMS;
    char *const name = dti_malloc(stem + COUNTS);
    size_t at;
    if (!name) {
        *ret_status = dti_no_memory(reterr);
        return NULL;
    }
    memcpy(name, sums->name, stem);
    memcpy(name + stem, counts_ending, COUNTS);
    const bool found = dti_name_order_find(names, name, stem + COUNTS, &at);
    dti_free(name);
    if (found)
        return &importance->container->tensors[at];
    *ret_status = refuse_entry(importance, sums->name, stem, "has no counts", reterr);
    return NULL;
}

static enum dti_status add_sums(struct dti_importance *importance,
                                const struct dti_name_order *names, const struct dti_tensor *sums,
                                struct dti_error *reterr)
{
    const struct dti_container *const container = importance->container;
    const size_t stem = sums->name_length - SUMS;
    enum dti_status status = DTI_OK;
    const struct dti_tensor *const counts = counts_of(importance, names, sums, &status, reterr);
    if (!counts)
        return status;
    if (!is_fp32(sums) || !is_fp32(counts))
        return refuse_entry(importance, sums->name, stem, "is not little-endian fp32", reterr);
    if (counts->elements == 0 || sums->elements == 0 || sums->elements % counts->elements != 0)
        return refuse_entry(importance, sums->name, stem, "has sums and counts that do not fit",
                            reterr);
    importance->entries[importance->count++] = (struct importance_entry){
        .name = sums->name,
        .name_length = stem,
        .values = sums->elements,
        .sums_at = sums->offset,
        .counts = counts->elements,
        .counts_at = counts->offset,
        .input = &container->files[sums->file].input,
        .counts_input = &container->files[counts->file].input,
    };
    return DTI_OK;
}

/* The first of the texts that were read: an array of strings, whose values the container may not
 * keep whole. */
static enum dti_status read_dataset(struct dti_importance *importance, struct dti_error *reterr)
{
    enum { HEAD = 8 + 4 + 4 + 8, LONGEST = 1 << 16 }; /* length of the key, types, number */
    const struct dti_container *const container = importance->container;
    const struct dti_input *const input = &container->files[0].input;
    const struct dti_metadata *const texts = dti_gguf_pair_of(container, "imatrix.datasets");
    unsigned char bytes[8];
    if (!texts || strcmp(texts->type, "array of string") != 0 || texts->count == 0)
        return DTI_OK;
    const uint64_t at = texts->offset + HEAD + texts->key_length;
    enum dti_status status = dti_input_read_at(input, bytes, sizeof bytes, at, reterr);
    const uint64_t length = status == DTI_OK ? dti_little_get(bytes, sizeof bytes) : 0;
    if (status != DTI_OK || length > LONGEST)
        return status;
    char *const text = dti_pool_alloc(&importance->pool, (size_t)length + 1);
    if (!text)
        return dti_no_memory(reterr);
    importance->dataset = text;
    importance->dataset_length = (size_t)length;
    return dti_input_read_at(input, text, (size_t)length, at + sizeof bytes, reterr);
}

static enum dti_status read_gguf(struct dti_importance *importance, struct dti_error *reterr)
{
    enum dti_status status =
        dti_container_open(&importance->container, importance->path, NULL, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_container *const container = importance->container;
    const size_t count = container->tensor_count;
    struct dti_name_order names;
    importance->entries =
        dti_pool_array(&importance->pool, count + 1, sizeof(struct importance_entry));
    if (!importance->entries ||
        !dti_name_order_of(&names, container->tensors, count, DTI_NAMED(struct dti_tensor, name)))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (ends(&container->tensors[i], sums_ending, SUMS))
            status = add_sums(importance, &names, &container->tensors[i], reterr);
    }
    dti_name_order_free(&names);
    if (!dti_gguf_integer_of(container, "imatrix.chunk_count", &importance->chunks))
        importance->chunks = 0;
    if (status == DTI_OK)
        status = read_dataset(importance, reterr);
    if (status == DTI_OK && importance->count == 0)
        status =
            refuse(importance, "is no importance matrix: no tensor is called X.in_sum2", reterr);
    return status;
}

/* A place in a file of the old form. */
struct importance_place {
    struct dti_importance *importance;
    uint64_t at;
};

static const char no_matrix[] = "is no importance matrix, or its end is missing";

static enum dti_status take(struct importance_place *place, void *ret, uint64_t size,
                            struct dti_error *reterr)
{
    const struct dti_input *const input = &place->importance->input;
    if (size > input->size - place->at)
        return refuse(place->importance, no_matrix, reterr);
    place->at += size;
    return ret ? dti_input_read_at(input, ret, (size_t)size, place->at - size, reterr) : DTI_OK;
}

/* A signed number of 32 bits that is at least `least`. */
static enum dti_status take_number(struct importance_place *place, int64_t least, int64_t *ret,
                                   struct dti_error *reterr)
{
    unsigned char bytes[4];
    const enum dti_status status = take(place, bytes, sizeof bytes, reterr);
    if (status != DTI_OK)
        return status;
    const int64_t number = (int64_t)dti_little_get(bytes, sizeof bytes);
    *ret = number > INT32_MAX ? number - (INT64_C(1) << 32) : number;
    return *ret >= least ? DTI_OK : refuse(place->importance, no_matrix, reterr);
}

static enum dti_status take_text(struct importance_place *place, const char **ret,
                                 size_t *ret_length, struct dti_error *reterr)
{
    int64_t length = 0;
    enum dti_status status = take_number(place, 0, &length, reterr);
    if (status == DTI_OK && (uint64_t)length > place->importance->input.size - place->at)
        status = refuse(place->importance, no_matrix, reterr);
    if (status != DTI_OK)
        return status;
    char *const text = dti_pool_alloc(&place->importance->pool, (size_t)length + 1);
    if (!text)
        return dti_no_memory(reterr);
    *ret = text;
    *ret_length = (size_t)length;
    return take(place, text, (uint64_t)length, reterr);
}

static enum dti_status take_entry(struct importance_place *place, struct dti_error *reterr)
{
    struct dti_importance *const importance = place->importance;
    struct importance_entry entry = {.input = &importance->input};
    int64_t calls = 0, values = 0;
    enum dti_status status = take_text(place, &entry.name, &entry.name_length, reterr);
    if (status == DTI_OK)
        status = take_number(place, INT32_MIN, &calls, reterr);
    if (status == DTI_OK)
        status = take_number(place, 1, &values, reterr);
    if (status != DTI_OK)
        return status;
    entry.values = (uint64_t)values;
    entry.calls = (float)calls;
    entry.sums_at = place->at;
    importance->entries[importance->count++] = entry;
    return take(place, NULL, entry.values * sizeof(float), reterr);
}

/* The number of entries, and for each a name, the number of calls, and that of the sums, then the
 * sums. Newer files go on with the number of calls of all, and the name of the text. */
static enum dti_status read_old(struct dti_importance *importance, struct dti_error *reterr)
{
    enum { LEAST = 4 + 4 + 4 + 4 }; /* bytes of an entry */
    struct importance_place place = {.importance = importance};
    int64_t count = 0, calls = 0;
    if (!importance->input.seekable)
        return refuse(importance, "is no regular file", reterr);
    enum dti_status status = take_number(&place, 1, &count, reterr);
    if (status == DTI_OK && (uint64_t)count > importance->input.size / LEAST)
        status = refuse(importance, no_matrix, reterr);
    if (status != DTI_OK)
        return status;
    importance->entries =
        dti_pool_array(&importance->pool, (size_t)count, sizeof(struct importance_entry));
    if (!importance->entries)
        return dti_no_memory(reterr);
    for (int64_t i = 0; i < count && status == DTI_OK; i++)
        status = take_entry(&place, reterr);
    if (status == DTI_OK && place.at < importance->input.size)
        status = take_number(&place, INT32_MIN, &calls, reterr);
    importance->chunks = calls > 0 ? (uint64_t)calls : 0;
    if (status == DTI_OK && place.at < importance->input.size)
        status = take_text(&place, &importance->dataset, &importance->dataset_length, reterr);
    if (status == DTI_OK && place.at < importance->input.size)
        status = refuse(importance, "goes on after the end of an importance matrix", reterr);
    return status;
}

static enum dti_status read_entries(struct dti_importance *importance, struct dti_error *reterr)
{
    static const char magic[4] = {'G', 'G', 'U', 'F'};
    char start[sizeof magic] = "";
    enum dti_status status = dti_input_open_file(&importance->input, importance->path, reterr);
    if (status != DTI_OK)
        return status;
    importance->is_open = true;
    if (importance->input.seekable && importance->input.size >= sizeof start)
        status = dti_input_read_at(&importance->input, start, sizeof start, 0, reterr);
    if (status == DTI_OK)
        status = memcmp(start, magic, sizeof magic) == 0 ? read_gguf(importance, reterr)
                                                         : read_old(importance, reterr);
    return status;
}

enum dti_status dti_importance_open(struct dti_importance **ret, const char *path,
                                    struct dti_error *reterr)
{
    struct dti_importance *const importance = dti_calloc(1, sizeof *importance);
    size_t again = SIZE_MAX;
    if (!importance)
        return dti_no_memory(reterr);
    importance->path = path;
    enum dti_status status = read_entries(importance, reterr);
    if (status == DTI_OK &&
        !dti_name_order_of(&importance->order, importance->entries, importance->count,
                           DTI_NAMED(struct importance_entry, name)))
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        again = dti_name_order_repeated(&importance->order);
    if (again != SIZE_MAX)
        status = refuse_entry(importance, importance->entries[again].name,
                              importance->entries[again].name_length, "is there twice", reterr);
    if (status == DTI_OK)
        *ret = importance;
    else
        dti_importance_free(importance);
    return status;
}

void dti_importance_free(struct dti_importance *importance)
{
    if (!importance)
        return;
    if (importance->is_open)
        dti_input_close(&importance->input);
    dti_name_order_free(&importance->order);
    dti_container_free(importance->container);
    dti_pool_free(&importance->pool);
    dti_free(importance);
}

struct dti_importance_facts dti_importance_facts(const struct dti_importance *importance)
{
    return (struct dti_importance_facts){.entries = importance->count,
                                         .dataset = importance->dataset,
                                         .dataset_length = importance->dataset_length,
                                         .chunks = importance->chunks};
}

const char *dti_importance_path(const struct dti_importance *importance)
{
    return importance->path;
}

static enum dti_status read_floats(const struct dti_input *input, uint64_t at, float *to,
                                   size_t count, struct dti_error *reterr)
{
    const enum dti_status status = dti_input_read_at(input, to, count * sizeof *to, at, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        unsigned char bytes[sizeof *to];
        memcpy(bytes, &to[i], sizeof bytes);
        const uint32_t bits = (uint32_t)dti_little_get(bytes, sizeof bytes);
        memcpy(&to[i], &bits, sizeof bits);
    }
    return status;
}

/* Divides the sums of a matrix. */
static void divide(const struct importance_entry *entry, float *sums, size_t n, float count)
{
    for (size_t i = 0; i < n; i++) {
        if (count > 0)
            sums[i] /= count;
        else if (entry->counts > 0)
            sums[i] = 1;
    }
}

/* Reads weights, of which there are `size` bytes in memory, and checks them. */
static enum dti_status read_weights(const struct dti_importance *importance,
                                    const struct importance_entry *entry, float *to,
                                    struct dti_error *reterr)
{
    const size_t matrices = (size_t)(entry->counts > 0 ? entry->counts : 1);
    const size_t count = (size_t)entry->values, each = count / matrices;
    float number = entry->calls;
    enum dti_status status = read_floats(entry->input, entry->sums_at, to, count, reterr);
    for (size_t i = 0; i < matrices && status == DTI_OK; i++) {
        if (entry->counts > 0)
            status = read_floats(entry->counts_input, entry->counts_at + i * sizeof number, &number,
                                 1, reterr);
        divide(entry, to + i * each, each, number);
    }
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (!(to[i] >= 0 && to[i] <= FLT_MAX))
            status = refuse_entry(importance, entry->name, entry->name_length,
                                  "has a weight that is negative, infinite or NaN", reterr);
    }
    return status;
}

enum dti_status dti_importance_read(const struct dti_importance *importance,
                                    const struct dti_tensor *of, struct dti_pool *pool,
                                    const float **ret, struct dti_error *reterr)
{
    const uint64_t rows = of->rank > 1 ? of->shape[of->rank - 2] : 1;
    char path[DTI_QUOTE_SIZE];
    size_t at;
    *ret = NULL;
    if (of->elements == 0 ||
        !dti_name_order_find(&importance->order, of->name, of->name_length, &at))
        return DTI_OK;
    const struct importance_entry *const entry = &importance->entries[at];
    if (entry->values != of->elements / rows)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has %llu weights for tensor %s, whose matrices have %llu columns "
                        "together",
                        dti_quote(path, importance->path, strlen(importance->path)),
                        (unsigned long long)entry->values, DTI_QUOTED(of->name, of->name_length),
                        (unsigned long long)(of->elements / rows));
    float *const weights = entry->values <= SIZE_MAX / sizeof(float)
                               ? dti_pool_array(pool, (size_t)entry->values, sizeof *weights)
                               : NULL;
    if (!weights)
        return dti_no_memory(reterr);
    *ret = weights;
    return read_weights(importance, entry, weights, reterr);
}
