/* SPDX-License-Identifier: MIT
 *
 * Rewrites a container into new files: selects the tensors, decides what happens to each, lays out
 * the new files, does the work, and renames the files at the end. Until then nothing visible
 * changes. The recipe of the request decides what happens to tensors; everything else is common to
 * all recipes. */
#ifndef FILES_REWRITE_REWRITE_H
#define FILES_REWRITE_REWRITE_H

#include "convert/quant_plan.h"
#include "convert/runner.h"
#include "files/dequant/file_dequant.h"
#include "files/model/importance.h"
#include "files/model/model_view.h"
#include "files/rewrite/fused_ranges.h"
#include "files/rewrite/new_files.h"
#include "files/scan/loss_summary.h"
#include "files/stored/named_types.h"
#include "files/stored/quant_layout.h"
#include "files/stored/quant_names.h"
#include "files/transcode/file_transcode.h"
#include "util/run/memory_pool.h"
#include "util/run/parallel.h"

/* What happens to a tensor that is written, and why the recipe skips it. */
enum dti_fate {
    DTI_FATE_CHANGED, /* cast or quantized */
    DTI_FATE_SAME,    /* already of the dtype, and no policy changes a number */
    DTI_FATE_KEEP,    /* matched by --keep */
    DTI_FATE_ONLY,    /* not matched by --only */
    DTI_FATE_INTEGER, /* integers and bool: not cast without `ints`, never quantized */
    DTI_FATE_COMPLEX,
    DTI_FATE_PART,       /* scales or another part of a tensor that is already quantized */
    DTI_FATE_NARROW,     /* floats of 8 bits or less: no gain, and they may be codes with scales */
    DTI_FATE_SCALAR,     /* no dimensions: a single number is not quantized */
    DTI_FATE_BLOCKS,     /* quantized in blocks, which the new file can also hold */
    DTI_FATE_CONVENTION, /* by convention, programs that write GGUF do not quantize it */
    DTI_FATE_UNNAMED,    /* the layout holds only matrices of modules, called X.weight */
    DTI_FATE_COUNT
};

/* DTI_RECIPE_DEQUANTIZE is a cast of a view, DTI_RECIPE_TRANSCODE a copy of one: see file_dequant.h
 * and file_transcode.h. DTI_RECIPE_ENCODE makes GGUF blocks from a view. */
enum dti_rewrite_kind {
    DTI_RECIPE_CAST,
    DTI_RECIPE_DEQUANTIZE,
    DTI_RECIPE_QUANTIZE,
    DTI_RECIPE_TRANSCODE,
    DTI_RECIPE_ENCODE
};

/* For casts, and for floats that were codes. */
struct dti_cast_recipe {
    struct dti_cast cast;              /* destination (not complex), route, policies */
    const struct dti_stack_rule *rule; /* --like, else NULL */
    struct dti_runner *runner; /* where plans run; NULL: on the CPU. Must outlive the rewrite */
    bool ints;                 /* cast integers and bool too */
    bool flags;                /* as in struct dti_request */
    /* The packing of sub-byte codes, if the file format does not define it. */
    bool packing_given, from_packing_given;
    enum dti_packing packing, from_packing;
};

struct dti_quantize_recipe {
    struct dti_quant_scheme scheme; /* blocks.tensor_scale: for nvfp4, unless it is computed */
    const char *dtype;              /* name of the block format or of the codes' dtype */
    enum dti_quant_layout layout;
    bool has_axis; /* if not set: channels along axis 0, blocks and groups along the last axis */
    int64_t axis;  /* negative: from the end */
    bool pad;      /* pad rows with zeros to whole blocks and groups */
    bool high;     /* element 0 in the highest bits: DTI_QUANT_BITS */
    bool fused;    /* a computed tensor scale is shared by all fused tensors */
    const struct dti_fused_own *own; /* a group of them that the user gives, or NULL */
    unsigned rotation; /* rows are rotated first, in groups of that many columns: 16, 64 or 256; 0:
                          not. Those of other lengths only if the layout requires it */
};

/* Another recipe for the tensors whose names match. */
struct dti_quantize_rule {
    const char *pattern;
    size_t length;
    struct dti_quantize_recipe recipe; /* its layout is that of the others */
};

/* Block types have an encoder. */
struct dti_encode_recipe {
    const struct dti_gguf_type *type;        /* of tensors that no rule matches */
    const struct dti_type_rule *rules;       /* blocks with an encoder, or numbers */
    size_t count;                            /* the first match wins */
    const struct dti_named_types *named;     /* if not NULL, only these tensors are encoded, as the
                                                rule of that index says; patterns do not count */
    const struct dti_importance *importance; /* weights of errors, or NULL. Must outlive the
                                                rewrite */
};
/* Whether a tensor of blocks stays unchanged; keep and only as in a request, or NULL. */
bool dti_encode_keeps(const struct dti_encode_recipe *recipe, const char *keep, const char *only,
                      const struct dti_tensor *tensor);

/* The types with an encoder, for recipes: those of gguf_kernel.h, and nvfp4 with a scale of the
 * whole tensor as a tensor of its own; NULL at the end. */
const struct dti_gguf_type *dti_encode_type(size_t index);

/* A part of a run that is divided among machines: number `index` of `count`, from 1. */
struct dti_run_part {
    uint64_t index, count; /* count 0: the run is not divided */
};

struct dti_rewrite_request {
    enum dti_rewrite_kind recipe;
    struct dti_cast_recipe cast;      /* DTI_RECIPE_CAST, DTI_RECIPE_DEQUANTIZE */
    struct dti_encode_recipe encode;  /* DTI_RECIPE_ENCODE */
    struct dti_file_dequant *dequant; /* DTI_RECIPE_DEQUANTIZE, DTI_RECIPE_ENCODE: whose view the
                                         container is; made with the same patterns, and with
                                         dti_encode_keeps(). Must outlive the rewrite. Else NULL */
    struct dti_file_transcode *transcode; /* DTI_RECIPE_TRANSCODE: likewise; the container is a view
                                             of it, and it of dequant. Else NULL */
    struct dti_quantize_recipe quantize;  /* DTI_RECIPE_QUANTIZE */
    const struct dti_quantize_rule *quantize_rules; /* likewise; the first match wins */
    size_t quantize_rule_count;
    const struct dti_named_types *quantize_named; /* likewise: if not NULL, only these tensors are
                                                     quantized, as the rule of that index says */
    bool skips_unfit; /* a tensor whose shape the dtype cannot hold stays as it is */
    const struct dti_error_watch *watch; /* of tensors that are quantized or encoded, by their
                                            index in the container; only if counted. Or NULL */
    enum dti_level level;                /* the highest to use */
    const char *only, *keep, *select;    /* lists of patterns, or NULL */
    bool allow_unmatched;                /* a pattern that matches no tensor is only a warning */
    bool counted;                        /* count losses even if nothing requires it */
    enum dti_container_kind kind;        /* of the output */
    const char *path;                    /* of the output; DTI_CONTAINER_SHARDED: its folder */
    const char *index; /* DTI_CONTAINER_SHARDED: name of the index in it; NULL: none */
    bool companions;   /* DTI_CONTAINER_SHARDED: copy the other small files of the input's folder,
                          with a config.json that describes the quantization; of one file, only
                          the config.json next to it */
    struct dti_run_part part; /* DTI_CONTAINER_SHARDED: write only these shards; which, depends on
                                 headers and request, not on data */
    const char *part_recipe;  /* of a divided run: a text of everything that determines the bytes */
    bool finish; /* DTI_CONTAINER_SHARDED: write only what parts do not: the other files, the index
                  */
    uint64_t most_bytes; /* DTI_CONTAINER_GGUF: maximum size of a file, if it may be split; or 0.
                            DTI_CONTAINER_SHARDED: of a shard; 0: shards as the input's */
    bool row_major;      /* npy: store nothing in column-major order */
    uint64_t skip; /* DTI_RECIPE_CAST: bytes to skip at the start of the tensors, all row-major */
    /* If the container is a selection of another one's tensors: that one (for a view: the view),
     * and the index there of each; else NULL. Both must outlive the rewrite. */
    struct dti_container *whole;
    const uint32_t *places;
    const struct dti_container *model; /* whose metadata the new file copies unchanged; NULL: the
                                          container. Must outlive the rewrite */
    /* GGUF from a checkpoint: the view that the container is, or whose tensors it lists, and the
     * index there of each of its tensors (NULL: the same). Must outlive the rewrite. Else NULL */
    struct dti_model_view *model_view;
    const uint32_t *model_places;
    struct dti_fused_ranges *fused; /* of the whole, shared by several rewrites; NULL: made here, if
                                       needed. Must outlive the rewrite */
    dti_warn_fn *warn;              /* receives warnings, such as that nothing is cast; or NULL */
    void *warn_context;
};

/* One of the tensors that a tensor becomes; see dti_rewrite_file(). */
struct dti_rewrite_part {
    uint64_t bytes, offset; /* offset: in its file */
};

/* The result for a quantized tensor. */
struct dti_quantized_tensor {
    struct dti_quant_count count;
    float scale; /* tensor scale, affine or nvfp4; 0: none */
    int32_t zero_point;
    float min, max; /* of its finite numbers, if computed; else min > max */
};

/* The result for a tensor, once done. */
struct dti_rewrite_outcome {
    struct dti_loss_summary loss; /* DTI_FATE_CHANGED */
    struct dti_quantized_tensor quantized;
};

/* How tensors of one recipe are quantized. */
struct dti_quantize_form {
    const struct dti_quantize_recipe *recipe;
    const struct dti_quant_row *row; /* row of the table of layouts */
    bool zero_points;                /* the codes have zero points */
};

/* What happens to tensors that are alike. */
struct dti_rewrite_way {
    const struct dti_quantize_form *by; /* quantized; else NULL */
    const struct dti_plan *plan;        /* NULL: its bytes are copied, or it is quantized */
    const struct dti_quant_plan *quant; /* quantized with this plan, along the axis */
    const struct dti_gguf_type *type;   /* encoded as blocks of this type, one tensor; else NULL */
    const struct dti_format *format;    /* of the output, if one tensor; NULL: quantized */
    struct dti_layout layout;           /* of the output, if one tensor */
};
/* There may be millions, so this is small. */
struct dti_rewrite_tensor {
    const struct dti_rewrite_way *way;
    uint32_t source; /* index in the container */
    uint32_t part;   /* index in dti_rewrite.parts of the first one of this set: */
    uint16_t parts;  /* 1 << enum dti_quant_part; for a single tensor: the first one */
    uint8_t axis;    /* of quantization; at most DTI_QUANT_RANK_MAX dimensions are quantized */
    enum dti_fate fate : 8;
    uint32_t outcome; /* index in dti_rewrite.outcomes */
};

/* Tensors that are encoded as types that take weights. */
struct dti_rewrite_weights {
    size_t used, missing; /* with weights, and without an entry */
    size_t first_missing; /* an index into the tensors */
};

struct dti_rewrite {
    struct dti_rewrite_request request;
    const struct dti_recipe_ops *ops; /* of its recipe */
    struct dti_container *container;
    /* quantize: in container order; else in the order of the new files' data. In a divided run only
     * those of this part; the others follow them. */
    size_t tensor_count;
    struct dti_rewrite_tensor *tensors;
    size_t part_count;
    struct dti_rewrite_part *parts; /* of all tensors, those of a tensor in order */
    uint32_t *part_files;           /* their files; NULL: all are in the first one */
    /* The tensors of the new files, with the texts and shapes that are no tensor's own: kept while
     * the heads of the files may wait. */
    struct dti_rewrite_list {
        struct dti_new_tensor *tensors;
        uint64_t *shapes;
        struct dti_buffer names;
    } list;
    struct dti_rewrite_outcome *outcomes; /* the last one: zeros, where nothing is counted */
    /* Shards with tensors, then the index if any; or one file; for npy OUT.npy is last. */
    struct dti_new_files files;
    struct dti_pool ways;
    const struct dti_rewrite_way *recent[8]; /* of them */
    size_t way_count;
    size_t plan_count, quant_plan_count;
    struct dti_plan **plans;             /* one per pair of dtypes and layouts */
    struct dti_quant_plan **quant_plans; /* one per dtype and shape */
    size_t *quant_firsts;                /* for each, the index of a tensor that uses it */
    const char *why_cpu; /* why the runner has no device for one of the plans, or NULL */
    struct dti_gguf_encoder *encoder;   /* DTI_RECIPE_ENCODE */
    struct dti_rewrite_weights weights; /* likewise, with an importance matrix */
    struct dti_quantize_form *forms;    /* quantize: of the rules, then of all other tensors */
    struct dti_fused_ranges *fused;     /* quantize: tensors that share scales, or NULL */
    bool output_stays;     /* quantize: that of a model with tied embeddings; tied_output.h */
    bool configured;       /* a config.json of the output describes the quantization */
    bool configured_twice; /* and so does the layout's own file next to it */
    uint64_t input_bytes, output_bytes;     /* of data: read, written */
    uint64_t work_bytes;                    /* bytes read, some twice: the total for progress */
    size_t changed_count;                   /* tensors with DTI_FATE_CHANGED */
    uint64_t changed_input, changed_output; /* their bytes */
    bool counts; /* losses are counted: on request, or because a NaN may have no code */
    /* of the tensors that were changed */
    struct dti_quant_count count;
    struct dti_loss loss;
    size_t max_tensor; /* the tensor with loss.max_absolute */
};

/* The part that this run is, or NULL. */
static inline const struct dti_run_part *dti_run_part_of(const struct dti_rewrite *rewrite)
{
    return rewrite->request.part.count > 0 ? &rewrite->request.part : NULL;
}

/* Decides everything that can be known from headers; opens and creates nothing. The container must
 * outlive the rewrite. Fails with DTI_USAGE (patterns, packing, a layout without the dtype),
 * DTI_WRONG_KIND (the output has no name for a dtype; a tensor that does not consist of whole
 * blocks), DTI_BAD_INPUT (tensors without readable values, names that the output cannot hold),
 * DTI_NO_MEMORY. To check in advance for the errors of dti_rewrite_open(), use
 * dti_new_files_check(). */
enum dti_status dti_rewrite_new(struct dti_rewrite **ret, struct dti_container *container,
                                const struct dti_rewrite_request *request,
                                struct dti_error *reterr);

/* The container's tensor for an index into the written tensors, as dti_container_tensor(). */
static inline const struct dti_tensor *dti_rewrite_source(const struct dti_rewrite *rewrite,
                                                          size_t tensor)
{
    return dti_container_tensor(rewrite->container, rewrite->tensors[tensor].source);
}

/* The same as dti_container_alike(). */
static inline const struct dti_tensor *dti_rewrite_alike(const struct dti_rewrite *rewrite,
                                                         size_t tensor)
{
    return dti_container_alike(rewrite->container, rewrite->tensors[tensor].source);
}

/* The index of a tensor of the container in the container it was selected from. */
static inline size_t dti_rewrite_place(const struct dti_rewrite *rewrite, size_t tensor)
{
    return rewrite->request.places ? rewrite->request.places[tensor] : tensor;
}

/* Bytes of a tensor that are read; for encoded blocks, bytes that are made. */
static inline uint64_t dti_rewrite_work(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_rewrite_tensor *const own = &rewrite->tensors[tensor];
    return own->way->type ? rewrite->parts[own->part].bytes
                          : dti_rewrite_alike(rewrite, tensor)->bytes;
}

static inline bool dti_is_quantized(const struct dti_rewrite_tensor *tensor)
{
    return !tensor->way->format;
}

/* The length of a tensor's name that DTI_GGUF_SCALE follows in the name of its scale. */
#define DTI_GGUF_SCALE ".scale"
static inline size_t dti_gguf_scale_stem(const struct dti_tensor *tensor)
{
    static const char weight[] = ".weight";
    const bool module = dti_quant_name_ends(tensor->name, tensor->name_length, weight);
    return tensor->name_length - (module ? sizeof weight - 1 : 0);
}

/* A part that the tensor has. */
static inline struct dti_rewrite_part *dti_rewrite_part(const struct dti_rewrite *rewrite,
                                                        size_t tensor, enum dti_quant_part part)
{
    const struct dti_rewrite_tensor *const own = &rewrite->tensors[tensor];
    return &rewrite->parts[own->part + dti_parts_before(own->parts, part)];
}
/* The output's file that holds it. */
static inline size_t dti_rewrite_file(const struct dti_rewrite *rewrite,
                                      const struct dti_rewrite_part *part)
{
    return rewrite->part_files ? rewrite->part_files[part - rewrite->parts] : 0;
}
/* What became of it. */
static inline struct dti_rewrite_outcome *dti_rewrite_outcome(const struct dti_rewrite *rewrite,
                                                              size_t tensor)
{
    return &rewrite->outcomes[rewrite->tensors[tensor].outcome];
}

/* The bytes of all its parts. */
static inline uint64_t dti_rewrite_bytes(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_rewrite_tensor *const own = &rewrite->tensors[tensor];
    uint64_t bytes = 0;
    for (size_t i = 0; i < dti_parts_before(own->parts, DTI_PART_COUNT); i++)
        bytes +=
            rewrite->parts[own->part + i].bytes; /* no overflow: that of the files is refused */
    return bytes;
}

/* The dtype or block format that a tensor gets. */
static inline const char *dti_rewrite_dtype(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_format *const format = rewrite->tensors[tensor].way->format;
    return format ? format->name : rewrite->tensors[tensor].way->by->recipe->dtype;
}

/* Quantize: the form of tensors that no rule matches. */
static inline const struct dti_quantize_form *dti_rewrite_form(const struct dti_rewrite *rewrite)
{
    return &rewrite->forms[rewrite->request.quantize_rule_count];
}
/* Whether tensors of any form have zero points. */
static inline bool dti_rewrite_has_zero_points(const struct dti_rewrite *rewrite)
{
    bool any = false;
    for (size_t i = 0; rewrite->forms && i <= rewrite->request.quantize_rule_count; i++)
        any = any || rewrite->forms[i].zero_points;
    return any;
}

/* Writes the quantization_config of config.json for the quantized tensors, of which there are any.
 * If there is none, *ret_why says why. Fails with DTI_NO_MEMORY. */
enum dti_status dti_rewrite_quant_config(const struct dti_rewrite *rewrite, struct dti_buffer *ret,
                                         const char **ret_why, struct dti_error *reterr);

/* How the parts of a quantized tensor are stored. */
void dti_rewrite_stored(const struct dti_rewrite *rewrite, size_t tensor,
                        struct dti_quant_stored *ret);

/* The set in dti_rewrite.fused with which a quantized tensor shares its scale; or NULL. */
struct dti_fused_set *dti_rewrite_fused(const struct dti_rewrite *rewrite, size_t tensor);
/* The number of tensors in such a set. */
size_t dti_rewrite_fused_count(const struct dti_rewrite *rewrite);

/* The total loss; max_index is the index in the tensor max_tensor. */
void dti_rewrite_loss(const struct dti_rewrite *rewrite, struct dti_loss_summary *ret);

/* Opens the new files: see dti_new_files_open(). Codes and scales are written concurrently, so they
 * need regular files. */
enum dti_status dti_rewrite_open(struct dti_rewrite *rewrite, bool force, struct dti_error *reterr);

struct dti_rewrite_options {
    struct dti_team *team;                          /* NULL: only this thread */
    uint64_t max_memory;                            /* for buffers; 0: the default */
    void (*progress)(void *context, uint64_t done); /* in bytes of work_bytes; may be NULL */
    void *progress_context;
};
/* Reads, converts and writes everything, and stores the results; then dti_new_files_commit()
 * renames the files. Without dti_rewrite_open() nothing is written, and losses are the only result.
 * Bytes and figures do not depend on the team or the memory. Fails
 * as dti_batch_run() does, and with DTI_NOT_REPRESENTABLE for a NaN without a code in the
 * destination. */
enum dti_status dti_rewrite_run(struct dti_rewrite *rewrite,
                                const struct dti_rewrite_options *options,
                                struct dti_error *reterr);

/* After a cast with counted losses: warns of tensors more than half of whose nonzero elements
 * became zero, naming the first ones. Fails as dti_scan_stats() does. */
enum dti_status dti_rewrite_warn_of_zeros(const struct dti_rewrite *rewrite,
                                          const struct dti_rewrite_options *options,
                                          struct dti_error *reterr);

/* Replaces opening, running and committing if the output is DTI_CONTAINER_RAW and its one tensor is
 * cast and not complex: passes its codes to a callback in order, a block at a time. */
typedef enum dti_status dti_rewrite_take(void *context, const struct dti_format *format,
                                         const struct dti_layout *layout, const void *codes,
                                         size_t n, struct dti_error *reterr);
enum dti_status dti_rewrite_each(struct dti_rewrite *rewrite,
                                 const struct dti_rewrite_options *options, dti_rewrite_take *take,
                                 void *context, struct dti_error *reterr);

/* Removes what dti_new_files_commit() has not committed; NULL is allowed. */
void dti_rewrite_free(struct dti_rewrite *rewrite);

#endif
