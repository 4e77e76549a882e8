/* SPDX-License-Identifier: MIT
 *
 * quant for values: the numbers, what became of them in one dtype (a result), and the ways to show
 * that. */
#ifndef DTINFO_CLI_QUANT_VALUES_H
#define DTINFO_CLI_QUANT_VALUES_H

#include "cli/quant/quant_args.h"
#include "dtinfo/json.h"
#include "dtinfo/loss_summary.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

/* A number as given. */
struct quant_number {
    size_t text, length; /* its place among the texts */
    uint32_t x;          /* fp32 code */
    bool rounded;        /* x is another number */
};
struct quant_numbers {
    struct dti_buffer texts;
    struct quant_number *list;
    size_t count, capacity;
    size_t rounded; /* how many were */
};

struct quant_element {
    uint32_t code, back; /* back: fp32 code */
    bool clipped, special;
};
/* What shares a scale: all values, --block N of them, or a block. */
struct quant_group {
    size_t first, count;
    bool has_range;    /* affine, not with --scale */
    uint32_t min, max; /* affine: fp32 codes, widened to hold zero where there is a zero point */
    uint32_t seen_min, seen_max; /* before that */
    struct dti_affine_scale affine;
    uint32_t amax, scale;            /* blocks: fp32 code, code of the scale's dtype */
    size_t finite, clipped, special; /* finite: of affine groups */
};
struct quant_result {
    const struct quant_target *target;
    const struct quant_numbers *numbers;
    struct dti_block_recipe recipe; /* blocks: with the tensor scale */
    uint32_t amax;                  /* of all finite values, fp32 code */
    struct quant_group *groups;
    size_t group_count;
    struct quant_element *elements; /* one a number */
    size_t clipped, special, inexact;
    struct dti_loss_summary loss;
    uint64_t code_bytes, scale_bytes; /* packed */
};

/* quant_operands.c */
void dti_quant_numbers_init(struct quant_numbers *ret);
void dti_quant_numbers_free(struct quant_numbers *numbers);
enum dti_status dti_quant_numbers_add(struct quant_numbers *numbers, const char *text,
                                      size_t length, struct dti_error *reterr);
/* White space or commas between them. */
enum dti_status dti_quant_numbers_read(struct quant_numbers *numbers, struct dti_error *reterr);

/* quant_result.c: quantizes all numbers. */
enum dti_status dti_quant_result_make(struct quant_result *ret, const struct quant_target *target,
                                      const struct quant_numbers *numbers,
                                      struct dti_error *reterr);
void dti_quant_result_free(struct quant_result *result);

/* quant_facts.c: what follows from a result. */
/* The group's scale as fp32 code: what element numbers are multiplied with. NaN for NaN scales. */
uint32_t dti_quant_multiplier(const struct quant_result *result, const struct quant_group *group);
/* What a code stands for, without scale and zero point. */
void dti_quant_code_number(const struct quant_target *target, uint32_t code,
                           struct dti_value *ret_value);
/* The quotient before it is rounded to a code: x / scale as the target divides, exactly for blocks.
 * False where there is none: specials, scales that are zero or NaN. */
bool dti_quant_scaled(const struct quant_result *result, const struct quant_group *group,
                      uint32_t x, struct dti_value *ret_value);
/* back - x, exactly; false when either is not finite. relative is NaN where x is zero. */
bool dti_quant_error(uint32_t x, uint32_t back, struct dti_difference *ret,
                     struct dti_buffer *exact, bool *ret_failed);
/* The group's codes as they are packed, hexadecimal; ggml: with the scale in front. */
bool dti_quant_packed(const struct quant_result *result, const struct quant_group *group, bool ggml,
                      struct dti_buffer *hex);
bool dti_quant_has_ggml(const struct quant_target *target);

/* quant_words.c */
enum { QUANT_WORDS_SIZE = 160 };
/* "symmetric, largest magnitude / 127". */
const char *dti_quant_kind_words(const struct quant_target *target, char buffer[QUANT_WORDS_SIZE]);
/* "x / scale in fp32, to nearest even". */
const char *dti_quant_division_words(const struct quant_target *target);
/* How a block's scale came to be: "floor(log2 amax) - 2". */
const char *dti_quant_scale_words(const struct quant_target *target, char buffer[QUANT_WORDS_SIZE]);
/* An fp32 number for people: integers with all digits, others with the fewest that tell it. */
const char *dti_quant_spell(char buffer[DTI_TEXT_SIZE], uint32_t code);

/* quant_human.c, quant_json.c */
enum dti_status dti_quant_human(const struct quant_args *args, const struct dti_context *cx,
                                const struct quant_result *result, struct dti_error *reterr);
/* The member "recipe": what was asked of a dtype. */
void dti_quant_json_recipe(struct dti_json *json, const struct quant_target *target);
/* A document of all results: begun, given one after the other, ended. With --jsonl each result is a
 * document: dti_quant_json_result() does it all. */
void dti_quant_json_begin(struct dti_json *json, const struct quant_args *args);
enum dti_status dti_quant_json_result(struct dti_json *json, const struct quant_args *args,
                                      const struct dti_context *cx,
                                      const struct quant_result *result, struct dti_error *reterr);
enum dti_status dti_quant_json_end(struct dti_json *json, const struct dti_context *cx,
                                   const struct quant_target *targets, size_t count,
                                   struct dti_error *reterr);

#endif
