/* SPDX-License-Identifier: MIT
 *
 * Writes what the kernels' lanes read, for each format of the table but complex and tapered ones:
 *
 *   decoder FORMAT HEX                          the bytes of struct dti_decoder
 *   encoder FORMAT ROUND OVERFLOW NAN HEX       the bytes of struct dti_encoder under a policy
 *   takes FORMAT HUB32 HUB64 ODD32 ODD64        which hubs it may be encoded from (0 or 1)
 *   parts BLOCKS HEX                            the bytes of struct dti_block_parts */
#include <stdio.h>

#include "core/code/policies.def"
#include "core/code/taper.h"
#include "kernels/kernel.h"
#include "kernels/quant/quant_kernel.h"

static const char *const rounds[] = {
#define ROW(id, name, help) [id] = name,
    DTI_ROUNDS(ROW, ROW)};
static const char *const overflows[] = {DTI_OVERFLOWS(ROW)};
static const char *const nans[] = {DTI_NANS(ROW)};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void hex(const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", ((const unsigned char *)data)[i]);
    putchar('\n');
}

static void encoders(const struct dti_format *format, enum dti_round round)
{
    for (size_t overflow = 0; overflow < COUNT(overflows); overflow++)
        for (size_t nan = 0; nan < COUNT(nans); nan++) {
            const struct dti_policy policy = {
                .round = round, .overflow = (enum dti_overflow)overflow, .nan = (enum dti_nan)nan};
            struct dti_encoder encoder;
            dti_encoder_init(&encoder, format, &policy);
            printf("encoder %s %s %s %s ", format->name, rounds[round], overflows[overflow],
                   nans[nan]);
            hex(&encoder, sizeof encoder);
        }
}

static void takes(const struct dti_format *format)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_encoder encoder;
    dti_encoder_init(&encoder, format, &policy);
    printf("takes %s %d %d %d %d\n", format->name, dti_encoder_takes_hub32(format),
           dti_encoder_takes_hub64(format), dti_encoder_takes_odd_hub32(&encoder),
           dti_encoder_takes_odd_hub64(&encoder));
}

static void parts(const struct dti_block_format *format)
{
    const struct dti_block_recipe recipe = {.format = format, .tensor_scale = 0x3f800000};
    static struct dti_block_parts parts;
    dti_block_parts_init(&parts, &recipe);
    printf("parts %s ", format->name);
    hex(&parts, sizeof parts);
}

int main(void)
{
    for (size_t i = 0; i < dti_block_format_count; i++)
        parts(&dti_block_formats[i]);
    for (int id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *format = dti_format_get((enum dti_dtype)id);
        struct dti_decoder decoder;
        if (format->kind == DTI_KIND_COMPLEX || dti_format_is_tapered(format))
            continue;
        dti_decoder_init(&decoder, format);
        printf("decoder %s ", format->name);
        hex(&decoder, sizeof decoder);
        takes(format);
        for (size_t round = 0; round < COUNT(rounds); round++)
            encoders(format, (enum dti_round)round);
    }
    return 0;
}
