/* SPDX-License-Identifier: MIT
 *
 * The table of rows of kernels.def, and row selection: the first match. */
#include "kernels/kernel.h"

#include <string.h>

#include "kernels/kernels.h"
#include "kernels/policy_words.h"

const struct dti_kernel dti_kernels[] = {
#define KERNEL(function, operation, domain_, rounds_, overflows_, level_) \
    {.name = #function,                                                   \
     .run = (function),                                                   \
     .op = DTI_OP_##operation,                                            \
     .domain = DTI_DOMAIN_##domain_,                                      \
     .rounds = (rounds_),                                                 \
     .overflows = (overflows_),                                           \
     .level = DTI_LEVEL_##level_},
#include "kernels/kernels.def"
#undef KERNEL
};
const size_t dti_kernel_count = sizeof dti_kernels / sizeof dti_kernels[0];

const char *dti_operation_name(enum dti_operation op)
{
    static const char *const names[DTI_OP_COUNT] = {
        [DTI_OP_TABLE] = "table",
        [DTI_OP_DECODE_HUB32] = "decode_f32",
        [DTI_OP_DECODE_HUB64] = "decode_f64",
        [DTI_OP_DECODE_I64] = "decode_i64",
        [DTI_OP_ENCODE_HUB32] = "encode_f32",
        [DTI_OP_ENCODE_HUB64] = "encode_f64",
        [DTI_OP_ENCODE_I64] = "encode_i64",
        [DTI_OP_ENCODE_U64] = "encode_u64",
        [DTI_OP_ODD_HUB64_HUB32] = "odd_f64_f32",
        [DTI_OP_ODD_I64_HUB64] = "odd_i64_f64",
        [DTI_OP_ODD_U64_HUB64] = "odd_u64_f64",
        [DTI_OP_UNPACK] = "unpack",
        [DTI_OP_PACK] = "pack",
        [DTI_OP_SWAP] = "swap",
        [DTI_OP_COPY] = "copy",
    };
    return names[op];
}

/* The format that a row's domain refers to; NULL if the operation has none. */
static const struct dti_format *subject(enum dti_operation op, const struct dti_kernel_args *args)
{
    switch (op) {
    case DTI_OP_TABLE:
        return &args->table->dst;
    case DTI_OP_DECODE_HUB32:
    case DTI_OP_DECODE_HUB64:
    case DTI_OP_DECODE_I64:
        return &args->decoder->format;
    case DTI_OP_ENCODE_HUB32:
    case DTI_OP_ENCODE_HUB64:
    case DTI_OP_ENCODE_I64:
    case DTI_OP_ENCODE_U64:
        return &args->encoder->format;
    case DTI_OP_ODD_HUB64_HUB32:
    case DTI_OP_ODD_I64_HUB64:
    case DTI_OP_ODD_U64_HUB64:
    case DTI_OP_UNPACK:
    case DTI_OP_PACK:
    case DTI_OP_SWAP:
    case DTI_OP_COPY:
    case DTI_OP_COUNT:
        break;
    }
    return NULL;
}

/* Whether the operation is defined for args at all. */
static bool operation_takes(enum dti_operation op, const struct dti_kernel_args *args,
                            const struct dti_format *format)
{
    switch (op) {
    case DTI_OP_DECODE_HUB32:
        return dti_format_fits_hub32(format);
    case DTI_OP_DECODE_HUB64:
        return dti_format_fits_hub64(format);
    case DTI_OP_DECODE_I64:
        return dti_format_is_integer(format) && format->man_bits <= 63;
    case DTI_OP_ENCODE_HUB32:
        return dti_encoder_takes_hub32(format);
    case DTI_OP_ENCODE_HUB64:
        return dti_encoder_takes_hub64(format);
    case DTI_OP_UNPACK:
    case DTI_OP_PACK:
        return args->bits >= 1 && args->bits <= 7;
    case DTI_OP_SWAP:
        return args->bits == 2 || args->bits == 4 || args->bits == 8;
    case DTI_OP_COPY:
        return args->bits >= 1;
    case DTI_OP_TABLE:
    case DTI_OP_ENCODE_I64:
    case DTI_OP_ENCODE_U64:
    case DTI_OP_ODD_HUB64_HUB32:
    case DTI_OP_ODD_I64_HUB64:
    case DTI_OP_ODD_U64_HUB64:
    case DTI_OP_COUNT:
        break;
    }
    return true;
}

/* Whether a format has the same encoding and container as a row of dtypes.def, under any name. */
static bool is_row(const struct dti_format *format, enum dti_dtype id)
{
    const struct dti_format *row = dti_format_get(id);
    return format->kind == row->kind && format->specials == row->specials &&
           format->width == row->width && format->exp_bits == row->exp_bits &&
           format->man_bits == row->man_bits && format->bias == row->bias;
}

static bool in_domain(enum dti_kernel_domain domain, const struct dti_kernel_args *args,
                      const struct dti_format *format)
{
    if (domain == DTI_DOMAIN_BITS4)
        return args->bits == 4;
    if (domain == DTI_DOMAIN_TAPERED || (format && dti_format_is_tapered(format) && !args->table))
        return domain == DTI_DOMAIN_TAPERED && format && dti_format_is_tapered(format);
    if (domain == DTI_DOMAIN_ANY)
        return true;
    if (format == NULL)
        return false;
    switch (domain) {
    case DTI_DOMAIN_FP32:
        return is_row(format, DTI_FP32);
    case DTI_DOMAIN_FP16:
        return is_row(format, DTI_FP16);
    case DTI_DOMAIN_BF16:
        return is_row(format, DTI_BF16);
    case DTI_DOMAIN_SMALL:
        return format->kind == DTI_KIND_FLOAT && format->width <= 8 && format->man_bits > 0 &&
               (int32_t)dti_low_bits(format->exp_bits) - format->bias <= 64 &&
               dti_encoder_takes_hub32(format);
    case DTI_DOMAIN_INT8:
        return is_row(format, DTI_INT8) || is_row(format, DTI_UINT8);
    case DTI_DOMAIN_INT32:
        return is_row(format, DTI_INT32) || is_row(format, DTI_UINT32);
    case DTI_DOMAIN_INT8_TO_32:
        return in_domain(DTI_DOMAIN_INT8, args, format) ||
               in_domain(DTI_DOMAIN_INT32, args, format) || is_row(format, DTI_INT16) ||
               is_row(format, DTI_UINT16);
    case DTI_DOMAIN_BYTES:
        return dti_format_container(format) <= 4;
    case DTI_DOMAIN_BITS4: /* no format */
    case DTI_DOMAIN_TAPERED:
    case DTI_DOMAIN_ANY:
        break;
    }
    return false;
}

static bool is_encoding(enum dti_operation op)
{
    return op == DTI_OP_ENCODE_HUB32 || op == DTI_OP_ENCODE_HUB64 || op == DTI_OP_ENCODE_I64 ||
           op == DTI_OP_ENCODE_U64;
}

bool dti_kernel_fits(const struct dti_kernel *kernel, enum dti_operation op,
                     const struct dti_kernel_args *args)
{
    if (kernel->op != op)
        return false;
    const struct dti_format *format = subject(op, args);
    if (!operation_takes(op, args, format) || !in_domain(kernel->domain, args, format))
        return false;
    return !is_encoding(op) || ((kernel->rounds >> args->encoder->policy.round & 1) != 0 &&
                                (kernel->overflows >> args->encoder->policy.overflow & 1) != 0);
}

const char *dti_kernel_title(const char *name)
{
    static const char prefix[] = "dti_";
    const size_t length = sizeof prefix - 1;
    return strncmp(name, prefix, length) == 0 ? name + length : name;
}

const struct dti_kernel *dti_kernel_find(enum dti_operation op, const struct dti_kernel_args *args,
                                         enum dti_level allowed)
{
    for (size_t i = 0; i < dti_kernel_count; i++)
        if (dti_level_includes(allowed, dti_kernels[i].level) &&
            dti_kernel_fits(&dti_kernels[i], op, args))
            return &dti_kernels[i];
    return NULL;
}
