/* SPDX-License-Identifier: MIT
 *
 * Options of the commands that read files of tensors: the contents of files that do not describe
 * themselves, and the threads and memory for reading. */
#ifndef REQUESTS_FILE_SOURCE_H
#define REQUESTS_FILE_SOURCE_H

#include "answers/amounts.h"
#include "answers/reading.h"
#include "containers/container.h"
#include "files/dequant/logical_tensors.h"
#include "requests/asker.h"
#include "requests/option_rows.h"

struct dti_file_args {
    const char *from, *shape, *assume, *threads, *max_memory;
    int endian, packing, progress; /* progress: enum dti_progress_when */
    uint64_t bits, block;
    int like; /* indexes dti_like_readers */
    bool endian_given, packing_given, progress_given, lenient, raw, bits_given, block_given,
        like_given;
};

/* Rows for a command's options; args is its struct dti_file_args member. */
#define DTI_SOURCE_OPTIONS(type, args)                                                           \
    DTI_ROW_FROM(type, args.from), DTI_ROW_ENDIAN(type, args.endian, "byte order of raw codes"), \
        DTI_ROW_PACKING(type, args.packing, "packing of sub-byte codes, raw or in safetensors"), \
        DTI_ROW_ASSUME(type, args.assume), DTI_ROW_LENIENT(type, args.lenient)
/* For commands that treat a quantized tensor as one tensor. */
#define DTI_LOGICAL_OPTIONS(type, args)                                                       \
    OPT_FLAG(0, "raw", type, args.raw, "show quantized tensors as stored: codes and scales"), \
        OPT_UINT(0, "bits", type, args.bits, args.bits_given, 1, 16, "N",                     \
                 "quantized codes have N bits, overriding config.json"),                      \
        OPT_UINT(0, "block", type, args.block, args.block_given, 1, 65536, "N",               \
                 "N quantized neighbours share a scale")
/* For commands that read its numbers. */
#define DTI_LIKE_OPTION(type, args)                 \
    DTI_ROW_LIKE(type, args.like, dti_like_readers, \
                 "dequantize as this program does where it differs from the layout's own")
/* The programs. */
extern const struct dti_choice dti_like_readers[];
#define DTI_LIKE_VLLM_HELP           "nvfp4 of compressed-tensors: scales times 1 / the global scale"
#define DTI_SHAPE_OPTION(type, args) DTI_ROW_SHAPE(type, args.shape, "")
#define DTI_SCAN_OPTIONS(type, args)                                             \
    DTI_ROW_THREADS(type, args.threads, "threads"),                              \
        DTI_ROW_MAX_MEMORY(type, args.max_memory, "", "; the default is 16MiB"), \
        DTI_ROW_PROGRESS(type, args.progress, "show a progress bar on standard error")

/* The options for dti_container_open(). Points into itself: must not be copied. */
struct dti_file_source {
    struct dti_container_options options;
    struct dti_logical_options logical; /* the same and more, for dti_logical_open() */
    struct dti_raw raw;
    struct dti_format assume;
    uint64_t shape[DTI_SHAPE_RANK_MAX];
    const char *notes[2]; /* notes about the dtypes' names */
    size_t note_count;
};
enum dti_status dti_file_source_init(struct dti_file_source *ret, const struct dti_file_args *args,
                                     const struct dti_asker *asker, struct dti_error *reterr);

/* Notes about quantized tensors that are shown as stored, and which file of a model on the hub is
 * read. */
void dti_file_source_warn(const struct dti_asker *asker, const struct dti_container *container);

/* The reading that the options ask for, without progress. */
enum dti_status dti_file_reading_init(struct dti_reading *ret, const struct dti_file_args *args,
                                      const struct dti_asker *asker, struct dti_error *reterr);

#endif
