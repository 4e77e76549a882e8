/* SPDX-License-Identifier: MIT
 *
 * SARIF 2.1.0: a result for each failure. Rules are the options, and quantized/RULE for each rule
 * of quantized checkpoints.
 *
 * GitHub's code scanning shows results at a line, which a file of tensors does not have: line 1. It
 * tells results by the fingerprint primaryLocationLineHash alone, "HASH:COUNT"; of ours the hash is
 * that of the identity in check_answer.h. */
#include <stdio.h>
#include <string.h>

#include "cli/check/check_forms.h"
#include "io/net/remote.h"
#include "util/text/escape.h"

static void put_text(struct dti_json *json, const char *key, const char *text, size_t length)
{
    dti_json_object(json, key);
    (void)dti_json_text(json, "text", text, length);
    dti_json_end(json);
}

static void put_rule(struct dti_json *json, const char *id, const char *about, const char *help)
{
    dti_json_object(json, NULL);
    dti_json_string(json, "id", id);
    put_text(json, "shortDescription", about, strlen(about));
    put_text(json, "fullDescription", about, strlen(about));
    put_text(json, "help", help, strlen(help));
    dti_json_end(json);
}

static const char *lint_id(char buffer[64], size_t rule)
{
    (void)snprintf(buffer, 64, "%s/%s", dti_check_name(DTI_CHECK_QUANTIZED),
                   dti_lint_rows[rule].word);
    return buffer;
}

static void put_rules(struct dti_json *json)
{
    char id[64], help[128];
    const char *name;
    dti_json_array(json, "rules");
    for (size_t kind = 0; (name = dti_check_name(kind)) != NULL; kind++) {
        const struct dti_option *const option =
            dti_option_find_long(dti_check_options, name, strlen(name));
        (void)snprintf(help, sizeof help, "The option --%s of dtinfo check: see dtinfo-check(1).",
                       name);
        put_rule(json, name, option ? dti_option_help(option) : name, help);
    }
    for (size_t i = 0; i < DTI_LINT_RULES; i++)
        put_rule(json, lint_id(id, i), dti_lint_rows[i].about, dti_lint_rows[i].remedy);
    dti_json_end(json);
}

static void begin(struct check_form *form)
{
    struct dti_json *const json = form->cx->json;
    dti_json_begin_plain(json);
    dti_json_string(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    dti_json_string(json, "version", "2.1.0");
    dti_json_array(json, "runs");
    dti_json_object(json, NULL);
    dti_json_object(json, "tool");
    dti_json_object(json, "driver");
    dti_json_string(json, "name", "dtinfo");
    dti_json_string(json, "version", DTI_VERSION);
    put_rules(json);
    dti_json_end(json);
    dti_json_end(json);
    dti_json_array(json, "results");
    dti_json_stream(json, &form->cx->sink);
}

/* A path as a URI: relative, or file:///... An address is one already. */
static void put_uri(struct dti_json *json, const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    const bool address = dti_is_address(path);
    struct dti_buffer uri;
    dti_buffer_init(&uri);
    dti_buffer_puts(&uri, path[0] == '/' ? "file://" : "");
    while (strncmp(path, "./", 2) == 0 && path[2] != '\0')
        path += 2;
    for (; *path != '\0'; path++) {
        if (strchr(plain, *path) || (address && strchr(":?#[]@!$&'()*+,;=%", *path)))
            dti_buffer_append(&uri, path, 1);
        else
            dti_buffer_print(&uri, "%%%02X", (unsigned char)*path);
    }
    if (uri.failed)
        dti_json_out_of_memory(json);
    (void)dti_json_text(json, "uri", uri.data, uri.length);
    dti_buffer_free(&uri);
}

static void put_location(struct dti_json *json, const char *path,
                         const struct dti_check_words *words)
{
    dti_json_array(json, "locations");
    dti_json_object(json, NULL);
    dti_json_object(json, "physicalLocation");
    dti_json_object(json, "artifactLocation");
    put_uri(json, path);
    dti_json_end(json);
    dti_json_object(json, "region");
    dti_json_uint(json, "startLine", 1);
    dti_json_end(json);
    dti_json_end(json);
    if (words && words->tensor) {
        dti_json_array(json, "logicalLocations");
        dti_json_object(json, NULL);
        (void)dti_json_text(json, "name", words->tensor, words->tensor_length);
        dti_json_string(json, "kind", "tensor");
        dti_json_end(json);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_end(json);
}

static void put_fingerprint(struct dti_json *json, const struct check_result *result,
                            const struct dti_check_words *words)
{
    struct dti_check_identity identity;
    struct dti_digest digest;
    struct dti_buffer key;
    char text[DTI_DIGEST_TEXT], hash[DTI_DIGEST_TEXT + 2];
    dti_buffer_init(&key);
    dti_check_identify(&identity, result->report,
                       (size_t)(result->of - result->report->request->assertions));
    dti_check_identify_failure(&identity, words);
    dti_check_identity_bytes(&key, &identity, DTI_CHECK_FIELDS);
    if (key.failed)
        dti_json_out_of_memory(json);
    dti_digest_bytes(key.data, key.length, &digest);
    dti_buffer_free(&key);
    (void)snprintf(hash, sizeof hash, "%.32s:1", dti_digest_spell(text, &digest) + DTI_DIGEST_NAME);
    dti_json_object(json, "partialFingerprints");
    dti_json_string(json, "primaryLocationLineHash", hash);
    dti_json_end(json);
}

/* With a baseline, all results say whether they are new. */
static void put_known(struct dti_json *json, bool known)
{
    dti_json_string(json, "baselineState", known ? "unchanged" : "new");
    dti_json_array(json, "suppressions");
    if (known) {
        dti_json_object(json, NULL);
        dti_json_string(json, "kind", "external");
        dti_json_string(json, "justification", "in the baseline");
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_failure(struct check_form *form, const struct check_result *result,
                        const struct dti_check_failure *failure)
{
    struct dti_json *const json = form->cx->json;
    struct dti_check_words words;
    struct dti_buffer text, safe;
    char id[64];
    dti_buffer_init(&text);
    dti_buffer_init(&safe);
    dti_check_words(&words, result->report, failure);
    dti_json_object(json, NULL);
    dti_json_string(json, "ruleId",
                    failure->finding ? lint_id(id, failure->finding->rule)
                                     : dti_check_name(result->of->kind));
    dti_json_string(json, "level", "error");
    dti_check_put_sentence(&text, result->report, failure);
    dti_buffer_puts(&text, " (");
    dti_check_put_label(&text, result);
    dti_buffer_puts(&text, ")");
    dti_escape(&safe, text.data, text.length);
    if (text.failed || safe.failed)
        dti_json_out_of_memory(json);
    put_text(json, "message", safe.data, safe.length);
    dti_buffer_free(&text);
    dti_buffer_free(&safe);
    put_location(json, result->report->path, &words);
    put_fingerprint(json, result, &words);
    if (form->files->baseline)
        put_known(json, failure->known);
    dti_json_end(json);
}

static void put_assertion(struct check_form *form, const struct check_result *result)
{
    for (size_t i = 0; i < result->tally->failures; i++)
        put_failure(form, result, &result->failures[i]);
}

/* Ends the results, and says whether the run is whole. */
static void end(struct check_form *form, const struct dti_error *error)
{
    struct dti_json *const json = form->cx->json;
    char words[DTI_ERROR_TEXT];
    dti_json_end(json);
    dti_json_array(json, "invocations");
    dti_json_object(json, NULL);
    dti_json_bool(json, "executionSuccessful", !error);
    if (error) {
        const char *const text = dti_error_words(words, error);
        dti_json_array(json, "toolExecutionNotifications");
        dti_json_object(json, NULL);
        dti_json_string(json, "level", "error");
        put_text(json, "message", text, strlen(text));
        put_location(json, form->files->paths[form->files->next], NULL);
        dti_json_end(json);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_end(json);
    dti_json_end(json);
    dti_json_end(json);
}

const struct check_form_row dti_check_sarif = {.begin = begin, .put = put_assertion, .end = end};
