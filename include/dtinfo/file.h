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
 * (of a regular file, which is read from its beginning; duplicated, its position stays), or bytes
 * in memory (not copied; they must stay as they are while the file is open). Reads headers, and
 * scales of whole tensors. options may be NULL. name, of messages, may be NULL. Descriptors and
 * bytes stand alone: other files that they name are not opened, so that an index, a part of a split
 * model and ONNX's external data are refused, and there is no config.json. Fails with
 * DTI_BAD_INPUT, in one line that names the file and the tensor; with DTI_UNRECOGNIZED; DTI_USAGE
 * (options of a newer version); DTI_UNAVAILABLE (addresses without libcurl); DTI_NO_MEMORY. */
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
    uint64_t stored_bytes; /* in the file, before compression; all parts together */
    const char *quantized; /* the format of its codes, "nvfp4", "q4_k"; NULL: it is not quantized */
    const char *layout;    /* how its parts are stored, "compressed-tensors"; NULL likewise */
    const char *path; /* if the file has the codes row-major, in native byte order, one after */
    uint64_t offset;  /* the other, packed as `packing` says: the file, and where. Else NULL */
    enum dti_packing packing; /* of formats that pack, in the file; dti_file_read() unpacks */
};
/* index < tensor_count. */
DTI_PUBLIC void dti_file_tensor(const struct dti_file *file, size_t index,
                                struct dti_tensor_info *ret);
/* The index of the tensor of that name; SIZE_MAX: there is none. The first call makes an index of
 * all names. */
DTI_PUBLIC size_t dti_file_find(struct dti_file *file, const char *name, size_t length);

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
 * byte order, one or more bytes each (DTI_PACKING_BYTES below 8 bits; complex numbers as both parts
 * in a row); quantized tensors as fp32 numbers, into a buffer that is aligned for them. buffer:
 * count times the format's container. The threads of the context share large ranges. Columns-first
 * and compressed arrays are arranged in a temporary file without a name at their first read.
 * Checksums of an archive are compared once all bytes of a tensor have been read. Fails with
 * DTI_BAD_INPUT (a range beyond the end, a file that changed since it was opened, damaged data),
 * DTI_USAGE (alignment), DTI_CANCELLED, DTI_WRITE_FAILED (the temporary file), DTI_NO_MEMORY; the
 * buffer's content is then undefined. */
DTI_PUBLIC enum dti_status dti_file_read(struct dti_file *file, size_t tensor, uint64_t first,
                                         uint64_t count, void *buffer, struct dti_error *reterr);

/* A new file: tensors are declared, then written in any order, then the file appears under its name
 * complete, or not at all. Until then its data are in ".NAME.dtinfo-XXXXXX" next to it, which stays
 * only if the process is killed. One thread at a time; different writers in parallel. */
struct dti_writer;

/* container: "safetensors", "npy" (one array), "npz", "raw" (the codes of one tensor alone); NULL:
 * by the extension of the path (.safetensors, .npy, .npz). replace: an existing file may be
 * replaced. Fails with DTI_UNKNOWN_OPTION, DTI_USAGE (no known extension), DTI_WRITE_FAILED,
 * DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_writer_new(struct dti_writer **ret, struct dti_context *context,
                                          const char *path, const char *container, bool replace,
                                          struct dti_error *reterr);
/* Declares a tensor, or a string of metadata (safetensors); not after the first dti_writer_write().
 * Texts and shape are copied; the format lives as long as the context. Tensors are numbered from 0
 * in this order; npy and raw have one, whose name is not stored. Fails with DTI_WRONG_KIND (the
 * container has no name for the format), DTI_USAGE, DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_writer_tensor(struct dti_writer *writer, const char *name,
                                             size_t length, const struct dti_format *format,
                                             size_t rank, const uint64_t *shape,
                                             struct dti_error *reterr);
DTI_PUBLIC enum dti_status dti_writer_metadata(struct dti_writer *writer, const char *key,
                                               const char *value, struct dti_error *reterr);
/* Writes elements of the tensor with that number: codes in native byte order, unpacked, as
 * dti_file_read() gives them; each element once. For formats below 8 bits that the container packs,
 * `first` and, except at the end, `count` must be multiples of 8. The first call lays out the file.
 * Fails with DTI_USAGE (beyond the end, twice); DTI_BAD_INPUT (names that repeat, a shape that the
 * container cannot have); DTI_WRITE_FAILED, after which the writer can only be freed. */
DTI_PUBLIC enum dti_status dti_writer_write(struct dti_writer *writer, size_t tensor,
                                            uint64_t first, uint64_t count, const void *codes,
                                            struct dti_error *reterr);
/* Completes the file, which is then on the disk. Fails with DTI_USAGE if an element was never
 * written, which it still can be; as dti_writer_write() does. */
DTI_PUBLIC enum dti_status dti_writer_commit(struct dti_writer *writer, struct dti_error *reterr);
/* Frees it; what was not committed disappears. NULL is fine. */
DTI_PUBLIC void dti_writer_free(struct dti_writer *writer);

/* A setting of the two functions below: an option of the command of that name, without dashes, with
 * its words as value; for flags "" or NULL: {"only", "*.weight"}, {"layout", "modelopt"}, {"force",
 * ""}. `dtinfo cast --help` and the manual list them. Of several with one name the last counts,
 * except for "set". What a context has (threads, device), what is a parameter (input, output), and
 * what is for a terminal (progress, tree, top) is none. */
struct dti_setting {
    const char *name, *value;
};

/* A new file, or a folder of files, from another.
 * verb: "cast", "quant", "dequant", "transcode". input: a path, as for dti_file_open(). what: the
 * dtype; the layout, or dtype of plain floats, of a transcoding, or NULL with the setting
 * "reconcile". output: a path, whose name says what kind of file it is, "out.gguf", "folder/"; it
 * appears complete or not at all; NULL with "dry-run" only. ret_report: NULL, or *ret_report
 * becomes the JSON document of the command (dtinfo.cast_file, quant_file, dequant, transcode;
 * warnings included) for dti_text_free(), or NULL if there is none. Without it, losses are not
 * counted. Returns DTI_ANSWER_NO, with the report, if an event of "fail-on" happened (the file is
 * there), and without one if parts of a divided run are missing ("finish"). Fails with
 * DTI_UNKNOWN_OPTION and DTI_USAGE for verbs, settings and what does not fit together;
 * DTI_UNKNOWN_DTYPE; DTI_WRONG_KIND; DTI_WRITE_FAILED (also if the output exists, without "force");
 * as dti_file_open() does for the input; DTI_CANCELLED; DTI_NO_MEMORY, also if the file is there
 * and only its report has no room. The remedy of the error is often a setting: DTI_WRITE_FAILED
 * with "replace", for example. */
DTI_PUBLIC enum dti_status dti_file_convert(struct dti_context *context, const char *verb,
                                            const char *input, const char *what, const char *output,
                                            const struct dti_setting *settings,
                                            size_t setting_count, char **ret_report,
                                            struct dti_error *reterr);

/* Questions about files, whose answers are JSON documents with a schema each, dtinfo.inspect and so
 * on: "inspect" and "check" (one path or more), "compare" and "explain" (two paths). *ret_document
 * is the document of the command, for dti_text_free(), or NULL if there is none. Returns DTI_OK for
 * a yes and DTI_ANSWER_NO for a no (an assertion that does not hold, files that differ, a tensor
 * without an explanation), both with the document; DTI_BAD_INPUT with the document, if something is
 * unreadable and nothing else is wrong; for "inspect" of several files the error of the first that
 * cannot be opened, with the document that has the others. Fails without one as dti_file_convert()
 * does. ret_document may be NULL. */
DTI_PUBLIC enum dti_status dti_file_ask(struct dti_context *context, const char *question,
                                        const char *const *paths, size_t path_count,
                                        const struct dti_setting *settings, size_t setting_count,
                                        char **ret_document, struct dti_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
