/* SPDX-License-Identifier: MIT
 *
 * Rows of JSON as the code that writes them: see rows.h. */
/* The key as it is written. */
#define DTI_KEY(key_) dti_json_key(json, "\"" #key_ "\":", sizeof #key_ + 2);
/* A member with a literal value. */
#define DTI_PAIR(key_, value_) \
    dti_json_pair(json, "\"" #key_ "\":" value_, sizeof #key_ + sizeof value_ + 1);
/* A number or a pointer in place of a condition does not compile. */
#define DTI_IS_BOOL(value) _Generic((value), bool : (value), int : (value))
#define BOOL(key_, value_, meaning_) \
    if (DTI_IS_BOOL(value_)) {       \
        DTI_PAIR(key_, "true")       \
    } else {                         \
        DTI_PAIR(key_, "false")      \
    }
#define BOOL_OR_NULL(key_, there_, value_, meaning_) \
    if (!(there_)) {                                 \
        DTI_PAIR(key_, "null")                       \
    } else {                                         \
        BOOL(key_, value_, meaning_)                 \
    }
#define UINT(key_, value_, meaning_) DTI_KEY(key_) dti_json_uint(json, NULL, value_);
#define UINT_OR_NULL(key_, there_, value_, meaning_) \
    if (!(there_)) {                                 \
        DTI_PAIR(key_, "null")                       \
    } else {                                         \
        UINT(key_, value_, meaning_)                 \
    }
#define POSITIVE(key_, value_, meaning_) DTI_KEY(key_) dti_json_uint(json, NULL, value_);
#define POSITIVE_OR_NULL(key_, there_, value_, meaning_) \
    if (!(there_)) {                                     \
        DTI_PAIR(key_, "null")                           \
    } else {                                             \
        POSITIVE(key_, value_, meaning_)                 \
    }
#define INT(key_, value_, meaning_) DTI_KEY(key_) dti_json_int(json, NULL, value_);
#define INT_OR_NULL(key_, there_, value_, meaning_) \
    if (!(there_)) {                                \
        DTI_PAIR(key_, "null")                      \
    } else {                                        \
        INT(key_, value_, meaning_)                 \
    }
#define DOUBLE(key_, value_, meaning_) DTI_KEY(key_) dti_put_double(json, NULL, value_);
#define DOUBLE_OR_NULL(key_, there_, value_, meaning_) \
    if (!(there_)) {                                   \
        DTI_PAIR(key_, "null")                         \
    } else {                                           \
        DOUBLE(key_, value_, meaning_)                 \
    }
#define MEASURE(key_, value_, meaning_) DTI_KEY(key_) dti_put_double(json, NULL, value_);
#define MEASURE_OR_NULL(key_, there_, value_, meaning_) \
    if (!(there_)) {                                    \
        DTI_PAIR(key_, "null")                          \
    } else {                                            \
        MEASURE(key_, value_, meaning_)                 \
    }
#define TEXT(key_, value_, meaning_)         DTI_KEY(key_) dti_json_string(json, NULL, value_);
#define TEXT_OR_NULL(key_, value_, meaning_) DTI_KEY(key_) dti_json_string(json, NULL, value_);
#define LIKE(key_, like_, value_, meaning_)  DTI_KEY(key_) dti_json_string(json, NULL, value_);
#define LIKE_OR_NULL(key_, like_, value_, meaning_) \
    DTI_KEY(key_) dti_json_string(json, NULL, value_);
#define CHOICE(key_, words_, value_, meaning_) DTI_KEY(key_) dti_json_string(json, NULL, value_);
#define CHOICE_OR_NULL(key_, words_, value_, meaning_) \
    DTI_KEY(key_) dti_json_string(json, NULL, value_);
#define TOKEN(key_, value_, meaning_)         DTI_KEY(key_) dti_put_token(json, NULL, value_);
#define TOKEN_OR_NULL(key_, value_, meaning_) DTI_KEY(key_) dti_put_token(json, NULL, value_);
#define BYTES(key_, text_, length_, meaning_) \
    DTI_KEY(key_) dti_put_bytes(json, NULL, #key_ "_hex", text_, length_);
#define BYTES_OR_NULL(key_, text_, length_, meaning_) \
    DTI_KEY(key_) dti_put_bytes(json, NULL, #key_ "_hex", text_, length_);
#define NUMBER(key_, format_, code_, meaning_) \
    DTI_KEY(key_) dti_put_code(json, NULL, format_, true, code_);
#define NUMBER_OR_NULL(key_, there_, format_, code_, meaning_) \
    DTI_KEY(key_) dti_put_code(json, NULL, format_, there_, code_);
#define FIGURE(key_, value_, meaning_) DTI_KEY(key_) dti_put_figure(json, NULL, true, value_);
#define FIGURE_OR_NULL(key_, there_, value_, meaning_) \
    DTI_KEY(key_) dti_put_figure(json, NULL, there_, value_);
#define LIMIT(key_, format_, limit_, meaning_) \
    DTI_KEY(key_) dti_put_limit(json, NULL, format_, limit_);
#define LIMIT_OR_NULL(key_, format_, limit_, meaning_) \
    DTI_KEY(key_) dti_put_limit(json, NULL, format_, limit_);
#define OBJECT_AT(key_, name_, pointer_, meaning_) \
    DTI_KEY(key_) dti_put_##name_(json, NULL, pointer_);
#define OBJECT_OR_NULL(key_, name_, pointer_, meaning_) \
    DTI_KEY(key_) dti_put_##name_(json, NULL, pointer_);
#define OBJECT_BY(key_, name_, function_, pointer_, meaning_) \
    DTI_KEY(key_) function_(json, NULL, pointer_);
#define MEMBERS_OF(name_, pointer_) dti_put_members_##name_(json, pointer_);
#define LIST(key_, name_, count_, value_, meaning_) \
    DTI_KEY(key_) dti_json_array(json, NULL);       \
    for (size_t i = 0; i < (count_); i++)           \
        dti_put_##name_(json, NULL, value_);        \
    dti_json_end(json);
#define LIST_OR_NULL(key_, name_, there_, count_, value_, meaning_) \
    if (!(there_)) {                                                \
        DTI_PAIR(key_, "null")                                      \
    } else {                                                        \
        LIST(key_, name_, count_, value_, meaning_)                 \
    }
#define STREAM_OR_NULL(key_, name_, out_, there_, count_, value_, meaning_) \
    if (!(there_)) {                                                        \
        DTI_PAIR(key_, "null")                                              \
    } else {                                                                \
        DTI_KEY(key_) dti_json_array(json, NULL);                           \
        dti_json_stream(json, out_);                                        \
        for (size_t i = 0; i < (count_); i++)                               \
            dti_put_##name_(json, NULL, value_);                            \
        dti_json_end(json);                                                 \
    }
#define UINTS(key_, count_, value_, meaning_) \
    DTI_KEY(key_) dti_json_array(json, NULL); \
    for (size_t i = 0; i < (count_); i++)     \
        dti_json_uint(json, NULL, value_);    \
    dti_json_end(json);
#define UINTS_OR_NULL(key_, there_, count_, value_, meaning_) \
    if (!(there_)) {                                          \
        DTI_PAIR(key_, "null")                                \
    } else {                                                  \
        UINTS(key_, count_, value_, meaning_)                 \
    }
#define TEXTS(key_, count_, value_, meaning_) \
    DTI_KEY(key_) dti_json_array(json, NULL); \
    for (size_t i = 0; i < (count_); i++)     \
        dti_json_string(json, NULL, value_);  \
    dti_json_end(json);
#define TEXTS_OR_NULL(key_, there_, count_, value_, meaning_) \
    if (!(there_)) {                                          \
        DTI_PAIR(key_, "null")                                \
    } else {                                                  \
        TEXTS(key_, count_, value_, meaning_)                 \
    }
#define LIKES(key_, like_, count_, value_, meaning_) TEXTS(key_, count_, value_, meaning_)
#define DOUBLES(key_, count_, value_, meaning_) \
    DTI_KEY(key_) dti_json_array(json, NULL);   \
    for (size_t i = 0; i < (count_); i++)       \
        dti_put_double(json, NULL, value_);     \
    dti_json_end(json);
#define DOUBLES_OR_NULL(key_, there_, count_, value_, meaning_) \
    if (!(there_)) {                                            \
        DTI_PAIR(key_, "null")                                  \
    } else {                                                    \
        DOUBLES(key_, count_, value_, meaning_)                 \
    }
#define CHOICES(key_, words_, count_, value_, meaning_) \
    DTI_KEY(key_) dti_json_array(json, NULL);           \
    for (size_t i = 0; i < (count_); i++)               \
        dti_json_string(json, NULL, value_);            \
    dti_json_end(json);
#define CHOICES_OR_NULL(key_, words_, there_, count_, value_, meaning_) \
    if (!(there_)) {                                                    \
        DTI_PAIR(key_, "null")                                          \
    } else {                                                            \
        CHOICES(key_, words_, count_, value_, meaning_)                 \
    }
#define TEXT_OF(key_, text_, length_, meaning_) \
    DTI_KEY(key_) dti_json_text(json, NULL, text_, length_);
#define LIST_OPEN(key_, name_, meaning_) DTI_KEY(key_) dti_json_array(json, NULL);
#define LIST_CLOSE                       dti_json_end(json);
#define IF(condition_)                   if (condition_) {
#define END_IF                           }
#define DO(...)                          __VA_ARGS__
#define SPLIT(function_, struct_type_)                                       \
    }                                                                        \
    void dti_put_##function_(struct dti_json *json, const struct_type_ *me); \
    void dti_put_##function_(struct dti_json *json, const struct_type_ *me)  \
    {
#define OBJECT(name_, struct_type_)                                                       \
    void dti_put_members_##name_(struct dti_json *json, const struct_type_ *me);          \
    void dti_put_##name_(struct dti_json *json, const char *key, const struct_type_ *me); \
    void dti_put_##name_(struct dti_json *json, const char *key, const struct_type_ *me)  \
    {                                                                                     \
        if (!me) {                                                                        \
            dti_json_null(json, key);                                                     \
            return;                                                                       \
        }                                                                                 \
        dti_json_object(json, key);                                                       \
        dti_put_members_##name_(json, me);                                                \
        dti_json_end(json);                                                               \
    }                                                                                     \
    void dti_put_members_##name_(struct dti_json *json, const struct_type_ *me)           \
    {                                                                                     \
        (void)me;
#define OBJECT_END(name_)                  }
#define COMMON_OBJECT(name_, struct_type_) OBJECT(name_, struct_type_)
#define COMMON_OBJECT_END(name_)           }
#define DOCUMENT(name_, version_, struct_type_, meaning_)                     \
    void dti_document_##name_(struct dti_json *json, const struct_type_ *me); \
    void dti_document_##name_(struct dti_json *json, const struct_type_ *me)  \
    {                                                                         \
        (void)me;                                                             \
        dti_json_begin(json, "dtinfo." #name_ "/" #version_);
#define DOCUMENT_END(name_) }

#define TEXTS_OPEN(key_, meaning_)                       dti_json_array(json, #key_);
#define MEASURES_BY(key_, function_, pointer_, meaning_) function_(json, #key_, pointer_);
