/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that recognise quantized tensors. All memory is from the pool of the view. */
#ifndef FILES_DEQUANT_DEQUANT_PARTS_H
#define FILES_DEQUANT_DEQUANT_PARTS_H

#include "files/config/quant_config.h"
#include "files/dequant/dequant_stripes.h"
#include "files/dequant/dequant_tensor.h"
#include "files/dequant/file_dequant.h"
#include "files/lint_rule.h"
#include "files/stored/quant_names.h"
#include "util/run/memory_pool.h"

enum { DTI_DEQUANT_PARTS_MAX = 8, DTI_DEQUANT_PLANS_MAX = 16 };

/* What a tensor of the file is in the view. */
enum dti_dequant_state {
    DTI_DEQUANT_PLAIN, /* itself, and patterns say what becomes of it */
    DTI_DEQUANT_PART,  /* in another, or its place there */
    DTI_DEQUANT_KEPT,  /* itself: of a quantized tensor that --keep names; scales of activations */
    DTI_DEQUANT_ONLY,  /* the same for those that --only does not name */
};

/* A quantized tensor that was found. */
struct dti_dequant_found {
    struct dti_tensor shown; /* as the view has it */
    struct dti_dequant_form form;
    struct dti_dequant_tensor how;
    bool symmetric; /* all zero points are in the middle: known once it was planned to be integers
                     * with groups of another layout */
    enum dti_dtype narrow; /* then: what its scales of fp32 are rounded to; DTI_NONE: they stay */
};

/* Something of the view. */
struct dti_dequant_entry {
    struct dti_dequant_found *found; /* or NULL: */
    size_t tensor;                   /* of the container */
};

/* Reasons for which tensors are shown as they are stored, each reported by its first tensor. */
enum { DTI_DEQUANT_DOUBTS = 8 };
struct dti_dequant_ambiguities {
    size_t count;
    struct dti_dequant_reason {
        enum dti_remedy remedy;
        size_t tensors;
        const char *first;
    } list[DTI_DEQUANT_DOUBTS];
};

/* What is said of tensors that are read nonetheless, by kinds, each with its first text. */
enum { DTI_DEQUANT_WARNINGS = 4 };
struct dti_dequant_warnings {
    size_t count;
    struct dti_dequant_warning {
        const char *code, *first;
        size_t tensors;
    } list[DTI_DEQUANT_WARNINGS];
};

/* What dti_lint_new() reports of them, and those who read numbers refuse. */
struct dti_dequant_refusal {
    struct dti_dequant_refusal *next;
    size_t at; /* the tensor with the codes, or the part that lacks them */
    enum dti_lint_rule rule;
    enum dti_remedy remedy; /* what the caller can say; NONE: nothing */
    const char *text;       /* begins with a tensor and its file */
};

struct dti_file_dequant {
    struct dti_file_dequant_request request;
    struct dti_container *container;              /* the file */
    struct dti_container *beside[DTI_PART_COUNT]; /* npy files with the other parts, or NULL */
    struct dti_pool pool;
    struct dti_container view;         /* never given to dti_container_free() */
    struct dti_dequant_entry *entries; /* of the view's tensors */
    size_t found_count;
    bool any_found;                                       /* by names */
    const struct dti_dequant_tensor *last;                /* that was prepared, or NULL */
    struct dti_block_parts *block_parts[DTI_BLOCK_COUNT]; /* made at their first use */
    struct dti_plan *plans[DTI_DEQUANT_PLANS_MAX];        /* of scales, to fp32 */
    size_t plan_count;
    unsigned char *states;          /* of the container's tensors: enum dti_dequant_state */
    struct dti_quant_names names;   /* of the container's tensors */
    struct dti_name_order metadata; /* its keys */
    bool has_config;                /* it was read */
    struct dti_quant_config config;
    enum dti_status config_status; /* why it could not be: read once */
    struct dti_error config_error;
    struct dti_stripes stripes;
    bool layout_kept; /* tensors of layouts that are only read stay as they are stored */
    bool torchao;     /* there are tensors of it: dequant_torchao.c */
    bool comfy_read;  /* dequant_layouts.h: */
    const struct dti_comfy_layers *comfy;
    struct dti_dequant_ambiguities
        ambiguities; /* what a view for looking at leaves as it is stored */
    struct dti_dequant_warnings warnings;
    /* What the refusal that is to be settled next is about; DTI_LINT_RULES: its remedy tells. */
    enum dti_lint_rule refusal_rule;
    struct dti_dequant_refusal *refusals;       /* of a view for looking at: the last one, and those
                                                 * before */
    const struct dti_dequant_refusal **refused; /* of the container's tensors: the first, or NULL */
};

/* dequant_gguf.c: a block tensor of ggml, of a type that has a definition here. */
bool dti_dequant_is_ggml(const struct dti_container *container, size_t tensor);
enum dti_status dti_dequant_ggml(struct dti_file_dequant *dequant, size_t tensor,
                                 struct dti_dequant_found *ret, struct dti_error *reterr);

/* dequant_onnx.c: codes of an ONNX model, of which a node makes numbers. */
enum dti_status dti_dequant_onnx(struct dti_file_dequant *dequant, size_t tensor,
                                 struct dti_dequant_found **ret, struct dti_error *reterr);

/* dequant_find.c: looks for codes with scales by their names. found[i], NULL before, becomes what
 * takes the place of tensor i. */
enum dti_status dti_dequant_find(struct dti_file_dequant *dequant, struct dti_dequant_found **found,
                                 struct dti_error *reterr);

/* dequant_whole.c: after that, what was found has all its parts and no others, and what was not is
 * no quantized tensor of which one is missing. */
enum dti_status dti_dequant_whole(struct dti_file_dequant *dequant,
                                  struct dti_dequant_found **found, struct dti_error *reterr);

/* Whether anything was found, or the configuration says that something is quantized. */
bool dti_dequant_is_quantized(struct dti_file_dequant *dequant);

/* A new one from the pool, empty; NULL: out of memory. */
struct dti_dequant_found *dti_dequant_found_new(struct dti_file_dequant *dequant);

/* The tables and plans that found tensors share; NULL: out of memory. */
const struct dti_block_parts *dti_dequant_block_parts(struct dti_file_dequant *dequant,
                                                      const struct dti_block_format *block);
const struct dti_plan *dti_dequant_scale_plan(struct dti_file_dequant *dequant,
                                              const struct dti_format *format,
                                              const struct dti_layout *layout);

/* That of fp32 to a format. */
const struct dti_plan *dti_dequant_narrow_plan(struct dti_file_dequant *dequant,
                                               const struct dti_format *format);

/* dequant_notes.c: what becomes of tensor `at`, which was looked at with this result. In a view
 * for looking at, one that is refused stays as it is stored; *found is NULL then. */
enum dti_status dti_dequant_settle(struct dti_file_dequant *dequant, size_t at,
                                   enum dti_status status, const struct dti_error *error,
                                   struct dti_dequant_found **found, struct dti_error *reterr);
/* A note of this code, one of DTI_DEQUANT_WARNINGS kinds; the text begins with a part of the tensor
 * with these codes. */
enum dti_status dti_dequant_warn(struct dti_file_dequant *dequant, size_t tensor,
                                 enum dti_lint_rule rule, const char *code,
                                 struct dti_error *reterr, const char *format, ...)
    DTI_PRINTF(6, 7);
/* The notes of a view: those of the container, then its own. */
enum dti_status dti_dequant_notes(struct dti_file_dequant *dequant, struct dti_error *reterr);

/* What a tensor of the view is. */
enum dti_dequant_state dti_dequant_state_of(const struct dti_file_dequant *dequant, size_t tensor);
/* Whether a pattern fits the name of a part that the view does not show, or of a tensor that it did
 * not make. */
bool dti_dequant_fits(const struct dti_file_dequant *dequant, const char *pattern, size_t length);

#endif
