/* SPDX-License-Identifier: MIT
 *
 * Rows of JSON as tables of members: see rows.h. */
#define DTI_HEX_ROW(hex_key)                                                         \
    {.key = hex_key,                                                                 \
     .meaning = "its bytes in hexadecimal where they are not UTF-8; null otherwise", \
     .type = DTI_MEMBER_TEXT,                                                        \
     .flags = DTI_MEMBER_NULLABLE,                                                   \
     .pattern = DTI_LIKE_HEX},
#define BOOL(key_, value_, meaning_) {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_BOOL},
#define BOOL_OR_NULL(key_, there_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_BOOL, .flags = DTI_MEMBER_NULLABLE},
#define UINT(key_, value_, meaning_) {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_UINT},
#define UINT_OR_NULL(key_, there_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_UINT, .flags = DTI_MEMBER_NULLABLE},
#define POSITIVE(key_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_POSITIVE},
#define POSITIVE_OR_NULL(key_, there_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_POSITIVE, .flags = DTI_MEMBER_NULLABLE},
#define INT(key_, value_, meaning_) {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_INT},
#define INT_OR_NULL(key_, there_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_INT, .flags = DTI_MEMBER_NULLABLE},
#define DOUBLE(key_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_DOUBLE},
#define DOUBLE_OR_NULL(key_, there_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_DOUBLE, .flags = DTI_MEMBER_NULLABLE},
#define MEASURE(key_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_MEASURE},
#define MEASURE_OR_NULL(key_, there_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_MEASURE, .flags = DTI_MEMBER_NULLABLE},
#define TEXT(key_, value_, meaning_) {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT},
#define TEXT_OR_NULL(key_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT, .flags = DTI_MEMBER_NULLABLE},
#define LIKE(key_, like_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT, .pattern = like_},
#define LIKE_OR_NULL(key_, like_, value_, meaning_) \
    {.key = #key_,                                  \
     .meaning = meaning_,                           \
     .type = DTI_MEMBER_TEXT,                       \
     .flags = DTI_MEMBER_NULLABLE,                  \
     .pattern = like_},
#define CHOICE(key_, words_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT, .word = words_},
#define CHOICE_OR_NULL(key_, words_, value_, meaning_) \
    {.key = #key_,                                     \
     .meaning = meaning_,                              \
     .type = DTI_MEMBER_TEXT,                          \
     .flags = DTI_MEMBER_NULLABLE,                     \
     .word = words_},
#define TOKEN(key_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_DOUBLE},
#define TOKEN_OR_NULL(key_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_DOUBLE, .flags = DTI_MEMBER_NULLABLE},
#define BYTES(key_, text_, length_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT}, DTI_HEX_ROW(#key_ "_hex")
#define BYTES_OR_NULL(key_, text_, length_, meaning_)                                           \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT, .flags = DTI_MEMBER_NULLABLE}, \
        DTI_HEX_ROW(#key_ "_hex")
#define NUMBER(key_, format_, code_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_OBJECT, .object = &dti_object_number},
#define NUMBER_OR_NULL(key_, there_, format_, code_, meaning_) \
    {.key = #key_,                                             \
     .meaning = meaning_,                                      \
     .type = DTI_MEMBER_OBJECT,                                \
     .flags = DTI_MEMBER_NULLABLE,                             \
     .object = &dti_object_number},
#define FIGURE(key_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_OBJECT, .object = &dti_object_number},
#define FIGURE_OR_NULL(key_, there_, value_, meaning_) \
    {.key = #key_,                                     \
     .meaning = meaning_,                              \
     .type = DTI_MEMBER_OBJECT,                        \
     .flags = DTI_MEMBER_NULLABLE,                     \
     .object = &dti_object_number},
#define LIMIT(key_, format_, limit_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_OBJECT, .object = &dti_object_number},
#define LIMIT_OR_NULL(key_, format_, limit_, meaning_) \
    {.key = #key_,                                     \
     .meaning = meaning_,                              \
     .type = DTI_MEMBER_OBJECT,                        \
     .flags = DTI_MEMBER_NULLABLE,                     \
     .object = &dti_object_number},
#define OBJECT_AT(key_, name_, pointer_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_OBJECT, .object = &dti_object_##name_},
#define OBJECT_OR_NULL(key_, name_, pointer_, meaning_) \
    {.key = #key_,                                      \
     .meaning = meaning_,                               \
     .type = DTI_MEMBER_OBJECT,                         \
     .flags = DTI_MEMBER_NULLABLE,                      \
     .object = &dti_object_##name_},
#define OBJECT_BY(key_, name_, function_, pointer_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_OBJECT, .object = &dti_object_##name_},
#define MEMBERS_OF(name_, pointer_) {.type = DTI_MEMBERS_OF, .object = &dti_object_##name_},
#define LIST(key_, name_, count_, value_, meaning_) \
    {.key = #key_,                                  \
     .meaning = meaning_,                           \
     .type = DTI_MEMBER_OBJECT,                     \
     .flags = DTI_MEMBER_LIST,                      \
     .object = &dti_object_##name_},
#define LIST_OR_NULL(key_, name_, there_, count_, value_, meaning_) \
    {.key = #key_,                                                  \
     .meaning = meaning_,                                           \
     .type = DTI_MEMBER_OBJECT,                                     \
     .flags = DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE,                \
     .object = &dti_object_##name_},
#define STREAM_OR_NULL(key_, name_, out_, there_, count_, value_, meaning_) \
    LIST_OR_NULL(key_, name_, there_, count_, value_, meaning_)
#define UINTS(key_, count_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_UINT, .flags = DTI_MEMBER_LIST},
#define UINTS_OR_NULL(key_, there_, count_, value_, meaning_) \
    {.key = #key_,                                            \
     .meaning = meaning_,                                     \
     .type = DTI_MEMBER_UINT,                                 \
     .flags = DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE},
#define TEXTS(key_, count_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT, .flags = DTI_MEMBER_LIST},
#define TEXTS_OR_NULL(key_, there_, count_, value_, meaning_) \
    {.key = #key_,                                            \
     .meaning = meaning_,                                     \
     .type = DTI_MEMBER_TEXT,                                 \
     .flags = DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE},
#define LIKES(key_, like_, count_, value_, meaning_) \
    {.key = #key_,                                   \
     .meaning = meaning_,                            \
     .type = DTI_MEMBER_TEXT,                        \
     .flags = DTI_MEMBER_LIST,                       \
     .pattern = like_},
#define DOUBLES(key_, count_, value_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_MEASURE, .flags = DTI_MEMBER_LIST},
#define DOUBLES_OR_NULL(key_, there_, count_, value_, meaning_) \
    {.key = #key_,                                              \
     .meaning = meaning_,                                       \
     .type = DTI_MEMBER_MEASURE,                                \
     .flags = DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE},
#define CHOICES(key_, words_, count_, value_, meaning_) \
    {.key = #key_,                                      \
     .meaning = meaning_,                               \
     .type = DTI_MEMBER_TEXT,                           \
     .flags = DTI_MEMBER_LIST,                          \
     .word = words_},
#define CHOICES_OR_NULL(key_, words_, there_, count_, value_, meaning_) \
    {.key = #key_,                                                      \
     .meaning = meaning_,                                               \
     .type = DTI_MEMBER_TEXT,                                           \
     .flags = DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE,                    \
     .word = words_},
#define TEXT_OF(key_, text_, length_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT},
#define LIST_OPEN(key_, name_, meaning_) \
    {.key = #key_,                       \
     .meaning = meaning_,                \
     .type = DTI_MEMBER_OBJECT,          \
     .flags = DTI_MEMBER_LIST,           \
     .object = &dti_object_##name_},
#define LIST_CLOSE
#define IF(condition_) {.type = DTI_MEMBERS_OPTIONAL},
#define END_IF         {.type = DTI_MEMBERS_OPTIONAL_END},
#define DO(...)
#define SPLIT(function_, struct_type_)
#define OBJECT(name_, struct_type_)                    \
    extern const struct dti_object dti_object_##name_; \
    static const struct dti_member members_of_##name_[] = {
#define OBJECT_END(name_)                                                              \
    }                                                                                  \
    ;                                                                                  \
    const struct dti_object dti_object_##name_ = {.name = #name_,                      \
                                                  .common = false,                     \
                                                  .count = sizeof members_of_##name_ / \
                                                           sizeof *members_of_##name_, \
                                                  .members = members_of_##name_};
#define COMMON_OBJECT(name_, struct_type_) OBJECT(name_, struct_type_)
#define COMMON_OBJECT_END(name_)                                                       \
    }                                                                                  \
    ;                                                                                  \
    const struct dti_object dti_object_##name_ = {.name = #name_,                      \
                                                  .common = true,                      \
                                                  .count = sizeof members_of_##name_ / \
                                                           sizeof *members_of_##name_, \
                                                  .members = members_of_##name_};
#define DOCUMENT(name_, version_, struct_type_, meaning_)                                   \
    extern const struct dti_document dti_schema_##name_;                                    \
    extern const struct dti_object dti_object_of_##name_;                                   \
    const struct dti_document dti_schema_##name_ = {#name_, "dtinfo." #name_ "/" #version_, \
                                                    meaning_, &dti_object_of_##name_};      \
    static const struct dti_member members_of_document_##name_[] = {
#define DOCUMENT_END(name_)                                                                        \
    }                                                                                              \
    ;                                                                                              \
    const struct dti_object dti_object_of_##name_ = {.name = #name_,                               \
                                                     .count = sizeof members_of_document_##name_ / \
                                                              sizeof *members_of_document_##name_, \
                                                     .members = members_of_document_##name_};

#define TEXTS_OPEN(key_, meaning_) \
    {.key = #key_, .meaning = meaning_, .type = DTI_MEMBER_TEXT, .flags = DTI_MEMBER_LIST},
#define MEASURES_BY(key_, function_, pointer_, meaning_) \
    {.key = #key_,                                       \
     .meaning = meaning_,                                \
     .type = DTI_MEMBER_MEASURE,                         \
     .flags = DTI_MEMBER_LIST | DTI_MEMBER_NULLABLE | DTI_MEMBER_NULLS},
