/* SPDX-License-Identifier: MIT
 *
 * Files that hold tensors, behind one interface: a reader finds out what there is (name, dtype,
 * shape, byte range) from headers alone, a writer lays out a new file. Nothing here reads the data,
 * except to unpack compressed data. Everything in a file is untrusted: sizes are checked before
 * memory is taken, names are bytes and may hold anything. */
#ifndef CONTAINERS_CONTAINER_H
#define CONTAINERS_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/new_head.h"
#include "core/dtype/gguf_type.h"
#include "core/dtype/onnx_weight.h"
#include "dtinfo/dtype.h"
#include "dtinfo/remedy.h"
#include "dtinfo/storage.h"
#include "io/input.h"
#include "util/buffer.h"

enum dti_container_kind {
#define CONTAINER(id, ...) DTI_CONTAINER_##id,
#include "containers/containers.def"
#undef CONTAINER
    DTI_CONTAINER_COUNT
};

/* What a kind is beyond the usual: */
enum {
    DTI_TRAIT_TEXTS = 1,      /* metadata are written, which are strings */
    DTI_TRAIT_FOLDER = 2,     /* several files in a folder, with an index */
    DTI_TRAIT_SEVERAL = 4,    /* any number of tensors in a file that is written */
    DTI_TRAIT_NUMPY = 8,      /* numpy's arrays: one code a byte, either order of dimensions */
    DTI_TRAIT_PLACED = 16,    /* not written in sequence: never to a pipe */
    DTI_TRAIT_REMADE = 32,    /* made from a file of its kind alone, whose metadata it takes over */
    DTI_TRAIT_BARE = 64,      /* codes alone: no header says what they are */
    DTI_TRAIT_SHARDS = 128,   /* a folder whose files are called shards, and written as such */
    DTI_TRAIT_GGML = 256,     /* one file or several: blocks, and the key-values of a model */
    DTI_TRAIT_CONFIG = 512,   /* of models that have a config.json beside them */
    DTI_TRAIT_GRAPH = 1024,   /* its graph, and no name, says what is quantized */
    DTI_TRAIT_REPLACES = 2048 /* programs find one model by more than one name: the others go */
};
/* None of DTI_CONTAINER_COUNT. */
unsigned dti_container_traits(enum dti_container_kind kind);
/* Whether it has one of these traits. */
static inline bool dti_container_has(enum dti_container_kind kind, unsigned traits)
{
    return (dti_container_traits(kind) & traits) != 0;
}
/* The first kind that has all these traits; there is one. */
enum dti_container_kind dti_container_first(unsigned traits);

static inline bool dti_is_numpy(enum dti_container_kind kind)
{
    return dti_container_has(kind, DTI_TRAIT_NUMPY);
}
/* npy: the parts of a quantized array are files beside it. */
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
/* Whether files of the kind have metadata: safetensors, in shards or not. */
static inline bool dti_holds_texts(enum dti_container_kind kind)
{
    return dti_container_has(kind, DTI_TRAIT_TEXTS);
}
static inline bool dti_container_is_known(enum dti_container_kind kind)
{
    return kind != DTI_CONTAINER_COUNT;
}

/* What a file of this kind is written as where nothing says otherwise: its own kind, shards as
 * shards, else safetensors. stream: to where it must be written in sequence. */
enum dti_container_kind dti_container_becomes(enum dti_container_kind kind, bool stream);
/* Whether a file of a kind with DTI_TRAIT_REMADE is made from one of the other kind. */
bool dti_container_remakes(enum dti_container_kind kind, enum dti_container_kind from);
/* What a tensor is in its files that dti_container_data() must unpack: "compressed". */
const char *dti_container_packed(enum dti_container_kind kind);

/* "safetensors"; ".safetensors"; whether dti_container_layout() makes such files. */
const char *dti_container_name(enum dti_container_kind kind);
/* The same for each index from 0 on; NULL after the last. */
const char *dti_container_words(size_t index);
const char *dti_container_extension(enum dti_container_kind kind);
/* The name of a file of a kind that lies beside another: `path` with `suffix` before its extension,
 * to be freed; NULL: memory ran out. ret_named (may be NULL): the path has the extension of the
 * kind; otherwise the suffix is appended. */
char *dti_path_beside(const char *path, enum dti_container_kind kind, const char *suffix,
                      bool *ret_named);
bool dti_container_is_written(enum dti_container_kind kind);
/* Whether codes of a dtype stand in npy files as bytes (V1, V2), since numpy has no name for it;
 * then *ret_dtype is its name in ml_dtypes, or NULL. */
bool dti_npy_is_bytes(const struct dti_format *format, const char **ret_dtype);

/* The kind whose extension a path ends in; DTI_CONTAINER_COUNT when it is none's. */
enum dti_container_kind dti_container_named(const char *path);

struct dti_dequant_form; /* file_dequant.h */

/* One tensor as its file describes it. Every text that comes from a file has its length: it may
 * hold NUL; it is followed by a NUL all the same. */
struct dti_tensor {
    const char *name;
    size_t name_length;
    const char *stored_as; /* its type in the file's words, safe for a terminal: "F8_E4M3", "<f4" */
    const struct dti_format *format;      /* NULL: no dtype, but blocks or something unknown */
    const struct dti_block_format *block; /* q8_0, mxfp4 ...: one of our rows; else NULL */
    const struct dti_gguf_type *gguf;     /* blocks of GGUF that can be decoded; else NULL */
    const struct dti_onnx_weight *weight; /* ONNX: codes of which a node makes numbers; else NULL */
    struct dti_layout layout;             /* of its elements in the file; complex: of the parts */
    unsigned rank;
    unsigned file;           /* index into files */
    uint64_t offset;         /* of its first byte in that file */
    const uint64_t *shape;   /* rank dimensions in elements, slowest first */
    uint64_t elements;       /* product of shape; 1 for rank 0 */
    uint64_t bytes;          /* as stored in memory, that is after unpacking */
    bool fortran;            /* the first dimension varies fastest; only where that differs */
    bool pickled;            /* its bytes are a Python pickle: how many, only Python knows */
    bool undefined;          /* it has a type that its kind of file does not define */
    bool compressed;         /* dti_container_data() must unpack it first */
    bool strided;            /* dti_container_data() must put its elements into order first */
    bool part_of_weight;     /* ONNX: scales or zero points of such codes */
    bool scales_activations; /* of a view, and of ONNX: of no other tensor, and no parameter */
    enum dti_remedy remedy;  /* what makes its values readable, with a refusal */
    const char *refusal;     /* why its values cannot be read ("holds Python objects"), else NULL */
    /* A tensor of a view (logical_tensors.h) that the file has in parts: how it is stored. format
     * is then that of its numbers (fp32), bytes are those of all parts, file and offset those of
     * its codes. NULL: it is a tensor of the file as stored. */
    const struct dti_dequant_form *quantized;
};

/* Whether its numbers can be read. */
bool dti_tensor_is_read(const struct dti_tensor *tensor);
/* Whether both have the same dimensions, in whatever order their elements lie. */
bool dti_tensor_same_shape(const struct dti_tensor *a, const struct dti_tensor *b);

/* A key and its value, as the file spells them. */
enum dti_metadata_kind {
    DTI_METADATA_STRING, /* value is the string itself */
    DTI_METADATA_TOKEN,  /* value is a JSON token: a number, true, false, or "nan" and the like
                          * with their quotes */
    DTI_METADATA_ARRAY,  /* value is a JSON array of the first elements; count is their number */
};
struct dti_metadata {
    const char *key, *value;
    size_t key_length, value_length;
    enum dti_metadata_kind kind;
    const char *type;       /* in the file's words: "string", "uint32", "array of float32" */
    uint64_t count;         /* elements of an array, else 1 */
    uint64_t offset, bytes; /* GGUF: of the key, its type and its value, in the file; else 0 */
};

/* The metadata as they are in a GGUF file; of several, in the first. */
struct dti_pairs {
    uint64_t offset, bytes, count;
    uint64_t alignment; /* of the data */
    bool big_endian;
    uint64_t file_type_at; /* where in these bytes general.file_type is, if it is a uint32; or 0 */
    uint32_t file_type;
    bool has_version; /* there is a general.quantization_version */
};

struct dti_container_file {
    const char *path; /* as given, or that of the index's folder and the name in the index */
    struct dti_input input;
    uint64_t header_bytes; /* before the data; 0 for raw */
};

struct dti_container {
    enum dti_container_kind kind;
    const char *version; /* "2.0" of npy, "3" of GGUF; NULL where the format has none */
    const char *path;    /* as given */
    const char *index;   /* sharded: the name of the index file in its folder, or NULL for a folder
                          * without one */
    struct dti_container_file index_file; /* that index, open; path is NULL without one */
    size_t file_count; /* 1, or the shards in the order of their names, or the parts in theirs */
    struct dti_container_file *files;
    size_t tensor_count; /* in the order of their data, file after file */
    struct dti_tensor *tensors;
    size_t metadata_count; /* in the file's order; sharded: each key once, of the first shard that
                              has it; split gguf: those of the first part */
    struct dti_metadata *metadata;
    struct dti_pairs pairs; /* GGUF */
    size_t note_count;
    struct dti_note *notes;
    void *own; /* what the reader, or the view, keeps */
    /* Of a view of another container: that one, and the places of the view's tensors in it. */
    struct dti_container *stored;
    const size_t *stored_at;
};

/* What the operand is when the file itself does not say. */
struct dti_raw {
    struct dti_format format;
    struct dti_layout layout;
    bool shaped; /* otherwise: one dimension with all that there is */
    unsigned rank;
    const uint64_t *shape;
};
struct dti_container_options {
    const struct dti_format *assume; /* npy: what V1, V2 and <f1 hold; NULL: not said */
    bool lenient;                    /* accept bytes after the data, read around unknown objects */
    enum dti_packing packing;  /* of its codes of less than 8 bits: the format leaves that open */
    const struct dti_raw *raw; /* no header: all of the file is one tensor called "data" */
};

/* Opens PATH (a file, an index, a folder of shards) and reads its headers. The kind follows from
 * the content. options may be NULL. Fails with DTI_BAD_INPUT in one line that names the file and
 * the tensor, with DTI_NO_MEMORY; with DTI_UNRECOGNIZED when the caller must say what is in the
 * file (raw data, text). */
enum dti_status dti_container_open(struct dti_container **ret, const char *path,
                                   const struct dti_container_options *options,
                                   struct dti_error *reterr);
void dti_container_free(struct dti_container *container); /* closes the files; NULL is fine */

/* Whether an operand is meant to be one: a folder, a file whose name ends as theirs do (there or
 * not, broken or not), a file whose first bytes are those of a container or of something that is
 * refused by name (a pickle, a web page). Raw and text are none. For those who must decide what an
 * operand is; opens no pipe. True also for what is there and cannot be read, so that
 * dti_container_open() says why. */
bool dti_container_is(const char *path);

/* Where a tensor's bytes are: an input and an offset in it, until the container is freed. What is
 * compressed is unpacked into an unnamed temporary file (in $TMPDIR or /tmp) at the first call.
 * Where the file has a sum of the data (npz), it is checked: after all data of a tensor were read,
 * the last read, or this function, returns DTI_BAD_INPUT if it is wrong. Not from several threads
 * at once. Fails with DTI_BAD_INPUT, DTI_WRITE_FAILED. */
enum dti_status dti_container_data(struct dti_container *container, size_t tensor,
                                   const struct dti_input **ret_input, uint64_t *ret_offset,
                                   struct dti_error *reterr);

/* Reads what has not been read to its end, of whatever there are sums in the file (all members of a
 * .npz), and checks them; elsewhere nothing is read. progress may be NULL; it receives the progress
 * in the file's bytes. Fails with DTI_BAD_INPUT. */
enum dti_status dti_container_verify(struct dti_container *container,
                                     void (*progress)(void *context, uint64_t done_bytes),
                                     void *context, struct dti_error *reterr);

/* A tensor of a file to be written. */
struct dti_new_tensor {
    const char *name;
    size_t name_length;
    const struct dti_format *format;
    struct dti_layout layout; /* must be what the container stores: see dti_container_stores() */
    unsigned rank;
    bool fortran; /* npy only */
    const uint64_t *shape;
    uint64_t bytes;  /* filled by dti_container_layout(), as is */
    uint64_t offset; /* from the start of the file */
    size_t source;   /* the caller's own, left as it is: which one this is once they are sorted */
};

/* Something for the bytes of blocks, which a kind of file stores: its name is that of their type.
 * NULL: it has no such blocks, or the type is NULL. */
const struct dti_format *dti_container_blocks(enum dti_container_kind kind,
                                              const struct dti_gguf_type *type);

/* A split GGUF of files of at most `most` bytes, where that can be: ends[i] is the end of the
 * tensors of file i, *ret_large the number of files that have more. whole: the head of one file
 * with all tensors, which has been laid out. ends has room for count + 1. */
void dti_gguf_divide(const struct dti_new_head *whole, const struct dti_new_tensor *tensors,
                     size_t count, uint64_t most, size_t *ends, size_t *ret_parts,
                     size_t *ret_large);
/* "-00002-of-00005", how the name of such a file ends before ".gguf", of a number from 0 on. */
enum { DTI_GGUF_PARTS_MAX = 65535, DTI_GGUF_PART_SUFFIX = sizeof "-00001-of-00001" };
void dti_gguf_part_suffix(char ret[DTI_GGUF_PART_SUFFIX], uint32_t no, uint32_t count);
/* The last part of a path: "PREFIX-00002-of-00005.gguf". */
struct dti_gguf_part_name {
    size_t prefix;          /* bytes of it */
    uint32_t number, count; /* number: from 1 on, at most the count */
};
bool dti_gguf_part_named(const char *name, struct dti_gguf_part_name *ret);

/* Whether a kind of file has a name for the dtype, and how it stores elements. */
bool dti_container_stores(enum dti_container_kind kind, const struct dti_format *format,
                          struct dti_layout *ret_layout);

/* Lays out a file: everything but the data goes to ret_head (initialised by the caller), bytes and
 * offset of each tensor are filled, *ret_size is the size of the whole file. Data follows in the
 * order given, in safetensors without gaps. There a tensor might not be aligned to its element's
 * size: then tensors are sorted, stably, by falling element size, and the array is in that order on
 * return. npy and raw take exactly one tensor. Fails with DTI_BAD_INPUT (two tensors of one name, a
 * header beyond 100,000,000 bytes), DTI_WRONG_KIND (no name for a dtype). */
enum dti_status dti_container_layout(enum dti_container_kind kind, struct dti_new_tensor *tensors,
                                     size_t count, const struct dti_metadata *metadata,
                                     size_t metadata_count, struct dti_new_head *ret_head,
                                     uint64_t *ret_size, struct dti_error *reterr);

/* The index of a sharded checkpoint as JSON: shard[i] names the file of tensors[i]. */
enum dti_status dti_sharded_index(const struct dti_new_tensor *tensors, const char *const *shard,
                                  size_t count, struct dti_buffer *ret, struct dti_error *reterr);

#endif
