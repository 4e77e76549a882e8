/* SPDX-License-Identifier: MIT
 *
 * Rows of JSON: one row says what a member is called, what it may be, where its value comes from
 * and what it means. From the rows follow the code that writes a document and the table that its
 * JSON Schema and its manual are made from (document.h).
 *
 *     #define DTI_ROWS "answers/mem.def"
 *     #include "answers/rows.h"
 *
 * In the file of rows:
 *
 *     OBJECT(mem_part, struct mem_part)        an object, written from a struct, which is `me`
 *     TEXT(name, me->name, "what it is")       a member: key, value (an expression), meaning
 *     UINT_OR_NULL(bytes, me->known, me->bytes, "what it takes; null when unknown")
 *     OBJECT_END(mem_part)
 *
 *     DOCUMENT(mem, 1, struct mem_answer, "what memory numbers take")
 *     LIST(parts, mem_part, me->count, &me->parts[i], "one after the other")
 *     DOCUMENT_END(mem)
 *
 * which makes
 *
 *     void dti_put_mem_part(struct dti_json *json, const char *key, const struct mem_part *me);
 *     void dti_document_mem(struct dti_json *json, const struct mem_answer *me);
 *
 * An object stands in front of those that have it. COMMON_OBJECT: one that several documents have.
 *
 * Values of _OR_NULL: BOOL, UINT, POSITIVE, INT, DOUBLE, MEASURE, NUMBER and FIGURE have a
 * condition in front of the value; texts and objects are null where the pointer is NULL.
 *
 *     BOOL UINT POSITIVE INT          POSITIVE: an integer from 1 on
 *     DOUBLE MEASURE                  a fp64 as a JSON number; MEASURE: none is negative
 *     TEXT(key, text, ...)            LIKE(key, PATTERN, text, ...): of a regular expression
 *     TEXT_OF(key, text, length, ...) a text without a NUL at its end
 *     CHOICE(key, words, text, ...)   one of words; `words` is a function, see DTI_WORDS
 *     TOKEN(key, text, ...)           a JSON number that was spelled already
 *     BYTES(key, text, length, ...)   and key_hex, where the bytes are not UTF-8
 *     NUMBER(key, format, code, ...)  a number of a dtype in all its spellings
 *     FIGURE(key, double, ...)        the same of a fp64
 *     LIMIT(key, format, limit, ...)  the same of a limit; null where it is absent
 *     OBJECT_AT(key, object, pointer, ...)
 *     OBJECT_BY(key, object, function, argument, ...)   written by a function of one's own
 *     MEMBERS_OF(object, pointer)     its members, in place of the object
 *     LIST(key, object, count, pointer, ...)         with `i`, the index of the element
 *     LIST_OR_NULL(key, object, there, count, pointer, ...)
 *     UINTS TEXTS DOUBLES CHOICES(key, [words,] count, value, ...)   and _OR_NULL, with `there`
 *     LIKES(key, PATTERN, count, value, ...)
 *     STREAM_OR_NULL(key, object, out, there, count, pointer, ...)   each goes to out once finished
 *     IF(condition) ... END_IF        members that may be missing
 *     DO(statements)                  in the writing code only: locals, a loop's start
 *     LIST_OPEN(key, object, meaning) LIST_CLOSE      elements come from DO, or from elsewhere
 *     SPLIT(function)                 the rest of the object is written by another function:
 *                                     void dti_put_function(struct dti_json *json, const T *me)
 *     TEXTS_OPEN(key, meaning)        a list of texts: elements come from DO, up to LIST_CLOSE
 *     MEASURES_BY(key, function, argument, ...)       MEASUREs and nulls in a list, or null:
 *                                     a function of one's own writes it
 */
#include "answers/document.h"
#include "answers/spelled.h"
#include "report/json_writer.h"

#ifndef DTINFO_ANSWERS_ROWS_H
#define DTINFO_ANSWERS_ROWS_H

#define DTI_WORDS(function, ...)                                           \
    static const char *function(size_t index)                              \
    {                                                                      \
        static const char *const words[] = {__VA_ARGS__};                  \
        return index < sizeof words / sizeof *words ? words[index] : NULL; \
    }

#define DTI_LIKE_HEX      "^([0-9a-f]{2})*$"
#define DTI_LIKE_BITS     "^0x[0-9a-f]+$"
#define DTI_LIKE_TEXT     "^(nan|-?inf|-?[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?)$"
#define DTI_LIKE_EXACT    "^-?[0-9]+(\\.[0-9]+)?$"
#define DTI_LIKE_HEXFLOAT "^-?0x[01](\\.[0-9a-f]+)?p[+-][0-9]+$"
#define DTI_LIKE_CODE     "^[a-z_]+$"
#define DTI_LIKE_CHOICE   "^[a-z0-9_.-]+$"
#define DTI_LIKE_DEVICE   "^(cpu|cuda:[0-9]+)$"
#define DTI_LIKE_SHA256   "^sha256:[0-9a-f]{64}$"

#endif

#ifdef DTI_ROWS
/* The table. */
#include "answers/rows_table.h"
#include DTI_ROWS
#include "answers/rows_end.h"

/* The code. */
#include "answers/rows_code.h"
#include DTI_ROWS
#include "answers/rows_end.h"

#undef DTI_ROWS
#endif
