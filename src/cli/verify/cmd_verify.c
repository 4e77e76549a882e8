/* SPDX-License-Identifier: MIT
 *
 * dtinfo verify: whether a file was made from another by given recipes, which are in a document:
 * {"recipe": "cast bf16", "tensors": [{"name": "w", "recipe": "kept"}]}. */
#include <stdlib.h>
#include <string.h>

#include "answers/tensors.h"
#include "answers/verify/attest.h"
#include "answers/verify/verify.h"
#include "cli/shared/file_bar.h"
#include "cli/shell/command.h"
#include "cli/verify/recipe_read.h"
#include "containers/name_order.h"
#include "io/input.h"
#include "io/output.h"
#include "requests/explain/recipe_words.h"
#include "requests/file_source.h"
#include "util/json/json_read.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

struct verify_args {
    struct dti_file_args file;
    const char *recipe, *attest;
};

/* A file of recipes: a document of explain, or the part of one that holds the recipes. */
struct recipe_file {
    struct dti_buffer texts;
    struct dti_verify_row *rows;
    struct dti_recipe *recipe; /* each recipe once, in the order of the file */
    const struct dti_recipe *all;
    size_t count;
};

enum { MOST = 1 << 30 }; /* most bytes of such a file */

/* Texts are offsets into the buffer, which may move while it grows. */
struct recipe_row {
    size_t name, name_length;
    size_t recipe, recipe_length; /* length SIZE_MAX: null */
    size_t format;                /* of a plan; SIZE_MAX: none */
};

struct recipe_reader {
    const char *label;
    struct dti_json_reader json;
    struct recipe_file *file;
    struct recipe_row *rows, all;
    size_t count, capacity;
    bool has_tensors;
    /* of a plan */
    bool is_plan, gguf, channels;
    size_t layout; /* SIZE_MAX: none */
};

static enum dti_status bad(const struct recipe_reader *reader, const char *what,
                           struct dti_error *reterr)
{
    if (reader->json.string.failed || reader->file->texts.failed)
        return dti_no_memory(reterr);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: byte %zu: %s", reader->label,
                    (size_t)(reader->json.at - reader->json.start), what);
}

static enum dti_status next(struct recipe_reader *reader, enum dti_json_token *ret,
                            struct dti_error *reterr)
{
    return dti_json_next(&reader->json, ret) ? DTI_OK : bad(reader, reader->json.problem, reterr);
}

static enum dti_status skip(struct recipe_reader *reader, enum dti_json_token first,
                            struct dti_error *reterr)
{
    return dti_json_skip(&reader->json, first) ? DTI_OK : bad(reader, reader->json.problem, reterr);
}

/* The string that was read, with a NUL after it. */
static size_t take_text(struct recipe_reader *reader, size_t *ret_length)
{
    struct dti_buffer *const texts = &reader->file->texts;
    const size_t place = texts->length;
    const char *text;
    dti_json_string_value(&reader->json, &text, ret_length);
    dti_buffer_append(texts, text, *ret_length);
    dti_buffer_append(texts, "", 1);
    return place;
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *const at = c != '\0' ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The bytes of a name that is not UTF-8. */
static enum dti_status take_hex(struct recipe_reader *reader, struct recipe_row *row,
                                struct dti_error *reterr)
{
    struct dti_buffer *const texts = &reader->file->texts;
    const char *text;
    size_t length;
    dti_json_string_value(&reader->json, &text, &length);
    row->name = texts->length;
    row->name_length = length / 2;
    for (size_t i = 0; i + 1 < length; i += 2) {
        const int high = digit_of(text[i]), low = digit_of(text[i + 1]);
        if (high < 0 || low < 0)
            return bad(reader, "name_hex is no hexadecimal", reterr);
        const char byte = (char)(high << 4 | low);
        dti_buffer_append(texts, &byte, 1);
    }
    dti_buffer_append(texts, "", 1);
    return length % 2 == 0 ? DTI_OK : bad(reader, "name_hex is no hexadecimal", reterr);
}

/* A member's string; null is allowed. *ret_there: it is a string. */
static enum dti_status next_string(struct recipe_reader *reader, const char *what, bool *ret_there,
                                   struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = next(reader, &token, reterr);
    *ret_there = status == DTI_OK && token == DTI_JSON_STRING;
    return status != DTI_OK || *ret_there || token == DTI_JSON_NULL ? status
                                                                    : bad(reader, what, reterr);
}

/* A member that only plans need: a text, else SIZE_MAX. */
static enum dti_status next_text(struct recipe_reader *reader, size_t *ret,
                                 struct dti_error *reterr)
{
    enum dti_json_token token;
    size_t length;
    const enum dti_status status = next(reader, &token, reterr);
    *ret = status == DTI_OK && token == DTI_JSON_STRING ? take_text(reader, &length) : SIZE_MAX;
    return status == DTI_OK ? skip(reader, token, reterr) : status;
}

static enum dti_status read_tensor(struct recipe_reader *reader, struct recipe_row *ret,
                                   struct dti_error *reterr)
{
    bool named = false, hex = false, there = false;
    enum dti_json_token token;
    enum dti_status status = next(reader, &token, reterr);
    *ret = (struct recipe_row){.recipe_length = SIZE_MAX, .format = SIZE_MAX};
    while (status == DTI_OK && token == DTI_JSON_KEY) {
        if (dti_json_string_is(&reader->json, "name")) {
            status = next_string(reader, "the name of a tensor is not a string", &named, reterr);
            if (named && !hex)
                ret->name = take_text(reader, &ret->name_length);
        } else if (dti_json_string_is(&reader->json, "name_hex")) {
            status = next_string(reader, "name_hex is not a string", &there, reterr);
            hex = hex || there;
            if (there && status == DTI_OK)
                status = take_hex(reader, ret, reterr);
        } else if (dti_json_string_is(&reader->json, "recipe")) {
            status = next_string(reader, "a recipe is not a string", &there, reterr);
            if (there)
                ret->recipe = take_text(reader, &ret->recipe_length);
        } else if (dti_json_string_is(&reader->json, "format")) {
            status = next_text(reader, &ret->format, reterr);
        } else {
            status = next(reader, &token, reterr);
            if (status == DTI_OK)
                status = skip(reader, token, reterr);
        }
        if (status == DTI_OK)
            status = next(reader, &token, reterr);
    }
    return status != DTI_OK || named ? status : bad(reader, "a tensor without a name", reterr);
}

static enum dti_status read_tensors(struct recipe_reader *reader, struct dti_error *reterr)
{
    enum dti_json_token token;
    enum dti_status status = next(reader, &token, reterr);
    if (status == DTI_OK && (token != DTI_JSON_ARRAY || reader->has_tensors))
        return bad(reader, "tensors is not one list", reterr);
    reader->has_tensors = true;
    if (status == DTI_OK)
        status = next(reader, &token, reterr);
    while (status == DTI_OK && token != DTI_JSON_ARRAY_END) {
        if (token != DTI_JSON_OBJECT)
            return bad(reader, "a tensor is not an object", reterr);
        struct recipe_row *const more =
            dti_grown(reader->rows, reader->count, &reader->capacity, sizeof *more);
        if (!more)
            return dti_no_memory(reterr);
        reader->rows = more;
        status = read_tensor(reader, &reader->rows[reader->count++], reterr);
        if (status == DTI_OK)
            status = next(reader, &token, reterr);
    }
    return status;
}

/* Whether a member is this word. */
static enum dti_status next_word(struct recipe_reader *reader, const char *word, bool *ret,
                                 struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = next(reader, &token, reterr);
    *ret = status == DTI_OK && token == DTI_JSON_STRING && dti_json_string_is(&reader->json, word);
    return status == DTI_OK ? skip(reader, token, reterr) : status;
}

static enum dti_status read_member(struct recipe_reader *reader, struct dti_error *reterr)
{
    enum dti_json_token token;
    bool there = false;
    enum dti_status status;
    if (dti_json_string_is(&reader->json, "tensors"))
        return read_tensors(reader, reterr);
    if (dti_json_string_is(&reader->json, "recipe")) {
        status = next_string(reader, "a recipe is not a string", &there, reterr);
        if (there)
            reader->all.recipe = take_text(reader, &reader->all.recipe_length);
        return status;
    }
    if (dti_json_string_is(&reader->json, "schema")) {
        status = next_string(reader, "schema is not a string", &there, reterr);
        reader->is_plan =
            status == DTI_OK && dti_json_string_is(&reader->json, "dtinfo.advise_plan/1");
        return status != DTI_OK || reader->is_plan ||
                       dti_json_string_is(&reader->json, "dtinfo.explain/1")
                   ? status
                   : bad(reader, "the schema is neither dtinfo.explain/1 nor dtinfo.advise_plan/1",
                         reterr);
    }
    if (dti_json_string_is(&reader->json, "layout"))
        return next_text(reader, &reader->layout, reterr);
    if (dti_json_string_is(&reader->json, "per"))
        return next_word(reader, "channel", &reader->channels, reterr);
    if (dti_json_string_is(&reader->json, "writes"))
        return next_word(reader, "gguf", &reader->gguf, reterr);
    status = next(reader, &token, reterr);
    return status == DTI_OK ? skip(reader, token, reterr) : status;
}

static enum dti_status read_document(struct recipe_reader *reader, struct dti_error *reterr)
{
    enum dti_json_token token;
    enum dti_status status = next(reader, &token, reterr);
    if (status == DTI_OK && token != DTI_JSON_OBJECT)
        return bad(reader, "there is no object", reterr);
    if (status == DTI_OK)
        status = next(reader, &token, reterr);
    while (status == DTI_OK && token == DTI_JSON_KEY) {
        status = read_member(reader, reterr);
        if (status == DTI_OK)
            status = next(reader, &token, reterr);
    }
    if (status == DTI_OK)
        status = next(reader, &token, reterr); /* nothing may follow */
    if (status == DTI_OK && !reader->has_tensors && reader->all.recipe_length == SIZE_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s has neither tensors nor a recipe",
                        reader->label);
    return status == DTI_OK && reader->file->texts.failed ? dti_no_memory(reterr) : status;
}

/* A text of the buffer again. */
static void put_again(struct dti_buffer *texts, size_t text)
{
    if (dti_buffer_reserve(texts, strlen(texts->data + text) + 1))
        dti_buffer_puts(texts, texts->data + text);
}

/* What `quant --plan` does with a tensor, as a recipe: the words are put together from what the
 * document says in any order. */
static enum dti_status plan_recipe(struct recipe_reader *reader, struct recipe_row *row,
                                   struct dti_error *reterr)
{
    struct dti_buffer *const texts = &reader->file->texts;
    if (row->format == SIZE_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: a tensor of the plan lacks its format",
                        reader->label);
    row->recipe = texts->length;
    dti_buffer_puts(texts, "quant ");
    put_again(texts, row->format);
    if (reader->channels && !dti_block_lookup(texts->data + row->format))
        dti_buffer_puts(texts, " --per channel");
    if (reader->layout != SIZE_MAX) {
        dti_buffer_puts(texts, " --layout ");
        put_again(texts, reader->layout);
    }
    row->recipe_length = texts->length - row->recipe;
    dti_buffer_append(texts, "", 1);
    return texts->failed ? dti_no_memory(reterr) : DTI_OK;
}

/* What a plan does not name stays. */
static enum dti_status plan_recipes(struct recipe_reader *reader, struct dti_error *reterr)
{
    static const char kept[] = "kept";
    enum dti_status status = DTI_OK;
    if (!reader->is_plan)
        return DTI_OK;
    if (reader->gguf)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is a plan for gguf; verify takes plans for safetensors", reader->label);
    for (size_t i = 0; i < reader->count && status == DTI_OK; i++)
        status = plan_recipe(reader, &reader->rows[i], reterr);
    reader->all.recipe = reader->file->texts.length;
    reader->all.recipe_length = sizeof kept - 1;
    dti_buffer_append(&reader->file->texts, kept, sizeof kept);
    return status == DTI_OK && reader->file->texts.failed ? dti_no_memory(reterr) : status;
}

/* The words of one recipe. */
static enum dti_status parse(const struct recipe_reader *reader, const struct recipe_row *row,
                             const char *of, size_t length, struct dti_recipe *ret,
                             struct dti_error *reterr)
{
    struct dti_error error;
    char *const words = reader->file->texts.data + row->recipe;
    enum dti_status status = memchr(words, '\0', row->recipe_length)
                                 ? dti_fail(&error, DTI_USAGE, "it has a zero byte")
                                 : dti_recipe_read(ret, words, &error);
    if (status == DTI_OK)
        return DTI_OK;
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    if (of)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: the recipe of %s: %s", reader->label,
                        DTI_QUOTED(of, length), error.text);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: the recipe: %s", reader->label, error.text);
}

/* Equal words share one recipe. */
struct recipe_words {
    const char *words;
    size_t words_length, first;
};

static enum dti_status parse_all(struct recipe_reader *reader, struct recipe_words *words,
                                 struct dti_name_order *order, struct dti_error *reterr)
{
    struct recipe_file *const file = reader->file;
    const size_t count = reader->count;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count; i++) {
        const struct recipe_row *const row = &reader->rows[i];
        const bool there = row->recipe_length != SIZE_MAX;
        words[i] = (struct recipe_words){there ? file->texts.data + row->recipe : "",
                                         there ? row->recipe_length : 0, i};
    }
    if (!dti_name_order_of(order, words, count, DTI_NAMED(struct recipe_words, words)))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++)
        (void)dti_name_order_find(order, words[i].words, words[i].words_length, &words[i].first);
    file->count = count;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct recipe_row *const row = &reader->rows[i];
        struct dti_verify_row *const given = &file->rows[i];
        given->name = file->texts.data + row->name;
        given->name_length = row->name_length;
        if (row->recipe_length == SIZE_MAX)
            continue;
        given->recipe = &file->recipe[words[i].first];
        if (words[i].first == i)
            status = parse(reader, row, given->name, given->name_length, &file->recipe[i], reterr);
    }
    if (status != DTI_OK || reader->all.recipe_length == SIZE_MAX)
        return status;
    file->all = &file->recipe[count];
    return parse(reader, &reader->all, NULL, 0, &file->recipe[count], reterr);
}

static enum dti_status make(struct recipe_reader *reader, struct dti_error *reterr)
{
    struct recipe_file *const file = reader->file;
    struct dti_name_order order = {0};
    struct recipe_words *const words = dti_calloc(reader->count + 1, sizeof *words);
    file->rows = dti_calloc(reader->count + 1, sizeof *file->rows);
    file->recipe = dti_calloc(reader->count + 1, sizeof *file->recipe);
    const enum dti_status status = words && file->rows && file->recipe
                                       ? parse_all(reader, words, &order, reterr)
                                       : dti_no_memory(reterr);
    dti_name_order_free(&order);
    dti_free(words);
    return status;
}

/* Free it in any case. Fails with DTI_BAD_INPUT and the place in the file. */
static enum dti_status recipe_file_read(struct recipe_file *ret, const char *path,
                                        struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    struct recipe_reader reader = {.label = dti_quote(label, path, strlen(path)),
                                   .file = ret,
                                   .all = {.recipe_length = SIZE_MAX},
                                   .layout = SIZE_MAX};
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->texts);
    enum dti_status status = dti_input_open(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    status = dti_input_read_all(&input, MOST, "recipes", &text, reterr);
    dti_input_close(&input);
    if (status == DTI_OK) {
        dti_json_reader_init(&reader.json, text.data, text.length);
        status = read_document(&reader, reterr);
        dti_json_reader_free(&reader.json);
    }
    dti_buffer_free(&text);
    if (status == DTI_OK)
        status = plan_recipes(&reader, reterr);
    if (status == DTI_OK)
        status = make(&reader, reterr);
    dti_free(reader.rows);
    return status;
}

static void recipe_file_free(struct recipe_file *file)
{
    dti_buffer_free(&file->texts);
    dti_free(file->rows);
    dti_free(file->recipe);
}

/* Points into itself: it must not be copied. */
struct verify_job {
    const struct verify_args *args;
    const struct dti_command_context *cx;
    struct dti_file_source source;
    struct dti_file_bar bar;
    struct recipe_file recipes;
    struct dti_verify verify;
    struct dti_output_file *attestation; /* or NULL */
    bool attested;
};

static enum dti_status check_operands(const struct verify_args *args, char **operands, int count,
                                      struct dti_error *reterr)
{
    if (count < 2)
        return dti_fail(reterr, DTI_USAGE,
                        "expected two files, as in 'dtinfo verify model.safetensors "
                        "half.safetensors --recipe half.json'");
    if (count > 2)
        return dti_fail_word(reterr, DTI_USAGE, operands[2], strlen(operands[2]),
                             "verifies one file by another; %s is one operand too many",
                             DTI_QUOTED(operands[2], strlen(operands[2])));
    if (!args->recipe)
        return dti_fail(reterr, DTI_USAGE,
                        "missing recipe; give --recipe FILE, which 'dtinfo explain --json' writes");
    return DTI_OK;
}

static enum dti_status open_files(struct verify_job *job, char **operands, struct dti_error *reterr)
{
    struct dti_verify *const verify = &job->verify;
    enum dti_status status = recipe_file_read(&job->recipes, job->args->recipe, reterr);
    verify->rows = job->recipes.rows;
    verify->row_count = job->recipes.count;
    verify->all = job->recipes.all;
    if (status == DTI_OK)
        status = dti_logical_open(&verify->a, operands[0], &verify->options, reterr);
    if (status == DTI_OK)
        status = dti_logical_open(&verify->b, operands[1], &verify->options, reterr);
    if (status != DTI_OK)
        return status;
    dti_file_source_warn(&job->cx->asker, verify->a);
    dti_file_source_warn(&job->cx->asker, verify->b);
    return DTI_OK;
}

/* Opened before anything is read; exists afterwards only if everything is verified. */
static enum dti_status open_attestation(struct verify_job *job, struct dti_error *reterr)
{
    const char *const path = job->args->attest;
    if (!path)
        return DTI_OK;
    if (dti_output_is_standard(path))
        return dti_fail(reterr, DTI_USAGE,
                        "--attest writes a file besides the answer; give another name");
    dti_output_guard_signals();
    const enum dti_status status = dti_output_open(&job->attestation, path, false, 0, reterr);
    if (status != DTI_OK &&
        reterr->remedy ==
            DTI_REMEDY_REPLACE) /* the file may be an input, so --force is not suggested */
        return dti_fail(reterr, status, "%s exists; remove it, or give another name",
                        DTI_QUOTED(path, strlen(path)));
    return status;
}

static enum dti_status attest(struct verify_job *job, struct dti_json *json,
                              struct dti_error *reterr)
{
    struct dti_buffer text;
    if (!job->attestation || job->verify.problem)
        return DTI_OK;
    dti_buffer_init(&text);
    enum dti_status status = dti_attest(json, &job->verify, &text, reterr);
    if (status == DTI_OK && text.failed)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_output_write(job->attestation, text.data, text.length, reterr);
    dti_buffer_free(&text);
    if (status != DTI_OK)
        return status;
    status = dti_output_commit(job->attestation, reterr);
    job->attestation = NULL;
    job->attested = status == DTI_OK;
    if (job->attested)
        dti_output_is_complete(job->args->attest);
    return status;
}

static enum dti_status verify_init(struct verify_job *ret, const struct verify_args *args,
                                   const struct dti_command_context *cx, char **operands, int count,
                                   struct dti_error *reterr)
{
    *ret = (struct verify_job){
        .args = args,
        .cx = cx,
        .verify = {.remedy_words = dti_remedy_words,
                   .words = dti_recipe_words,
                   .recipe_path = args->recipe},
    };
    dti_buffer_init(&ret->recipes.texts);
    enum dti_status status = check_operands(args, operands, count, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&ret->verify.reading, &args->file, &cx->asker, reterr);
    if (status == DTI_OK)
        dti_file_bar_attach(&ret->bar, &ret->verify.reading, &args->file, cx);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, &cx->asker, reterr);
    ret->verify.options = ret->source.logical;
    if (status == DTI_OK)
        status = open_files(ret, operands, reterr);
    return status == DTI_OK ? open_attestation(ret, reterr) : status;
}

/* "differs: w at [0, 3]: expected 1 (0x3f80), found 2 (0x4000)" */
static void put_difference(const struct dti_byte_difference *difference, struct dti_line *line)
{
    const struct dti_verdict *const verdict = difference->verdict;
    const struct dti_tensor *const tensor = &difference->other->tensors[verdict->tensor];
    char place[DTI_SHAPE_SIZE], expected[DTI_TEXT_SIZE], found[DTI_TEXT_SIZE];
    (void)dti_line_safe(line, DTI_STYLE_PLAIN, tensor->name, tensor->name_length);
    if (!verdict->format) {
        dti_line_print(line, DTI_STYLE_PLAIN, " at byte %llu", (unsigned long long)verdict->first);
        return;
    }
    dti_line_print(line, DTI_STYLE_PLAIN, " at %s", dti_place_words(place, tensor, verdict->first));
    struct dti_value recipe, there;
    dti_decode(verdict->format, verdict->expected, &recipe);
    dti_decode(verdict->format, verdict->found, &there);
    dti_spell_stored(expected, verdict->format, verdict->expected, &recipe);
    dti_spell_stored(found, verdict->format, verdict->found, &there);
    dti_line_print(line, DTI_STYLE_PLAIN, ": expected %s (0x%llx), found %s (0x%llx)", expected,
                   (unsigned long long)verdict->expected, found,
                   (unsigned long long)verdict->found);
}

static void human(const struct verify_job *job)
{
    const struct dti_verify *const verify = &job->verify;
    const struct dti_verify_problem *const problem = verify->problem;
    struct dti_line line = dti_command_context_line(job->cx);
    if (!problem) {
        dti_line_print(&line, DTI_STYLE_GOOD, "verified: %zu tensor%s, %llu bytes", verify->tensors,
                       verify->tensors == 1 ? "" : "s", (unsigned long long)verify->bytes);
    } else {
        dti_line_put(&line, DTI_STYLE_BAD, "differs: ");
        if (problem->difference) {
            put_difference(problem->difference, &line);
        } else {
            (void)dti_line_safe(&line, DTI_STYLE_PLAIN, problem->name, problem->name_length);
            dti_line_print(&line, DTI_STYLE_PLAIN, ": %s", problem->reason);
        }
    }
    dti_line_end(&line);
}

static const struct dti_option options[] = {
    OPT_FILE(0, "recipe", struct verify_args, recipe, "FILE",
             "the recipes: a document of 'dtinfo explain --json', or a plan of 'dtinfo advise'",
             .matters = true),
    OPT_FILE(0, "attest", struct verify_args, attest, "FILE",
             "if all is verified, write an in-toto statement of it", .matters = true),
    DTI_LOGICAL_OPTIONS(struct verify_args, file),
    DTI_LIKE_OPTION(struct verify_args, file),
    DTI_SOURCE_OPTIONS(struct verify_args, file),
    DTI_SHAPE_OPTION(struct verify_args, file),
    DTI_SCAN_OPTIONS(struct verify_args, file),
    OPT_END,
};

static enum dti_status run_verify(const void *args, char **operands, int operand_count,
                                  struct dti_command_context *cx, struct dti_error *reterr)
{
    struct verify_job job;
    const struct dti_verify *const verify = &job.verify;
    enum dti_status status = verify_init(&job, args, cx, operands, operand_count, reterr);
    if (status == DTI_OK)
        status = dti_verify_run(&job.verify, reterr);
    if (status == DTI_OK)
        status = attest(&job, cx->json, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, verify, verify, reterr);
    else if (status == DTI_OK && !cx->quiet)
        human(&job);
    if (job.attested) /* which stands if the report fails */
        status = dti_output_report_end(cx, job.args->attest, status, reterr);
    const bool verified = !verify->problem;
    dti_output_discard(job.attestation);
    dti_verify_free(&job.verify);
    recipe_file_free(&job.recipes);
    return status == DTI_OK && !verified ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}

const struct dti_command dti_command_verify = {
    .name = "verify",
    .group = "files",
    .summary = "check that a file was made from another by given recipes",
    .reads = true,
    .synopsis = "A B --recipe FILE",
    .details = "Makes the tensors of B from those of A again, by the recipes in FILE, and\n"
               "compares every byte. The exit code is 0 if all are the same, and 1 at the\n"
               "first difference. Metadata is not compared. FILE is what 'dtinfo explain\n"
               "--json' or 'dtinfo advise -o' writes, or a shorter document written by\n"
               "hand: see the manual.",
    .examples = NULL,
    .schema = "dtinfo.verify/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct verify_args),
    .run = run_verify,
};
