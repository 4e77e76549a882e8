/* SPDX-License-Identifier: MIT
 *
 * Options of the commands that read files of tensors: what a file holds where it does not say so
 * itself, and with how many threads and how much memory its data is read. */
#ifndef DTINFO_CLI_FILE_SOURCE_H
#define DTINFO_CLI_FILE_SOURCE_H

#include "cli/shared/option_rows.h"
#include "cli/shared/progress.h"
#include "cli/shell/command.h"
#include "dtinfo/container.h"
#include "dtinfo/scan.h"

struct dti_file_args {
    const char *from, *shape, *assume, *threads, *max_memory;
    int endian, packing;
    bool endian_given, packing_given, lenient;
};

enum dti_endian { DTI_ENDIAN_LITTLE, DTI_ENDIAN_BIG };

/* Rows for a command's options; args is its struct dti_file_args member. */
#define DTI_SOURCE_OPTIONS(type, args)                                                           \
    DTI_ROW_FROM(type, args.from), DTI_ROW_ENDIAN(type, args.endian, "byte order of raw codes"), \
        DTI_ROW_PACKING(type, args.packing,                                                      \
                        "how codes of less than 8 bits lie: raw ones, those of safetensors"),    \
        DTI_ROW_ASSUME(type, args.assume), DTI_ROW_LENIENT(type, args.lenient)
#define DTI_SHAPE_OPTION(type, args) DTI_ROW_SHAPE(type, args.shape, "")
#define DTI_SCAN_OPTIONS(type, args)                \
    DTI_ROW_THREADS(type, args.threads, "threads"), \
        DTI_ROW_MAX_MEMORY(type, args.max_memory, "", "; the default is 16MiB")

/* "2,3", "2x3", "[2, 3]"; "" and "[]" are a scalar. False when it is none of that. */
enum { DTI_RANK_MAX = 64 };
bool dti_shape_parse(const char *text, size_t length, uint64_t shape[DTI_RANK_MAX],
                     unsigned *ret_rank);

/* The options for dti_container_open(). Points into itself: must not be copied. */
struct dti_file_source {
    struct dti_container_options options;
    struct dti_raw raw;
    struct dti_format assume;
    uint64_t shape[DTI_RANK_MAX];
    const char *notes[2]; /* what the dtypes' names deserve to have said about them */
    size_t note_count;
};
enum dti_status dti_file_source_init(struct dti_file_source *ret, const struct dti_file_args *args,
                                     const struct dti_context *cx, struct dti_error *reterr);

/* "warnings" of a JSON document: the notes. */
void dti_json_source_notes(struct dti_json *json, const struct dti_file_source *source);

/* The bar of reading so many bytes of a file; shown by a callback whose context it is. */
void dti_file_progress_start(struct dti_progress *ret, const struct dti_context *cx,
                             uint64_t bytes);
void dti_file_progress_show(void *progress, uint64_t done_bytes);

/* The threads, memory and progress bar for reading so many bytes. */
struct dti_file_scan {
    struct dti_scan_options options;
    struct dti_progress progress;
    size_t threads; /* 0 until they are started */
    size_t wanted;  /* 0: as many as are useful */
};
/* Reads the options: mistakes are to be found before anything else is done. */
enum dti_status dti_file_scan_init(struct dti_file_scan *ret, const struct dti_file_args *args,
                                   struct dti_error *reterr);
/* Starts threads and bar for so many bytes. To be ended whatever comes of the work. */
enum dti_status dti_file_scan_start(struct dti_file_scan *scan, const struct dti_context *cx,
                                    uint64_t bytes, struct dti_error *reterr);
void dti_file_scan_end(struct dti_file_scan *scan);

#endif
