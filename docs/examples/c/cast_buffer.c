/* SPDX-License-Identifier: MIT
 *
 * Casts numbers in memory to a dtype, and shows what was lost.
 *
 *     cast_buffer fp8_e4m3fn 0.1 1 448 500 */
#include <stdio.h>
#include <stdlib.h>

#include <dtinfo.h>

enum { NUMBERS_MAX = 64 };

int main(int argc, char **argv)
{
    if (argc < 3 || argc - 2 > NUMBERS_MAX) {
        fprintf(stderr, "usage: cast_buffer DTYPE NUMBER...\n");
        return 2;
    }
    float numbers[NUMBERS_MAX];
    const size_t count = (size_t)argc - 2;
    for (size_t i = 0; i < count; i++)
        numbers[i] = strtof(argv[i + 2], NULL);

    struct dti_error error;
    struct dti_context *context = NULL;
    struct dti_caster *to = NULL, *back = NULL;
    struct dti_cast_spec spec = {.size = sizeof spec};
    struct dti_cast_spec return_spec = {.size = sizeof return_spec};
    unsigned char codes[NUMBERS_MAX * 8];
    float stored[NUMBERS_MAX];
    struct dti_cast_report report = {.size = sizeof report};

    enum dti_status status = dti_context_new(&context, NULL, &error);
    if (status == DTI_OK)
        status = dti_format_find(context, "fp32", &spec.src, NULL, &error);
    if (status == DTI_OK)
        status = dti_format_find(context, argv[1], &spec.dst, NULL, &error);
    if (status == DTI_OK) {
        spec.dst_packing = DTI_PACKING_BYTES;
        status = dti_caster_new(&to, context, &spec, &error);
    }
    if (status == DTI_OK)
        status = dti_caster_run(to, codes, numbers, count, &report, &error);
    if (status == DTI_OK) {
        return_spec.src = spec.dst;
        return_spec.src_packing = DTI_PACKING_BYTES;
        return_spec.dst = spec.src;
        status = dti_caster_new(&back, context, &return_spec, &error);
    }
    if (status == DTI_OK)
        status = dti_caster_run(back, stored, codes, count, NULL, &error);
    if (status == DTI_OK) {
        for (size_t i = 0; i < count; i++)
            printf("%s %.9g\n", argv[i + 2], (double)stored[i]);
        printf("%llu of %llu changed, %llu out of range, SQNR %.1f dB\n",
               (unsigned long long)report.inexact, (unsigned long long)report.elements,
               (unsigned long long)report.overflowed, report.sqnr_db);
    } else {
        fprintf(stderr, "cast_buffer: %s\n", error.text);
    }
    dti_caster_free(back);
    dti_caster_free(to);
    dti_context_free(context);
    return status == DTI_OK ? 0 : 1;
}
