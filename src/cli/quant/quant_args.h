/* SPDX-License-Identifier: MIT
 *
 * The parts of the quant command: its options, what they ask for of a dtype (a target), and the
 * commands for files beside it. */
#ifndef DTINFO_CLI_QUANT_ARGS_H
#define DTINFO_CLI_QUANT_ARGS_H

#include "cli/shell/command.h"
#include "cli/shell/option.h"
#include "dtinfo/quant.h"
#include "dtinfo/quant_kernel.h"

/* --like: whose arithmetic. */
enum quant_like { QUANT_LIKE_TORCH, QUANT_LIKE_ONNX };
/* --fail-on: a set. */
enum quant_event { QUANT_CLIPPED = 1, QUANT_SPECIAL = 2, QUANT_INEXACT = 4 };
enum quant_as { QUANT_AS_NPY, QUANT_AS_SAFETENSORS };

struct quant_args {
    /* what is computed */
    const char *min, *max, *scale, *zero_point, *tensor_scale, *axis;
    int symmetry; /* enum dti_quant_symmetry */
    int division; /* enum dti_quant_division */
    int like;     /* enum quant_like */
    int mx_scale; /* enum dti_mx_scale */
    int per;      /* enum dti_quant_per */
    int nibble;   /* enum dti_block_order: DTI_BLOCK_LOW or DTI_BLOCK_HIGH */
    int fail_on;  /* set of enum quant_event */
    uint64_t block;
    uint64_t bits; /* files only */
    bool symmetry_given, division_given, like_given, mx_scale_given, per_given, nibble_given;
    bool block_given, symmetric, affine, pad;
    /* files only */
    const char *input, *output, *only, *keep, *select, *assume, *threads, *max_memory;
    int as;       /* enum quant_as */
    int layout;   /* of dti_choice_quant_layout */
    int progress; /* enum cast_progress */
    bool as_given, layout_given, bits_given, progress_given;
    bool force, lenient, dequant, dry_run;
};

/* quant_choices.c: the tables of the options. */
extern const struct dti_choice dti_choice_symmetry[];
extern const struct dti_choice dti_choice_division[];
extern const struct dti_choice dti_choice_quant_like[];
extern const struct dti_choice dti_choice_mx_scale[];
extern const struct dti_choice dti_choice_per[];
extern const struct dti_choice dti_choice_nibble[];
extern const struct dti_choice dti_choice_tensor_scale[];
extern const struct dti_choice dti_choice_quant_event[];
extern const struct dti_choice dti_choice_quant_layout[];
extern const struct dti_choice dti_choice_quant_as[];

enum quant_tensor_scale {
    QUANT_TENSOR_SCALE_AUTO,  /* from the largest magnitude */
    QUANT_TENSOR_SCALE_NONE,  /* 1 */
    QUANT_TENSOR_SCALE_GIVEN, /* scheme.blocks.tensor_scale */
};

/* One dtype, and all that the options ask of it. */
struct quant_target {
    struct dti_quant_scheme scheme; /* fixed with --scale, and with both --min and --max */
    const char *name;               /* as every command spells it; lives in the target */
    struct dti_format code;         /* the dtype whose bits a code is */
    bool has_min, has_max;          /* --min, --max as fp32 codes */
    uint32_t min, max;
    enum quant_tensor_scale tensor_scale;
    enum dti_block_order order; /* of codes below 8 bits */
    bool has_axis;    /* --axis; else the last one for blocks and groups, 0 for channels */
    int64_t axis;     /* negative: from the end */
    const char *note; /* what the spelling of the dtype deserves, or NULL */
};

enum { QUANT_TARGETS_MAX = 64 };
/* quant_target.c: "int8" or "int8,mxfp4,...": looks them up and settles what is asked of each.
 * Options that none of them takes are errors. Notes about names are said on stderr. The list is to
 * be freed. The targets point into themselves: do not copy them. */
enum dti_status dti_quant_targets_read(const struct quant_args *args, const struct dti_context *cx,
                                       const char *names, struct quant_target **ret_list,
                                       size_t *ret_count, struct dti_error *reterr);

/* quant_number.c: values of options as fp32 codes and integers; errors name the option. */
enum dti_status dti_quant_option_finite(const char *option, const char *text, uint32_t *ret_code,
                                        struct dti_error *reterr);
enum dti_status dti_quant_option_scale(const char *option, const char *text, uint32_t *ret_code,
                                       struct dti_error *reterr);
enum dti_status dti_quant_option_integer(const char *option, const char *text, int64_t lowest,
                                         int64_t highest, int64_t *ret_number,
                                         struct dti_error *reterr);

/* Whether the operands are a file's (or --input, --output, ... say so), not values. */
bool dti_quant_is_files(const struct quant_args *args, char **operands, int count);
/* An option of files that was given, or NULL. */
const char *dti_quant_file_option(const struct quant_args *args);

/* quant_values.c: `quant VALUES... DTYPE`. */
enum dti_status dti_quant_values(const struct quant_args *args, const struct dti_context *cx,
                                 char **operands, int count, struct dti_error *reterr);
/* quant_file.c: `quant FILE DTYPE -o OUT`; with --dequant the next. */
enum dti_status dti_quant_file(const struct quant_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr);
/* quant_dequant.c: `quant FILE DTYPE --dequant -o OUT`. */
enum dti_status dti_quant_dequant(const struct quant_args *args, const struct dti_context *cx,
                                  char **operands, int count, struct dti_error *reterr);

#endif
