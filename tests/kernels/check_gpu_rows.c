/* SPDX-License-Identifier: MIT
 *
 * The table of device kernels as a whole: every kernel that a plan can request has a row, the most
 * important casts are right for every fp32 code, and the checker detects wrong kernels. */
#include <stdio.h>
#include <string.h>

#include "check_gpu.h"

/* Every operation that the CPU kernels perform for a format has a device kernel, except that
 * formats whose precision depends on the exponent only have the table. */
bool check_gpu_find(struct check *check)
{
    static const enum dti_operation encodings[] = {DTI_OP_ENCODE_HUB32, DTI_OP_ENCODE_HUB64,
                                                   DTI_OP_ENCODE_I64, DTI_OP_ENCODE_U64};
    static const enum dti_operation decodings[] = {DTI_OP_DECODE_HUB32, DTI_OP_DECODE_HUB64,
                                                   DTI_OP_DECODE_I64};
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    for (size_t f = 0; f < count; f++) {
        const bool wanted = !dti_format_is_tapered(&formats[f]);
        struct dti_decoder decoder;
        dti_decoder_init(&decoder, &formats[f]);
        const struct dti_kernel_args decode = {.decoder = &decoder};
        for (size_t i = 0; i < 3; i++)
            if (dti_kernel_find(decodings[i], &decode, DTI_LEVEL_SCALAR) &&
                (dti_gpu_kernel_find(decodings[i], DTI_OP_COUNT, &decode, NULL) !=
                 DTI_GPU_KERNEL_COUNT) != wanted)
                check_fail(check, "device kernel for %s of %s: %s",
                           dti_operation_name(decodings[i]), formats[f].name,
                           wanted ? "none" : "unexpected");
        for (unsigned p = 0; p < ROUND_COUNT * OVERFLOW_COUNT * 4; p++) {
            const struct dti_policy policy = {.round = (enum dti_round)(p / 4 / OVERFLOW_COUNT),
                                              .overflow =
                                                  (enum dti_overflow)(p / 4 % OVERFLOW_COUNT)};
            struct dti_encoder encoder;
            dti_encoder_init(&encoder, &formats[f], &policy);
            const struct dti_kernel_args encode = {.encoder = &encoder};
            check->arrays++;
            if (dti_kernel_find(encodings[p % 4], &encode, DTI_LEVEL_SCALAR) &&
                (dti_gpu_kernel_find(encodings[p % 4], DTI_OP_COUNT, &encode, NULL) !=
                 DTI_GPU_KERNEL_COUNT) != wanted)
                check_fail(check, "device kernel for %s of %s: %s",
                           dti_operation_name(encodings[p % 4]), formats[f].name,
                           wanted ? "none" : "unexpected");
        }
    }
    return check->failures == 0;
}

enum { BLOCK = 1 << 16 };

/* Compares with the portable CPU kernel, which other tests compare with the definition. */
static bool check_all_into(struct check *check, enum dti_dtype dtype)
{
    static uint32_t source[BLOCK];
    static uint8_t got[BLOCK * 4], want[BLOCK * 4];
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_format *const dst = dti_format_get(dtype);
    const size_t bytes = BLOCK * dti_format_container(dst);
    struct dti_encoder encoder;
    dti_encoder_init(&encoder, dst, &policy);
    const struct dti_kernel_args args = {.encoder = &encoder};
    const struct dti_kernel *const cpu =
        dti_kernel_find(DTI_OP_ENCODE_HUB32, &args, DTI_LEVEL_SCALAR);
    const struct dti_kernel *const gpu =
        gpu_as_kernel(dti_gpu_kernel_find(DTI_OP_ENCODE_HUB32, DTI_OP_COUNT, &args, NULL));
    for (uint64_t base = 0; base < UINT64_C(1) << 32; base += BLOCK) {
        for (uint32_t i = 0; i < BLOCK; i++)
            source[i] = (uint32_t)base + i;
        cpu->run(&args, want, source, BLOCK);
        gpu->run(&args, got, source, BLOCK);
        check->arrays++;
        if (memcmp(got, want, bytes) != 0) {
            check_fail(check, "%s: fp32 to %s differs among codes 0x%08llx to 0x%08llx", gpu->name,
                       dst->name, (unsigned long long)base, (unsigned long long)base + BLOCK - 1);
            return false;
        }
    }
    printf("ok     %-44s every fp32 to %s\n", gpu->name, dst->name);
    return true;
}

bool check_gpu_all(struct check *check)
{
    static const enum dti_dtype matter[] = {DTI_BF16, DTI_FP16, DTI_FP8_E4M3FN, DTI_FP8_E5M2,
                                            DTI_FP8_E4M3FNUZ};
    bool passed = true;
    for (size_t i = 0; i < sizeof matter / sizeof *matter; i++)
        passed = check_all_into(check, matter[i]) && passed;
    return passed;
}

/* How a faulty launch changes a correct result. */
static enum { LAST_WRONG, FIRST_WRONG, BEYOND, FAULTS } fault;
static dti_kernel_fn *right;

static void wrong(const struct dti_kernel_args *args, void *restrict dst, const void *restrict src,
                  size_t n)
{
    uint8_t *const bytes = dst;
    const size_t size = n * args->encoder->container;
    right(args, dst, src, n);
    if (n == 0)
        return;
    if (fault == LAST_WRONG && n % 16 == 5)
        bytes[size - 1] ^= 1;
    else if (fault == FIRST_WRONG && n > DTI_TILE)
        bytes[0] ^= 1;
    else if (fault == BEYOND && n % 16 == 3)
        bytes[size] ^= 1;
}

bool check_gpu_selftest(struct check *check)
{
    static const char *const names[FAULTS] = {"last element of a tail", "first of a long array",
                                              "one byte too many"};
    struct dti_kernel row = *gpu_as_kernel(DTI_GPU_FP32_TO_BF16);
    right = row.run;
    row.run = wrong;
    for (unsigned i = 0; i < FAULTS; i++) {
        struct check trial = *check;
        trial.silent = true;
        trial.effort = EFFORT_QUICK;
        fault = i == 0 ? LAST_WRONG : i == 1 ? FIRST_WRONG : BEYOND;
        const bool caught = !check_row(&trial, &row);
        check->arrays++;
        printf("%s %s\n", caught ? "caught  " : "SURVIVED", names[i]);
        if (!caught)
            check_fail(check, "not caught: %s", names[i]);
    }
    return check->failures == 0;
}
