/* SPDX-License-Identifier: MIT
 *
 * Rows of JSON: one row gives a member's name, type, value and meaning. The code that writes a
 * document, and the rows for its JSON Schema and manual (document.h), both come from these rows.
 *
 *     #define DTI_ROWS "answers/mem/mem.def"
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
 * Rows access only members of `me`. Derived values are computed once, by a function that the page
 * for people also calls, into a struct that becomes `me`:
 *
 *     OBJECT_FROM(mem_total, struct mem_answer, struct mem_total, dti_mem_total)
 *
 * writes from a struct mem_answer: dti_mem_total(struct mem_total *ret, const struct mem_answer *)
 * fills in the members that the rows access. DOCUMENT_FROM(name, version, struct, facts, function,
 * meaning) likewise. OBJECT_MADE(name, struct, facts, make, free): make(&facts, json, me) may run
 * out of memory (dti_json_out_of_memory()); free(&facts) follows.
 *
 * An object is defined before the objects that contain it. COMMON_OBJECT: shared by several
 * documents.
 *
 * Variants with _OR_NULL: BOOL, UINT, POSITIVE, INT, DOUBLE, MEASURE, NUMBER and FIGURE take a
 * condition before the value; texts and objects are null if the pointer is NULL.
 *
 *     BOOL UINT POSITIVE INT          POSITIVE: an integer >= 1
 *     DOUBLE MEASURE                  an fp64 as a JSON number; MEASURE: never negative
 *     TEXT(key, text, ...)            LIKE(key, PATTERN, text, ...): matches a regular expression
 *     TEXT_OF(key, text, length, ...) a text without a terminating NUL
 *     CHOICE(key, words, text, ...)   one of words; `words` is a function, see DTI_WORDS
 *     CHOICE_AT(key, words, index, ...)  the word of an index; _OR_NULL: with a condition
 *     LIKE_AT(key, PATTERN, words, index, ...)  TEXT_AT_OR_NULL(key, words, there, index, ...)
 *     FLAG(key, flags, flag, ...)     whether a flag is set; FLAG_OR_NULL: with a condition
 *     DTYPE(key, format, ...)         the name of a format; DTYPE_OR_NULL: null if it is NULL
 *     LEVEL(key, level, ...)          the name of a CPU level
 *     KIND(key, words, kind, ...)     the name of a container's kind, one of the words; _OR_NULL:
 *                                     with a condition
 *     TOKEN_OR_NULL(key, text, ...)   a JSON number that is already spelled
 *     SPELLED_LIKE(key, PATTERN, spelled, ...)          texts and numbers of known length:
 *     SPELLED_OR_NULL SPELLED_TOKEN_OR_NULL(key, spelled, ...)   of a struct dti_spelled
 *     ROUNDED(key, value, ...)        the nearest fp64 to a number, as a JSON number; _OR_NULL
 *     BITS(key, code, width, ...)     a code in hexadecimal; BITS_OR_NULL: with a condition
 *     BYTES(key, text, length, ...)   and key_hex, if the bytes are not UTF-8
 *     PATH(key, text, ...)            the same for a NUL-terminated text
 *     NUMBER(key, format, code, ...)  a number of a dtype in all its spellings
 *     FIGURE_OR_NULL(key, there, double, ...)        the same for an fp64; FIGURE_UNLESS_NAN
 *     FP32(key, code, ...)            the same for an fp32
 *     LIMIT(key, format, limit, ...)  the same for a limit; null if it is absent
 *     OBJECT_AT(key, object, pointer, ...)
 *     OBJECT_BY(key, object, function, argument, ...)   written by a custom function
 *     MEMBERS_OF(object, pointer)     its members, in place of the object
 *     LIST(key, object, count, pointer, ...)         `i` is the index of the element
 *     LIST_OR_NULL(key, object, there, count, pointer, ...)
 *     UINTS TEXTS(key, count, value, ...)            the same for numbers and texts
 *     LIKES(key, PATTERN, count, value, ...)
 *     UINTS_OR_NULL DOUBLES_OR_NULL(key, there, count, value, ...)
 *     STREAM(key, object, out, count, pointer, ...)  each finished element goes to out
 *     STREAM_OR_NULL(key, object, out, there, count, pointer, ...)
 *     LIST_BY(key, object, function, argument, ...)  elements written by a custom function:
 *     TEXTS_BY(key, function, argument, ...)         function(json, argument)
 *     LIST_BY_OR_NULL(key, object, function, pointer, ...)
 *     PLACE_OR_NULL(key, place, ...)  coordinates in a struct dti_place; null if none
 *     IF(condition) ... END_IF        optional members
 *     LIST_OPEN(key, object, meaning) LIST_CLOSE      elements come from elsewhere
 *     SPLIT(function)                 the rest of the object is written by another function:
 *                                     void dti_put_function(struct dti_json *json, const T *me)
 *     MEASURES_BY(key, function, argument, ...)       MEASUREs and nulls in a list, or null:
 *     HEXES_BY(key, function, argument, ...)          bytes of texts and nulls in a list, or null:
 *                                     written by a custom function
 */
#include <math.h>

#include "answers/common.h"
#include "report/json_writer.h"

#ifndef ANSWERS_ROWS_H
#define ANSWERS_ROWS_H

#define DTI_WORDS(function, ...) static DTI_WORDS_OF(function, __VA_ARGS__)
#define DTI_WORDS_OF(function, ...)                                        \
    const char *function(size_t index)                                     \
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

/* DTI_TABLE() wraps what exists only in the list of members, DTI_CODE() what exists only in the
 * code that writes them. more: a further field of the member, as in ->pattern = "^a$". */
#define DTI_MEMBER(key_, meaning_, type_, flags_, more_, ...)                          \
    DTI_TABLE(dti_object_add(ret, #key_, meaning_, DTI_MEMBER_##type_, flags_) more_;) \
    DTI_CODE(__VA_ARGS__)
#define DTI_VALUE(key_, meaning_, type_, more_, put_) \
    DTI_MEMBER(key_, meaning_, type_, 0, more_, DTI_KEY(key_) put_;)
#define DTI_NULLABLE(key_, meaning_, type_, more_, put_) \
    DTI_MEMBER(key_, meaning_, type_, DTI_MEMBER_NULLABLE, more_, DTI_KEY(key_) put_;)
#define DTI_VALUE_IF(there_, key_, meaning_, type_, more_, put_)  \
    DTI_MEMBER(key_, meaning_, type_, DTI_MEMBER_NULLABLE, more_, \
               DTI_UNLESS_NULL(there_, key_, DTI_KEY(key_) put_;))
#define DTI_LIST(key_, meaning_, type_, more_, start_, count_, put_) \
    DTI_MEMBER(key_, meaning_, type_, DTI_MEMBER_LIST, more_, DTI_EACH(key_, start_, count_, put_))
#define DTI_LIST_BY(key_, meaning_, type_, more_, function_, pointer_) \
    DTI_MEMBER(key_, meaning_, type_, DTI_MEMBER_LIST, more_,          \
               DTI_KEY(key_) dti_json_array(json, NULL);               \
               function_(json, pointer_); dti_json_end(json);)
#define DTI_LIST_IF(there_, key_, meaning_, type_, more_, start_, count_, put_)     \
    DTI_MEMBER(key_, meaning_, type_, DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE, more_, \
               DTI_UNLESS_NULL(there_, key_, DTI_EACH(key_, start_, count_, put_)))
/* The key as it is written; a member with a literal value; a value, or null; a list. */
#define DTI_KEY(key_) dti_json_key(json, "\"" #key_ "\":", sizeof #key_ + 2);
#define DTI_PAIR(key_, value_) \
    dti_json_pair(json, "\"" #key_ "\":" value_, sizeof #key_ + sizeof value_ + 1);
#define DTI_CHOOSE(condition_, then_, otherwise_) \
    if (condition_) {                             \
        then_                                     \
    } else {                                      \
        otherwise_                                \
    }
#define DTI_UNLESS_NULL(there_, key_, put_) DTI_CHOOSE(there_, put_, DTI_PAIR(key_, "null"))
#define DTI_EACH(key_, start_, count_, put_)           \
    DTI_KEY(key_) dti_json_array(json, NULL);          \
    start_ for (size_t i = 0; i < (count_); i++) put_; \
    dti_json_end(json);
/* A pre-spelled value after its key. */
#define DTI_SPELLED(key_, value_) \
    dti_json_spelled_text(json, "\"" #key_ "\":\"", sizeof #key_ + 3, value_)
#define DTI_SPELLED_TOKEN(key_, value_) \
    dti_json_spelled_token(json, "\"" #key_ "\":", sizeof #key_ + 2, value_)
/* A number or a pointer in place of a condition does not compile. */
#define DTI_IS_BOOL(value_) _Generic((value_), bool : (value_), int : (value_))
#define DTI_PUT_BOOL(key_, value_) \
    DTI_CHOOSE(DTI_IS_BOOL(value_), DTI_PAIR(key_, "true"), DTI_PAIR(key_, "false"))

/* Conditions and numbers. */
#define BOOL(key_, value_, meaning_) \
    DTI_MEMBER(key_, meaning_, BOOL, 0, , DTI_PUT_BOOL(key_, value_))
#define BOOL_OR_NULL(key_, there_, value_, meaning_)        \
    DTI_MEMBER(key_, meaning_, BOOL, DTI_MEMBER_NULLABLE, , \
               DTI_UNLESS_NULL(there_, key_, DTI_PUT_BOOL(key_, value_)))
#define FLAG(key_, flags_, flag_, meaning_) BOOL(key_, ((flags_) & (flag_)) != 0, meaning_)
#define FLAG_OR_NULL(key_, there_, flags_, flag_, meaning_) \
    BOOL_OR_NULL(key_, there_, ((flags_) & (flag_)) != 0, meaning_)
#define UINT(key_, value_, meaning_) \
    DTI_VALUE(key_, meaning_, UINT, , dti_json_uint(json, NULL, value_))
#define UINT_OR_NULL(key_, there_, value_, meaning_) \
    DTI_VALUE_IF(there_, key_, meaning_, UINT, , dti_json_uint(json, NULL, value_))
#define POSITIVE(key_, value_, meaning_) \
    DTI_VALUE(key_, meaning_, POSITIVE, , dti_json_uint(json, NULL, value_))
#define POSITIVE_OR_NULL(key_, there_, value_, meaning_) \
    DTI_VALUE_IF(there_, key_, meaning_, POSITIVE, , dti_json_uint(json, NULL, value_))
#define INT(key_, value_, meaning_) \
    DTI_VALUE(key_, meaning_, INT, , dti_json_int(json, NULL, value_))
#define INT_OR_NULL(key_, there_, value_, meaning_) \
    DTI_VALUE_IF(there_, key_, meaning_, INT, , dti_json_int(json, NULL, value_))
#define DOUBLE(key_, value_, meaning_) \
    DTI_VALUE(key_, meaning_, DOUBLE, , dti_put_double(json, NULL, value_))
#define DOUBLE_OR_NULL(key_, there_, value_, meaning_) \
    DTI_VALUE_IF(there_, key_, meaning_, DOUBLE, , dti_put_double(json, NULL, value_))
#define MEASURE(key_, value_, meaning_) \
    DTI_VALUE(key_, meaning_, MEASURE, , dti_put_double(json, NULL, value_))
#define MEASURE_OR_NULL(key_, there_, value_, meaning_) \
    DTI_VALUE_IF(there_, key_, meaning_, MEASURE, , dti_put_double(json, NULL, value_))
/* Texts. */
#define TEXT(key_, value_, meaning_) \
    DTI_VALUE(key_, meaning_, TEXT, , dti_json_string(json, NULL, value_))
#define TEXT_OR_NULL(key_, value_, meaning_) \
    DTI_NULLABLE(key_, meaning_, TEXT, , dti_json_string(json, NULL, value_))
#define TEXT_OF(key_, text_, length_, meaning_) \
    DTI_VALUE(key_, meaning_, TEXT, , dti_json_text(json, NULL, text_, length_))
#define LIKE(key_, like_, value_, meaning_) SPELLED_LIKE(key_, like_, dti_spelled(value_), meaning_)
#define LIKE_OR_NULL(key_, like_, value_, meaning_) \
    SPELLED_LIKE_OR_NULL(key_, like_, dti_spelled(value_), meaning_)
#define CHOICE(key_, words_, value_, meaning_) \
    DTI_MEMBER(key_, meaning_, TEXT, 0, ->word = words_, DTI_SPELLED(key_, dti_spelled(value_));)
#define CHOICE_OR_NULL(key_, words_, value_, meaning_)                     \
    DTI_MEMBER(key_, meaning_, TEXT, DTI_MEMBER_NULLABLE, ->word = words_, \
               DTI_SPELLED(key_, dti_spelled(value_));)
#define CHOICE_AT(key_, words_, index_, meaning_) CHOICE(key_, words_, words_(index_), meaning_)
#define CHOICE_AT_OR_NULL(key_, words_, there_, index_, meaning_) \
    CHOICE_OR_NULL(key_, words_, (there_) ? words_(index_) : NULL, meaning_)
#define LIKE_AT(key_, like_, words_, index_, meaning_) LIKE(key_, like_, words_(index_), meaning_)
#define TEXT_AT_OR_NULL(key_, words_, there_, index_, meaning_) \
    TEXT_OR_NULL(key_, (there_) ? words_(index_) : NULL, meaning_)
#define DTYPE(key_, format_, meaning_) TEXT(key_, (format_)->name, meaning_)
#define DTYPE_OR_NULL(key_, format_, meaning_) \
    TEXT_OR_NULL(key_, (format_) ? (format_)->name : NULL, meaning_)
#define LEVEL(key_, level_, meaning_) TEXT(key_, dti_level_name(level_), meaning_)
#define KIND(key_, words_, kind_, meaning_) \
    CHOICE(key_, words_, dti_container_name(kind_), meaning_)
#define KIND_OR_NULL(key_, words_, there_, kind_, meaning_) \
    CHOICE_OR_NULL(key_, words_, (there_) ? dti_container_name(kind_) : NULL, meaning_)
#define TOKEN_OR_NULL(key_, value_, meaning_) \
    SPELLED_TOKEN_OR_NULL(key_, dti_spelled(value_), meaning_)
#define SPELLED_OR_NULL(key_, value_, meaning_) \
    DTI_MEMBER(key_, meaning_, TEXT, DTI_MEMBER_NULLABLE, , DTI_SPELLED(key_, value_);)
#define SPELLED_LIKE(key_, like_, value_, meaning_) \
    DTI_MEMBER(key_, meaning_, TEXT, 0, ->pattern = like_, DTI_SPELLED(key_, value_);)
#define SPELLED_LIKE_OR_NULL(key_, like_, value_, meaning_)                  \
    DTI_MEMBER(key_, meaning_, TEXT, DTI_MEMBER_NULLABLE, ->pattern = like_, \
               DTI_SPELLED(key_, value_);)
#define SPELLED_TOKEN_OR_NULL(key_, value_, meaning_) \
    DTI_MEMBER(key_, meaning_, DOUBLE, DTI_MEMBER_NULLABLE, , DTI_SPELLED_TOKEN(key_, value_);)
#define ROUNDED(key_, value_, meaning_) \
    DTI_VALUE(key_, meaning_, DOUBLE, , dti_put_rounded(json, NULL, true, value_))
#define ROUNDED_OR_NULL(key_, there_, value_, meaning_) \
    DTI_NULLABLE(key_, meaning_, DOUBLE, , dti_put_rounded(json, NULL, there_, value_))
#define BITS(key_, code_, width_, meaning_)                                                     \
    DTI_MEMBER(key_, meaning_, TEXT, 0, ->pattern = DTI_LIKE_BITS, {                            \
        char bits_of_code[DTI_TEXT_SIZE];                                                       \
        DTI_SPELLED(key_, ((struct dti_spelled){bits_of_code,                                   \
                                                dti_spell_code(bits_of_code, code_, width_)})); \
    })
#define BITS_OR_NULL(key_, there_, code_, width_, meaning_)               \
    DTI_VALUE_IF(there_, key_, meaning_, TEXT, ->pattern = DTI_LIKE_BITS, \
                 dti_put_bits(json, NULL, code_, width_))
#define DTI_HEX(key_)                                                                        \
    DTI_MEMBER(key_, "its bytes in hexadecimal if they are not UTF-8; null otherwise", TEXT, \
               DTI_MEMBER_NULLABLE, ->pattern = DTI_LIKE_HEX, )
#define BYTES(key_, text_, length_, meaning_)                                                  \
    DTI_VALUE(key_, meaning_, TEXT, , dti_put_bytes(json, NULL, #key_ "_hex", text_, length_)) \
    DTI_HEX(key_##_hex)
#define BYTES_OR_NULL(key_, text_, length_, meaning_)                                             \
    DTI_NULLABLE(key_, meaning_, TEXT, , dti_put_bytes(json, NULL, #key_ "_hex", text_, length_)) \
    DTI_HEX(key_##_hex)
#define PATH(key_, text_, meaning_) BYTES(key_, text_, strlen(text_), meaning_)
#define PATH_OR_NULL(key_, text_, meaning_) \
    BYTES_OR_NULL(key_, text_, (text_) ? strlen(text_) : 0, meaning_)
/* Objects. */
#define OBJECT_AT(key_, name_, pointer_, meaning_) \
    OBJECT_BY(key_, name_, dti_put_##name_, pointer_, meaning_)
#define OBJECT_BY(key_, name_, function_, pointer_, meaning_)        \
    DTI_VALUE(key_, meaning_, OBJECT, ->object = dti_object_##name_, \
              function_(json, NULL, pointer_))
#define OBJECT_OR_NULL(key_, name_, pointer_, meaning_)                 \
    DTI_NULLABLE(key_, meaning_, OBJECT, ->object = dti_object_##name_, \
                 dti_put_##name_(json, NULL, pointer_))
#define DTI_NUMBER ->object = dti_object_number
#define NUMBER(key_, format_, code_, meaning_) \
    DTI_VALUE(key_, meaning_, OBJECT, DTI_NUMBER, dti_put_code(json, NULL, format_, true, code_))
#define NUMBER_OR_NULL(key_, there_, format_, code_, meaning_) \
    DTI_NULLABLE(key_, meaning_, OBJECT, DTI_NUMBER,           \
                 dti_put_code(json, NULL, format_, there_, code_))
#define FIGURE_OR_NULL(key_, there_, value_, meaning_) \
    DTI_NULLABLE(key_, meaning_, OBJECT, DTI_NUMBER, dti_put_figure(json, NULL, there_, value_))
#define FIGURE_UNLESS_NAN(key_, there_, value_, meaning_) \
    FIGURE_OR_NULL(key_, (there_) && !isnan(value_), value_, meaning_)
#define FP32(key_, code_, meaning_) NUMBER(key_, dti_format_get(DTI_FP32), code_, meaning_)
#define FP32_OR_NULL(key_, there_, code_, meaning_) \
    NUMBER_OR_NULL(key_, there_, dti_format_get(DTI_FP32), code_, meaning_)
#define LIMIT(key_, format_, limit_, meaning_) \
    DTI_VALUE(key_, meaning_, OBJECT, DTI_NUMBER, dti_put_limit(json, NULL, format_, limit_))
#define LIMIT_OR_NULL(key_, format_, limit_, meaning_) \
    DTI_NULLABLE(key_, meaning_, OBJECT, DTI_NUMBER, dti_put_limit(json, NULL, format_, limit_))
#define MEMBERS_OF(name_, pointer_)                                                             \
    DTI_TABLE(dti_object_add(ret, NULL, NULL, DTI_MEMBERS_OF, 0)->object = dti_object_##name_;) \
    DTI_CODE(dti_put_members_##name_(json, pointer_);)
/* Lists. */
#define LIST(key_, name_, count_, value_, meaning_)                           \
    DTI_LIST(key_, meaning_, OBJECT, ->object = dti_object_##name_, , count_, \
             dti_put_##name_(json, NULL, value_))
#define LIST_BY(key_, name_, function_, pointer_, meaning_) \
    DTI_LIST_BY(key_, meaning_, OBJECT, ->object = dti_object_##name_, function_, pointer_)
#define LIST_BY_OR_NULL(key_, name_, function_, pointer_, meaning_)                      \
    DTI_MEMBER(key_, meaning_, OBJECT,                                                   \
               DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE, ->object = dti_object_##name_,     \
               DTI_UNLESS_NULL(pointer_, key_, DTI_KEY(key_) dti_json_array(json, NULL); \
                               function_(json, pointer_); dti_json_end(json);))
#define PLACE_OR_NULL(key_, place_, meaning_)                                 \
    DTI_MEMBER(key_, meaning_, UINT, DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE, , \
               DTI_KEY(key_) dti_put_place(json, place_);)
#define TEXTS_BY(key_, function_, pointer_, meaning_) \
    DTI_LIST_BY(key_, meaning_, TEXT, , function_, pointer_)
#define LIST_OR_NULL(key_, name_, there_, count_, value_, meaning_)                      \
    DTI_LIST_IF(there_, key_, meaning_, OBJECT, ->object = dti_object_##name_, , count_, \
                dti_put_##name_(json, NULL, value_))
#define STREAM(key_, name_, out_, count_, value_, meaning_)                                      \
    DTI_LIST(key_, meaning_, OBJECT, ->object = dti_object_##name_, dti_json_stream(json, out_); \
             , count_, dti_put_##name_(json, NULL, value_))
#define STREAM_OR_NULL(key_, name_, out_, there_, count_, value_, meaning_)    \
    DTI_LIST_IF(there_, key_, meaning_, OBJECT, ->object = dti_object_##name_, \
                dti_json_stream(json, out_);                                   \
                , count_, dti_put_##name_(json, NULL, value_))
#define UINTS(key_, count_, value_, meaning_) \
    DTI_LIST(key_, meaning_, UINT, , , count_, dti_json_uint(json, NULL, value_))
#define UINTS_OR_NULL(key_, there_, count_, value_, meaning_) \
    DTI_LIST_IF(there_, key_, meaning_, UINT, , , count_, dti_json_uint(json, NULL, value_))
#define DOUBLES_OR_NULL(key_, there_, count_, value_, meaning_) \
    DTI_LIST_IF(there_, key_, meaning_, MEASURE, , , count_, dti_put_double(json, NULL, value_))
#define TEXTS(key_, count_, value_, meaning_) \
    DTI_LIST(key_, meaning_, TEXT, , , count_, dti_json_string(json, NULL, value_))
#define LIKES(key_, like_, count_, value_, meaning_) \
    DTI_LIST(key_, meaning_, TEXT, ->pattern = like_, , count_, dti_json_string(json, NULL, value_))
#define MEASURES_BY(key_, function_, pointer_, meaning_)                                          \
    DTI_MEMBER(key_, meaning_, MEASURE, DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE | DTI_MEMBER_NULLS, \
               , function_(json, #key_, pointer_);)
#define HEXES_BY(key_, function_, pointer_, meaning_)                                              \
    DTI_MEMBER(key_, meaning_, TEXT,                                                               \
               DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE | DTI_MEMBER_NULLS, ->pattern = DTI_LIKE_HEX, \
               function_(json, #key_, pointer_);)
#define LIST_OPEN(key_, name_, meaning_)                                               \
    DTI_MEMBER(key_, meaning_, OBJECT, DTI_MEMBER_LIST, ->object = dti_object_##name_, \
               DTI_KEY(key_) dti_json_array(json, NULL);)
#define LIST_CLOSE DTI_CODE(dti_json_end(json);)
#define DTI_OPEN   {
#define DTI_CLOSE  }
#define IF(condition_)                                                   \
    DTI_TABLE(dti_object_add(ret, NULL, NULL, DTI_MEMBERS_OPTIONAL, 0);) \
    DTI_CODE(if (condition_) DTI_OPEN)
#define END_IF \
    DTI_TABLE(dti_object_add(ret, NULL, NULL, DTI_MEMBERS_OPTIONAL_END, 0);) DTI_CODE(DTI_CLOSE)

/* Objects and documents: functions that list their members, and functions that write them. */
#define DTI_FUNCTION(function_, ...)                    \
    void function_(struct dti_json *json, __VA_ARGS__); \
    void function_(struct dti_json *json, __VA_ARGS__) DTI_OPEN(void) me;
#define DTI_MEMBERS(object_) \
    dti_object_rows object_; \
    void object_(struct dti_object *ret) DTI_OPEN
#define DTI_OBJECT(name_, common_)                                  \
    DTI_TABLE(ret->name = #name_; ret->common = common_; DTI_CLOSE) \
    DTI_CODE(DTI_CLOSE)
#define SPLIT(function_, struct_type_) \
    DTI_CODE(DTI_CLOSE DTI_FUNCTION(dti_put_##function_, const struct_type_ *me))
#define OBJECT(name_, struct_type_)                                                       \
    DTI_TABLE(DTI_MEMBERS(dti_object_##name_))                                            \
    DTI_CODE(void dti_put_members_##name_(struct dti_json *json, const struct_type_ *me); \
             DTI_FUNCTION(dti_put_##name_, const char *key, const struct_type_ *me)       \
                 DTI_CHOOSE(!me, dti_json_null(json, key);, dti_json_object(json, key);   \
                            dti_put_members_##name_(json, me); dti_json_end(json);)       \
                     DTI_CLOSE DTI_FUNCTION(dti_put_members_##name_, const struct_type_ *me))
#define DTI_FILLED(name_, facts_type_, fill_, free_)                                               \
    facts_type_ facts;                                                                             \
    fill_;                                                                                         \
    put_facts_of_##name_(json, &facts);                                                            \
    free_ DTI_CLOSE static void put_facts_of_##name_(struct dti_json *json, const facts_type_ *me) \
        DTI_OPEN(void) me;
#define DTI_FACTS(name_, facts_type_) \
    DTI_CODE(static void put_facts_of_##name_(struct dti_json *json, const facts_type_ *me);)
#define OBJECT_FROM(name_, struct_type_, facts_type_, fill_) \
    DTI_FACTS(name_, facts_type_)                            \
    OBJECT(name_, struct_type_) DTI_CODE(DTI_FILLED(name_, facts_type_, fill_(&facts, me), ))
#define OBJECT_MADE(name_, struct_type_, facts_type_, make_, free_) \
    DTI_FACTS(name_, facts_type_)                                   \
    OBJECT(name_, struct_type_)                                     \
    DTI_CODE(DTI_FILLED(name_, facts_type_, make_(&facts, json, me), free_(&facts);))
#define OBJECT_END(name_)        DTI_OBJECT(name_, false)
#define COMMON_OBJECT            OBJECT
#define COMMON_OBJECT_END(name_) DTI_OBJECT(name_, true)
#define DOCUMENT(name_, version_, struct_type_, meaning_)                                       \
    DTI_TABLE(extern const struct dti_document dti_schema_##name_;                              \
              dti_object_rows dti_object_of_##name_;                                            \
              const struct dti_document dti_schema_##name_ = {#name_,                           \
                                                              "dtinfo." #name_ "/" #version_,   \
                                                              meaning_, dti_object_of_##name_}; \
              DTI_MEMBERS(dti_object_of_##name_))                                               \
    DTI_CODE(DTI_FUNCTION(dti_document_##name_, const struct_type_ *me)                         \
                 dti_json_begin(json, "dtinfo." #name_ "/" #version_);)
#define DOCUMENT_FROM(name_, version_, struct_type_, facts_type_, fill_, meaning_) \
    DTI_FACTS(name_, facts_type_)                                                  \
    DOCUMENT(name_, version_, struct_type_, meaning_)                              \
    DTI_CODE(DTI_FILLED(name_, facts_type_, fill_(&facts, me), ))
#define DOCUMENT_END(name_) DTI_OBJECT(name_, false)

#endif

#ifdef DTI_ROWS
#define DTI_TABLE(...) __VA_ARGS__
#define DTI_CODE(...)
#include DTI_ROWS
#undef DTI_TABLE
#undef DTI_CODE
#define DTI_TABLE(...)
#define DTI_CODE(...) __VA_ARGS__
#include DTI_ROWS
#undef DTI_TABLE
#undef DTI_CODE
#undef DTI_ROWS
#endif
