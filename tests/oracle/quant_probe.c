/* SPDX-License-Identifier: MIT
 *
 * Quantization probe for the oracle tests: runs the definition. A request is a line followed by
 * 32-bit words; the answer consists of words only, all in native byte order:
 *
 *   affine CODE LOW HIGH DIVISION SPECIALS SCALE ZERO N          N fp32 -> N x (code, what)
 *   affine_back CODE SCALE ZERO N                                N codes -> N fp32
 *   choose CODE SYMMETRY ZERO-RULE N        N x (min, max) -> N x (scale, zero point, low, high)
 *   block FORMAT RULE DIVISION TENSOR-SCALE LENGTH N
 *                       N x LENGTH fp32 -> N x (amax, scale, clipped, special, LENGTH codes)
 *   block_back FORMAT TENSOR-SCALE N                            N x (scale, code) -> N fp32
 *   tensor_scale RULE N                                         N fp32 -> N fp32
 *
 * CODE is a dtype's name; DIVISION, SPECIALS, SYMMETRY, ZERO-RULE and RULE (of the format's
 * family) are indices into their enums; scales are fp32 codes in hexadecimal. what: 1 clipped, 2
 * special. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/block/quant.h"
#include "request.h"

enum { LINE = 256 };

static uint32_t *words, *answers;
static size_t answer_count;

static void put(uint32_t answer)
{
    answers[answer_count++] = answer;
}

/* Reads `count` words; an answer has at most `most` of them. */
static void read_words(size_t count, size_t most)
{
    free(words);
    free(answers);
    words = malloc((count + 1) * sizeof *words);
    answers = malloc((most + 1) * sizeof *answers);
    answer_count = 0;
    if (!words || !answers || fread(words, sizeof *words, count, stdin) != count)
        exit(1);
}

static size_t size_word(struct request *rq, size_t i)
{
    return (size_t)number_word(rq, i, 10);
}

static int32_t int_word(struct request *rq, size_t i)
{
    return (int32_t)strtol(word(rq, i), NULL, 10);
}

static void do_affine(struct request *rq)
{
    const size_t n = size_word(rq, 8);
    const struct dti_affine affine = {.code = *format_word(rq, 1),
                                      .low = int_word(rq, 2),
                                      .high = int_word(rq, 3),
                                      .division = (enum dti_quant_division)int_word(rq, 4),
                                      .specials = (enum dti_quant_specials)int_word(rq, 5)};
    const struct dti_affine_scale scale = {(uint32_t)number_word(rq, 6, 16), int_word(rq, 7)};
    read_words(n, 2 * n);
    for (size_t i = 0; i < n; i++) {
        struct dti_quantized_number quantized;
        dti_affine_quantize(&affine, &scale, words[i], &quantized);
        put(quantized.code);
        put((quantized.clipped ? 1u : 0u) | (quantized.special ? 2u : 0u));
    }
}

static void do_affine_back(struct request *rq)
{
    const size_t n = size_word(rq, 4);
    const struct dti_affine affine = {.code = *format_word(rq, 1)};
    const struct dti_affine_scale scale = {(uint32_t)number_word(rq, 2, 16), int_word(rq, 3)};
    read_words(n, n);
    for (size_t i = 0; i < n; i++)
        put(dti_affine_dequantize(&affine, &scale, words[i]));
}

static void do_choose(struct request *rq)
{
    const size_t n = size_word(rq, 4);
    struct dti_affine_recipe recipe;
    if (!dti_affine_recipe_init(&recipe, format_word(rq, 1),
                                (enum dti_quant_symmetry)int_word(rq, 2)))
        refuse(rq, "not to be quantized to");
    recipe.zero = (enum dti_quant_zero)int_word(rq, 3);
    read_words(2 * n, 4 * n);
    for (size_t i = 0; i < n && !rq->error; i++) {
        struct dti_affine_scale scale;
        dti_affine_choose(&recipe, words[2 * i], words[2 * i + 1], &scale);
        put(scale.scale);
        put((uint32_t)scale.zero_point);
        put((uint32_t)recipe.affine.low);
        put((uint32_t)recipe.affine.high);
    }
}

static const struct dti_block_format *block_word(struct request *rq, size_t i)
{
    const struct dti_block_format *const format = dti_block_lookup(word(rq, i));
    if (!format)
        refuse(rq, "unknown block format");
    return format ? format : &dti_block_formats[0];
}

static void do_block(struct request *rq)
{
    const struct dti_block_recipe recipe = {.format = block_word(rq, 1),
                                            .mx = (enum dti_mx_scale)int_word(rq, 2),
                                            .nv = (enum dti_nv_scale)int_word(rq, 2),
                                            .division = (enum dti_quant_division)int_word(rq, 3),
                                            .tensor_scale = (uint32_t)number_word(rq, 4, 16)};
    const size_t length = size_word(rq, 5), n = size_word(rq, 6);
    if (length < 1 || length > recipe.format->length)
        refuse(rq, "bad length");
    read_words(length * n, (length + 4) * n);
    for (size_t i = 0; i < n && !rq->error; i++) {
        struct dti_quantized_block block;
        dti_block_quantize(&recipe, words + i * length, length, &block);
        put(block.amax);
        put(block.scale);
        put(block.clipped);
        put(block.special);
        for (size_t k = 0; k < length; k++)
            put(block.code[k]);
    }
}

static void do_block_back(struct request *rq)
{
    const size_t n = size_word(rq, 3);
    const struct dti_block_recipe recipe = {.format = block_word(rq, 1),
                                            .tensor_scale = (uint32_t)number_word(rq, 2, 16)};
    read_words(2 * n, n);
    for (size_t i = 0; i < n; i++)
        put(dti_block_dequantize(&recipe, words[2 * i], words[2 * i + 1]));
}

static void do_tensor_scale(struct request *rq)
{
    const enum dti_nv_scale rule = (enum dti_nv_scale)int_word(rq, 1);
    const size_t n = size_word(rq, 2);
    read_words(n, n);
    for (size_t i = 0; i < n; i++)
        put(dti_nv_tensor_scale(rule, words[i]));
}

static const struct {
    const char *name;
    void (*answer)(struct request *rq);
} verbs[] = {
    {"affine", do_affine}, {"affine_back", do_affine_back}, {"choose", do_choose},
    {"block", do_block},   {"block_back", do_block_back},   {"tensor_scale", do_tensor_scale},
};

int main(void)
{
    char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        struct request rq = {.error = "unknown request"};
        for (char *at = strtok(line, " \n"); at && rq.count < WORDS_MAX; at = strtok(NULL, " \n"))
            rq.words[rq.count++] = at;
        for (size_t i = 0; rq.count > 0 && i < sizeof verbs / sizeof verbs[0]; i++) {
            if (strcmp(rq.words[0], verbs[i].name) == 0) {
                rq.error = NULL;
                verbs[i].answer(&rq);
                break;
            }
        }
        if (rq.error) {
            fprintf(stderr, "%s: %s\n", rq.words[0], rq.error);
            return 1;
        }
        if (fwrite(answers, sizeof *answers, answer_count, stdout) != answer_count)
            return 1;
    }
    free(words);
    free(answers);
    return fflush(stdout) == 0 ? 0 : 1;
}
