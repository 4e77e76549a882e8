/* SPDX-License-Identifier: MIT
 *
 * A container rewritten into new files: which of its tensors are written, what becomes of each, how
 * the new files are laid out, the work itself, and the final renaming. Until then nothing visible
 * has changed. The recipe of the request decides what becomes of tensors; everything else is the
 * same for every recipe. */
#ifndef FILES_REWRITE_REWRITE_H
#define FILES_REWRITE_REWRITE_H

#include "convert/quant_plan.h"
#include "convert/runner.h"
#include "files/dequant/file_dequant.h"
#include "files/rewrite/fused_ranges.h"
#include "files/rewrite/new_files.h"
#include "files/scan/loss_summary.h"
#include "files/stored/quant_layout.h"
#include "files/transcode/file_transcode.h"
#include "util/run/parallel.h"

/* What becomes of a tensor that is written, and why it is none of the recipe's. */
enum dti_fate {
    DTI_FATE_CHANGED, /* it is cast, quantized */
    DTI_FATE_SAME,    /* it is of the dtype already, and no policy changes a number */
    DTI_FATE_KEEP,    /* --keep names it */
    DTI_FATE_ONLY,    /* --only does not */
    DTI_FATE_INTEGER, /* integers and bool: not cast without `ints`, nor quantized */
    DTI_FATE_COMPLEX,
    DTI_FATE_PART,       /* scales or the like of a tensor that is quantized already */
    DTI_FATE_NARROW,     /* floats of 8 bits or less: there is nothing to be gained, and they may be
                          * codes that have scales */
    DTI_FATE_SCALAR,     /* no dimensions: one number is not quantized */
    DTI_FATE_BLOCKS,     /* quantized in blocks, which the new file holds, too */
    DTI_FATE_CONVENTION, /* programs that write GGUF do not quantize it */
    DTI_FATE_COUNT
};

/* DTI_RECIPE_DEQUANTIZE is the cast of a view, DTI_RECIPE_TRANSCODE the copy of one: see
 * file_dequant.h and file_transcode.h. DTI_RECIPE_ENCODE makes blocks of GGUF of a view. */
enum dti_rewrite_kind {
    DTI_RECIPE_CAST,
    DTI_RECIPE_DEQUANTIZE,
    DTI_RECIPE_QUANTIZE,
    DTI_RECIPE_TRANSCODE,
    DTI_RECIPE_ENCODE
};

/* Of casts, and of floats that were codes. */
struct dti_cast_recipe {
    struct dti_cast cast;              /* destination (not complex), route, policies */
    const struct dti_stack_rule *rule; /* --like, else NULL */
    struct dti_runner *runner;         /* where plans run; NULL: on the CPU. Lives longer */
    bool ints;                         /* integers and bool are cast too */
    bool flags;                        /* as in struct dti_request */
    /* The packing of sub-byte codes, where the file's format does not define it. */
    bool packing_given, from_packing_given;
    enum dti_packing packing, from_packing;
};

struct dti_quantize_recipe {
    struct dti_quant_scheme scheme; /* blocks.tensor_scale: that of nvfp4 unless it is looked for */
    const char *dtype;              /* the name of the block format or of the codes' dtype */
    enum dti_quant_layout layout;
    bool has_axis; /* otherwise channels run along axis 0, blocks and groups along the last */
    int64_t axis;  /* negative: from the end */
    bool pad;      /* rows are filled up with zeros to whole blocks and groups */
    bool high;     /* element 0 in the highest bits: DTI_QUANT_BITS */
    bool fused;    /* a tensor scale that is looked for is that of all tensors that are fused */
};

/* The type of GGUF that tensors with names that fit get, whatever they are: blocks that can be
 * encoded, or numbers of a dtype. */
struct dti_encode_rule {
    const char *pattern;
    size_t length;
    const struct dti_gguf_type *type;
};
/* Types of blocks have an encoder. */
struct dti_encode_recipe {
    const struct dti_gguf_type *type; /* of tensors that no rule fits */
    const struct dti_encode_rule *rules;
    size_t count; /* the first that fits is the one */
};
/* Whether a tensor of blocks stays what it is; keep and only as in a request, or NULL. */
bool dti_encode_keeps(const struct dti_encode_recipe *recipe, const char *keep, const char *only,
                      const struct dti_tensor *tensor);

/* Which part of a run that is divided among machines: number `index` of `count`, from 1 on. */
struct dti_run_part {
    uint64_t index, count; /* count 0: the run is not divided */
};

struct dti_rewrite_request {
    enum dti_rewrite_kind recipe;
    struct dti_cast_recipe cast;      /* DTI_RECIPE_CAST, DTI_RECIPE_DEQUANTIZE */
    struct dti_encode_recipe encode;  /* DTI_RECIPE_ENCODE */
    struct dti_file_dequant *dequant; /* DTI_RECIPE_DEQUANTIZE, DTI_RECIPE_ENCODE: whose view the
                                       * container is; made with the same patterns, and with
                                       * dti_encode_keeps(). Lives longer. Else NULL */
    struct dti_file_transcode *transcode; /* DTI_RECIPE_TRANSCODE: the same, with dequant, which it
                                           * is a view of. Else NULL */
    struct dti_quantize_recipe quantize;  /* DTI_RECIPE_QUANTIZE */
    enum dti_level level;                 /* the highest to use */
    const char *only, *keep, *select;     /* lists of patterns, or NULL */
    bool allow_unmatched;                 /* a pattern that fits no tensor is a warning */
    bool counted;                         /* losses are counted where nothing requires it */
    enum dti_container_kind kind;         /* of the output */
    const char *path;                     /* of the output; DTI_CONTAINER_SHARDED: its folder */
    const char *index; /* DTI_CONTAINER_SHARDED: the name of the index in it, or NULL for none */
    bool companions;   /* DTI_CONTAINER_SHARDED: the other small files of the input's folder come
                        * along, and config.json says how tensors are quantized */
    struct dti_run_part part; /* DTI_CONTAINER_SHARDED: only these of the shards, which depend on
                               * the headers of the input and the request, not on the data */
    const char *part_recipe;  /* of a divided run: a text of all that decides the bytes */
    bool finish; /* DTI_CONTAINER_SHARDED: only what parts do not write: the other files, the index
                  */
    uint64_t most_bytes; /* DTI_CONTAINER_GGUF: of a file, where it may become several; or 0 */
    bool row_major;      /* npy: nothing stays in column-major order */
    uint64_t skip; /* DTI_RECIPE_CAST: bytes at the beginning of the tensors that are left out; none
                    * of them is in column-major order */
    /* The container is a choice of tensors of another one: that one (of a view: the view), and the
     * place there of each; else NULL. Both live longer. */
    struct dti_container *whole;
    const size_t *places;
    const struct dti_container *model; /* whose metadata the new file takes over as they are; NULL:
                                        * the container. Lives longer */
    struct dti_fused_ranges *fused;    /* those of the whole, for several rewrites; NULL: made here,
                                        * where they are needed. Lives longer */
    dti_warn_fn *warn;                 /* of warnings: nothing is cast; or NULL */
    void *warn_context;
};

/* One of the tensors that a tensor becomes. */
struct dti_rewrite_part {
    size_t file;            /* of the output */
    uint64_t bytes, offset; /* in it */
};

/* What came of a quantized tensor. */
struct dti_quantized_tensor {
    struct dti_quant_count count;
    float scale; /* of the tensor: that of an affine one, or nvfp4's; 0: there is none */
    int32_t zero_point;
    float min, max; /* of its finite numbers, where they were looked for; else min > max */
};

/* What came of a tensor, once it has been done. */
struct dti_rewrite_outcome {
    struct dti_loss_summary loss; /* DTI_FATE_CHANGED */
    struct dti_quantized_tensor quantized;
};

struct dti_rewrite_tensor {
    size_t source; /* which of the container */
    enum dti_fate fate;
    unsigned axis;                      /* of quantization */
    const struct dti_plan *plan;        /* NULL: its bytes are copied, or it is quantized */
    const struct dti_quant_plan *quant; /* it is quantized, along the axis */
    const struct dti_gguf_type *type;   /* it is encoded as blocks, one tensor; else NULL */
    const struct dti_format *format;    /* of what is written, one tensor; NULL: it is quantized */
    struct dti_layout layout;           /* likewise */
    unsigned parts;                     /* a set of 1 << enum dti_quant_part; of one: the first */
    struct dti_rewrite_part *part;      /* of that set, in order */
    uint64_t bytes;                     /* of all its parts */
    struct dti_rewrite_outcome *outcome;
};

struct dti_rewrite {
    struct dti_rewrite_request request;
    const struct dti_recipe_ops *ops; /* of its recipe */
    struct dti_container *container;
    /* quantize: in the order of the container; else of the new files' data. Of a divided run only
     * those of its part; the others stand after them. */
    size_t tensor_count;
    struct dti_rewrite_tensor *tensors;
    struct dti_rewrite_part *parts; /* of all tensors */
    struct dti_rewrite_outcome *outcomes;
    /* Shards that got tensors, then the index if any; or one; of npy OUT.npy comes last. */
    struct dti_new_files files;
    size_t plan_count, quant_plan_count;
    struct dti_plan **plans;             /* one for each pair of dtypes and layouts */
    struct dti_quant_plan **quant_plans; /* one for each dtype and shape */
    size_t *quant_firsts;                /* of each a tensor that has it */
    const char *why_cpu; /* the runner has no device for one of the plans: the reason, or NULL */
    struct dti_gguf_encoder *encoder;       /* DTI_RECIPE_ENCODE */
    const struct dti_quant_row *row;        /* quantize: of the table of layouts */
    struct dti_fused_ranges *fused;         /* quantize: tensors that share scales, or NULL */
    bool zero_points;                       /* and its codes have some */
    bool configured;                        /* a config.json of the output says how */
    uint64_t input_bytes, output_bytes;     /* of data: what is read, what is written */
    uint64_t work_bytes;                    /* that are read, some twice: what progress counts */
    size_t changed_count;                   /* tensors with DTI_FATE_CHANGED */
    uint64_t changed_input, changed_output; /* their bytes */
    bool counts; /* losses are: as wanted, or since a NaN may have no code */
    /* of the tensors that were changed */
    struct dti_quant_count count;
    struct dti_loss loss;
    size_t max_tensor; /* which one has loss.max_absolute */
};

/* The part that a run is, or NULL. */
static inline const struct dti_run_part *dti_run_part_of(const struct dti_rewrite *rewrite)
{
    return rewrite->request.part.count > 0 ? &rewrite->request.part : NULL;
}

/* Decides all that can be known from headers: nothing is opened or made. The container must live
 * longer. Fails with DTI_USAGE (patterns, packing, a layout without the dtype), DTI_WRONG_KIND (the
 * output has no name for a dtype; a tensor that is no whole blocks), DTI_BAD_INPUT (tensors without
 * values that can be read, names that the output cannot hold), DTI_NO_MEMORY. What
 * dti_rewrite_open() would say, dti_new_files_check() does. */
enum dti_status dti_rewrite_new(struct dti_rewrite **ret, struct dti_container *container,
                                const struct dti_rewrite_request *request,
                                struct dti_error *reterr);

/* A tensor of the container by its place among those that are written. */
static inline const struct dti_tensor *dti_rewrite_source(const struct dti_rewrite *rewrite,
                                                          size_t tensor)
{
    return &rewrite->container->tensors[rewrite->tensors[tensor].source];
}

/* Where a tensor of the container is in that of which it is a choice. */
static inline size_t dti_rewrite_place(const struct dti_rewrite *rewrite, size_t tensor)
{
    return rewrite->request.places ? rewrite->request.places[tensor] : tensor;
}

/* Bytes of a tensor that are read, of blocks that are made, that. */
static inline uint64_t dti_rewrite_work(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_rewrite_tensor *const own = &rewrite->tensors[tensor];
    return own->type ? own->bytes : dti_rewrite_source(rewrite, tensor)->bytes;
}

static inline bool dti_is_quantized(const struct dti_rewrite_tensor *tensor)
{
    return !tensor->format;
}

/* How many parts of a set come before one. */
static inline size_t dti_parts_before(unsigned parts, enum dti_quant_part part)
{
    size_t count = 0;
    for (unsigned i = 0; i < (unsigned)part; i++)
        count += parts >> i & 1;
    return count;
}

/* A part that the tensor has. */
static inline struct dti_rewrite_part *dti_rewrite_part(const struct dti_rewrite_tensor *tensor,
                                                        enum dti_quant_part part)
{
    return &tensor->part[dti_parts_before(tensor->parts, part)];
}

/* The dtype or block format that a tensor gets. */
static inline const char *dti_rewrite_dtype(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_format *const format = rewrite->tensors[tensor].format;
    return format ? format->name : rewrite->request.quantize.dtype;
}

/* How the parts of a quantized tensor look. */
void dti_rewrite_stored(const struct dti_rewrite *rewrite, size_t tensor,
                        struct dti_quant_stored *ret);

/* The set with which a tensor that is quantized shares its scale, of dti_rewrite.fused; or NULL. */
struct dti_fused_set *dti_rewrite_fused(const struct dti_rewrite *rewrite, size_t tensor);
/* How many of the tensors have one. */
size_t dti_rewrite_fused_count(const struct dti_rewrite *rewrite);

/* What was lost in all; max_index is the place in the tensor max_tensor. */
void dti_rewrite_loss(const struct dti_rewrite *rewrite, struct dti_loss_summary *ret);

/* Opens the new files: see dti_new_files_open(). Codes and scales are written side by side, and go
 * to regular files alone. */
enum dti_status dti_rewrite_open(struct dti_rewrite *rewrite, bool force, struct dti_error *reterr);

struct dti_rewrite_options {
    struct dti_team *team;                          /* NULL: this thread alone */
    uint64_t max_memory;                            /* for buffers, 0 for the default */
    void (*progress)(void *context, uint64_t done); /* bytes of work_bytes; may be NULL */
    void *progress_context;
};
/* Reads, changes and writes everything, and fills what came of it; then dti_new_files_commit()
 * gives the files their names. Without dti_rewrite_open() nothing is written, and losses are all
 * that comes of it (not for DTI_RECIPE_QUANTIZE). The same bytes and figures whatever the team and
 * the memory. Fails as dti_batch_run() does, and with DTI_NOT_REPRESENTABLE for a NaN that the
 * destination has no code for. */
enum dti_status dti_rewrite_run(struct dti_rewrite *rewrite,
                                const struct dti_rewrite_options *options,
                                struct dti_error *reterr);

/* After the run of a cast whose losses were counted: warns of tensors of whose nonzero elements
 * more than half became zero, by name of the first ones. Fails as dti_scan_stats() does. */
enum dti_status dti_rewrite_warn_of_zeros(const struct dti_rewrite *rewrite,
                                          const struct dti_rewrite_options *options,
                                          struct dti_error *reterr);

/* Instead of opening, running and committing, where the one tensor of a DTI_CONTAINER_RAW output is
 * cast and not complex: hands over its codes in order, a block at a time. */
typedef enum dti_status dti_rewrite_take(void *context, const struct dti_format *format,
                                         const struct dti_layout *layout, const void *codes,
                                         size_t n, struct dti_error *reterr);
enum dti_status dti_rewrite_each(struct dti_rewrite *rewrite,
                                 const struct dti_rewrite_options *options, dti_rewrite_take *take,
                                 void *context, struct dti_error *reterr);

/* Removes what was not committed by dti_new_files_commit(); NULL is fine. */
void dti_rewrite_free(struct dti_rewrite *rewrite);

#endif
