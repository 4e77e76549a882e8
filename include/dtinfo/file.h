/* SPDX-License-Identifier: MIT
 *
 * Files that hold tensors: safetensors, npy, npz, GGUF, PyTorch, ONNX, DDUF, and models in several
 * files. Quantized tensors appear as one tensor each, whose numbers can be read, or as stored.
 * Nothing that a file says is trusted. */
#ifndef DTINFO_FILE_H
#define DTINFO_FILE_H

#include "dtinfo/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open file, or a model in several. One thread at a time; different files in parallel. */
struct dti_file;

struct dti_file_options {
    size_t size;  /* sizeof(struct dti_file_options) */
    bool stored;  /* quantized tensors appear as their parts: codes, scales, and so on */
    bool lenient; /* accept trailing bytes, skip unknown objects */
    const struct dti_format *assume; /* npy: what types without a dtype of numpy hold (V1, V2) */
    /* quantized tensors whose file leaves it open: */
    unsigned bits;  /* of a code */
    uint64_t block; /* neighbours that share a scale */
};

/* Opens a path (a file, an index, a folder of a model, https:// and hf:// addresses), a descriptor
 * (duplicated; a regular file), or bytes in memory (which must stay as long as the file is open).
 * Reads headers and scales of whole tensors. options may be NULL. name: of messages. Fails with
 * DTI_BAD_INPUT, in one line that names the file and the tensor; with DTI_UNRECOGNIZED;
 * DTI_UNAVAILABLE (addresses without libcurl); DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_file_open(struct dti_file **ret, struct dti_context *context,
                                         const char *path, const struct dti_file_options *options,
                                         struct dti_error *reterr);
DTI_PUBLIC enum dti_status dti_file_open_fd(struct dti_file **ret, struct dti_context *context,
                                            int fd, const char *name,
                                            const struct dti_file_options *options,
                                            struct dti_error *reterr);
DTI_PUBLIC enum dti_status dti_file_open_memory(struct dti_file **ret, struct dti_context *context,
                                                const void *bytes, size_t length, const char *name,
                                                const struct dti_file_options *options,
                                                struct dti_error *reterr);
DTI_PUBLIC void dti_file_close(struct dti_file *file); /* NULL is fine */

struct dti_file_info {
    size_t size;           /* sizeof(struct dti_file_info) */
    const char *container; /* "safetensors" */
    const char *version;   /* "3" for GGUF; NULL if there is none */
    size_t file_count, tensor_count, metadata_count, note_count;
};
DTI_PUBLIC void dti_file_describe(const struct dti_file *file, struct dti_file_info *ret);

/* A tensor. Texts and shape live as long as the file. Names are raw bytes and may contain NUL. */
struct dti_tensor_info {
    size_t size; /* sizeof(struct dti_tensor_info) */
    const char *name;
    size_t name_length;
    const char *stored_as;           /* its type as the file spells it, safe for a terminal */
    const struct dti_format *format; /* of the codes that dti_file_read() gives; NULL: it cannot be
                                        read, for this reason: */
    const char *refusal;
    size_t rank;
    const uint64_t *shape; /* in elements, outermost first */
    uint64_t elements;
    uint64_t stored_bytes; /* in the file, all parts together */
    const char *quantized; /* the format of its codes, "nvfp4", "q4_k"; NULL: it is not quantized */
    const char *layout;    /* how its parts are stored, "compressed-tensors"; NULL likewise */
    const char *path;      /* if the codes lie in the file as they are read, row-major in native */
    uint64_t offset;       /* byte order, one after the other: where; else NULL */
    enum dti_packing packing; /* of formats that pack, in the file; dti_file_read() unpacks */
    bool complex_parts;
};
/* index < tensor_count. */
DTI_PUBLIC void dti_file_tensor(const struct dti_file *file, size_t index,
                                struct dti_tensor_info *ret);
/* The index of the tensor of that name; SIZE_MAX: there is none. */
DTI_PUBLIC size_t dti_file_find(const struct dti_file *file, const char *name, size_t length);

/* A key and its value. kind 0: a string; 1: a JSON token; 2: a JSON array of the first elements.
 * index < metadata_count. This struct never changes. */
struct dti_pair {
    const char *key, *value;
    size_t key_length, value_length;
    int kind;
};
DTI_PUBLIC void dti_file_metadata(const struct dti_file *file, size_t index, struct dti_pair *ret);
/* What is unusual in the file, in one line; index < note_count. */
DTI_PUBLIC const char *dti_file_note(const struct dti_file *file, size_t index);

/* Reads elements first to first + count - 1 of a tensor, in row-major order, as codes in native
 * byte order, one or more bytes each (DTI_PACKING_BYTES below 8 bits); quantized tensors as fp32
 * numbers. buffer: count times the format's container. Fails with DTI_BAD_INPUT (also for a range
 * beyond the end), DTI_CANCELLED, DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_file_read(struct dti_file *file, size_t tensor, uint64_t first,
                                         uint64_t count, void *buffer, struct dti_error *reterr);

/* A new file: tensors are declared, then written in any order, then the file appears under its name
 * complete, or not at all. */
struct dti_writer;

/* container: "safetensors", "npy", "npz"; NULL: by the extension of the path. replace: an
 * existing file may be replaced. Fails with DTI_UNKNOWN_OPTION, DTI_USAGE (no known extension),
 * DTI_WRITE_FAILED. */
DTI_PUBLIC enum dti_status dti_writer_new(struct dti_writer **ret, struct dti_context *context,
                                          const char *path, const char *container, bool replace,
                                          struct dti_error *reterr);
/* Declares a tensor, or a string of metadata; not after the first dti_writer_write(). Names of the
 * caller are copied. */
DTI_PUBLIC enum dti_status dti_writer_tensor(struct dti_writer *writer, const char *name,
                                             size_t length, const struct dti_format *format,
                                             size_t rank, const uint64_t *shape,
                                             struct dti_error *reterr);
DTI_PUBLIC enum dti_status dti_writer_metadata(struct dti_writer *writer, const char *key,
                                               const char *value, struct dti_error *reterr);
/* Writes elements of the tensor with that number in the order of their declaration: codes in native
 * byte order, unpacked, as dti_file_read() gives them. `first` and, except at the end, `count` must
 * be multiples of 8 for formats below 8 bits. */
DTI_PUBLIC enum dti_status dti_writer_write(struct dti_writer *writer, size_t tensor,
                                            uint64_t first, uint64_t count, const void *codes,
                                            struct dti_error *reterr);
/* Completes the file. Fails with DTI_USAGE if an element was never written; with DTI_WRITE_FAILED.
 */
DTI_PUBLIC enum dti_status dti_writer_commit(struct dti_writer *writer, struct dti_error *reterr);
/* Frees it; what was not committed disappears. NULL is fine. */
DTI_PUBLIC void dti_writer_free(struct dti_writer *writer);

/* A new file from a file, as the command of that name makes it. Settings are the options of that
 * command by their names without dashes, with their words as values ("" for flags):
 * {"only", "*.weight"}, {"layout", "modelopt"}, {"force", ""}. */
struct dti_setting {
    const char *name, *value;
};
/* verb: "cast", "quant", "dequant", "transcode". what: the dtype, or the layout of a transcoding.
 * *ret_report (may be NULL): the JSON document of the command, dtinfo.cast and so on, for
 * dti_text_free(). Fails as the command does; DTI_UNKNOWN_OPTION and DTI_USAGE for settings. */
DTI_PUBLIC enum dti_status dti_file_convert(struct dti_context *context, const char *verb,
                                            const char *input, const char *what, const char *output,
                                            const struct dti_setting *settings,
                                            size_t setting_count, char **ret_report,
                                            struct dti_error *reterr);

/* Questions about files, whose answers are JSON documents with a schema each: "inspect" and "check"
 * (one path), "compare", "explain" (two paths). Settings as above. *ret_document is the document,
 * for dti_text_free(). Returns DTI_OK for a yes and DTI_ANSWER_NO for a no (an assertion that does
 * not hold, files that differ, a tensor without an explanation), both with the document; fails as
 * the command does. */
DTI_PUBLIC enum dti_status dti_file_ask(struct dti_context *context, const char *question,
                                        const char *const *paths, size_t path_count,
                                        const struct dti_setting *settings, size_t setting_count,
                                        char **ret_document, struct dti_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
