/* SPDX-License-Identifier: MIT
 *
 * Numbers, bytes and warnings as members of JSON. Memory that runs out shows when the document is
 * written. */
#ifndef DTINFO_ANSWERS_SPELLED_H
#define DTINFO_ANSWERS_SPELLED_H

#include "dtinfo/json.h"
#include "dtinfo/limits.h"
#include "dtinfo/scalar.h"
#include "dtinfo/spell.h"

/* A figure that was computed in fp64, as the number that it is. */
void dti_double_value(double figure, struct dti_value *ret_value);

/* A number in all its spellings. format: that of which it has a code; NULL for numbers that lie
 * between those of a dtype. */
struct dti_number_answer {
    const struct dti_format *format;
    uint64_t code;
    const struct dti_value *value;
    const char *text; /* where it was spelled already, or NULL */
};

/* The spellings; what is not `finite` has no hexfloat, what has no format neither shortest nor
 * bits. exact is to be freed. */
enum { DTI_EXACT_ROOM = 256 }; /* bytes that need no memory */
struct dti_spellings {
    const char *token; /* the JSON number, or NULL */
    bool finite, has_exact;
    char text[DTI_TEXT_SIZE], shortest[DTI_TEXT_SIZE], hexfloat[DTI_TEXT_SIZE], bits[DTI_TEXT_SIZE];
    struct dti_buffer exact;
    char room[DTI_EXACT_ROOM];
};
void dti_spell_number(struct dti_spellings *ret, struct dti_json *json,
                      const struct dti_number_answer *number);
void dti_put_number(struct dti_json *json, const char *key, const struct dti_number_answer *number);
/* The same as members of the open object. */
void dti_put_members_number(struct dti_json *json, const struct dti_number_answer *number);
/* Null where it is not there. */
void dti_put_code(struct dti_json *json, const char *key, const struct dti_format *format,
                  bool there, uint64_t code);
void dti_put_figure(struct dti_json *json, const char *key, bool there, double figure);
void dti_put_limit(struct dti_json *json, const char *key, const struct dti_format *format,
                   const struct dti_limit *limit);

/* One JSON number: of a fp64 the shortest text that reads back, null for NaN and infinity; of a
 * text, that was spelled, as it is, null for NULL. */
void dti_put_double(struct dti_json *json, const char *key, double number);
void dti_put_token(struct dti_json *json, const char *key, const char *text);

/* Bytes that should be UTF-8, and those that are not in hexadecimal as well. NULL gives nulls. */
void dti_put_bytes(struct dti_json *json, const char *key, const char *hex_key, const char *text,
                   size_t length);

/* The binary digits of a float's code. */
struct dti_fields_answer {
    const struct dti_format *format;
    uint64_t code;
};
void dti_put_fields(struct dti_json *json, const char *key, const struct dti_fields_answer *fields);

/* Something that a reader should know. line: of standard input, 0 where it is about none. */
struct dti_warning_answer {
    const char *code, *dtype, *message;
    uint64_t line;
};
void dti_put_warning(struct dti_json *json, const char *key,
                     const struct dti_warning_answer *warning);

/* Names of a dtype in other systems, the member "names". */
void dti_put_members_dtype_names(struct dti_json *json, const struct dti_format *format);

#endif
