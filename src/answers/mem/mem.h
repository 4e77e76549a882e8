/* SPDX-License-Identifier: MIT
 *
 * The memory that numbers take: what is stored (a count, an array, tensors in files), in which
 * dtypes, the additional memory of training, and the capacity to fit. */
#ifndef ANSWERS_MEM_MEM_H
#define ANSWERS_MEM_MEM_H

#include "answers/amounts.h"
#include "containers/container.h"
#include "core/dtype/footprint.h"
#include "core/dtype/training.h"
#include "core/number/spell.h"
#include "devices/device.h"
#include "files/cache/kv_model.h"
#include "files/dequant/logical_tensors.h"
#include "report/json.h"

/* An array: a count is one of one dimension. */
struct dti_mem_item {
    struct dti_extent extent;
    const struct dti_tensor *tensor;    /* NULL: not from a file */
    bool takes_dtype;                   /* holds floats; otherwise the item stays as stored */
    uint64_t stored_bytes, scale_bytes; /* scale_bytes: part of stored_bytes; 0 unless quantized */
};

struct dti_mem_operand {
    const char *text;
    enum dti_mem_kind { DTI_MEM_COUNT, DTI_MEM_SHAPE, DTI_MEM_FILE, DTI_MEM_CONFIG } kind;
    unsigned rank;
    uint64_t shape[DTI_SHAPE_RANK_MAX];
    struct dti_container *container;
    size_t first, count;        /* index range of its items */
    uint64_t elements, numbers; /* numbers: elements converted to the dtype */
    uint64_t stored_bytes;      /* files */
};

/* Whether it fits: the bytes left or missing, the bytes left on each device, and how many devices
 * hold it, divided evenly (0: unknown). */
struct dti_mem_verdict {
    bool asked, fits;
    uint64_t bytes, bytes_each, devices;
};

/* The numbers as one dtype. */
struct dti_mem_size {
    struct dti_stored as;
    bool as_stored;   /* as stored in the files; `as` is empty */
    const char *note; /* a note about the dtype's name */
    struct dti_footprint numbers;
    uint64_t bytes; /* including tensors that stay as stored */
    struct dti_mem_verdict verdict;
};

enum { DTI_MEM_RULE = 256, DTI_MEM_CACHE_NOTES = 2 };

/* What a model keeps of its context, in one dtype. */
struct dti_mem_cache_size {
    struct dti_mem_size as;                   /* only `as` and `note` */
    uint64_t groups[DTI_KV_GROUPS];           /* bytes of each group of layers */
    uint64_t token_bytes, state_bytes, bytes; /* bytes: both */
};
/* Weights in one dtype, or none, and the cache in one. */
struct dti_mem_total {
    const struct dti_mem_size *weights; /* NULL: a configuration without weights */
    const struct dti_mem_cache_size *cache;
    uint64_t bytes;
    struct dti_mem_verdict verdict;
};
struct dti_mem_cache {
    const char *like;        /* the request: the type whose rule is followed, or NULL */
    const char *kv_dtype;    /* as given, or NULL */
    uint64_t context, batch; /* context 0: that of the model */
    bool context_given, batch_given;
    struct dti_kv_model model; /* the results */
    struct dti_note notes[DTI_MEM_CACHE_NOTES];
    char note_text[DTI_MEM_CACHE_NOTES][DTI_MEM_RULE];
    size_t note_count;
    struct dti_format state; /* dtype of states that are not fp32 */
    struct dti_mem_cache_size *sizes;
    size_t size_count, size_capacity;
    struct dti_mem_total *totals;
    size_t total_count;
};

/* Training in one dtype with one optimizer. */
struct dti_mem_training {
    struct dti_training_plan plan;
    struct dti_footprint parts[DTI_TRAINING_PARTS];
    uint64_t bytes;
    struct dti_mem_verdict verdict;
};

/* The limit to fit: one device or several equal ones. */
struct dti_mem_capacity {
    bool asked;
    char device[DTI_QUOTE_SIZE]; /* "cpu", "cuda:0", empty for bytes */
    const char *amount;          /* the bytes of one device as given, "80GB"; NULL for a device */
    uint64_t devices;            /* at least 1 */
    uint64_t bytes;              /* free, or given; DTI_UNKNOWN if the device does not report it */
    uint64_t all;                /* of the device, or DTI_UNKNOWN */
};

/* The request and its results. All zero at the start; free it after use. */
struct dti_mem {
    const char *only, *keep; /* for files: name patterns of tensors to count, and of tensors that
                                stay as stored; NULL: all, none */
    struct dti_logical_options options;            /* how files are opened */
    unsigned train;                                /* set of 1 << enum dti_training */
    const char *gradients, *master, *states, *fit; /* as given, for the answer */
    bool list_tensors;
    dti_remedy_words_fn *words; /* adds remedies to messages of file readers */
    const char *const *notes;   /* notes on dtype names, except those of sizes */
    size_t note_count;

    struct dti_mem_operand *operands;
    size_t operand_count, operand_capacity;
    struct dti_mem_item *items;
    size_t item_count, item_capacity;
    uint64_t elements, numbers, others, other_bytes, stored_bytes, scale_bytes;
    bool amounts; /* some operand is not a file, so stored_bytes is meaningless */
    struct dti_mem_size *sizes;
    size_t size_count, size_capacity;
    bool ladder; /* no dtype was given */
    struct dti_mem_training *trainings;
    size_t training_count;
    struct dti_mem_capacity capacity;
    struct dti_mem_cache *cache; /* NULL: not requested; owned by the caller */
};
void dti_mem_free(struct dti_mem *mem);

/* Whether a word looks like an amount of numbers, valid or not. */
bool dti_mem_is_amount(const char *text);
/* Add an operand: an amount, "7B", "1.5e9", "2^20", "32x1024x4096", "[32, 1024]"; or a file, of
 * which only the header is read. Fail with DTI_BAD_VALUE if the total exceeds 64 bits, or as the
 * containers do. */
enum dti_status dti_mem_add_amount(struct dti_mem *mem, const char *text, struct dti_error *reterr);
enum dti_status dti_mem_add_file(struct dti_mem *mem, const char *path, struct dti_error *reterr);

/* Add a dtype to store the numbers in. Fail with DTI_NO_MEMORY. The ladder is the default; for
 * training the default is the float dtype that all tensors share, else fp32. */
enum dti_status dti_mem_add_size(struct dti_mem *mem, const struct dti_mem_size *size,
                                 struct dti_error *reterr);
enum dti_status dti_mem_add_ladder(struct dti_mem *mem, struct dti_error *reterr);

/* The bytes of all sizes; of one more training. Fail with DTI_BAD_VALUE beyond 64 bits. */
enum dti_status dti_mem_sum(struct dti_mem *mem, struct dti_error *reterr);
enum dti_status dti_mem_add_training(struct dti_mem *mem, const struct dti_training_plan *plan,
                                     struct dti_error *reterr);

/* Add a configuration without weights; a dtype of the cache. Fail with DTI_NO_MEMORY. */
enum dti_status dti_mem_add_config(struct dti_mem *mem, const char *path, struct dti_error *reterr);
enum dti_status dti_mem_add_cache_size(struct dti_mem *mem, const struct dti_mem_size *size,
                                       struct dti_error *reterr);
/* Reads the model of the only operand and sums up its cache, after dti_mem_sum(). Without a dtype
 * it has that of the model, or fp16 for a GGUF, as in llama.cpp. Fails like dti_kv_model_read(),
 * and with DTI_BAD_VALUE beyond 64 bits. */
enum dti_status dti_mem_cache_sum(struct dti_mem *mem, struct dti_error *reterr);
void dti_mem_cache_free(struct dti_mem_cache *cache);
/* "62 layers x 4 sequences x 1024 tokens x (16 x 128 keys + 16 x 128 values)" */
void dti_mem_cache_rule(char text[DTI_MEM_RULE], const struct dti_mem_cache *cache,
                        const struct dti_kv_group *group);
/* The tokens that such layers keep of each sequence; 0 for states. */
uint64_t dti_mem_cache_tokens(const struct dti_mem_cache *cache, const struct dti_kv_group *group);
/* "full attention" */
const char *dti_mem_cache_kind(size_t kind);
/* The dtype in which such layers keep it. */
const char *dti_mem_cache_dtype(const struct dti_mem_cache *cache,
                                const struct dti_mem_cache_size *size,
                                const struct dti_kv_group *group);

/* The free memory of a device. text: its name as given. Fails with DTI_UNAVAILABLE. */
enum dti_status dti_mem_device_capacity(struct dti_mem_capacity *ret,
                                        const struct dti_device_choice *choice, const char *text,
                                        struct dti_error *reterr);
/* Computes all verdicts; returns whether anything fits. Requires that the product of the capacity's
 * devices and bytes fits in 64 bits. */
bool dti_mem_judge(struct dti_mem *mem);

/* bytes x per / numbers: bytes per number, "2", "1.015625"; with per 8, bits. "-" if numbers is
 * 0. */
const char *dti_mem_each(char buffer[DTI_TEXT_SIZE], uint64_t bytes, uint64_t numbers,
                         unsigned per);
/* Size relative to the first dtype; negative if that has no bytes. */
double dti_mem_against_first(const struct dti_mem *mem, const struct dti_mem_size *size);
const char *dti_mem_part_name(const struct dti_training_plan *plan, enum dti_training_part part);
const char *dti_mem_part_dtype(const struct dti_training_plan *plan, enum dti_training_part part);
/* "weights 2 + gradients 2 + master weights 4 = 8 bytes a parameter" */
void dti_mem_rule(struct dti_buffer *text, const struct dti_mem *mem,
                  const struct dti_mem_training *training);

void dti_document_mem(struct dti_json *json, const struct dti_mem *mem);

#endif
