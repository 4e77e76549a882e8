/* SPDX-License-Identifier: MIT
 *
 * Makes the view: names, shapes, conventions, and what its data need. */
#include <string.h>

#include "containers/name_order.h"
#include "files/model/model_view_parts.h"
#include "files/stored/tensor_choice.h"
#include "util/checked.h"
#include "util/json/json_read.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/glob.h"

enum {
    RANK_MAX = 4,       /* of ggml */
    FEW_ELEMENTS = 1024 /* convert.py's QUANTIZATION_THRESHOLD */
};

static const struct image_arch {
    const char *name, *fp32, *plain; /* lists of patterns; "": none */
} image_archs[] = {
#define IMAGE_ARCH(word, precise, kept) {.name = (word), .fp32 = (precise), .plain = (kept)},
#include "files/model/image_archs.def"
#undef IMAGE_ARCH
};

static const struct image_arch *image_arch_of(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof image_archs / sizeof *image_archs; i++) {
        if (dti_text_is(word, length, image_archs[i].name))
            return &image_archs[i];
    }
    return NULL;
}

bool dti_model_is_image(const char *word, size_t length)
{
    return image_arch_of(word, length) != NULL;
}

bool dti_model_names_apply(const struct dti_container *container, enum dti_model_arch arch)
{
    struct dti_model_name name;
    for (size_t i = 0; i < container->tensor_count; i++) {
        if (dti_model_name_to_gguf(&name, arch, container->tensors[i].name,
                                   container->tensors[i].name_length))
            return true;
    }
    return false;
}

/* State while a view is made. */
struct view_work {
    struct dti_model_view *made;
    const struct dti_model_view_request *request;
    const struct image_arch *image;
    struct dti_gguf_edits *edits;
    size_t nameless, first_nameless;
};

static bool fits(const char *list, const char *name, size_t length)
{
    return list[0] != '\0' && dti_glob_list_match(list, name, length);
}

/* What stays fp32, and what is not encoded. Names are those of the new file. */
static void apply_conventions(const struct view_work *work, const struct dti_tensor *tensor,
                              struct dti_model_tensor *ret)
{
    const struct image_arch *const image = work->image;
    const enum dti_dtype id = tensor->format ? tensor->format->id : DTI_NONE;
    const bool wide = id == DTI_FP32 || id == DTI_BF16;
    if (work->request->arch < DTI_MODEL_ARCHS) {
        ret->fp32 =
            tensor->format && dti_format_is_float(tensor->format) &&
            (tensor->rank <= 1 || dti_text_ends(tensor->name, tensor->name_length, "_norm.weight"));
    } else if (image) {
        ret->fp32 = wide && (tensor->rank == 1 || tensor->elements <= FEW_ELEMENTS ||
                             fits(image->fp32, tensor->name, tensor->name_length));
        ret->plain = tensor->rank != 2 || fits(image->plain, tensor->name, tensor->name_length);
    }
    ret->plain = ret->plain || ret->fp32;
}

static struct dti_model_reading *add_reading(const struct view_work *work,
                                             enum dti_model_change change)
{
    struct dti_model_reading *const reading = dti_pool_alloc(&work->made->pool, sizeof *reading);
    if (reading)
        *reading = (struct dti_model_reading){.change = change};
    return reading;
}

/* Numbers with 1 added are fp32. */
static bool make_fp32(struct dti_tensor *tensor)
{
    tensor->format = dti_format_get(DTI_FP32);
    tensor->layout = (struct dti_layout){.swapped = false};
    return dti_mul_u64(tensor->elements, sizeof(float), &tensor->bytes);
}

static enum dti_status translate(struct view_work *work, size_t at, struct dti_tensor *tensor,
                                 struct dti_model_tensor *own, struct dti_error *reterr)
{
    struct dti_model_name name;
    if (!dti_model_name_to_gguf(&name, work->request->arch, tensor->name, tensor->name_length)) {
        work->first_nameless = work->nameless++ == 0 ? at : work->first_nameless;
        return DTI_OK;
    }
    char *const text = dti_pool_text(&work->made->pool, name.text, name.length);
    if (!text)
        return dti_no_memory(reterr);
    tensor->name = text;
    tensor->name_length = (uint32_t)name.length;
    if (name.change == DTI_MODEL_SAME)
        return DTI_OK;
    if (name.change == DTI_MODEL_PLUS_ONE &&
        (!tensor->format || !dti_format_is_float(tensor->format) || tensor->format->width < 8))
        return DTI_OK; /* what cannot be read is refused later */
    own->reading = add_reading(work, name.change);
    if (!own->reading)
        return dti_no_memory(reterr);
    if (name.change == DTI_MODEL_PLUS_ONE && !make_fp32(tensor))
        return dti_fail(reterr, DTI_BAD_INPUT, "the numbers of a tensor exceed 2^64 bytes");
    return DTI_OK;
}

static const char shape_key[] = "comfy.gguf.orig_shape.";

/* Folds leading dimensions, and records the shape as ComfyUI-GGUF reads it. */
static enum dti_status fold(struct view_work *work, struct dti_tensor *tensor,
                            struct dti_model_tensor *own, struct dti_error *reterr)
{
    struct dti_gguf_edits *const edits = work->edits;
    uint64_t *const shape = dti_pool_array(&work->made->pool, RANK_MAX, sizeof *shape);
    char *const name = dti_malloc(sizeof shape_key + tensor->name_length);
    if (!shape || !name) {
        dti_free(name);
        return dti_no_memory(reterr);
    }
    memcpy(name, shape_key, sizeof shape_key - 1);
    memcpy(name + sizeof shape_key - 1, tensor->name, tensor->name_length);
    dti_gguf_edits_begin(edits, name, sizeof shape_key - 1 + tensor->name_length);
    dti_free(name);
    dti_gguf_value_array(&edits->text, DTI_GGUF_INT32, tensor->shape, tensor->rank);
    dti_gguf_edits_end(edits);
    const unsigned folded = tensor->rank - RANK_MAX;
    bool small = true;
    shape[0] = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        small = small && tensor->shape[i] <= INT32_MAX;
        if (i <= folded)
            small = dti_mul_u64(shape[0], tensor->shape[i], &shape[0]) && small;
        else
            shape[i - folded] = tensor->shape[i];
    }
    if (!small)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "tensor %s has %u dimensions, of which one is above 2^31 - 1; gguf holds 4",
                        DTI_QUOTED(tensor->name, tensor->name_length), tensor->rank);
    tensor->shape = shape;
    tensor->rank = RANK_MAX;
    own->plain = true;
    return DTI_OK;
}

static enum dti_status add(struct view_work *work, size_t at, struct dti_error *reterr)
{
    struct dti_model_view *const made = work->made;
    const char *const select = work->request->select;
    const struct dti_tensor *const source = &made->container->tensors[at];
    struct dti_tensor tensor = *source;
    struct dti_model_tensor own = {.reading = NULL};
    enum dti_status status = DTI_OK;
    struct dti_model_name other;
    if (select && !dti_tensor_fits(select, source) &&
        (work->request->arch == DTI_MODEL_ARCHS ||
         !dti_model_name_to_gguf(&other, work->request->arch, source->name, source->name_length) ||
         !dti_glob_list_match(select, other.text, other.length)))
        return DTI_OK;
    if (work->request->arch < DTI_MODEL_ARCHS &&
        dti_model_name_is_computed(source->name, source->name_length)) {
        made->computed++;
        return DTI_OK;
    }
    if (work->request->arch < DTI_MODEL_ARCHS)
        status = translate(work, at, &tensor, &own, reterr);
    if (status == DTI_OK && tensor.rank > RANK_MAX)
        status = fold(work, &tensor, &own, reterr);
    if (status != DTI_OK)
        return status;
    apply_conventions(work, &tensor, &own);
    const size_t to = made->view.tensor_count++;
    made->view.tensors[to] = tensor;
    made->places[to] = (uint32_t)at;
    made->tensors[to] = own;
    return DTI_OK;
}

/* A tensor that no file has; its place is that of a tensor which is plain numbers. */
static enum dti_status add_made(struct view_work *work, const struct dti_model_made *from,
                                struct dti_error *reterr)
{
    struct dti_model_view *const made = work->made;
    struct dti_model_reading *const reading = add_reading(work, DTI_MODEL_SAME);
    uint64_t *const shape = dti_pool_array(&made->pool, 1, sizeof *shape);
    if (!reading || !shape)
        return dti_no_memory(reterr);
    reading->made = true;
    reading->numbers = from->numbers;
    shape[0] = from->count;
    struct dti_tensor tensor = {
        .name = from->name,
        .name_length = (uint32_t)strlen(from->name),
        .stored_as = "F32",
        .rank = 1,
        .shape = shape,
        .elements = from->count,
    };
    if (!make_fp32(&tensor))
        return dti_fail(reterr, DTI_BAD_INPUT, "the numbers of a tensor exceed 2^64 bytes");
    const size_t to = made->view.tensor_count++;
    made->view.tensors[to] = tensor;
    made->places[to] = 0;
    for (size_t i = 0; i < to; i++) {
        if (made->view.tensors[i].rank == 1)
            made->places[to] = made->places[i];
    }
    made->tensors[to] = (struct dti_model_tensor){.fp32 = true, .plain = true, .reading = reading};
    return DTI_OK;
}

static enum dti_status check_names(const struct view_work *work, struct dti_error *reterr)
{
    const struct dti_model_view *const made = work->made;
    char place[DTI_TENSOR_PLACE];
    size_t again;
    if (work->nameless > 0) {
        const char *const arch = dti_model_arch_name(work->request->arch);
        dti_tensor_place(made->container, work->first_nameless, place);
        return work->nameless == 1
                   ? dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_LEAVE_OUT,
                                     "%s has no name in llama.cpp's %s", place, arch)
                   : dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_SELECT_OTHERS,
                                     "%s has no name in llama.cpp's %s (%zu such tensors)", place,
                                     arch, work->nameless);
    }
    if (!dti_names_repeated(made->view.tensors, made->view.tensor_count,
                            DTI_NAMED(struct dti_tensor, name), &again))
        return dti_no_memory(reterr);
    if (again == SIZE_MAX)
        return DTI_OK;
    const struct dti_tensor *const twice = &made->view.tensors[again];
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_LEAVE_OUT,
                           "%s and another tensor both become %s",
                           dti_tensor_place(made->container, made->places[again], place),
                           DTI_QUOTED(twice->name, twice->name_length));
}

static enum dti_status make(struct view_work *work, struct dti_error *reterr)
{
    struct dti_model_view *const made = work->made;
    const struct dti_model_view_request *const request = work->request;
    const struct dti_container *const container = made->container;
    const size_t count = container->tensor_count + request->made_count + 1;
    enum dti_status status = DTI_OK;
    made->view = *container;
    made->view.own = NULL;
    made->view.tensor_count = 0;
    made->view.stored = made->container;
    made->view.tensors = dti_pool_array(&made->pool, count, sizeof *made->view.tensors);
    made->places = dti_pool_array(&made->pool, count, sizeof *made->places);
    made->tensors = dti_pool_array(&made->pool, count, sizeof *made->tensors);
    if (!made->view.tensors || !made->places || !made->tensors)
        return dti_no_memory(reterr);
    made->view.stored_at = made->places;
    for (size_t i = 0; i < container->tensor_count && status == DTI_OK; i++)
        status = add(work, i, reterr);
    if (status == DTI_OK)
        status = check_names(work, reterr);
    if (status == DTI_OK && request->select && made->view.tensor_count == 0) {
        (void)dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_CORRECT_SELECT, "%s matches none of %zu tensors",
            DTI_QUOTED(request->select, strlen(request->select)), container->tensor_count);
        dti_error_argument(reterr, request->select, strlen(request->select));
        return DTI_USAGE;
    }
    for (size_t i = 0; i < request->made_count && status == DTI_OK; i++) {
        if (!request->select || dti_glob_list_match(request->select, request->made[i].name,
                                                    strlen(request->made[i].name)))
            status = add_made(work, &request->made[i], reterr);
    }
    return status;
}

enum dti_status dti_model_view_new(struct dti_model_view **ret, struct dti_container *container,
                                   const struct dti_model_view_request *request,
                                   struct dti_gguf_edits *edits, struct dti_error *reterr)
{
    struct dti_model_view *const made = dti_calloc(1, sizeof *made);
    if (!made)
        return dti_no_memory(reterr);
    struct view_work work = {.made = made, .request = request, .edits = edits};
    if (request->arch == DTI_MODEL_ARCHS)
        work.image = image_arch_of(request->word, request->word_length);
    made->container = container;
    made->arch = request->arch;
    made->whole = !request->select;
    made->untied = request->untied;
    const enum dti_status status = make(&work, reterr);
    if (status == DTI_OK)
        *ret = made;
    else
        dti_model_view_free(made);
    return status;
}

/* Reads an array of at most eight dimensions; metadata has no more of an array. False: it is none,
 * or not of as many elements. */
static bool read_shape(struct dti_model_view *made, const struct dti_metadata *entry,
                       struct dti_tensor *tensor)
{
    enum { MOST = 8 };
    uint64_t *const shape = dti_pool_array(&made->pool, MOST, sizeof *shape);
    struct dti_json_reader json;
    enum dti_json_token token;
    uint64_t product = 1;
    unsigned rank = 0;
    bool good = shape && entry->kind == DTI_METADATA_ARRAY && entry->count <= MOST;
    dti_json_reader_init(&json, entry->value, entry->value_length);
    good = good && dti_json_next(&json, &token) && token == DTI_JSON_ARRAY;
    while (good && dti_json_next(&json, &token) && token == DTI_JSON_NUMBER && rank < MOST)
        good = dti_json_u64(&json, &shape[rank]) && dti_mul_u64(product, shape[rank++], &product);
    dti_json_reader_free(&json);
    if (!good || rank != entry->count || product != tensor->elements)
        return false;
    tensor->shape = shape;
    tensor->rank = rank;
    return true;
}

enum dti_status dti_model_view_shapes(struct dti_model_view **ret, struct dti_container *container,
                                      const char *select, struct dti_error *reterr)
{
    enum { BEFORE = sizeof shape_key - 1 };
    const struct dti_model_view_request request = {
        .select = select, .word = "", .arch = DTI_MODEL_ARCHS};
    struct dti_gguf_edits unused;
    struct dti_name_order order;
    struct dti_model_view *made = NULL;
    bool found = false;
    *ret = NULL;
    dti_gguf_edits_init(&unused);
    enum dti_status status = dti_model_view_new(&made, container, &request, &unused, reterr);
    dti_gguf_edits_free(&unused);
    if (status != DTI_OK)
        return status;
    if (!dti_name_order_of(&order, made->view.tensors, made->view.tensor_count,
                           DTI_NAMED(struct dti_tensor, name))) {
        dti_model_view_free(made);
        return dti_no_memory(reterr);
    }
    for (size_t i = 0; i < container->metadata_count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        size_t at;
        if (entry->key_length > BEFORE && memcmp(entry->key, shape_key, BEFORE) == 0 &&
            dti_name_order_find(&order, entry->key + BEFORE, entry->key_length - BEFORE, &at))
            found = read_shape(made, entry, &made->view.tensors[at]) || found;
    }
    dti_name_order_free(&order);
    if (!found) {
        dti_model_view_free(made);
        made = NULL;
    }
    *ret = made;
    return DTI_OK;
}

struct dti_container *dti_model_view_container(struct dti_model_view *view)
{
    return &view->view;
}

size_t dti_model_view_computed(const struct dti_model_view *view)
{
    return view->computed;
}

const uint32_t *dti_model_view_places(const struct dti_model_view *view)
{
    return view->places;
}

const struct dti_tensor *dti_model_view_stored(const struct dti_model_view *view, size_t tensor)
{
    const struct dti_model_reading *const reading = view->tensors[tensor].reading;
    return reading && reading->made ? &view->view.tensors[tensor]
                                    : &view->container->tensors[view->places[tensor]];
}

bool dti_model_view_is_fp32(const struct dti_model_view *view, size_t tensor)
{
    return view->tensors[tensor].fp32;
}

bool dti_model_view_is_plain(const struct dti_model_view *view, size_t tensor)
{
    return view->tensors[tensor].plain;
}
