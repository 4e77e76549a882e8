/* SPDX-License-Identifier: MIT
 *
 * What is in a file as JSON: an element of "files" in schema dtinfo.inspect/1. */
#include <string.h>

#include "cli/inspect/inspect.h"
#include "cli/shared/file_json.h"
#include "cli/shared/tensor_words.h"
#include "cli/shell/remedy_words.h"

/* How the elements lie: null where there is no choice. */
static void put_layout(struct dti_json *json, const struct dti_tensor *tensor)
{
    const struct dti_format *const part = tensor->format ? dti_inspect_component(tensor) : NULL;
    bool big;
    dti_json_string(json, "order", tensor->fortran ? "fortran" : "row-major");
    if (dti_inspect_has_byte_order(tensor, &big))
        dti_json_string(json, "byte_order", big ? "big" : "little");
    else
        dti_json_null(json, "byte_order");
    if (part && part->width < 8)
        dti_json_string(json, "packing",
                        dti_choice_name(dti_choice_packing, (int)tensor->layout.packing));
    else
        dti_json_null(json, "packing");
}

static enum dti_status put_tensor(const struct inspect_report *report, struct dti_json *json,
                                  size_t at, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = report->shown[at];
    const struct inspect_figures *const figures =
        report->figures && report->figures[at].there ? &report->figures[at] : NULL;
    char words[DTI_REMEDY_WORDS];
    dti_json_object(json, NULL);
    enum dti_status status =
        dti_json_bytes(json, "name", "name_hex", tensor->name, tensor->name_length, reterr);
    dti_json_string(json, "dtype", tensor->format ? tensor->format->name : NULL);
    dti_json_string(json, "stored_as", tensor->stored_as);
    dti_json_string(json, "block", tensor->block ? tensor->block->name : NULL);
    dti_json_shape(json, "shape", tensor);
    dti_json_uint(json, "elements", tensor->elements);
    dti_json_uint(json, "bytes", tensor->bytes);
    dti_json_uint(json, "file", tensor->file);
    dti_json_uint(json, "offset", tensor->offset);
    dti_json_bool(json, "compressed", tensor->compressed);
    put_layout(json, tensor);
    dti_json_string(json, "refusal", dti_remedy_words(words, tensor->remedy, tensor->refusal));
    if (status == DTI_OK)
        status = dti_inspect_json_stats(json, "stats", report->args->stats ? figures : NULL, tensor,
                                        reterr);
    dti_inspect_json_histogram(json, "histogram", report->args->each ? figures : NULL);
    dti_json_end(json);
    return status;
}

/* The digest of a file; null where none was asked for. */
static void put_digest(struct dti_json *json, const char *key, const struct inspect_report *report,
                       size_t file)
{
    char text[DTI_DIGEST_TEXT];
    const bool there = report->digests && file < dti_digest_count(report->container);
    dti_json_string(json, key, there ? dti_digest_spell(text, &report->digests[file]) : NULL);
}

static enum dti_status put_shards(const struct inspect_report *report, struct dti_json *json,
                                  struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    enum dti_status status = DTI_OK;
    size_t at = 0;
    dti_json_array(json, "shards");
    for (size_t i = 0; i < container->file_count && status == DTI_OK; i++) {
        const struct dti_container_file *const file = &container->files[i];
        const size_t first = at;
        uint64_t bytes = 0;
        for (; at < container->tensor_count && container->tensors[at].file == i; at++)
            bytes += container->tensors[at].bytes;
        dti_json_object(json, NULL);
        status = dti_json_bytes(json, "path", "path_hex", file->path, strlen(file->path), reterr);
        dti_json_uint(json, "tensors", at - first);
        dti_json_uint(json, "data_bytes", bytes);
        dti_json_uint(json, "header_bytes", file->header_bytes);
        dti_json_uint(json, "bytes", file->input.size);
        put_digest(json, "digest", report, i);
        dti_json_end(json);
    }
    dti_json_end(json);
    return status;
}

static void put_sums(const struct inspect_totals *totals, struct dti_json *json)
{
    dti_json_array(json, "by_dtype");
    for (size_t i = 0; i < totals->group_count; i++) {
        const struct inspect_group *const group = &totals->groups[i];
        dti_json_object(json, NULL);
        dti_json_string(json, "dtype", group->dtype);
        dti_json_uint(json, "tensors", group->tensors);
        dti_json_uint(json, "elements", group->elements);
        dti_json_uint(json, "bytes", group->bytes);
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_object(json, "sizes_as");
    for (size_t i = 0; i < INSPECT_AS; i++) {
        if (totals->as[i] == UINT64_MAX)
            dti_json_null(json, dti_inspect_as[i]);
        else
            dti_json_uint(json, dti_inspect_as[i], totals->as[i]);
    }
    dti_json_end(json);
}

static enum dti_status put_metadata(const struct dti_container *container, struct dti_json *json,
                                    struct dti_error *reterr)
{
    static const char *const kinds[] = {[DTI_METADATA_STRING] = "string",
                                        [DTI_METADATA_TOKEN] = "token",
                                        [DTI_METADATA_ARRAY] = "array"};
    enum dti_status status = DTI_OK;
    dti_json_array(json, "metadata");
    for (size_t i = 0; i < container->metadata_count && status == DTI_OK; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        dti_json_object(json, NULL);
        status = dti_json_bytes(json, "key", "key_hex", entry->key, entry->key_length, reterr);
        if (status == DTI_OK)
            status = dti_json_bytes(json, "value", "value_hex", entry->value, entry->value_length,
                                    reterr);
        dti_json_string(json, "kind", kinds[entry->kind]);
        dti_json_string(json, "type", entry->type);
        dti_json_uint(json, "count", entry->count);
        dti_json_end(json);
    }
    dti_json_end(json);
    return status;
}

static void put_note(struct dti_json *json, const struct dti_note *note)
{
    char words[DTI_REMEDY_WORDS];
    dti_json_object(json, NULL);
    dti_json_string(json, "code", note->code);
    dti_json_string(json, "message", dti_note_words(words, note));
    dti_json_end(json);
}

static void put_notes(const struct inspect_report *report, struct dti_json *json)
{
    const struct dti_container *const container = report->container;
    char text[DTI_SCALED_CODES_TEXT];
    dti_json_array(json, "notes");
    for (size_t i = 0; i < container->note_count; i++)
        put_note(json, &container->notes[i]);
    if (report->scaled.count > 0) {
        const struct dti_note note = dti_scaled_codes_note(&report->scaled, text);
        put_note(json, &note);
    }
    dti_json_end(json);
}

static void put_totals(const struct inspect_report *report, struct dti_json *json)
{
    const struct inspect_totals *const totals = &report->totals;
    dti_json_object(json, "totals");
    dti_json_uint(json, "tensors", report->shown_count);
    dti_json_uint(json, "elements", totals->elements);
    dti_json_uint(json, "bytes", totals->bytes);
    dti_json_uint(json, "parameters", totals->parameters);
    dti_json_uint(json, "other_elements", totals->others);
    dti_json_end(json);
}

enum dti_status dti_inspect_json(const struct inspect_report *report, struct dti_json *json,
                                 struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    dti_json_object(json, NULL);
    enum dti_status status =
        dti_json_bytes(json, "path", "path_hex", container->path, strlen(container->path), reterr);
    dti_json_string(json, "kind", dti_container_name(container->kind));
    dti_json_string(json, "version", container->version);
    dti_json_uint(json, "tensor_count", container->tensor_count);
    dti_json_uint(json, "header_bytes", report->totals.header_bytes);
    dti_json_uint(json, "data_bytes", report->totals.data_bytes);
    dti_json_uint(json, "bytes", report->totals.file_bytes);
    if (status == DTI_OK)
        status = put_shards(report, json, reterr);
    put_digest(json, "index_digest", report, container->file_count);
    dti_json_array(json, "tensors");
    dti_json_stream(json, report->cx->out);
    for (size_t i = 0; i < report->shown_count && status == DTI_OK; i++)
        status = put_tensor(report, json, i, reterr);
    dti_json_end(json);
    put_sums(&report->totals, json);
    if (status == DTI_OK)
        status = put_metadata(container, json, reterr);
    put_notes(report, json);
    put_totals(report, json);
    const struct inspect_figures *const all = report->all.there ? &report->all : NULL;
    if (status == DTI_OK)
        status =
            dti_inspect_json_stats(json, "stats", report->args->stats ? all : NULL, NULL, reterr);
    dti_inspect_json_histogram(json, "histogram", report->args->histogram ? all : NULL);
    dti_json_null(json, "error");
    dti_json_end(json);
    return status;
}

/* The same members, but nothing is known of the file. */
enum dti_status dti_inspect_json_failure(struct dti_json *json, const char *path,
                                         const struct dti_error *error, struct dti_error *reterr)
{
    static const char *const unknown[] = {"kind",       "version",  "tensor_count", "header_bytes",
                                          "data_bytes", "bytes",    "shards",       "index_digest",
                                          "tensors",    "by_dtype", "sizes_as",     "metadata",
                                          "notes",      "totals",   "stats",        "histogram"};
    char words[DTI_ERROR_TEXT];
    dti_json_object(json, NULL);
    const enum dti_status status =
        dti_json_bytes(json, "path", "path_hex", path, strlen(path), reterr);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        dti_json_null(json, unknown[i]);
    dti_json_object(json, "error");
    dti_json_string(json, "code", dti_status_code(error->status));
    dti_json_string(json, "message", dti_error_words(words, error));
    dti_json_string(json, "argument", error->argument[0] != '\0' ? error->argument : NULL);
    dti_json_end(json);
    dti_json_end(json);
    return status;
}

void dti_inspect_json_options(struct dti_json *json, const struct inspect_args *args)
{
    dti_json_object(json, "options");
    dti_json_bool(json, "stats", args->stats);
    dti_json_bool(json, "histogram", args->histogram);
    dti_json_bool(json, "each", args->each);
    dti_json_bool(json, "digest", args->digest);
    dti_json_string(json, "sort", dti_choice_name(dti_inspect_sorts, args->sort));
    dti_json_bool(json, "reverse", args->reverse);
    dti_json_string(json, "grep", args->grep);
    dti_json_string(json, "only", args->only);
    dti_json_bool(json, "lenient", args->file.lenient);
    dti_json_string(json, "from", args->file.from);
    dti_json_string(json, "assume", args->file.assume);
    dti_json_end(json);
}
