/* SPDX-License-Identifier: MIT
 *
 * One interface for all files that hold tensors. A reader lists them (name, dtype, shape, byte
 * range) from headers alone; a writer lays out a new file. Nothing here reads the data, except to
 * unpack compressed data. File content is untrusted: sizes are checked before memory is allocated;
 * names are arbitrary bytes. */
#ifndef CONTAINERS_CONTAINER_H
#define CONTAINERS_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/new_head.h"
#include "core/dtype/dtype.h"
#include "core/dtype/gguf_type.h"
#include "core/dtype/onnx_weight.h"
#include "core/dtype/storage.h"
#include "io/input.h"
#include "util/buffer.h"
#include "util/remedy.h"

enum dti_container_kind {
#define CONTAINER(id, ...) DTI_CONTAINER_##id,
#include "containers/containers.def"
#undef CONTAINER
    DTI_CONTAINER_COUNT
};

/* Properties of a container kind: */
enum {
    DTI_TRAIT_TEXTS = 1,      /* string metadata is written */
    DTI_TRAIT_FOLDER = 2,     /* a folder of several files with an index */
    DTI_TRAIT_SEVERAL = 4,    /* a written file can hold any number of tensors */
    DTI_TRAIT_NUMPY = 8,      /* numpy arrays: one code per byte, row- or column-major */
    DTI_TRAIT_PLACED = 16,    /* written at offsets, not in sequence: never to a pipe */
    DTI_TRAIT_REMADE = 32,    /* made only from a file of its kind, whose metadata it keeps */
    DTI_TRAIT_BARE = 64,      /* only codes: no header describes them */
    DTI_TRAIT_SHARDS = 128,   /* a folder of files called shards, written as such */
    DTI_TRAIT_GGML = 256,     /* one file or several: blocks, and the key-values of a model */
    DTI_TRAIT_CONFIG = 512,   /* for models with a config.json next to them */
    DTI_TRAIT_GRAPH = 1024,   /* its graph, not tensor names, says what is quantized */
    DTI_TRAIT_REPLACES = 2048 /* one model has several loadable names: the others are removed */
};
/* 0 for DTI_CONTAINER_COUNT. */
unsigned dti_container_traits(enum dti_container_kind kind);
/* Whether the kind has any of these traits. */
static inline bool dti_container_has(enum dti_container_kind kind, unsigned traits)
{
    return (dti_container_traits(kind) & traits) != 0;
}
/* The first kind with all these traits; one must exist. */
enum dti_container_kind dti_container_first(unsigned traits);

static inline bool dti_is_numpy(enum dti_container_kind kind)
{
    return dti_container_has(kind, DTI_TRAIT_NUMPY);
}
/* npy: the parts of a quantized array are separate files next to it. */
static inline bool dti_is_array(enum dti_container_kind kind)
{
    return dti_is_numpy(kind) && !dti_container_has(kind, DTI_TRAIT_SEVERAL);
}
static inline bool dti_is_gguf(enum dti_container_kind kind)
{
    return dti_container_has(kind, DTI_TRAIT_GGML);
}
static inline bool dti_is_sharded(enum dti_container_kind kind)
{
    return dti_container_has(kind, DTI_TRAIT_SHARDS);
}
/* Whether files of this kind have string metadata: safetensors, sharded or not. */
static inline bool dti_holds_texts(enum dti_container_kind kind)
{
    return dti_container_has(kind, DTI_TRAIT_TEXTS);
}
static inline bool dti_container_is_known(enum dti_container_kind kind)
{
    return kind != DTI_CONTAINER_COUNT;
}

/* The default output kind for an input of this kind: arrays, raw data and shards keep theirs;
 * otherwise safetensors. stream: the output must be written in sequence. */
enum dti_container_kind dti_container_becomes(enum dti_container_kind kind, bool stream);
/* Whether a file of a DTI_TRAIT_REMADE kind can be made from a file of kind `from`. */
bool dti_container_remakes(enum dti_container_kind kind, enum dti_container_kind from);
/* The word for a stored tensor that dti_container_data() must unpack: "compressed". */
const char *dti_container_packed(enum dti_container_kind kind);

/* "safetensors"; ".safetensors"; whether dti_container_layout() can make such files. */
const char *dti_container_name(enum dti_container_kind kind);
/* The same words by index, from 0; NULL after the last. */
const char *dti_container_words(size_t index);
const char *dti_container_extension(enum dti_container_kind kind);
/* The path of a companion file of this kind: `path` with `suffix` before its extension; the caller
 * frees it. NULL: out of memory. *ret_named (may be NULL): whether the path has the kind's
 * extension; if not, the suffix is appended. */
char *dti_path_sibling(const char *path, enum dti_container_kind kind, const char *suffix,
                       bool *ret_named);
bool dti_container_is_written(enum dti_container_kind kind);
/* Whether npy stores codes of this dtype as raw bytes (V1, V2) because numpy has no name for it.
 * *ret_dtype is then its ml_dtypes name, or NULL. */
bool dti_npy_is_bytes(const struct dti_format *format, const char **ret_dtype);

/* The kind with the extension of this path; DTI_CONTAINER_COUNT if there is none. */
enum dti_container_kind dti_container_named(const char *path);

struct dti_dequant_form; /* file_dequant.h */

enum {
    DTI_NAME_MAX = INT32_MAX,   /* bytes of a tensor's name */
    DTI_FILES_MAX = UINT16_MAX, /* files of a container */
};

/* One tensor as its file describes it. Every string from a file has an explicit length, since it
 * may contain NUL; a NUL also follows it. A file may have millions of tensors, so this is small. */
struct dti_tensor {
    const char *name;
    const char *stored_as; /* its type as the file spells it, terminal-safe: "F8_E4M3", "<f4" */
    const struct dti_format *format; /* NULL: no dtype; blocks or an unknown type */
    const uint64_t *shape;           /* rank dimensions in elements, outermost first */
    uint64_t offset;                 /* of its first byte in that file */
    uint64_t elements;               /* product of shape; 1 for rank 0 */
    uint64_t bytes;                  /* size in memory, after unpacking */
    union {                          /* by `viewed`; for dti_tensor_refusal(), dti_tensor_form() */
        const char *refusal;
        const struct dti_dequant_form *form;
    } own;
    uint32_t name_length; /* at most DTI_NAME_MAX */
    unsigned rank;
    uint16_t file;            /* index into files */
    struct dti_layout layout; /* of its elements in the file; complex: of each component */
    uint8_t gguf_row;         /* for dti_tensor_gguf(); 0: NULL */
    /* with a refusal: what would make the values readable */
    enum dti_remedy remedy : 8;
    unsigned block_row : 6;  /* for dti_tensor_block(); 0: NULL */
    bool viewed : 1;         /* as dti_tensor_form() says */
    bool fortran : 1;        /* column-major, only where that differs from row-major */
    bool pickled : 1;        /* a Python pickle: only Python knows the data size */
    bool undefined : 1;      /* its type is not defined by the file format */
    bool compressed : 1;     /* dti_container_data() must unpack it first */
    bool strided : 1;        /* dti_container_data() must reorder its elements first */
    bool beyond_bytes : 1;   /* its bytes alone do not say its numbers: a scale, a sign or an order
                              * is stated elsewhere, and there is a refusal */
    bool part_of_weight : 1; /* ONNX: scales or zero points of such codes */
    bool scales_activations : 1; /* views and ONNX: it only scales activations, no parameter */
    bool coded_weights : 1; /* views: a weight whose codes are not decoded; shape and elements are
                             * those of its numbers, bytes those of the codes */
};

_Static_assert(sizeof(struct dti_tensor) <= 80 && DTI_BLOCK_COUNT < 63, "small, and rows fit");

/* Why its values cannot be read ("holds Python objects"), else NULL. */
static inline const char *dti_tensor_refusal(const struct dti_tensor *tensor)
{
    return tensor->viewed ? NULL : tensor->own.refusal;
}
/* For a tensor of a view (logical_tensors.h) that the file stores in parts: how it is stored, and
 * nothing is refused. The tensor's format is then that of its numbers (fp32), bytes the total of
 * all parts, file and offset those of its codes. NULL: a tensor of the file as stored. */
static inline const struct dti_dequant_form *dti_tensor_form(const struct dti_tensor *tensor)
{
    return tensor->viewed ? tensor->own.form : NULL;
}
/* q8_0, mxfp4 ...: a row of our table; else NULL. */
static inline const struct dti_block_format *dti_tensor_block(const struct dti_tensor *tensor)
{
    return tensor->block_row > 0 ? &dti_block_formats[tensor->block_row - 1] : NULL;
}
/* GGUF blocks that can be decoded; else NULL. */
static inline const struct dti_gguf_type *dti_tensor_gguf(const struct dti_tensor *tensor)
{
    return tensor->gguf_row > 0 ? dti_gguf_type_of((enum dti_gguf_blocks)(tensor->gguf_row - 1))
                                : NULL;
}
/* NULL: none. The type is one of blocks. */
static inline void dti_tensor_set_block(struct dti_tensor *tensor,
                                        const struct dti_block_format *block)
{
    tensor->block_row = (block ? block->id + 1 : 0) & 63;
}
static inline void dti_tensor_set_gguf(struct dti_tensor *tensor, const struct dti_gguf_type *type)
{
    tensor->gguf_row = (uint8_t)(type ? type->blocks + 1 : 0);
}

/* Whether its numbers can be read. */
bool dti_tensor_is_read(const struct dti_tensor *tensor);
/* Whether both have the same dimensions, whatever the order of their elements. */
bool dti_tensor_same_shape(const struct dti_tensor *a, const struct dti_tensor *b);

/* A key and its value as the file spells them. */
enum dti_metadata_kind {
    DTI_METADATA_STRING, /* value is the string itself */
    DTI_METADATA_TOKEN,  /* value is a JSON token: a number, true, false, or quoted "nan" etc. */
    DTI_METADATA_ARRAY,  /* value is a JSON array of the first elements; count is the total */
};
struct dti_metadata {
    const char *key, *value;
    size_t key_length, value_length;
    enum dti_metadata_kind kind;
    const char *type;       /* as the file spells it: "string", "uint32", "array of float32" */
    uint64_t count;         /* elements of an array, else 1 */
    uint64_t offset, bytes; /* GGUF: of key, type and value together, in the file; else 0 */
};

/* The raw metadata of a GGUF file; of a split one, of its first file. */
struct dti_pairs {
    uint64_t offset, bytes, count;
    uint64_t alignment; /* of the data */
    bool big_endian;
    uint64_t file_type_at; /* offset of a uint32 general.file_type in these bytes; else 0 */
    uint32_t file_type;
    bool has_version;   /* general.quantization_version is present */
    bool new_file_type; /* general.file_type is no input's: it is reported as added */
};

struct dti_container_file {
    const char *path; /* as given, or the index's folder plus the name in the index */
    struct dti_input input;
    uint64_t header_bytes; /* before the data; 0 for raw */
};

struct dti_container {
    enum dti_container_kind kind;
    const char *version; /* "2.0" for npy, "3" for GGUF; NULL if the format has none */
    const char *path;    /* as given */
    bool alone; /* from memory, a descriptor or standard input: no other file is opened by name */
    const char *index; /* sharded: name of the index in its folder, NULL if there is none */
    struct dti_container_file index_file; /* the open index; path is NULL without one */
    size_t file_count; /* 1, or the number of shards (sorted by name) or of parts (in order) */
    struct dti_container_file *files;
    size_t tensor_count;        /* in the order of their data, file after file */
    struct dti_tensor *tensors; /* NULL: a view makes them, and has a list of structs with their
                                 * names: */
    const struct dti_tensor *(*make)(const struct dti_container *container, size_t tensor);
    const struct dti_tensor *(*alike)(const struct dti_container *container, size_t tensor);
    const void *names;
    struct dti_named named;
    struct dti_tensor *likes;               /* owned; dti_container_compact() */
    const struct dti_onnx_weight **weights; /* ONNX: for each tensor whose codes a node dequantizes,
                                             * else NULL; NULL: no tensor has one */
    size_t metadata_count; /* in file order; sharded: each key once, from the first shard that has
                              it; split gguf: those of the first part */
    struct dti_metadata *metadata;
    struct dti_pairs pairs; /* GGUF */
    size_t note_count;
    struct dti_note *notes;
    void *own; /* private state of the reader or the view */
    /* For a view of another container: that container, and the index there of each of the view's
     * tensors. */
    struct dti_container *stored;
    const uint32_t *stored_at;
};

/* A tensor of any container. One that is made stays until its thread has made as many others. */
enum { DTI_MADE_TENSORS = 8 };
static inline const struct dti_tensor *dti_container_tensor(const struct dti_container *container,
                                                            size_t tensor)
{
    return container->tensors ? &container->tensors[tensor] : container->make(container, tensor);
}

/* For `make`: a tensor like another one, by a name of its own. */
struct dti_tensor *dti_tensor_made(const struct dti_tensor *like, const char *name,
                                   uint32_t name_length);

/* The same, perhaps without name and offset; it stays as long as the container. */
static inline const struct dti_tensor *dti_container_alike(const struct dti_container *container,
                                                           size_t tensor)
{
    return container->tensors ? &container->tensors[tensor] : container->alike(container, tensor);
}

/* What a node states about the codes of a tensor; NULL: no node dequantizes it. */
static inline const struct dti_onnx_weight *dti_container_weight(
    const struct dti_container *container, size_t tensor)
{
    return container->weights ? container->weights[tensor] : NULL;
}

/* Describes an operand whose file does not describe itself. */
struct dti_raw {
    struct dti_format format;
    struct dti_layout layout;
    bool shaped; /* false: one dimension that spans the whole file */
    unsigned rank;
    const uint64_t *shape;
};
struct dti_pickle;
struct dti_container_options {
    const struct dti_format *assume; /* npy: what V1, V2 and <f1 hold; NULL: not specified */
    bool lenient;                    /* accept trailing bytes, skip unknown objects */
    enum dti_packing packing;        /* of codes below 8 bits, where the format leaves it open */
    const struct dti_raw *raw;       /* no header: the whole file is one tensor called "data" */
    /* PyTorch: called with the values of each file's pickle, valid for the call, before tensors are
     * looked for; NULL: not called */
    void (*pickled)(void *context, const struct dti_pickle *pickle);
    void *pickled_context;
};

/* Opens PATH (a file, an index, a folder of shards) and reads its headers. The kind is detected
 * from the content. options may be NULL. Fails with DTI_BAD_INPUT and a one-line message that names
 * the file and the tensor; with DTI_NO_MEMORY; with DTI_UNRECOGNIZED if the caller must specify
 * what the file holds (raw data, text). */
enum dti_status dti_container_open(struct dti_container **ret, const char *path,
                                   const struct dti_container_options *options,
                                   struct dti_error *reterr);
/* The same for an input that is open, which belongs to the container then, and is closed after a
 * failure too. Its name is that of messages alone and must live as long: no other file is opened,
 * so that an index, a part of a split model and external data are refused. */
enum dti_status dti_container_open_input(struct dti_container **ret, struct dti_input *input,
                                         const struct dti_container_options *options,
                                         struct dti_error *reterr);
/* The same for bytes in memory, which are copied. */
enum dti_status dti_container_open_bytes(struct dti_container **ret, const char *path,
                                         const char *bytes, size_t size, struct dti_error *reterr);
/* Makes its tensors from then on: nothing may point into the list of an open container. Not all
 * kinds can; others stay as they are. False: out of memory, and the container can only be freed. */
bool dti_container_take_less(struct dti_container *container);
void dti_container_free(struct dti_container *container); /* closes the files; NULL is allowed */

/* The note that says which file of a model on the hub is read; NULL for all other containers. */
const struct dti_note *dti_container_hub_note(const struct dti_container *container);

/* Whether an operand looks like a container: a folder; a path with a container extension (existing
 * or not, valid or not); a file whose first bytes are those of a container or of a format refused
 * by name (a pickle, a web page). Raw data and text do not count. Used to classify operands; opens
 * no pipe. Also true for an existing but unreadable path, so that dti_container_open() reports the
 * error. */
bool dti_container_is(const char *path);

/* Locates a tensor's bytes: an input and an offset in it, valid until the container is freed. The
 * first call unpacks compressed data into an unnamed temporary file (in $TMPDIR or /tmp). Where the
 * file has a checksum (npz), it is verified: once all data of a tensor have been read, the last
 * read, or this function, returns DTI_BAD_INPUT on a mismatch. Not thread-safe. Fails with
 * DTI_BAD_INPUT, DTI_WRITE_FAILED. */
enum dti_status dti_container_data(struct dti_container *container, size_t tensor,
                                   const struct dti_input **ret_input, uint64_t *ret_offset,
                                   struct dti_error *reterr);

/* Verifies all checksums in the file (all members of a .npz), reading whatever has not been read
 * yet; files without checksums are not read. progress may be NULL; it receives bytes of the file.
 * Fails with DTI_BAD_INPUT. */
enum dti_status dti_container_verify(struct dti_container *container,
                                     void (*progress)(void *context, uint64_t done_bytes),
                                     void *context, struct dti_error *reterr);

/* A tensor of a file to be written. */
struct dti_new_tensor {
    const char *name;
    uint32_t name_length;
    const struct dti_format *format;
    struct dti_layout layout; /* must match what the container stores: see dti_container_stores() */
    unsigned rank;
    uint32_t source; /* owned by the caller and left unchanged: identifies the tensor after
                      * sorting */
    bool fortran;    /* npy only */
    const uint64_t *shape;
    uint64_t bytes;  /* set by dti_container_layout(), as is offset */
    uint64_t offset; /* from the start of the file */
};

/* A format that stands for the bytes of such blocks in this kind of file, named after their type.
 * NULL: the kind has no such blocks, or type is NULL. */
const struct dti_format *dti_container_blocks(enum dti_container_kind kind,
                                              const struct dti_gguf_type *type);

/* Divides a GGUF into files of at most `most` bytes each, where possible. ends[i] is the end of the
 * tensors of file i; *ret_large the number of files that are still larger. whole: the head of a
 * single file with all tensors, already laid out. ends has room for count + 1. */
void dti_gguf_divide(const struct dti_new_head *whole, const struct dti_new_tensor *tensors,
                     size_t count, uint64_t most, size_t *ends, size_t *ret_parts,
                     size_t *ret_large);
/* "-00002-of-00005": the suffix before ".gguf" of file `no`, counted from 0. */
enum { DTI_GGUF_PARTS_MAX = 65535, DTI_GGUF_PART_SUFFIX = sizeof "-00001-of-00001" };
void dti_gguf_part_suffix(char ret[DTI_GGUF_PART_SUFFIX], uint32_t no, uint32_t count);
/* The last component of a path: "PREFIX-00002-of-00005.gguf". */
struct dti_gguf_part_name {
    size_t prefix;          /* its length in bytes */
    uint32_t number, count; /* number: from 1 to count */
};
bool dti_gguf_part_named(const char *name, struct dti_gguf_part_name *ret);

/* Whether the kind has a name for the dtype, and how it stores its elements. */
bool dti_container_stores(enum dti_container_kind kind, const struct dti_format *format,
                          struct dti_layout *ret_layout);

/* Lays out a file. ret_head (initialised by the caller) receives everything but the data; bytes and
 * offset of each tensor are set; *ret_size is the size of the whole file. Data follow in the given
 * order, in safetensors without gaps. If that would misalign a safetensors tensor, the tensors
 * array is stably sorted by descending element size. npy and raw take exactly one tensor. Fails
 * with DTI_BAD_INPUT (duplicate names, a header over 100,000,000 bytes), DTI_WRONG_KIND (no name
 * for a dtype). */
enum dti_status dti_container_layout(enum dti_container_kind kind, struct dti_new_tensor *tensors,
                                     size_t count, const struct dti_metadata *metadata,
                                     size_t metadata_count, struct dti_new_head *ret_head,
                                     uint64_t *ret_size, struct dti_error *reterr);

/* The index of a sharded checkpoint as JSON: shard[i] names the file of tensors[i]. */
enum dti_status dti_sharded_index(const struct dti_new_tensor *tensors, const char *const *shard,
                                  size_t count, struct dti_buffer *ret, struct dti_error *reterr);

#endif
