/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that recognise quantized tensors. All memory comes from the view's pool. */
#ifndef FILES_DEQUANT_DEQUANT_PARTS_H
#define FILES_DEQUANT_DEQUANT_PARTS_H

#include "files/config/quant_config.h"
#include "files/dequant/comfy_releases.h"
#include "files/dequant/dequant_stripes.h"
#include "files/dequant/dequant_tensor.h"
#include "files/dequant/file_dequant.h"
#include "files/lint_rule.h"
#include "files/stored/quant_names.h"
#include "util/run/memory_pool.h"

enum { DTI_DEQUANT_PARTS_MAX = 8, DTI_DEQUANT_PLANS_MAX = 16, DTI_DEQUANT_RECENT = 16 };

/* How the view shows a tensor of the file. */
enum dti_dequant_state {
    DTI_DEQUANT_PLAIN, /* as it is; patterns decide how it is processed */
    DTI_DEQUANT_PART,  /* as a part of another tensor, or replaced by that tensor */
    DTI_DEQUANT_KEPT,  /* as it is: part of a quantized tensor that --keep names, or scales of
                        * activations */
    DTI_DEQUANT_ONLY,  /* as it is: not named by --only */
};

/* What tensors that are alike share; other bytes are 0. */
struct dti_dequant_shared {
    struct dti_dequant_traits how;
    struct dti_form_traits form;
};

/* A quantized tensor that was found. There may be millions, so this is small. */
struct dti_dequant_found {
    struct dti_dequant_form form; /* first: dti_form_how() */
    struct dti_dequant_tensor how;
    struct dti_tensor *shown; /* as the view shows it: in view.tensors */
};

static inline void dti_dequant_use(struct dti_dequant_found *found,
                                   struct dti_dequant_shared *shared)
{
    found->form.is = &shared->form;
    found->how.is = &shared->how;
}

static inline struct dti_dequant_shared *dti_dequant_shared_of(
    const struct dti_dequant_found *found)
{
    return (struct dti_dequant_shared *)found->how.is; /* its first member */
}

/* Reasons for showing tensors as stored; each is reported with its first tensor. */
enum { DTI_DEQUANT_DOUBTS = 8 };
struct dti_dequant_ambiguities {
    size_t count;
    struct dti_dequant_reason {
        enum dti_remedy remedy;
        size_t tensors;
        const char *first;
    } list[DTI_DEQUANT_DOUBTS];
};

/* Warnings about tensors that are still read; one per kind, with the first text. */
enum { DTI_DEQUANT_WARNINGS = 4 };
struct dti_dequant_warnings {
    size_t count;
    struct dti_dequant_warning {
        const char *code, *first;
        size_t tensors;
    } list[DTI_DEQUANT_WARNINGS];
};

/* A problem that dti_lint_new() reports and that makes reading the numbers fail. */
struct dti_dequant_refusal {
    struct dti_dequant_refusal *next;
    size_t at; /* the codes tensor, or the part without codes */
    enum dti_lint_rule rule;
    enum dti_remedy remedy; /* the option that helps; NONE: none */
    const char *text;       /* begins with a tensor and its file */
};

struct dti_file_dequant {
    struct dti_file_dequant_request request;
    struct dti_container *container;               /* the file */
    struct dti_container *sibling[DTI_PART_COUNT]; /* npy files with the other parts, or NULL */
    struct dti_pool pool;
    struct dti_container view;       /* never pass it to dti_container_free() */
    struct dti_dequant_found *found; /* in a list for as many as the container has tensors, whose
                                      * rest is not touched */
    uint32_t *found_of;              /* per tensor of the container, until the view is made: 1 + the
                                      * index of the found one that replaces it; 0: none */
    const uint32_t *found_in;        /* the same per tensor of the view */
    uint32_t *lists;                 /* room for indices of parts: see struct dti_dequant_form */
    size_t lists_left;
    size_t found_count, settled; /* settled: those in the list. As many first ones of view.tensors
                                  * are theirs, until all have their place */
    bool any_found;              /* found by names */
    struct dti_dequant_counts *counts; /* of the tensors of the view; NULL: none has been read */
    struct dti_form_traits nothing;
    struct dti_dequant_form none; /* of tensors that are not quantized: with traits of nothing */
    const struct dti_dequant_tensor *last;                /* the last one prepared, or NULL */
    struct dti_block_parts *block_parts[DTI_BLOCK_COUNT]; /* created on first use */
    struct dti_plan *plans[DTI_DEQUANT_PLANS_MAX];        /* from scale dtypes to fp32 */
    size_t plan_count;
    unsigned char *states; /* per tensor of the container: enum dti_dequant_state */
    struct dti_dequant_shared *recent[DTI_DEQUANT_RECENT], *spare; /* of settled tensors; unused */
    size_t next_recent;
    struct dti_quant_names names;   /* of the container's tensors */
    struct dti_name_order metadata; /* its keys */
    bool has_config;                /* the configuration was read */
    struct dti_quant_config config;
    enum dti_status config_status; /* why it could not be read; read only once */
    struct dti_error config_error;
    struct dti_stripes stripes;
    struct dti_window scales; /* while a view is made: this one, or a transcoding of it */
    bool layout_kept;         /* tensors of read-only layouts stay as stored */
    bool torchao;             /* the file has torchao tensors: dequant_torchao.c */
    bool comfy_read;          /* dequant_layouts.h: */
    const struct dti_comfy_layers *comfy;
    size_t comfy_count[DTI_COMFY_FORMATS];      /* layers by row of comfy_releases.def */
    struct dti_dequant_ambiguities ambiguities; /* what a view for inspection leaves as stored */
    struct dti_dequant_warnings warnings;
    /* The rule of the refusal to be settled next; DTI_LINT_RULES: implied by its remedy. */
    enum dti_lint_rule refusal_rule;
    struct dti_dequant_refusal *refusals;       /* of a view for inspection: linked list, last one
                                                 * first */
    const struct dti_dequant_refusal **refused; /* per tensor of the container: the first refusal,
                                                 * or NULL */
};

/* dequant_gguf.c: a ggml block tensor of a type that is defined here. */
bool dti_dequant_is_ggml(const struct dti_container *container, size_t tensor);
enum dti_status dti_dequant_ggml(struct dti_file_dequant *dequant, size_t at,
                                 struct dti_dequant_found *ret, struct dti_error *reterr);

/* dequant_onnx.c: codes of an ONNX model that a node dequantizes. */
enum dti_status dti_dequant_onnx(struct dti_file_dequant *dequant, size_t at,
                                 struct dti_dequant_found **ret, struct dti_error *reterr);

/* dequant_find.c: finds codes with scales by their names. */
enum dti_status dti_dequant_find(struct dti_file_dequant *dequant, struct dti_error *reterr);

/* dequant_whole.c: call it afterwards. On success, all found tensors have exactly their parts, and
 * no other tensor is quantized but lacks a part. */
enum dti_status dti_dequant_whole(struct dti_file_dequant *dequant, struct dti_error *reterr);

/* Whether anything was found, or the configuration says that something is quantized. */
bool dti_dequant_is_quantized(struct dti_file_dequant *dequant);

/* By such a number; NULL: none. */
static inline struct dti_dequant_found *dti_dequant_found_by(const struct dti_file_dequant *dequant,
                                                             uint32_t number)
{
    return number > 0 ? &dequant->found[number - 1] : NULL;
}
/* The one that replaces a tensor of the container, or is one of the view; NULL: none. */
static inline struct dti_dequant_found *dti_dequant_found_at(const struct dti_file_dequant *dequant,
                                                             size_t stored)
{
    return dti_dequant_found_by(dequant, dequant->found_of[stored]);
}
static inline struct dti_dequant_found *dti_dequant_found_in(const struct dti_file_dequant *dequant,
                                                             size_t tensor)
{
    return dti_dequant_found_by(dequant, dequant->found_in[tensor]);
}

/* The next of the list, empty, with traits of its own; it is part of the list once it has been
 * settled. NULL: out of memory. */
struct dti_dequant_found *dti_dequant_found_new(struct dti_file_dequant *dequant);
/* Lets it use the traits of a tensor that was found before and has the same; from then on they are
 * not changed. */
void dti_dequant_share(struct dti_file_dequant *dequant, struct dti_dequant_found *found);
/* Fills the parts of a form, and adds up their bytes. */
enum dti_status dti_dequant_list(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_part parts[DTI_PART_COUNT],
                                 struct dti_dequant_form *ret, struct dti_error *reterr);

/* Tables and plans shared by found tensors; NULL: out of memory. */
const struct dti_block_parts *dti_dequant_block_parts(struct dti_file_dequant *dequant,
                                                      const struct dti_block_format *block);
const struct dti_plan *dti_dequant_scale_plan(struct dti_file_dequant *dequant,
                                              const struct dti_format *format,
                                              const struct dti_layout *layout);

/* The plan from fp32 to a format. */
const struct dti_plan *dti_dequant_narrow_plan(struct dti_file_dequant *dequant,
                                               const struct dti_format *format);

/* dequant_notes.c: decides what happens to tensor `at`, given the result of examining it: found, or
 * NULL, replaces it. In a view for inspection, a refused tensor stays as stored. */
enum dti_status dti_dequant_settle(struct dti_file_dequant *dequant, size_t at,
                                   enum dti_status status, const struct dti_error *error,
                                   struct dti_dequant_found *found, struct dti_error *reterr);
/* Adds a warning of this code, one of at most DTI_DEQUANT_WARNINGS kinds; the text begins with a
 * part of the tensor with these codes. */
enum dti_status dti_dequant_warn(struct dti_file_dequant *dequant, size_t tensor,
                                 enum dti_lint_rule rule, const char *code,
                                 struct dti_error *reterr, const char *format, ...)
    DTI_PRINTF(6, 7);
/* Fills the notes of a view: those of the container, then its own. */
enum dti_status dti_dequant_notes(struct dti_file_dequant *dequant, struct dti_error *reterr);

/* The state of a tensor of the view. */
enum dti_dequant_state dti_dequant_state_of(const struct dti_file_dequant *dequant, size_t tensor);
/* Whether a pattern matches the name of a part that the view hides, or of a tensor that it did not
 * create. */
bool dti_dequant_fits(const struct dti_file_dequant *dequant, const char *pattern, size_t length);

#endif
