/* SPDX-License-Identifier: MIT
 *
 * The statement follows Statement v1 of the in-toto attestation framework and Provenance v1 of
 * SLSA. Optional fields that would differ from run to run, times and invocations, are left out. */
#include "answers/verify/attest.h"

#include <stdlib.h>
#include <string.h>

#include "answers/common.h"
#include "util/run/allocate.h"

/* A package URL, and the documents that the recipes are a part of. */
#define BUILDER "pkg:generic/dtinfo@" DTI_VERSION

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

/* Resource descriptors of the files of a container. */
static void put_files(struct dti_json *json, const char *key, const struct dti_container *container,
                      const struct dti_digest *digests)
{
    char digest[DTI_DIGEST_TEXT];
    dti_json_array(json, key);
    for (size_t i = 0; i < dti_digest_count(container); i++) {
        dti_json_object(json, NULL);
        dti_json_string(json, "name", base_name(dti_digest_file(container, i)->path));
        dti_json_object(json, "digest");
        dti_json_string(json, "sha256", dti_digest_spell(digest, &digests[i]) + DTI_DIGEST_NAME);
        dti_json_end(json);
        dti_json_end(json);
    }
    dti_json_end(json);
}

/* In the form that verify reads. */
static void put_recipes(struct dti_json *json, const struct dti_verify *verify)
{
    char words[DTI_RECIPE_WORDS];
    dti_json_object(json, "externalParameters");
    dti_json_string(json, "schema", "dtinfo.explain/1");
    if (verify->all)
        dti_json_string(json, "recipe", verify->words(words, verify->all));
    dti_json_array(json, "tensors");
    for (size_t i = 0; i < verify->row_count; i++) {
        const struct dti_verify_row *const row = &verify->rows[i];
        dti_json_object(json, NULL);
        dti_put_bytes(json, "name", "name_hex", row->name, row->name_length);
        dti_json_string(json, "recipe", row->recipe ? verify->words(words, row->recipe) : NULL);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_end(json);
}

static void put_statement(struct dti_json *json, const struct dti_verify *verify,
                          const struct dti_digest *a, const struct dti_digest *b)
{
    dti_json_begin_plain(json);
    dti_json_string(json, "_type", "https://in-toto.io/Statement/v1");
    put_files(json, "subject", dti_stored_container(verify->b), b);
    dti_json_string(json, "predicateType", "https://slsa.dev/provenance/v1");
    dti_json_object(json, "predicate");
    dti_json_object(json, "buildDefinition");
    dti_json_string(json, "buildType", BUILDER "#verify");
    put_recipes(json, verify);
    put_files(json, "resolvedDependencies", dti_stored_container(verify->a), a);
    dti_json_end(json);
    dti_json_object(json, "runDetails");
    dti_json_object(json, "builder");
    dti_json_string(json, "id", BUILDER);
    dti_json_end(json);
    dti_json_end(json);
    dti_json_end(json);
}

enum dti_status dti_attest(struct dti_json *json, const struct dti_verify *verify,
                           struct dti_buffer *ret, struct dti_error *reterr)
{
    struct dti_digest *a = NULL, *b = NULL;
    enum dti_status status =
        dti_reading_digests(&verify->reading, dti_stored_container(verify->a), &a, reterr);
    if (status == DTI_OK)
        status = dti_reading_digests(&verify->reading, dti_stored_container(verify->b), &b, reterr);
    if (status == DTI_OK) {
        put_statement(json, verify, a, b);
        status = dti_json_append(json, ret, reterr);
    }
    dti_free(a);
    dti_free(b);
    return status;
}
