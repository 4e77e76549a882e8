/* SPDX-License-Identifier: MIT
 *
 * Reads the program's own documents again: members in any order, unknown ones are skipped. After
 * the first failure every function does nothing and returns false or zero; `status` and the error
 * say why. */
#ifndef ANSWERS_ADVISE_MEMBER_READER_H
#define ANSWERS_ADVISE_MEMBER_READER_H

#include "util/buffer.h"
#include "util/error.h"
#include "util/json/json_read.h"
#include "util/run/memory_pool.h"

enum { DTI_MEMBERS_BYTES_MAX = 1 << 30 }; /* of a file */
struct dti_member_reader {
    enum dti_status status;
    struct dti_error *reterr;
    struct dti_json_reader json;
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    enum dti_json_token token; /* the first of a value, which was read already */
    bool held;                 /* it is not consumed yet */
};

/* Reads a file; purpose: "a plan". Free it in any case. */
void dti_members_open(struct dti_member_reader *ret, const char *path, const char *purpose,
                      struct dti_error *reterr);
void dti_members_close(struct dti_member_reader *reader);
/* Fails, with the place in the file. */
void dti_members_refuse(struct dti_member_reader *reader, const char *why);

/* Consumes the start of an object; then true for each of its members. The value must be consumed by
 * one of the functions below. */
bool dti_members_object(struct dti_member_reader *reader);
bool dti_members_next(struct dti_member_reader *reader);
bool dti_members_is(const struct dti_member_reader *reader, const char *key);
/* The same for a list: true for each of its elements. */
bool dti_members_list(struct dti_member_reader *reader);
bool dti_members_element(struct dti_member_reader *reader);

void dti_members_skip(struct dti_member_reader *reader);
uint64_t dti_members_u64(struct dti_member_reader *reader);
double dti_members_double(struct dti_member_reader *reader);
/* A copy in the pool, with a NUL after it; NULL is written for null. ret_length: may be NULL. */
const char *dti_members_text(struct dti_member_reader *reader, struct dti_pool *pool,
                             size_t *ret_length);
/* The bytes that a text of hexadecimal digits spells; null changes nothing. */
void dti_members_hex(struct dti_member_reader *reader, struct dti_pool *pool, const char **ret,
                     size_t *ret_length);
/* The member "schema" must be that one. */
void dti_members_schema(struct dti_member_reader *reader, const char *schema);

#endif
