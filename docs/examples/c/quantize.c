/* SPDX-License-Identifier: MIT
 *
 * Quantizes a matrix in memory, and shows the error of each format for the size that it takes.
 *
 *     quantize */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dtinfo.h>

enum { ROWS = 64, COLUMNS = 256 };

static float matrix[ROWS][COLUMNS];

/* Quantizes to one format and prints a line. */
static enum dti_status quantize(struct dti_context *context, const char *format, const char *per,
                                struct dti_error *error)
{
    const uint64_t shape[] = {ROWS, COLUMNS};
    const struct dti_quantize_spec spec = {
        .size = sizeof spec, .format = format, .per = per, .rank = 2, .shape = shape};
    struct dti_quantizer *quantizer = NULL;
    enum dti_status status = dti_quantizer_new(&quantizer, context, &spec, error);
    if (status != DTI_OK)
        return status;
    struct dti_quantized_sizes sizes = {.size = sizeof sizes};
    dti_quantizer_sizes(quantizer, &sizes);
    struct dti_quantized parts = {.size = sizeof parts,
                                  .codes = malloc(sizes.codes + 1),
                                  .scales = malloc(sizes.scales + 1),
                                  .zero_points = malloc(sizes.zero_points + 1)};
    struct dti_quantize_report report = {.size = sizeof report};
    if (parts.codes != NULL && parts.scales != NULL && parts.zero_points != NULL)
        status = dti_quantizer_run(quantizer, matrix, &parts, &report, error);
    if (status == DTI_OK)
        printf("%-10s %6.2f bits a weight, SQNR %5.2f dB\n", format,
               8.0 * (double)(sizes.codes + sizes.scales + sizes.zero_points) / (ROWS * COLUMNS),
               report.sqnr_db);
    free(parts.zero_points);
    free(parts.scales);
    free(parts.codes);
    dti_quantizer_free(quantizer);
    return status;
}

int main(void)
{
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            matrix[row][column] = (float)(sin(row * 7.0 + column * 3.0) / (1 + column % 5));

    struct dti_error error;
    struct dti_context *context = NULL;
    enum dti_status status = dti_context_new(&context, NULL, &error);
    if (status == DTI_OK)
        status = quantize(context, "int8", "channel", &error);
    if (status == DTI_OK)
        status = quantize(context, "mxfp8_e4m3", NULL, &error);
    if (status == DTI_OK)
        status = quantize(context, "nvfp4", NULL, &error);
    if (status == DTI_OK)
        status = quantize(context, "q4_k", NULL, &error);
    if (status != DTI_OK)
        fprintf(stderr, "quantize: %s\n", error.text);
    dti_context_free(context);
    return status == DTI_OK ? 0 : 1;
}
