/* SPDX-License-Identifier: MIT
 *
 * How one stage of a cast becomes kernels: which hub its source decodes to, and how the hub is
 * encoded. Whatever is chosen here, the number is rounded once; a rounding to odd on the way does
 * not count, since the later rounding cannot tell (Boldo and Melquiond, "Emulation of a FMA and
 * correctly rounded sums: proved algorithms using rounding to odd", IEEE TC 57(4), 2008). */
#include <stdlib.h>

#include "convert/plan_parts.h"

enum hub { HUB_NONE, HUB32, HUB64, HUB_I64, HUB_U64 };

static const struct dti_layout bare = {.packing = DTI_PACKING_BYTES, .swapped = false};
static const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};

static unsigned container_bits(const struct dti_format *format)
{
    return dti_format_stored_bits(format, &bare);
}

static struct dti_plan_parameters *new_parameters(struct dti_composer *c)
{
    struct dti_plan_parameters *const parameters = calloc(1, sizeof *parameters);
    if (!parameters) {
        c->no_memory = true;
        return NULL;
    }
    parameters->next = *c->parameters;
    *c->parameters = parameters;
    return parameters;
}

/* False, too, when no kernel does it: see dti_compose_stage(). */
static bool append(struct dti_composer *c, enum dti_operation op,
                   const struct dti_kernel_args *args, unsigned src_bits, unsigned dst_bits)
{
    const struct dti_kernel *const kernel = dti_kernel_find(op, args, c->allowed);
    if (!kernel || c->chain->count == DTI_STEPS_MAX)
        return false;
    c->chain->step[c->chain->count++] = (struct dti_step){
        .kernel = kernel, .args = *args, .src_bits = src_bits, .dst_bits = dst_bits};
    return true;
}

static bool append_elements(struct dti_composer *c, const struct dti_format *from,
                            const struct dti_format *to, const struct dti_policy *policy,
                            const struct dti_stack_rule *rule, bool keep)
{
    if (c->chain->count == DTI_STEPS_MAX)
        return false;
    c->chain->step[c->chain->count++] = (struct dti_step){.src_bits = container_bits(from),
                                                          .dst_bits = container_bits(to),
                                                          .src = *from,
                                                          .dst = *to,
                                                          .policy = *policy,
                                                          .rule = rule,
                                                          .keep = keep};
    return true;
}

static bool append_table(struct dti_composer *c, const struct dti_format *from,
                         const struct dti_format *to, const struct dti_policy *policy)
{
    struct dti_plan_parameters *const parameters = new_parameters(c);
    if (!parameters)
        return false;
    dti_code_table_init(&parameters->as.table, from, to, policy);
    const struct dti_kernel_args args = {.table = &parameters->as.table};
    return append(c, DTI_OP_TABLE, &args, 8, container_bits(to));
}

static bool append_decode(struct dti_composer *c, enum dti_operation op,
                          const struct dti_format *from)
{
    struct dti_plan_parameters *const parameters = new_parameters(c);
    if (!parameters)
        return false;
    dti_decoder_init(&parameters->as.decoder, from);
    const struct dti_kernel_args args = {.decoder = &parameters->as.decoder};
    return append(c, op, &args, container_bits(from), op == DTI_OP_DECODE_HUB32 ? 32 : 64);
}

static bool append_encode(struct dti_composer *c, enum dti_operation op,
                          const struct dti_encoder *encoder)
{
    const struct dti_kernel_args args = {.encoder = encoder};
    return append(c, op, &args, op == DTI_OP_ENCODE_HUB32 ? 32 : 64,
                  container_bits(&encoder->format));
}

static bool is_wide_integer(const struct dti_format *format)
{
    return format->width == 64 && dti_format_is_integer(format);
}

/* Integers meet integer destinations as integers, floats where the smallest hub is that holds them
 * and reaches the destination. */
static enum hub choose_hub(const struct dti_format *from, const struct dti_format *to)
{
    const bool integer = dti_format_is_integer(from);
    const enum hub integers =
        !integer ? HUB_NONE
                 : (is_wide_integer(from) && from->kind == DTI_KIND_UINT ? HUB_U64 : HUB_I64);
    if (is_wide_integer(from) || (integer && dti_format_is_integer(to)))
        return integers;
    if (dti_format_fits_hub32(from) && dti_encoder_takes_hub32(to))
        return HUB32;
    if (dti_format_fits_hub64(from) && dti_encoder_takes_hub64(to))
        return HUB64;
    return integers;
}

/* Codes into the hub; *ret_done is whether a step did it, after which NaNs are quiet. */
static bool decode(struct dti_composer *c, const struct dti_format *from, enum hub hub,
                   bool *ret_done)
{
    static const struct {
        enum dti_dtype itself;
        enum dti_operation op;
    } hubs[] = {
        [HUB32] = {DTI_FP32, DTI_OP_DECODE_HUB32},
        [HUB64] = {DTI_FP64, DTI_OP_DECODE_HUB64},
        [HUB_I64] = {DTI_INT64, DTI_OP_DECODE_I64},
        [HUB_U64] = {DTI_UINT64, DTI_OP_COPY}, /* only uint64 itself comes this way */
    };
    const struct dti_format *const itself = dti_format_get(hubs[hub].itself);
    *ret_done = !dti_format_same(from, itself);
    if (!*ret_done)
        return true;
    return from->width <= 8 ? append_table(c, from, itself, &exact)
                            : append_decode(c, hubs[hub].op, from);
}

/* Whether a number of `from` that the hub holds needs nothing more to be a code of the hub's own
 * format. */
static bool is_harmless(const struct dti_policy *policy, const struct dti_format *from)
{
    return (policy->nan == DTI_NAN_QUIET || !dti_format_has_nan(from)) &&
           (policy->overflow != DTI_OVERFLOW_SATURATE || !dti_format_has_inf(from));
}

static bool encode_hub64(struct dti_composer *c, const struct dti_encoder *encoder)
{
    if (dti_encoder_takes_odd_hub32(encoder) && dti_encoder_takes_hub32(&encoder->format)) {
        const struct dti_kernel_args none = {0};
        return append(c, DTI_OP_ODD_HUB64_HUB32, &none, 64, 32) &&
               append_encode(c, DTI_OP_ENCODE_HUB32, encoder);
    }
    return dti_encoder_takes_hub64(&encoder->format) &&
           append_encode(c, DTI_OP_ENCODE_HUB64, encoder);
}

static bool encode_integers(struct dti_composer *c, const struct dti_encoder *encoder, bool wide)
{
    if (dti_format_is_float(&encoder->format) && dti_encoder_takes_odd_hub64(encoder)) {
        const struct dti_kernel_args none = {0};
        const enum dti_operation op = wide ? DTI_OP_ODD_U64_HUB64 : DTI_OP_ODD_I64_HUB64;
        return append(c, op, &none, 64, 64) && encode_hub64(c, encoder);
    }
    return append_encode(c, wide ? DTI_OP_ENCODE_U64 : DTI_OP_ENCODE_I64, encoder);
}

static bool through_hub(struct dti_composer *c, const struct dti_format *from,
                        const struct dti_stage *to)
{
    const enum hub hub = choose_hub(from, &to->format);
    bool done;
    if (hub == HUB_NONE || !decode(c, from, hub, &done))
        return false;
    if (c->first && (hub == HUB32 || hub == HUB64)) {
        const enum dti_loss_hub passed = hub == HUB32 ? DTI_LOSS_HUB32 : DTI_LOSS_HUB64;
        c->decoded[passed] = true;
        c->decoded_count[passed] = c->chain->count;
    }
    const enum dti_dtype itself = hub == HUB32 ? DTI_FP32 : hub == HUB64 ? DTI_FP64 : DTI_INT64;
    if (done && dti_format_same(&to->format, dti_format_get(itself)) &&
        is_harmless(&to->policy, from))
        return true;

    struct dti_plan_parameters *const parameters = new_parameters(c);
    if (!parameters)
        return false;
    const struct dti_encoder *const encoder = &parameters->as.encoder;
    dti_encoder_init(&parameters->as.encoder, &to->format, &to->policy);
    if (hub == HUB32)
        return append_encode(c, DTI_OP_ENCODE_HUB32, encoder);
    if (hub == HUB64)
        return encode_hub64(c, encoder);
    return encode_integers(c, encoder, hub == HUB_U64);
}

/* Policies that say the same as one word, so that more kernels fit: floats do not wrap, integers
 * clamp in one way, and between integers nothing is rounded. */
static struct dti_stage plainer(const struct dti_format *from, const struct dti_stage *to)
{
    struct dti_stage stage = *to;
    enum dti_overflow *const overflow = &stage.policy.overflow;
    if (dti_format_is_float(&to->format) == (*overflow == DTI_OVERFLOW_WRAP))
        *overflow = DTI_OVERFLOW_NATIVE;
    if (dti_format_is_integer(from) && dti_format_is_integer(&to->format))
        stage.policy.round = DTI_ROUND_ZERO;
    return stage;
}

bool dti_compose_stage(struct dti_composer *c, const struct dti_format *from,
                       const struct dti_stage *to)
{
    const size_t mark = c->chain->count;
    const bool integers = dti_format_is_integer(from) && dti_format_is_integer(&to->format);
    const struct dti_stage stage = plainer(from, to);
    if (integers && dti_format_same(from, &stage.format) && from->kind != DTI_KIND_BOOL)
        return true;

    const bool table = from->width <= 8 && stage.policy.round != DTI_ROUND_STOCHASTIC;
    if (table ? append_table(c, from, &stage.format, &stage.policy) : through_hub(c, from, &stage))
        return true;
    c->chain->count = mark;
    if (c->first)
        c->decoded[DTI_LOSS_HUB32] = c->decoded[DTI_LOSS_HUB64] = false;
    return !c->no_memory && append_elements(c, from, &stage.format, &stage.policy, NULL, false);
}

bool dti_compose_numbers(struct dti_composer *c, const struct dti_format *from,
                         enum dti_loss_hub hub)
{
    bool done;
    const size_t mark = c->chain->count;
    if (decode(c, from, hub == DTI_LOSS_HUB32 ? HUB32 : HUB64, &done))
        return true;
    c->chain->count = mark;
    const enum dti_dtype itself = hub == DTI_LOSS_HUB32 ? DTI_FP32 : DTI_FP64;
    return !c->no_memory && append_elements(c, from, dti_format_get(itself), &exact, NULL, false);
}

bool dti_compose_nan(struct dti_composer *c, const struct dti_format *format,
                     const struct dti_stack_rule *rule)
{
    const size_t at = c->chain->count;
    if (!append_elements(c, format, format, &exact, rule, false))
        return false;
    c->chain->step[at].only_nan = true;
    return true;
}

bool dti_compose_rule(struct dti_composer *c, const struct dti_format *from,
                      const struct dti_format *to, const struct dti_stack_rule *rule)
{
    return append_elements(c, from, to, &exact, rule, false);
}

static bool append_swap(struct dti_composer *c, const struct dti_format *format)
{
    const unsigned bits = container_bits(format);
    const struct dti_kernel_args args = {.bits = bits / 8};
    return bits == 8 || append(c, DTI_OP_SWAP, &args, bits, bits);
}

bool dti_compose_load(struct dti_composer *c, const struct dti_format *format,
                      const struct dti_layout *layout)
{
    if (dti_layout_packs(format, layout)) {
        const struct dti_kernel_args args = {.bits = format->width,
                                             .high_first = layout->packing == DTI_PACKING_HIGH};
        return append(c, DTI_OP_UNPACK, &args, format->width, 8);
    }
    return !layout->swapped || append_swap(c, format);
}

bool dti_compose_store(struct dti_composer *c, const struct dti_format *format,
                       const struct dti_layout *layout)
{
    if (dti_layout_packs(format, layout)) {
        const struct dti_kernel_args args = {.bits = format->width,
                                             .high_first = layout->packing == DTI_PACKING_HIGH};
        return append(c, DTI_OP_PACK, &args, 8, format->width);
    }
    return !layout->swapped || append_swap(c, format);
}

bool dti_compose_copy(struct dti_composer *c, const struct dti_format *format,
                      const struct dti_layout *from, const struct dti_layout *to)
{
    const bool from_packs = dti_layout_packs(format, from), to_packs = dti_layout_packs(format, to);
    const bool fills = format->width == container_bits(format);
    const bool swaps = from->swapped != to->swapped && format->width > 8;
    if ((from_packs && to_packs && from->packing == to->packing) || (fills && !swaps)) {
        const unsigned bits = dti_format_stored_bits(format, from);
        const struct dti_kernel_args args = {.bits = bits < 8 ? 1 : bits / 8,
                                             .high_first = from->packing == DTI_PACKING_HIGH};
        return append(c, DTI_OP_COPY, &args, bits, bits);
    }
    if (fills)
        return append_swap(c, format);
    return dti_compose_load(c, format, from) &&
           (from_packs || append_elements(c, format, format, &exact, NULL, true)) &&
           dti_compose_store(c, format, to);
}
