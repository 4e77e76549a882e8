/* SPDX-License-Identifier: MIT
 *
 * Documents of `bench` read back: untrusted. */
#ifndef DTINFO_ANSWERS_BENCH_DOCUMENT_H
#define DTINFO_ANSWERS_BENCH_DOCUMENT_H

#include "answers/bench_records.h"
#include "answers/document.h"

/* Appends what a document has, or several, one on each line: their subjects, that is, not the
 * limits beside them. Fails with DTI_BAD_INPUT when it is none, or is not of that schema
 * (dti_schema_bench, dti_schema_bench_table) and benchmark. `name` is for messages, ready to be
 * shown. */
enum dti_status dti_bench_records_read(struct dti_bench_records *records, const char *text,
                                       size_t length, const struct dti_document *schema,
                                       const char *benchmark, const char *name,
                                       struct dti_error *reterr);

#endif
