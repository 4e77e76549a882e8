/* SPDX-License-Identifier: MIT
 *
 * Targets in GGUF files for nvfp4 and mxfp4, whose blocks hold the same codes and scales in another
 * order, and for floats that no block of ggml holds:
 *
 *   nvfp4  64 elements: 4 scales of 16, then per scale 8 bytes: codes 0 to 7 in the low nibbles,
 *          8 to 15 in the high ones. The scale of the tensor, a factor, is X.scale F32 [1] next to
 *          X.weight.
 *   mxfp4  32 elements: a scale, then 16 bytes: codes 0 to 15 in the low nibbles.
 *
 * A scale of nvfp4 has no sign and no NaN there, and one of mxfp4 no NaN.
 * Sources: ggml-common.h and ggml-quants.c of ggml; conversion/base.py of llama.cpp. */
#include "files/transcode/transcode_gguf.h"

#include "files/dequant/dequant_find.h"
#include "files/transcode/file_transcode.h"

enum {
    AT_ONCE = 1024,   /* blocks */
    CODES = 32 << 10, /* of so many; then scales */
    NV_ELEMENTS = 64, /* of a block */
    NV_SCALES = 4,    /* likewise */
    MX_ELEMENTS = 32,
    E4M3_NAN = 0x7f,
    E8M0_NAN = 0xff,
};

static const enum dti_gguf_blocks held[] = {DTI_GGUF_Q4_0, DTI_GGUF_Q4_1, DTI_GGUF_Q8_0,
                                            DTI_GGUF_MXFP4, DTI_GGUF_NVFP4};

const struct dti_gguf_type *dti_transcode_gguf_type(size_t index)
{
    return index < sizeof held / sizeof *held ? dti_gguf_type_of(held[index]) : NULL;
}

enum dti_status dti_gguf_begin(const struct dti_dequant_found *found,
                               const struct dti_gguf_type *type, struct dti_transcoded *ret,
                               struct dti_error *reterr)
{
    static const char weight[] = ".weight";
    const struct dti_tensor *const shown = found->shown;
    dti_transcode_begin(found, ret);
    const bool module = dti_quant_name_ends(shown->name, shown->name_length, weight);
    if (module)
        ret->stem_length -= sizeof weight - 1;
    struct dti_transcode_part *const part = dti_transcode_add(ret, module ? weight : "", DTI_UINT8);
    part->blocks = type;
    ret->dtype = type->word;
    dti_transcode_set_shape(found, 1, part);
    const uint64_t row = part->rank > 0 ? part->shape[part->rank - 1] : 1;
    if (row % type->elements == 0)
        return DTI_OK;
    return dti_transcode_refuse(found, reterr,
                                "its rows have %llu elements, and %s of gguf has whole blocks of "
                                "%u",
                                (unsigned long long)row, type->word, type->elements);
}

void dti_gguf_numbers(const struct dti_dequant_found *found, enum dti_dtype dtype,
                      struct dti_transcoded *ret)
{
    dti_transcode_begin(found, ret);
    struct dti_transcode_part *const part = dti_transcode_add(ret, "", dtype);
    part->numbers = true;
    dti_transcode_set_shape(found, 1, part);
    ret->dtype = dti_format_get(dtype)->name;
}

enum dti_status dti_gguf_refuse_type(const struct dti_dequant_found *found, const char *what,
                                     const char *types, struct dti_error *reterr)
{
    return dti_transcode_refuse(found, reterr,
                                "it is %s%s of %s, which becomes %s without quantizing again; "
                                "%s cannot hold its codes and scales",
                                found->form.is->dtype, what, found->form.is->layout, types,
                                dti_form_type(&found->form)->word);
}

static void swap_nibbles(unsigned char *codes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        codes[i] = (unsigned char)(codes[i] << 4 | codes[i] >> 4);
}

/* Reads the codes and scales of some blocks to memory; codes have the first of two in the low bits.
 */
static enum dti_status read_blocks(const struct dti_dequant_tensor *how, uint64_t first,
                                   size_t count, size_t elements, size_t scales,
                                   unsigned char *memory, struct dti_error *reterr)
{
    const size_t bytes = elements / 2;
    enum dti_status status = dti_dequant_read_part(DTI_PART_OF(how, codes), memory, count * bytes,
                                                   first * bytes, reterr);
    if (status == DTI_OK)
        status = dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL, memory + CODES,
                                        first * scales, count * scales, reterr);
    if (status == DTI_OK && how->is->order == DTI_BLOCK_HIGH)
        swap_nibbles(memory, count * bytes);
    return status;
}

static enum dti_status fill_nvfp4(const void *context, unsigned char *units, uint64_t first,
                                  size_t count, unsigned char *memory, struct dti_error *reterr)
{
    enum { BYTES = NV_ELEMENTS / 2, UNIT = NV_SCALES + BYTES };
    enum dti_status status = DTI_OK;
    for (size_t done = 0, n; done < count && status == DTI_OK; done += n) {
        n = count - done < AT_ONCE ? count - done : AT_ONCE;
        status = read_blocks(context, first + done, n, NV_ELEMENTS, NV_SCALES, memory, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            unsigned char *const to = units + (done + i) * UNIT;
            memcpy(to, memory + CODES + NV_SCALES * i, NV_SCALES);
            for (size_t k = 0; k < NV_SCALES; k++)
                dti_gguf_pair_halves(to + NV_SCALES + 8 * k, memory + BYTES * i + 8 * k, 4);
        }
    }
    return status;
}

static enum dti_status fill_mxfp4(const void *context, unsigned char *units, uint64_t first,
                                  size_t count, unsigned char *memory, struct dti_error *reterr)
{
    enum { BYTES = MX_ELEMENTS / 2, UNIT = 1 + BYTES };
    enum dti_status status = DTI_OK;
    for (size_t done = 0, n; done < count && status == DTI_OK; done += n) {
        n = count - done < AT_ONCE ? count - done : AT_ONCE;
        status = read_blocks(context, first + done, n, MX_ELEMENTS, 1, memory, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            unsigned char *const to = units + (done + i) * UNIT;
            to[0] = memory[CODES + i];
            dti_gguf_pair_halves(to + 1, memory + BYTES * i, 8);
        }
    }
    return status;
}
_Static_assert(AT_ONCE *(NV_ELEMENTS / 2) <= CODES &&
                   AT_ONCE * NV_SCALES + CODES <= DTI_TRANSCODE_SCRATCH,
               "codes, then scales");

/* Blocks have scales that ggml reads as others: nvfp4 with a sign or NaN, mxfp4 with NaN. */
static enum dti_status check_scales(struct dti_dequant_found *found, bool nv,
                                    struct dti_error *reterr)
{
    struct dti_dequant_tensor *const how = &found->how;
    unsigned char scales[4096];
    enum dti_status status = dti_dequant_open(how, reterr);
    for (uint64_t first = 0; first < how->is->scale_count && status == DTI_OK;) {
        const uint64_t left = how->is->scale_count - first;
        const size_t n = left < sizeof scales ? (size_t)left : sizeof scales;
        status =
            dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL, scales, first, n, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            const bool nan = nv ? (scales[i] & 0x7f) == E4M3_NAN : scales[i] == E8M0_NAN;
            const uint64_t block = first + i;
            if (nan || (nv && scales[i] > E4M3_NAN))
                status = dti_transcode_refuse(
                    found, reterr,
                    "the scale of block %llu is %s, which blocks of gguf cannot "
                    "hold",
                    (unsigned long long)block, nan ? "NaN" : "negative");
        }
        first += n;
    }
    return status;
}

/* gpt-oss: experts [E, N, K], which the view shows as [E, K, N]. */
static bool is_transposed(const struct dti_dequant_found *found)
{
    return found->how.is->matrix > 0 && found->how.is->block->id == DTI_BLOCK_MXFP4 &&
           found->shown->rank == 3 && strcmp(found->form.is->layout, "gpt-oss") == 0;
}

static enum dti_status add_mxfp4(struct dti_pool *pool, struct dti_dequant_found *found,
                                 struct dti_transcoded *ret, struct dti_error *reterr)
{
    const struct dti_gguf_type *const type = dti_gguf_type_of(DTI_GGUF_MXFP4);
    struct dti_dequant_found turned = *found;
    struct dti_tensor shown = *found->shown;
    uint64_t shape[3];
    if (is_transposed(found)) {
        shape[0] = found->shown->shape[0];
        shape[1] = found->shown->shape[2];
        shape[2] = found->shown->shape[1];
        shown.shape = shape;
        turned.shown = &shown;
    }
    enum dti_status status = dti_gguf_begin(&turned, type, ret, reterr);
    if (status == DTI_OK)
        status = check_scales(found, false, reterr);
    if (status != DTI_OK)
        return status;
    ret->blocks = ret->lossless = found->how.is->scale_count;
    const struct dti_transcode_units units = {fill_mxfp4, &found->how, type->bytes};
    return dti_transcode_set_units(pool, &ret->part[0], &units) ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status add_nvfp4(const struct dti_transcode_target *target, struct dti_pool *pool,
                                 struct dti_dequant_found *found, struct dti_transcoded *ret,
                                 struct dti_error *reterr)
{
    const struct dti_gguf_type *const type = dti_gguf_type_of(DTI_GGUF_NVFP4);
    const struct dti_dequant_tensor *const how = &found->how;
    struct dti_transcoded parts; /* as ModelOpt has them: codes, scales, the tensor's scale */
    enum dti_status status = dti_gguf_begin(found, type, ret, reterr);
    if (status == DTI_OK)
        status = check_scales(found, true, reterr);
    if (status == DTI_OK)
        status = dti_transcode_blocks(target, pool, found, &parts, reterr);
    if (status != DTI_OK)
        return status;
    ret->blocks = parts.blocks;
    ret->lossless = parts.lossless;
    ret->worst = parts.worst;
    const struct dti_transcode_units units = {fill_nvfp4, how, type->bytes};
    if (!dti_transcode_set_units(pool, &ret->part[0], &units))
        return dti_no_memory(reterr);
    if (how->tensor_scale == 1 && how->tensor_divisor == 0)
        return DTI_OK; /* what readers assume without one */
    struct dti_transcode_part *const scale = &ret->part[ret->count++];
    *scale = parts.part[parts.count - 1];
    scale->suffix = ".scale";
    scale->rank = 1;
    scale->shape[0] = 1;
    return DTI_OK;
}

/* Floats with scales that no block holds become bf16, unless another type was asked for. */
static bool is_float(const struct dti_dequant_found *found)
{
    return !found->how.is->block && found->how.is->bits == 8 &&
           dti_format_is_float(&found->how.is->affine.code);
}

static enum dti_status plan_blocks(const struct dti_transcode_target *target, struct dti_pool *pool,
                                   struct dti_dequant_found *found, struct dti_transcoded *ret,
                                   struct dti_error *reterr)
{
    const struct dti_gguf_type *const wanted = dti_form_type(&found->form);
    const struct dti_block_format *const block = found->how.is->block;
    const bool nv = block && block->id == DTI_BLOCK_NVFP4;
    const bool mx = block && block->id == DTI_BLOCK_MXFP4;
    if (is_float(found) && !wanted) {
        dti_gguf_numbers(found, DTI_BF16, ret);
        return DTI_OK;
    }
    if (wanted && !(nv && wanted->blocks == DTI_GGUF_NVFP4) &&
        !(mx && wanted->blocks == DTI_GGUF_MXFP4))
        return dti_gguf_refuse_type(found, "",
                                    nv   ? "nvfp4, fp32, fp16 or bf16"
                                    : mx ? "mxfp4, fp32, fp16 or bf16"
                                         : "fp32, fp16 or bf16",
                                    reterr);
    if (!nv && !mx)
        return dti_transcode_refuse(found, reterr,
                                    "it is %s of %s, and gguf has no blocks with such codes and "
                                    "scales",
                                    found->form.is->dtype, found->form.is->layout);
    if (!dti_transcode_has_blocks(found) && !is_transposed(found))
        return dti_transcode_refuse(found, reterr,
                                    "its blocks of %s are filled up, or not along the last axis, "
                                    "and gguf has whole ones along rows",
                                    found->form.is->dtype);
    return nv ? add_nvfp4(target, pool, found, ret, reterr) : add_mxfp4(pool, found, ret, reterr);
}

const struct dti_transcode_target dti_target_gguf_blocks = {
    .name = "gguf", .experts = true, .plan = plan_blocks};
