/* SPDX-License-Identifier: MIT
 *
 * The view of a file whose tensors keep their layout, and in which those that loaders fuse have one
 * scale each: the largest, as a factor. So no code of a block's scale becomes larger, and none
 * overflows. vLLM takes the largest for fp8, too (requantize_with_max_scale), and so do the repairs
 * of nvfp4 at load time (vllm-project/vllm#55073, NVIDIA/TensorRT-LLM#14199).
 *
 *            the scale that is shared    what is multiplied by old scale / new scale
 *   nvfp4    that of the tensor          the scales of its blocks; codes stay as they are
 *   fp8      the only one                its codes
 *
 * Experts have one such scale for w1 and w3 of each, not one for all (vLLM fused_moe: w13 of an
 * expert). Scales of activations of a matrix become the largest, too, as vLLM has them for ModelOpt
 * and for experts. All shared scales are copied from one of the tensors: none is computed. */
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/transcode/rescale.h"
#include "files/transcode/transcode_view.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

/* Codes that are multiplied while they are read: the context of a source. */
struct rescaled_codes {
    struct dti_dequant_part part; /* open by then */
    unsigned char to[256];
};

struct reconcile {
    struct dti_file_transcode *transcode;
    struct dti_quant_names names; /* of the numbers */
    size_t own_count;             /* matrices of the user's group */
};

/* A tensor of a matrix. */
struct fused_member {
    size_t origin;
    struct dti_dequant_found *found;
    struct dti_fused_scale scale;
    struct dti_dequant_part codes; /* what is rescaled */
};
/* Those of a matrix that have a scale, in the order of its row. */
struct fused_matrix {
    size_t count;
    struct fused_member members[DTI_FUSED_MOST];
    struct dti_fused_scales scales;
    /* scales of activations: */
    size_t input_count, input_of[DTI_FUSED_MOST]; /* the member of each */
    struct dti_fused_scale inputs[DTI_FUSED_MOST];
    struct dti_fused_scales input_scales;
};

/* The indices of add_likes(). */
enum { COPIED, MADE };

static enum dti_status read_rescaled(void *context, void *buffer, size_t size, uint64_t offset,
                                     struct dti_window *window, void *scratch,
                                     struct dti_error *reterr)
{
    const struct rescaled_codes *const codes = context;
    unsigned char *const bytes = buffer;
    const enum dti_status status =
        dti_dequant_read_part(&codes->part, buffer, size, offset, reterr);
    (void)window;
    (void)scratch;
    for (size_t i = 0; i < size && status == DTI_OK; i++)
        bytes[i] = codes->to[bytes[i]];
    return status;
}

static size_t index_of(const struct dti_file_transcode *transcode, const struct dti_tensor *tensor)
{
    return (size_t)(tensor - transcode->dequant->container->tensors);
}

/* A scale that is no scale: neither larger nor smaller than others. */
static enum dti_status refuse_number(const struct dti_file_transcode *transcode, size_t tensor,
                                     struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: a scale must be a finite number above 0",
                    dti_tensor_place(transcode->dequant->container, tensor, place));
}

/* Fills a member if the tensor has a scale that its matrix must share. */
static enum dti_status look_at(const struct dti_file_transcode *transcode, size_t origin,
                               struct fused_member *ret, bool *ret_is, struct dti_error *reterr)
{
    struct dti_dequant_found *const found = dti_transcode_found(transcode, origin);
    *ret = (struct fused_member){.origin = origin, .found = found};
    *ret_is = true;
    if (!found) {
        *ret_is = false;
        return DTI_OK;
    }
    if (dti_fused_scale_of(found, &ret->scale)) {
        ret->codes = *DTI_PART_OF(&found->how, scales);
        return DTI_OK;
    }
    *ret_is = dti_transcode_is_whole_fp8(found);
    if (!*ret_is)
        return DTI_OK;
    ret->codes = *DTI_PART_OF(&found->how, codes);
    ret->scale.tensor = found->how.at.scales;
    const enum dti_status status = dti_transcode_read_scale(found, &ret->scale.stored, reterr);
    if (status == DTI_OK && !(ret->scale.stored > 0 && ret->scale.stored <= 3.4028235e38f))
        return refuse_number(transcode, ret->scale.tensor, reterr);
    return status;
}

/* Finds the scales of activations, which are floats of the same matrix multiplication. */
static enum dti_status look_at_inputs(struct dti_file_transcode *transcode,
                                      struct fused_matrix *matrix, struct dti_error *reterr)
{
    struct dti_container *const container = transcode->dequant->container;
    for (size_t i = 0; i < matrix->count; i++) {
        struct dti_transcode_input input;
        struct dti_dequant_found *const found = matrix->members[i].found;
        unsigned char raw[4];
        float stored;
        dti_transcode_find_input(transcode->dequant, found, &input);
        if (!input.there)
            continue;
        const struct dti_tensor *const tensor = &container->tensors[input.tensor];
        const struct dti_dequant_part part = {.container = container, .tensor = input.tensor};
        const enum dti_status status = dti_dequant_read_all(&part, raw, sizeof raw, reterr);
        if (status != DTI_OK)
            return status;
        const uint32_t bits = (uint32_t)dti_storage_get(tensor->format, &tensor->layout, raw, 0);
        memcpy(&stored, &bits, sizeof stored);
        if (!(stored > 0 && stored <= 3.4028235e38f))
            return refuse_number(transcode, input.tensor, reterr);
        matrix->input_of[matrix->input_count] = i;
        matrix->inputs[matrix->input_count++] = (struct dti_fused_scale){
            .divides = input.divides, .stored = stored, .tensor = input.tensor};
    }
    return DTI_OK;
}

/* Whether a list of patterns matches a tensor or one of its parts. */
static bool names(const char *list, const struct dti_dequant_found *found)
{
    bool fits = list && dti_tensor_fits(list, found->shown);
    for (size_t i = 0; list && i < DTI_PART_COUNT && !fits; i++)
        fits =
            dti_form_part(&found->form, i) && dti_tensor_fits(list, dti_form_part(&found->form, i));
    return fits;
}

static bool is_chosen(const struct dti_file_transcode *transcode,
                      const struct dti_dequant_found *found)
{
    const struct dti_file_transcode_request *const request = &transcode->request;
    return !names(request->keep, found) && (!request->only || names(request->only, found));
}

/* Whether patterns choose the whole matrix; a part of it cannot get the scale of all. */
static enum dti_status choose(const struct dti_file_transcode *transcode,
                              const struct fused_matrix *matrix, bool *ret,
                              struct dti_error *reterr)
{
    const struct dti_dequant_found *in = NULL, *out = NULL;
    for (size_t i = 0; i < matrix->count; i++) {
        const struct dti_dequant_found *const found = matrix->members[i].found;
        *(is_chosen(transcode, found) ? &in : &out) = found;
    }
    *ret = in != NULL;
    if (!in || !out)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "%s is fused with %s, which the patterns leave as it is; choose both or none",
                    DTI_QUOTED(in->shown->name, in->shown->name_length),
                    DTI_QUOTED(out->shown->name, out->shown->name_length));
}

/* Lets one tensor's bytes be those of another, whose number it shares. */
static enum dti_status share(struct dti_file_transcode *transcode,
                             const struct dti_dequant_found *found, size_t to, size_t from,
                             struct dti_error *reterr)
{
    struct dti_container *const container = transcode->dequant->container;
    const struct dti_tensor *const new = &container->tensors[from];
    const struct dti_tensor *const old = &container->tensors[to];
    if (old->format->id != new->format->id || old->layout.swapped != new->layout.swapped ||
        old->bytes != new->bytes)
        return dti_transcode_refuse_for(found, reterr, DTI_REMEDY_KEEP_MATRIX,
                                        "%s holds %s, and %s, whose number it would share, %s",
                                        DTI_QUOTED(old->name, old->name_length), old->stored_as,
                                        DTI_QUOTED(new->name, new->name_length), new->stored_as);
    transcode->entries[to].from.index = (uint32_t)from;
    return DTI_OK;
}

/* How often each code occurs; scales of blocks without those that fill up tiles. */
static enum dti_status count_codes(struct fused_member *member, uint64_t counts[256],
                                   struct dti_error *reterr)
{
    enum { AT_ONCE = 1 << 16 };
    struct dti_dequant_tensor *const how = &member->found->how;
    const bool whole = member->codes.tensor == how->at.codes;
    const uint64_t all = whole ? how->is->elements : how->is->scale_count;
    unsigned char *const raw = dti_malloc(AT_ONCE);
    enum dti_status status = raw ? dti_dequant_open(how, reterr) : dti_no_memory(reterr);
    for (uint64_t first = 0; first < all && status == DTI_OK;) {
        const size_t n = all - first < AT_ONCE ? (size_t)(all - first) : AT_ONCE;
        status = whole ? dti_dequant_read_part(DTI_PART_OF(how, codes), raw, n, first, reterr)
                       : dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL, raw, first, n,
                                                reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++)
            counts[raw[i]]++;
        first += n;
    }
    dti_free(raw);
    return status;
}

/* Each tensor has its own. */
static struct dti_transcode_verdict *verdict_of(const struct dti_file_transcode *transcode,
                                                size_t origin)
{
    struct dti_transcode_verdict *const verdicts = transcode->tensors.verdicts.items;
    return &verdicts[origin];
}

/* Gives a member the scale of another one. */
static enum dti_status rescale(struct dti_file_transcode *transcode, struct fused_member *member,
                               const struct dti_fused_scale *shared, struct dti_error *reterr)
{
    struct dti_transcode_verdict *const verdict = verdict_of(transcode, member->origin);
    struct rescaled_codes *const codes = dti_pool_alloc(&transcode->pool, sizeof *codes);
    const bool divides = shared->divides;
    struct dti_rescale table;
    uint64_t counts[256] = {0};
    if (!codes)
        return dti_no_memory(reterr);
    enum dti_status status =
        share(transcode, member->found, member->scale.tensor, shared->tensor, reterr);
    if (status == DTI_OK)
        status = count_codes(member, counts, reterr);
    if (status != DTI_OK)
        return status;
    dti_rescale_make(&table, divides ? shared->stored : member->scale.stored,
                     divides ? member->scale.stored : shared->stored);
    const struct dti_rescaled result = dti_rescale_count(&table, counts);
    codes->part = member->codes;
    memcpy(codes->to, table.to, sizeof codes->to);
    const struct dti_batch_source source = {.read = read_rescaled, .context = codes};
    struct dti_transcode_entry *const entry = &transcode->entries[member->codes.tensor];
    entry->like = MADE;
    if (!dti_shared_list_add(&transcode->tensors.sources, &source, sizeof source,
                             &entry->from.index))
        return dti_no_memory(reterr);
    verdict->lossless = result.same;
    verdict->worst = result.worst;
    return dti_transcode_require_lossless(transcode->request.lossless, member->found,
                                          verdict->blocks, verdict->lossless, reterr);
}

/* Fails if only lossless results are wanted, and activations would be quantized in another way. */
static enum dti_status require_inputs(const struct dti_file_transcode *transcode,
                                      const struct dti_fused_scale *input, struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    if (!transcode->request.lossless)
        return DTI_OK;
    return dti_fail(reterr, DTI_ANSWER_NO,
                    "%s: activations would be quantized with another scale; nothing is written",
                    dti_tensor_place(transcode->dequant->container, input->tensor, place));
}

static enum dti_status change(struct dti_file_transcode *transcode, struct fused_matrix *matrix,
                              struct dti_error *reterr)
{
    const struct dti_fused_scale shared = matrix->members[matrix->scales.largest].scale;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < matrix->count && status == DTI_OK; i++) {
        struct fused_member *const member = &matrix->members[i];
        const struct dti_dequant_tensor *const how = &member->found->how;
        const uint64_t blocks = how->is->block ? how->is->scale_count : how->is->elements;
        *verdict_of(transcode, member->origin) = (struct dti_transcode_verdict){
            .changed = true,
            .dtype = member->found->form.is->dtype,
            .blocks = blocks,
            .lossless = blocks,
        };
        if (member->scale.divides != shared.divides)
            return dti_transcode_refuse_for(member->found, reterr, DTI_REMEDY_KEEP_MATRIX,
                                            "its tensor scale is stored as a divisor, or that of a "
                                            "tensor with which it is fused, but not both");
        if (member->scale.stored != shared.stored)
            status = rescale(transcode, member, &shared, reterr);
    }
    for (size_t i = 0; i < matrix->input_count && status == DTI_OK; i++) {
        const struct dti_fused_scale *const own = &matrix->inputs[i];
        const struct dti_fused_scale *const largest = &matrix->inputs[matrix->input_scales.largest];
        if (own->divides == largest->divides && own->stored == largest->stored)
            continue;
        status = require_inputs(transcode, own, reterr);
        if (status == DTI_OK)
            status = share(transcode, matrix->members[matrix->input_of[i]].found, own->tensor,
                           largest->tensor, reterr);
    }
    return status;
}

/* Tensors of other formats, and those without such a scale, do not take part. */
static enum dti_status gather(struct dti_file_transcode *transcode,
                              const struct dti_fused_match *match, struct fused_matrix *ret,
                              struct dti_error *reterr)
{
    ret->count = ret->input_count = 0;
    for (size_t i = 0; i < match->count; i++) {
        struct fused_member member;
        bool is;
        const enum dti_status status = look_at(transcode, match->members[i], &member, &is, reterr);
        if (status != DTI_OK)
            return status;
        if (is && (ret->count == 0 ||
                   member.found->how.is->block == ret->members[0].found->how.is->block))
            ret->members[ret->count++] = member;
    }
    return ret->count > 1 ? look_at_inputs(transcode, ret, reterr) : DTI_OK;
}

static enum dti_status settle(struct dti_file_transcode *transcode,
                              const struct dti_fused_match *match, struct dti_error *reterr)
{
    struct dti_reconciled *const sums = &transcode->reconciled;
    struct dti_fused_scale scales[DTI_FUSED_MOST];
    struct fused_matrix matrix;
    bool chosen = false;
    enum dti_status status = gather(transcode, match, &matrix, reterr);
    if (status != DTI_OK || matrix.count < 2)
        return status;
    for (size_t i = 0; i < matrix.count; i++)
        scales[i] = matrix.members[i].scale;
    matrix.scales = dti_fused_scales_of(scales, matrix.count);
    matrix.input_scales = (struct dti_fused_scales){.ratio = 1};
    if (matrix.input_count > 1)
        matrix.input_scales = dti_fused_scales_of(matrix.inputs, matrix.input_count);
    dti_fused_tally_add(&sums->weights, &matrix.scales);
    if (matrix.input_count > 1)
        dti_fused_tally_add(&sums->inputs, &matrix.input_scales);
    if (!matrix.scales.differ && !matrix.input_scales.differ)
        return DTI_OK;
    status = choose(transcode, &matrix, &chosen, reterr);
    if (status != DTI_OK)
        return status;
    sums->left += !chosen;
    return chosen ? change(transcode, &matrix, reterr) : DTI_OK;
}

/* The tensors are those of the container: only where their bytes come from differs. */
static bool add_likes(struct dti_transcode_tensors *tensors)
{
    struct dti_transcode_like like;
    uint32_t at;
    memset(&like, 0, sizeof like);
    like.cast = DTI_NONE;
    like.copied = true;
    if (!dti_shared_list_share(&tensors->likes, &like, sizeof like, &at))
        return false;
    like.copied = false;
    like.made = true;
    return dti_shared_list_share(&tensors->likes, &like, sizeof like, &at);
}

/* Each tensor of the file is itself, until it is changed. */
static enum dti_status begin(struct dti_file_transcode *transcode, struct dti_error *reterr)
{
    struct dti_container *const container = transcode->dequant->container;
    const struct dti_container *const numbers = &transcode->dequant->view;
    const size_t count = container->tensor_count, all = numbers->tensor_count + count;
    struct dti_pool *const pool = &transcode->pool;
    transcode->view = *container;
    transcode->view.notes = numbers->notes;
    transcode->view.note_count = numbers->note_count;
    transcode->entries = dti_pool_array(pool, count + 1, sizeof *transcode->entries);
    transcode->wholes = dti_pool_array(pool, count + 1, sizeof *transcode->wholes);
    transcode->outcomes = dti_pool_array(pool, all + 1, sizeof *transcode->outcomes);
    transcode->tensors.verdicts.items = dti_calloc(all + 1, sizeof(struct dti_transcode_verdict));
    if (!transcode->entries || !transcode->wholes || !transcode->outcomes ||
        !transcode->tensors.verdicts.items || !add_likes(&transcode->tensors))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        transcode->wholes[i] = SIZE_MAX;
        transcode->entries[i] =
            (struct dti_transcode_entry){.origin = (uint32_t)(numbers->tensor_count + i),
                                         .like = COPIED,
                                         .from.index = (uint32_t)i};
        const size_t own = numbers->tensor_count + i;
        transcode->outcomes[own] =
            (struct dti_transcode_outcome){.first = (uint32_t)i, .verdict = (uint32_t)own};
        *verdict_of(transcode, own) =
            (struct dti_transcode_verdict){.count = 1, .bytes = container->tensors[i].bytes};
    }
    for (size_t i = 0; i < numbers->tensor_count; i++) {
        const struct dti_dequant_found *const found = dti_transcode_found(transcode, i);
        transcode->outcomes[i] =
            (struct dti_transcode_outcome){.first = UINT32_MAX, .verdict = (uint32_t)i};
        for (size_t part = 0; found && part < DTI_PART_COUNT; part++) {
            if (dti_form_part(&found->form, part))
                transcode->wholes[index_of(transcode, dti_form_part(&found->form, part))] = i;
        }
    }
    return DTI_OK;
}

/* Assigns the parts of changed tensors, and the scales of activations that are copied, to them. */
static void end(struct dti_file_transcode *transcode)
{
    for (size_t i = 0; i < transcode->view.tensor_count; i++) {
        const size_t whole = transcode->wholes[i];
        struct dti_transcode_verdict *const verdict =
            whole == SIZE_MAX ? NULL : verdict_of(transcode, whole);
        if (!verdict || !verdict->changed)
            continue;
        transcode->entries[i].origin = (uint32_t)whole;
        if (verdict->count == 0)
            transcode->outcomes[whole].first = (uint32_t)i;
        verdict->count++;
        verdict->bytes += transcode->view.tensors[i].bytes;
    }
}

static enum dti_status settle_all(struct reconcile *job, struct dti_error *reterr)
{
    struct dti_file_transcode *const transcode = job->transcode;
    const struct dti_container *const numbers = &transcode->dequant->view;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < numbers->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &numbers->tensors[i];
        struct dti_fused_match match;
        if (dti_fused_find(transcode->request.own, &job->names, tensor->name, tensor->name_length,
                           &match) &&
            match.self == 0) {
            job->own_count += match.own;
            status = settle(transcode, &match, reterr);
        }
    }
    if (status != DTI_OK)
        return status;
    if (transcode->request.own && job->own_count == 0)
        return dti_fused_own_refuse(transcode->request.own, reterr);
    if (transcode->reconciled.weights.matrices > 0)
        return DTI_OK;
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_FUSED,
                           "%s has no fused modules with a scale for each tensor",
                           DTI_QUOTED(transcode->dequant->container->path,
                                      strlen(transcode->dequant->container->path)));
}

enum dti_status dti_transcode_reconcile(struct dti_file_transcode *transcode,
                                        struct dti_error *reterr)
{
    struct reconcile job = {.transcode = transcode};
    transcode->reconciled.weights.worst = transcode->reconciled.inputs.worst = 1;
    enum dti_status status = begin(transcode, reterr);
    if (status == DTI_OK && !dti_quant_names_init(&job.names, &transcode->dequant->view))
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = settle_all(&job, reterr);
    if (status == DTI_OK)
        end(transcode);
    dti_quant_names_free(&job.names);
    return status;
}
