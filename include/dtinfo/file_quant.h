/* SPDX-License-Identifier: MIT
 *
 * The quantization of a container into new files: which tensors become codes and scales, how the
 * new files are laid out, the work itself, and the moment at which they take their names. Until
 * then nothing that anybody sees has changed. */
#ifndef DTINFO_FILE_QUANT_H
#define DTINFO_FILE_QUANT_H

#include "dtinfo/loss_summary.h"
#include "dtinfo/new_files.h"
#include "dtinfo/quant_layout.h"
#include "dtinfo/quant_plan.h"

/* What becomes of a tensor that is written, and why it is not quantized. */
enum dti_quant_fate {
    DTI_QUANT_FATE_QUANTIZED,
    DTI_QUANT_FATE_KEEP,    /* --keep names it */
    DTI_QUANT_FATE_ONLY,    /* --only does not */
    DTI_QUANT_FATE_INTEGER, /* integers and bool */
    DTI_QUANT_FATE_COMPLEX,
    DTI_QUANT_FATE_NARROW, /* floats of 8 bits or less: there is nothing to be gained, and they may
                            * be codes that have scales */
    DTI_QUANT_FATE_SCALAR, /* no dimensions: one number */
    DTI_QUANT_FATE_PART,   /* scales or the like of a tensor that is quantized already */
    DTI_QUANT_FATE_COUNT
};

struct dti_file_quant_request {
    struct dti_quant_scheme scheme; /* blocks.tensor_scale: that of nvfp4 unless it is looked for */
    const char *dtype;              /* the name of the block format or of the codes' dtype */
    enum dti_quant_layout layout;
    bool has_axis; /* otherwise channels lie along axis 0, blocks and groups along the last */
    int64_t axis;  /* negative: from the end */
    bool pad;      /* rows are filled up with zeros to whole blocks and groups */
    bool high;     /* element 0 in the highest bits: DTI_QUANT_BITS */
    enum dti_level level;
    const char *only, *keep, *select; /* lists of patterns, or NULL */
    bool counted;                     /* losses are: takes a little longer */
    enum dti_container_kind kind;     /* of the output: safetensors, sharded, npy */
    const char *path;                 /* of the output; DTI_CONTAINER_SHARDED: its folder */
    const char *index; /* DTI_CONTAINER_SHARDED: the name of the index in it, or NULL for none */
    dti_warn_fn *warn; /* of what is odd: a pattern that fits nothing; or NULL */
    void *warn_context;
};

/* One of the tensors that it becomes; a kept one has a single part, its own. */
struct dti_file_quant_part {
    bool there;
    size_t file;            /* of the output */
    uint64_t bytes, offset; /* in it */
};

struct dti_file_quant_tensor {
    size_t source; /* which of the container */
    enum dti_quant_fate fate;
    unsigned axis;
    const struct dti_quant_plan *plan; /* DTI_QUANT_FATE_QUANTIZED */
    const struct dti_plan *copy;       /* others; NULL: bytes are copied */
    struct dti_file_quant_part part[DTI_PART_COUNT];
    uint64_t bytes; /* of all its parts */
    /* what came of it */
    struct dti_quant_count count;
    struct dti_loss_summary loss;
    float scale; /* of the tensor: that of an affine one, or nvfp4's; 0: there is none */
    int32_t zero_point;
    float min, max; /* of its finite numbers, where they were looked for; else min > max */
};

struct dti_file_quant {
    struct dti_file_quant_request request;
    struct dti_container *container;
    const struct dti_quant_row *row;
    bool zero_points;    /* the codes have some */
    size_t tensor_count; /* in the order of their data in the container */
    struct dti_file_quant_tensor *tensors;
    struct dti_new_files files; /* shards that got tensors, then the index; npy: OUT.npy last */
    size_t plan_count, copy_count;
    struct dti_quant_plan **plans; /* one for each dtype and shape */
    struct dti_plan **copies;
    uint64_t input_bytes, output_bytes; /* of data */
    uint64_t work_bytes;                /* that are read, some twice: what progress counts */
    size_t quantized_count;
    uint64_t quantized_input, quantized_output; /* bytes of the tensors that are quantized */
    /* of the tensors that were quantized */
    struct dti_quant_count count;
    struct dti_loss loss;
    size_t max_tensor; /* which one has loss.max_absolute */
};

/* Decides all that can be known from headers: nothing is opened or made. The container must live
 * longer. Fails with DTI_USAGE (patterns, a layout without the dtype), DTI_WRONG_KIND (a tensor
 * that is no whole blocks), DTI_BAD_INPUT (tensors whose values cannot be read, names that occur
 * twice in the output), DTI_NO_MEMORY. */
enum dti_status dti_file_quant_new(struct dti_file_quant **ret, struct dti_container *container,
                                   const struct dti_file_quant_request *request,
                                   struct dti_error *reterr);

/* How the parts of a quantized tensor look, again. */
void dti_file_quant_stored(const struct dti_file_quant *quant, size_t tensor,
                           struct dti_quant_stored *ret);

/* Opens the new files. Besides dti_new_files_open(): an output that is not a regular file is
 * refused, as codes and scales are written side by side. */
enum dti_status dti_file_quant_open(struct dti_file_quant *quant, bool force,
                                    struct dti_error *reterr);

struct dti_file_quant_options {
    struct dti_team *team;                          /* NULL: this thread alone */
    uint64_t max_memory;                            /* for buffers, 0 for the default */
    void (*progress)(void *context, uint64_t done); /* bytes of work_bytes; may be NULL */
    void *progress_context;
};
/* Reads, quantizes and writes everything, and fills what came of it. The same bytes and figures
 * whatever the team and the memory. Fails with DTI_BAD_INPUT when a file became shorter meanwhile,
 * with DTI_WRITE_FAILED, DTI_NO_MEMORY. */
enum dti_status dti_file_quant_run(struct dti_file_quant *quant,
                                   const struct dti_file_quant_options *options,
                                   struct dti_error *reterr);

/* Removes what was not committed by dti_new_files_commit(); NULL is fine. */
void dti_file_quant_free(struct dti_file_quant *quant);

#endif
