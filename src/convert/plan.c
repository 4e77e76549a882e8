/* SPDX-License-Identifier: MIT
 *
 * Compiles a request to a plan: the stages of the cast, how the loss is computed, and the
 * kernels of each stage (which hub format the source decodes to, and how the hub is encoded).
 * Each stage rounds once. A preceding rounding to odd is harmless, because the final rounding
 * cannot detect it (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
 * algorithms using rounding to odd", IEEE TC 57(4), 2008). */
#include "convert/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/device_parts.h"
#include "convert/plan_parts.h"
#include "util/run/allocate.h"

enum hub { HUB_NONE, HUB32, HUB64, HUB_I64, HUB_U64 };

static const struct dti_layout bare = {.packing = DTI_PACKING_BYTES, .swapped = false};
static const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};

static unsigned container_bits(const struct dti_format *format)
{
    return dti_format_stored_bits(format, &bare);
}

static struct dti_plan_parameters *new_parameters(struct dti_composer *c)
{
    struct dti_plan_parameters *const parameters = dti_calloc(1, sizeof *parameters);
    if (!parameters) {
        c->no_memory = true;
        return NULL;
    }
    parameters->next = *c->parameters;
    *c->parameters = parameters;
    return parameters;
}

/* Returns false also if no kernel supports it: see compose_stage(). */
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

/* Integer to integer goes through an integer hub; everything else through the smallest hub that
 * holds the source and can encode the destination. */
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

/* Decodes codes to the hub; *ret_done: whether that needed a step, after which NaNs are quiet. */
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
        [HUB_U64] = {DTI_UINT64, DTI_OP_COPY}, /* only uint64 itself gets here */
    };
    const struct dti_format *const itself = dti_format_get(hubs[hub].itself);
    *ret_done = !dti_format_same(from, itself);
    if (!*ret_done)
        return true;
    return from->width <= 8 ? append_table(c, from, itself, &exact)
                            : append_decode(c, hubs[hub].op, from);
}

/* Whether a number of `from`, decoded to the hub, already is the right code of the hub's own
 * format. */
static bool is_harmless(const struct dti_policy *policy, const struct dti_format *from)
{
    return (policy->nan == DTI_NAN_QUIET || !dti_format_has_nan(from)) &&
           (policy->overflow != DTI_OVERFLOW_SATURATE || !dti_format_has_inf(from));
}

/* Whether one kernel of the highest level rounds fp64 to odd and to the format in one pass. */
static bool in_one_pass(const struct dti_composer *c, const struct dti_encoder *encoder)
{
    const struct dti_kernel_args none = {0}, args = {.encoder = encoder};
    const struct dti_kernel *const first =
        dti_kernel_find(DTI_OP_ODD_HUB64_HUB32, &none, c->allowed);
    const struct dti_kernel *const whole = dti_kernel_find(DTI_OP_ENCODE_HUB64, &args, c->allowed);
    return whole && whole->domain != DTI_DOMAIN_ANY && whole->level == first->level;
}

static bool encode_hub64(struct dti_composer *c, const struct dti_encoder *encoder)
{
    if (dti_encoder_takes_odd_hub32(encoder) && dti_encoder_takes_hub32(&encoder->format) &&
        !in_one_pass(c, encoder)) {
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

/* Normalises equivalent policies so that more kernels match: floats do not wrap, integers clamp
 * in one way, and integer-to-integer casts never round. */
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

/* Codes of one format to codes of another, with one rounding. */
static bool compose_stage(struct dti_composer *c, const struct dti_format *from,
                          const struct dti_stage *to)
{
    const size_t mark = c->chain->count;
    const bool integers = dti_format_is_integer(from) && dti_format_is_integer(&to->format);
    const struct dti_stage stage = plainer(from, to);
    const bool fills = from->width == container_bits(from); /* else there may be bits outside */
    if (integers && fills && dti_format_same(from, &stage.format) && from->kind != DTI_KIND_BOOL)
        return true;

    const bool table = from->width <= 8 && stage.policy.round != DTI_ROUND_STOCHASTIC;
    if (table ? append_table(c, from, &stage.format, &stage.policy) : through_hub(c, from, &stage))
        return true;
    c->chain->count = mark;
    if (c->first)
        c->decoded[DTI_LOSS_HUB32] = c->decoded[DTI_LOSS_HUB64] = false;
    return !c->no_memory && append_elements(c, from, &stage.format, &stage.policy, NULL, false);
}

/* Codes to fp32 or fp64, exactly; only for formats that it can represent. */
static bool compose_numbers(struct dti_composer *c, const struct dti_format *from,
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

/* Replaces NaN codes of `format` by those that a rule stores. */
static bool compose_nan(struct dti_composer *c, const struct dti_format *format,
                        const struct dti_stack_rule *rule)
{
    const size_t at = c->chain->count;
    if (!append_elements(c, format, format, &exact, rule, false))
        return false;
    c->chain->step[at].only_nan = true;
    return true;
}

/* Casts element by element with dti_stack_cast(). */
static bool compose_rule(struct dti_composer *c, const struct dti_format *from,
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

static bool compose_load(struct dti_composer *c, const struct dti_format *format,
                         const struct dti_layout *layout)
{
    if (dti_layout_packs(format, layout)) {
        const struct dti_kernel_args args = {.bits = format->width,
                                             .high_first = layout->packing == DTI_PACKING_HIGH};
        return append(c, DTI_OP_UNPACK, &args, format->width, 8);
    }
    return !layout->swapped || append_swap(c, format);
}

/* Codes in native containers to the stored array; compose_load() is the inverse. */
static bool compose_store(struct dti_composer *c, const struct dti_format *format,
                          const struct dti_layout *layout)
{
    if (dti_layout_packs(format, layout)) {
        const struct dti_kernel_args args = {.bits = format->width,
                                             .high_first = layout->packing == DTI_PACKING_HIGH};
        return append(c, DTI_OP_PACK, &args, 8, format->width);
    }
    return !layout->swapped || append_swap(c, format);
}

/* Copies stored codes unchanged to another layout. */
static bool compose_copy(struct dti_composer *c, const struct dti_format *format,
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
    return compose_load(c, format, from) &&
           (from_packs || append_elements(c, format, format, &exact, NULL, true)) &&
           compose_store(c, format, to);
}

bool dti_request_is_copy(const struct dti_request *request)
{
    const struct dti_format *const format = &request->src;
    const struct dti_policy *const policy = &request->cast.policy;
    const bool plain = request->cast.via_count == 0 && !request->rule &&
                       dti_format_same(format, &request->cast.dst);
    const bool whole = format->kind != DTI_KIND_BOOL && format->kind != DTI_KIND_COMPLEX &&
                       (format->width <= 8 || format->width == 8 * dti_format_container(format));
    const bool changes_nan = policy->nan != DTI_NAN_QUIET && dti_format_has_nan(format);
    const bool changes_inf =
        policy->overflow == DTI_OVERFLOW_SATURATE && dti_format_has_inf(format);
    return plain && whole && !changes_nan && !changes_inf;
}

/* Whether the rule differs from its route and policies only in the code of a NaN. */
static bool changes_nan(const struct dti_request *request)
{
    const enum dti_stack_quirk quirk = request->rule->quirk;
    const struct dti_format *const dst = &request->cast.dst;
    return (quirk == DTI_STACK_QUIRK_NAN_ALL_ONES || quirk == DTI_STACK_QUIRK_NAN_POSITIVE) &&
           dst->specials == DTI_SPECIALS_IEEE && (dst->width == 8 || dst->width == 16);
}

/* Whether a stack's rule is just a route and policies, except for NaN; other rules are replayed
 * element by element. The number enters as int64 or fp64; uint64 may enter as either, so it does
 * not qualify. */
static bool rule_is_plain(const struct dti_request *request)
{
    const struct dti_stack_rule *const rule = request->rule;
    const bool either = request->src.kind == DTI_KIND_UINT && request->src.width == 64;
    return (!dti_stack_has_quirk(rule) || changes_nan(request)) && rule->unknown == 0 && !either;
}

/* The conversion to a format that holds the source is exact and needs no stage. */
static size_t rule_stages(const struct dti_request *request, struct dti_stage *stages)
{
    const struct dti_stack_rule *const rule = request->rule;
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_policy last = dti_stack_policy(rule);
    size_t count = 0;
    if (!dti_format_is_integer(&request->src) && !dti_format_fits_hub64(&request->src))
        stages[count++] = (struct dti_stage){*dti_format_get(DTI_FP64), nearest};
    const bool held = rule->route == DTI_STACK_ROUTE_FP32 && dti_format_fits_hub32(&request->src);
    if (dti_stack_via(rule) && !held)
        stages[count++] = (struct dti_stage){*dti_stack_via(rule), nearest};
    stages[count++] = (struct dti_stage){request->cast.dst, last};
    return count;
}

/* The same stages as in dti_scalar_store(). */
static size_t cast_stages(const struct dti_cast *cast, struct dti_stage *stages)
{
    for (size_t i = 0; i <= cast->via_count; i++) {
        stages[i] = (struct dti_stage){*dti_cast_stage(cast, i), cast->policy};
        stages[i].policy.round = dti_cast_round(cast, &stages[i].format);
        if (i < cast->via_count)
            stages[i].policy.stream += 2 * ((uint32_t)i + 1);
    }
    return cast->via_count + 1;
}

static bool compose_core(struct dti_composer *c, const struct dti_request *request)
{
    const struct dti_format *from = &request->src;
    struct dti_stage stages[DTI_STAGES_MAX];
    if (request->rule && !rule_is_plain(request))
        return compose_rule(c, from, &request->cast.dst, request->rule);
    const size_t count =
        request->rule ? rule_stages(request, stages) : cast_stages(&request->cast, stages);
    for (size_t i = 0; i < count; i++) {
        c->first = i == 0;
        if (!compose_stage(c, from, &stages[i]))
            return false;
        from = &stages[i].format;
    }
    return !request->rule || !changes_nan(request) ||
           compose_nan(c, &request->cast.dst, request->rule);
}

static bool compose(struct dti_plan *plan, struct dti_composer *c)
{
    const struct dti_request *const request = &plan->request;
    const struct dti_format *const dst = &request->cast.dst;
    plan->copies = dti_request_is_copy(request);
    if (plan->copies)
        return compose_copy(c, dst, &request->src_layout, &request->dst_layout);
    if (!compose_load(c, &request->src, &request->src_layout) || !compose_core(c, request))
        return false;
    plan->core_count = c->chain->count;
    if (!compose_store(c, dst, &request->dst_layout))
        return false;
    if (c->chain->count == 0) { /* integers whose stages change nothing */
        plan->core_count = 1;
        return compose_copy(c, dst, &bare, &bare);
    }
    return true;
}

static bool compose_loss(struct dti_plan *plan, struct dti_composer *c)
{
    const struct dti_request *const request = &plan->request;
    const enum dti_loss_hub hub = plan->loss_rule.hub;
    const bool wide = hub == DTI_LOSS_WIDE;
    plan->shared_count = !wide && c->decoded[hub] ? c->decoded_count[hub] : 0;
    c->first = false;
    c->chain = &plan->source;
    if (!compose_load(c, &request->src, &request->src_layout) ||
        (!wide && !compose_numbers(c, &request->src, hub)))
        return false;
    c->chain = &plan->stored;
    if (!wide && !compose_numbers(c, &request->cast.dst, hub))
        return false;
    c->chain = &plan->copy;
    return compose_copy(c, &request->cast.dst, &bare, &bare);
}

/* A kernel that casts the source's numbers, or whose results are the numbers, can count the loss
 * in the same pass. */
static void find_cast_loss(struct dti_plan *plan)
{
    if (plan->copies || plan->core_count == 0 || plan->request.flags ||
        plan->loss_rule.hub == DTI_LOSS_WIDE || (plan->shared_count == 0 && plan->source.count > 0))
        return;
    const unsigned bits = plan->loss_rule.hub == DTI_LOSS_HUB32 ? 32 : 64;
    const struct dti_step *const last = &plan->chain.step[plan->core_count - 1];
    const struct dti_step *const back = &plan->stored.step[0];
    const bool keeps =
        plan->stored.count == 0 && last->dst_bits == bits && plan->shared_count == plan->core_count;
    const bool rounds = plan->stored.count == 1 && back->kernel &&
                        plan->shared_count + 1 == plan->core_count && last->src_bits == bits;
    if (!last->kernel || !(keeps || rounds))
        return;
    plan->cast_loss = dti_loss_cast_find(last->kernel, &last->args);
    plan->loss_cast = (struct dti_loss_cast){.kernel = last->kernel,
                                             .args = &last->args,
                                             .source_bytes = last->src_bits / 8,
                                             .code_bytes = last->dst_bits / 8,
                                             .back = rounds ? back->kernel : NULL,
                                             .back_args = rounds ? &back->args : NULL};
}

static void init_loss_rule(struct dti_plan *plan)
{
    const struct dti_request *const request = &plan->request;
    dti_loss_rule_init_cast(&plan->loss_rule, &request->src, &request->cast, request->rule);
    /* flags raised in intermediate stages */
    if (request->flags && plan->loss_rule.cast.via_count > 0)
        plan->loss_rule.hub = DTI_LOSS_WIDE;
    plan->loss = dti_loss_kernel_find(plan->loss_rule.hub, plan->level);
}

enum dti_status dti_request_check(const struct dti_request *request, struct dti_error *reterr)
{
    const struct dti_format *complex = NULL;
    if (!dti_policy_exists(&request->cast.policy) || request->cast.via_count > DTI_VIA_MAX ||
        (unsigned)request->src_layout.packing > DTI_PACKING_BYTES ||
        (unsigned)request->dst_layout.packing > DTI_PACKING_BYTES)
        return dti_fail(reterr, DTI_USAGE, "a cast with a policy or packing that does not exist");
    if (request->src.kind == DTI_KIND_COMPLEX)
        complex = &request->src;
    for (size_t i = 0; i <= request->cast.via_count; i++) {
        if (dti_cast_stage(&request->cast, i)->kind == DTI_KIND_COMPLEX)
            complex = dti_cast_stage(&request->cast, i);
    }
    if (!complex)
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND, "arrays of %s cannot be cast; cast their parts, %s",
                    complex->name, dti_format_get(complex->component)->name);
}

enum dti_status dti_plan_new(struct dti_plan **ret_plan, const struct dti_request *request,
                             enum dti_level allowed, struct dti_error *reterr)
{
    const enum dti_status status = dti_request_check(request, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_plan *const plan = dti_calloc(1, sizeof *plan);
    if (!plan)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    plan->request = *request;
    plan->level = allowed;
    struct dti_composer composer = {
        .chain = &plan->chain, .parameters = &plan->parameters, .allowed = allowed};
    if (!request->uncounted)
        init_loss_rule(plan);
    if (!compose(plan, &composer) || (!request->uncounted && !compose_loss(plan, &composer))) {
        dti_plan_free(plan);
        return composer.no_memory ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory")
                                  : dti_fail(reterr, DTI_BUG, "no kernels for %s to %s",
                                             request->src.name, request->cast.dst.name);
    }
    if (!request->uncounted)
        find_cast_loss(plan);
    *ret_plan = plan;
    return DTI_OK;
}

void dti_plan_free(struct dti_plan *plan)
{
    struct dti_plan_parameters *next;
    if (plan)
        dti_device_plan_free(plan->device);
    for (struct dti_plan_parameters *parameters = plan ? plan->parameters : NULL; parameters;
         parameters = next) {
        next = parameters->next;
        dti_free(parameters);
    }
    dti_free(plan);
}

const struct dti_request *dti_plan_request(const struct dti_plan *plan)
{
    return &plan->request;
}

size_t dti_plan_step_count(const struct dti_plan *plan)
{
    return plan->chain.count;
}

const struct dti_step *dti_plan_step(const struct dti_plan *plan, size_t at)
{
    return &plan->chain.step[at];
}

void dti_plan_text_add(char buffer[DTI_PLAN_TEXT_SIZE], const char *name)
{
    const size_t used = strlen(buffer);
    (void)snprintf(buffer + used, DTI_PLAN_TEXT_SIZE - used, "%s%s", used > 0 ? " + " : "", name);
}

const char *dti_plan_describe(const struct dti_plan *plan, char buffer[DTI_PLAN_TEXT_SIZE])
{
    buffer[0] = '\0';
    for (size_t i = 0; i < plan->chain.count; i++) {
        const struct dti_step *const step = &plan->chain.step[i];
        const char *const name = step->kernel     ? dti_kernel_title(step->kernel->name)
                                 : step->only_nan ? "stack_nan"
                                 : step->rule     ? "stack_cast"
                                 : step->keep     ? "storage_put"
                                                  : "encode";
        dti_plan_text_add(buffer, name);
    }
    return buffer;
}

static enum dti_level chain_level(const struct dti_chain *chain, enum dti_level least)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct dti_kernel *const kernel = chain->step[i].kernel;
        if (kernel && kernel->level > least)
            least = kernel->level;
    }
    return least;
}

enum dti_level dti_plan_level(const struct dti_plan *plan, bool loss)
{
    enum dti_level level = chain_level(&plan->chain, DTI_LEVEL_SCALAR);
    if (!loss)
        return level;
    level = chain_level(&plan->source, chain_level(&plan->stored, level));
    return plan->loss && plan->loss->level > level ? plan->loss->level : level;
}

static bool same_chain(const struct dti_chain *a, const struct dti_chain *b)
{
    for (size_t i = 0; i < a->count && a->count == b->count; i++) {
        if (a->step[i].kernel != b->step[i].kernel)
            return false;
    }
    return a->count == b->count;
}

bool dti_plan_same(const struct dti_plan *a, const struct dti_plan *b, bool loss)
{
    return same_chain(&a->chain, &b->chain) &&
           (!loss || (a->loss == b->loss && same_chain(&a->source, &b->source) &&
                      same_chain(&a->stored, &b->stored) && same_chain(&a->copy, &b->copy)));
}

bool dti_plan_src_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes)
{
    return dti_format_bytes(&plan->request.src, &plan->request.src_layout, n, ret_bytes);
}

bool dti_plan_dst_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes)
{
    return dti_format_bytes(&plan->request.cast.dst, &plan->request.dst_layout, n, ret_bytes);
}
