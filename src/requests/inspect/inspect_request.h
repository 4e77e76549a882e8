/* SPDX-License-Identifier: MIT
 *
 * inspect: its options, and what is asked. */
#ifndef REQUESTS_INSPECT_INSPECT_REQUEST_H
#define REQUESTS_INSPECT_INSPECT_REQUEST_H

#include "answers/inspect/inspect.h"
#include "requests/cast_list.h"
#include "requests/file_source.h"

struct inspect_args {
    struct dti_file_args file;
    struct dti_inspect_request request; /* the request for each file */
    const char *as;
    int sort;
    bool sort_given, tree, metadata;
};

extern const struct dti_option dti_inspect_options[];

/* One run over all files. Points into itself. */
struct inspect_job {
    const struct inspect_args *args;
    const struct dti_asker *asker;
    struct dti_file_source source;
    struct dti_inspect_request request;
    struct dti_cast_list as;
    const char *notes[2 + DTI_CAST_LIST]; /* on names of dtypes */
    size_t note_count;
    regex_t grep;
    const char *const *paths;
    int count, next;
    bool line_taken;                  /* JSON Lines: this document's file was already returned */
    struct dti_inspect_report report; /* report on the last file */
    struct dti_inspect_file file;
    struct dti_error error; /* its error, or why there is no answer */
    char message[DTI_ERROR_TEXT];
    enum dti_status status;
    struct dti_error first; /* the first error of one of several files, or DTI_OK */
};

/* Opens nothing: paths and their count are the caller's. Always free the job. */
enum dti_status dti_inspect_init(struct inspect_job *job, const struct inspect_args *args,
                                 const struct dti_asker *asker, struct dti_error *reterr);
void dti_inspect_free(struct inspect_job *job);
/* The next file; NULL after the last one, and if there is no answer, with a status. The error of
 * one of several files takes its place. A `next` of an answer. */
const struct dti_inspect_file *dti_inspect_next(void *context);
/* For dti_document_inspect(), without a stream. */
struct dti_inspect_answer dti_inspect_answer_of(struct inspect_job *job);

#endif
