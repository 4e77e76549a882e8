/* SPDX-License-Identifier: MIT
 *
 * Shared parts of documents: numbers in all their spellings, bytes, names, warnings, files, losses
 * and policies, as JSON members; and the documents of every command. Out-of-memory errors are
 * reported when the document is written. */
#ifndef ANSWERS_COMMON_H
#define ANSWERS_COMMON_H

#include "answers/document.h"
#include "containers/container.h"
#include "core/code/scalar.h"
#include "core/dtype/dtype.h"
#include "core/dtype/limits.h"
#include "core/number/spell.h"
#include "files/dequant/logical_tensors.h"
#include "files/scan/loss_summary.h"
#include "kernels/cpu.h"
#include "report/json.h"

dti_object_rows dti_object_number, dti_object_neighbour, dti_object_fields, dti_object_name,
    dti_object_warning, dti_object_dtype_names, dti_object_layout, dti_object_plain_number,
    dti_object_warnings, dti_object_file_part, dti_object_container, dti_object_loss,
    dti_object_run_part, dti_object_cast_options, dti_object_quantized, dti_object_logical_options,
    dti_object_metadata_change, dti_object_replaced_file;

/* What gguf_write.c changed in the metadata of a new file. */
void dti_put_metadata_change(struct dti_json *json, const char *key,
                             const struct dti_head_change *change);

/* An old file that the new files replace under other names. */
struct dti_replaced_file {
    const char *path;
};
void dti_put_replaced_file(struct dti_json *json, const char *key,
                           const struct dti_replaced_file *file);

/* A figure computed in fp64. */
void dti_double_value(double figure, struct dti_value *ret_value);

/* A number in all its spellings. format: the dtype that has a code for it; NULL for numbers between
 * those of a dtype. */
struct dti_number_answer {
    const struct dti_format *format;
    uint64_t code;
    const struct dti_value *value;
    struct dti_spelled text; /* a spelling that already exists, or NULL */
};

/* The spellings, NULL if absent: only finite numbers have a hexfloat, and only numbers with a
 * format have shortest and bits. Free it. */
enum { DTI_EXACT_ROOM = 256 }; /* size of the inline buffer */
struct dti_spellings {
    struct dti_spelled token, text, shortest, exact, hexfloat, bits;
    char text_room[DTI_TEXT_SIZE], shortest_room[DTI_TEXT_SIZE], hexfloat_room[DTI_TEXT_SIZE],
        bits_room[DTI_TEXT_SIZE];
    struct dti_buffer expansion; /* storage of exact */
    char room[DTI_EXACT_ROOM];
};
void dti_spell_number(struct dti_spellings *ret, struct dti_json *json,
                      const struct dti_number_answer *number);
void dti_spellings_free(struct dti_spellings *spelled);
void dti_put_number(struct dti_json *json, const char *key, const struct dti_number_answer *number);
/* The same as members of the open object. */
void dti_put_members_number(struct dti_json *json, const struct dti_number_answer *number);
/* Null if absent. */
void dti_put_code(struct dti_json *json, const char *key, const struct dti_format *format,
                  bool there, uint64_t code);
void dti_put_figure(struct dti_json *json, const char *key, bool there, double figure);
void dti_put_limit(struct dti_json *json, const char *key, const struct dti_format *format,
                   const struct dti_limit *limit);

/* One JSON number: an fp64 as the shortest text that reads back, null for NaN and infinity; a
 * pre-spelled text unchanged, null for NULL. */
void dti_put_double(struct dti_json *json, const char *key, double number);
void dti_put_token(struct dti_json *json, const char *key, const char *text);

/* Whether a decimal expansion is also the shortest text that round-trips to the nearest fp64: up to
 * 15 digits always round-trip, so no other text of that length denotes the same fp64. */
bool dti_is_own_rounding(const char *exact, size_t length);
/* A derived figure, rounded to fp64, as a JSON number in the buffer; NULL if it is not a finite
 * number or exceeds the range of fp64. */
struct dti_spelled dti_rounded_token(char buffer[DTI_TEXT_SIZE], const struct dti_value *value);

/* Writes the same; null unless `there`. Then a code as "0x3f80". */
void dti_put_rounded(struct dti_json *json, const char *key, bool there,
                     const struct dti_value *value);
void dti_put_bits(struct dti_json *json, const char *key, uint64_t code, unsigned width);

/* Bytes that should be UTF-8; invalid UTF-8 is also written in hexadecimal. NULL is written as
 * nulls. */
void dti_put_bytes(struct dti_json *json, const char *key, const char *hex_key, const char *text,
                   size_t length);
void dti_put_hex(struct dti_json *json, const char *key, const char *text, size_t length);

/* The binary digits of a float's code. */
struct dti_fields_answer {
    const struct dti_format *format;
    uint64_t code;
};
void dti_put_fields(struct dti_json *json, const char *key, const struct dti_fields_answer *fields);

/* A warning. line: line of standard input, or 0. */
struct dti_warning_answer {
    const char *code, *dtype, *message;
    uint64_t line;
};
void dti_put_warning(struct dti_json *json, const char *key,
                     const struct dti_warning_answer *warning);

/* The options for viewing quantized tensors; how a tensor is quantized; and a container's notes (or
 * NULL) on tensors shown as stored and on the file that is read, written as warnings into an open
 * list. */
void dti_put_members_logical_options(struct dti_json *json,
                                     const struct dti_logical_options *options);
void dti_put_quantized(struct dti_json *json, const char *key, const struct dti_dequant_form *form);
void dti_put_logical_warnings(struct dti_json *json, const struct dti_container *container,
                              dti_remedy_words_fn *words);

/* Names of a dtype in other systems, the member "names". */
void dti_put_members_dtype_names(struct dti_json *json, const struct dti_format *format);

void dti_put_neighbour(struct dti_json *json, const char *key,
                       const struct dti_number_answer *number);
void dti_put_members_layout(struct dti_json *json, const struct dti_format *format);

/* For numbers that belong to no dtype: without a code. */
void dti_put_plain_number(struct dti_json *json, const char *key,
                          const struct dti_number_answer *number);

const char *dti_kind_words(size_t index);

/* Warnings collected for an answer: the member "warnings" of its document. The first ones are kept,
 * the rest only counted. */
enum { DTI_WARNINGS_MAX = 100 };

struct dti_warning {
    const char *code;          /* snake_case, a literal */
    char dtype[DTI_NAME_SIZE]; /* "" for none */
    uint64_t line;             /* line of standard input; 0 if none */
    char message[320];
};

/* Initialize to zero. */
struct dti_warnings {
    struct dti_warning *list; /* NULL until the first one */
    size_t count, total;
    bool failed; /* out of memory */
};

/* dtype may be NULL; texts are copied. */
void dti_warnings_add(struct dti_warnings *warnings, const char *code, const char *dtype,
                      uint64_t line, const char *message);
void dti_warnings_clear(struct dti_warnings *warnings); /* keeps the allocation */
void dti_warnings_free(struct dti_warnings *warnings);

void dti_put_members_warnings(struct dti_json *json, const struct dti_warnings *warnings);

/* Files that are read. */
struct dti_file_part {
    const char *path;
    uint64_t bytes;
};

struct dti_container_answer {
    const char *path; /* as given */
    const struct dti_container *container;
    uint64_t data_bytes;
};

void dti_put_file_part(struct dti_json *json, const char *key, const struct dti_file_part *part);
void dti_put_container(struct dti_json *json, const char *key,
                       const struct dti_container_answer *container);

/* The share of a divided run (rewrite.h). */
struct dti_run_part;
void dti_put_run_part(struct dti_json *json, const char *key, const struct dti_run_part *part);

/* What a cast lost. */
void dti_put_loss(struct dti_json *json, const char *key, const struct dti_loss_summary *loss);

/* The policies of a cast, the member "options" of its answers; and the names of each policy, by
 * enumerator. */
const char *dti_round_words(size_t index);
const char *dti_overflow_words(size_t index);
const char *dti_nan_words(size_t index);
const char *dti_packing_words(size_t index);

struct dti_policies_answer {
    struct dti_policy policy;
    const char *like; /* the stack that sets them, or NULL */
    const struct dti_format *via;
    size_t via_count;
};

void dti_put_cast_options(struct dti_json *json, const char *key,
                          const struct dti_policies_answer *policies);

/* "fp32,bf16", or NULL without any. Returns buffer. */
enum { DTI_VIA_TEXT_SIZE = DTI_VIA_MAX * DTI_NAME_SIZE };
const char *dti_via_text(char buffer[DTI_VIA_TEXT_SIZE], const struct dti_format *via,
                         size_t count);

/* Answers of every command: an error, and the version. */
struct dti_error_answer {
    const struct dti_error *error;
    const char *message; /* the message with its remedy */
    uint64_t line;       /* line of standard input, or 0 */
};
void dti_document_error(struct dti_json *json, const struct dti_error_answer *error);

/* The libraries that the program is linked with, of the versions that it was built with. */
struct dti_linked_library {
    const char *name, *version;
};
enum { DTI_LINKED_LIBRARIES = 3 };
extern const struct dti_linked_library dti_linked_libraries[DTI_LINKED_LIBRARIES];

/* How this program was built. */
struct dti_version_answer {
    const char *commit; /* of the sources, with "-dirty" if they were changed; NULL if not known */
    const char *compiler; /* "gcc 12.2.0" */
    const char *flags;    /* those that decide about speed, numbers and hardening */
    bool is_static;       /* linked with nothing but static libraries: loads none */
    enum dti_level levels[DTI_LEVEL_COUNT];
    size_t level_count;
    const char *const *loaded; /* what it may load at run time */
    size_t loaded_count;
};
void dti_version_fill(struct dti_version_answer *ret);
void dti_document_version(struct dti_json *json, const struct dti_version_answer *version);

#endif
