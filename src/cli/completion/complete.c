/* SPDX-License-Identifier: MIT
 *
 * dtinfo __complete WORD...: prints completions of the last word, which is being typed. One
 * candidate a line, "candidate<TAB>description". New options and dtypes need no change in the
 * shells' scripts. */
#include <string.h>

#include "answers/document.h"
#include "answers/tensors.h"
#include "answers/vectors/vectors.h"
#include "bench/measure/bench_table.h"
#include "cli/completion/shells.h"
#include "containers/container.h"
#include "core/dtype/dtype.h"
#include "devices/machine/architecture.h"
#include "files/dequant/logical_tensors.h"
#include "io/net/remote.h"
#include "kernels/gguf/gguf_kernel.h"
#include "util/text/ascii.h"
#include "util/text/escape.h"
#include "util/text/glob.h"
#include "util/text/nearest.h"

/* The word so far: `kept` is prepended to every candidate, and candidates must begin with `typed`.
 * In "--via=fp" kept is "--via=", in "bf16,fp" it is "bf16,". */
struct completion {
    FILE *out;
    const char *kept;
    size_t kept_length;
    const char *typed;
};

/* Prints prefix and name as a candidate if it begins with the typed text; returns whether it does.
 * */
static bool offer(const struct completion *c, const char *prefix, const char *name,
                  const char *description)
{
    const size_t prefix_length = strlen(prefix), typed_length = strlen(c->typed);
    const size_t shared = typed_length < prefix_length ? typed_length : prefix_length;
    if (strncmp(c->typed, prefix, shared) != 0 ||
        strncmp(c->typed + shared, name, typed_length - shared) != 0)
        return false;
    (void)fprintf(c->out, "%.*s%s%s\t%s\n", (int)c->kept_length, c->kept, prefix, name,
                  description ? description : "");
    return true;
}

enum { OFFERED = 300, DESCRIPTION = 224 };

/* Moves past the last comma that separates patterns. */
static void keep_patterns(struct completion *c)
{
    if (c->kept_length == 0)
        c->kept = c->typed;
    for (;;) {
        const size_t length = dti_glob_list_item(c->typed);
        if (c->typed[length] == '\0')
            return;
        c->kept_length += length + 1;
        c->typed += length + 1;
    }
}

/* False for a name that is unsafe for a terminal, or when out of memory. */
static bool spell_pattern(struct dti_buffer *pattern, struct dti_buffer *safe,
                          const struct dti_tensor *tensor)
{
    dti_buffer_clear(safe);
    dti_escape(safe, tensor->name, tensor->name_length);
    if (safe->length != tensor->name_length ||
        memcmp(safe->data, tensor->name, tensor->name_length) != 0)
        return false;
    dti_buffer_clear(pattern);
    for (size_t i = 0; i < tensor->name_length; i++) {
        if (strchr("*?[\\,", tensor->name[i]))
            dti_buffer_append(pattern, "\\", 1);
        dti_buffer_append(pattern, &tensor->name[i], 1);
    }
    return !pattern->failed && !safe->failed;
}

static void offer_all(const struct completion *c, const struct dti_container *container)
{
    struct dti_buffer pattern, safe;
    size_t offered = 0;
    dti_buffer_init(&pattern);
    dti_buffer_init(&safe);
    for (size_t i = 0; i < container->tensor_count && offered < OFFERED; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        char shape[DTI_SHAPE_SIZE], description[DESCRIPTION];
        if (!spell_pattern(&pattern, &safe, tensor))
            continue;
        (void)snprintf(description, sizeof description, "%.40s %s", dti_tensor_dtype(tensor),
                       dti_shape_words(shape, tensor));
        offered += offer(c, "", pattern.data, description);
    }
    dti_buffer_free(&pattern);
    dti_buffer_free(&safe);
}

/* raw: completes the names of the stored parts of quantized tensors. */
static void complete_tensors(struct completion *c, const char *const *operands, size_t count,
                             bool raw)
{
    const struct dti_logical_options options = {.raw = raw};
    struct dti_container *container;
    keep_patterns(c);
    for (size_t i = 0; i < count; i++) {
        if (dti_is_address(operands[i]) ||
            !dti_container_is(operands[i])) /* completion causes no network traffic */
            continue;
        if (dti_logical_open(&container, operands[i], &options, NULL) == DTI_OK) {
            offer_all(c, container);
            dti_logical_close(container);
        }
        return;
    }
}

enum { OPERANDS_KEPT = 8 };

/* What the words before the last one determine. */
struct state {
    const struct dti_command *command;
    const struct dti_option *awaits; /* the option whose value comes next */
    int operands;
    const char *operand[OPERANDS_KEPT]; /* the first of them */
    bool options_ended;
    bool nonsense; /* unknown command: nothing to offer */
};

/* Moves past the last separator. */
static void keep_to(struct completion *c, char separator)
{
    const char *const last = strrchr(c->typed, separator);
    if (!last)
        return;
    if (c->kept_length == 0)
        c->kept = c->typed;
    c->kept_length += (size_t)(last + 1 - c->typed);
    c->typed = last + 1;
}

static void keep_list(struct completion *c)
{
    keep_to(c, ',');
}

static void offer_dtypes(struct completion *c)
{
    keep_list(c);
    for (unsigned i = 0; i < DTI_DTYPE_COUNT; i++) {
        const struct dti_format *const format = dti_format_get((enum dti_dtype)i);
        char description[64];
        snprintf(description, sizeof description, "%s, %u bit%s", dti_kind_name(format->kind),
                 (unsigned)format->width, format->width == 1 ? "" : "s");
        (void)offer(c, "", format->name, description);
    }
}

/* Called after dtypes, so the list is already split. */
static void offer_blocks(const struct completion *c)
{
    for (size_t i = 0; i < dti_block_format_count; i++)
        (void)offer(c, "", dti_block_formats[i].name, dti_block_formats[i].summary);
}

/* GGUF block types that are not block formats of other files. */
static void offer_encoded(const struct completion *c)
{
    const struct dti_gguf_type *type;
    for (size_t i = 0; (type = dti_gguf_encoded(i)) != NULL; i++) {
        if (!dti_block_lookup(type->word))
            (void)offer(c, "", type->word, "blocks in gguf files");
    }
}

static void offer_choices(const struct completion *c, const struct dti_choice *choices)
{
    for (; dti_choice_shown(choices); choices++)
        (void)offer(c, "", choices->name, choices->help);
}

static void offer_commands(const struct completion *c)
{
    for (size_t i = 0; i < dti_command_count; i++) {
        if (dti_commands[i]->group)
            (void)offer(c, "", dti_commands[i]->name, dti_commands[i]->summary);
    }
}

/* Generations without capitals and blanks, "cdna-3", and the other names that are one word. */
static void offer_architectures(const struct completion *c)
{
    for (size_t i = 0; i < dti_architecture_count; i++) {
        const struct dti_architecture *const it = &dti_architectures[i];
        char word[32];
        size_t length = 0;
        for (; it->generation[length] != '\0' && length + 1 < sizeof word; length++)
            word[length] =
                it->generation[length] == ' ' ? '-' : dti_ascii_lower(it->generation[length]);
        word[length] = '\0';
        if (i == 0 || strcmp(it->generation, it[-1].generation) != 0)
            (void)offer(c, "", word, dti_architecture_groups[it->group].name);
        for (size_t k = 0; it->names[k][0] != '\0'; k++) {
            if (!strchr(it->names[k], ' ') && strcmp(it->names[k], word) != 0)
                (void)offer(c, "", it->names[k], it->name);
        }
    }
}

static void offer_options(const struct completion *c, const struct dti_option *options)
{
    for (; options && options->kind != DTI_OPTION_END; options++)
        (void)offer(c, "--", dti_option_name(options), dti_option_help(options));
}

static void offer_members(const struct completion *c, dti_object_rows *rows)
{
    struct dti_object object;
    dti_object_read(&object, rows);
    for (size_t i = 0; i < object.count; i++) {
        const struct dti_member *const member = &object.members[i];
        if (member->type == DTI_MEMBERS_OF)
            offer_members(c, member->object);
        else if (member->key)
            (void)offer(c, "", member->key, member->meaning);
    }
}

/* Offers the members of the elements of a list in a document. */
static void offer_records(const struct completion *c, const char *list, const char *schema)
{
    const struct dti_document *const document = dti_document_find(schema);
    struct dti_member member;
    if (document && dti_object_member(&member, document->object, list) && member.object)
        offer_members(c, member.object);
}

static void offer_values(struct completion *c, const struct dti_option *option,
                         const struct state *state)
{
    switch (option->kind) {
    case DTI_OPTION_CHOICE:
        offer_choices(c, option->choices);
        break;
    case DTI_OPTION_SET:
        keep_list(c);
        offer_choices(c, option->choices);
        break;
    case DTI_OPTION_DTYPE:
        if (option->choices)
            offer_choices(c, option->choices);
        offer_dtypes(c);
        break;
    case DTI_OPTION_END:
    case DTI_OPTION_FLAG:
    case DTI_OPTION_UINT:
    case DTI_OPTION_LIST:
        break;
    case DTI_OPTION_TEXT: {
        const char *const records = dti_option_more(option)->records;
        if (records) {
            keep_list(c);
            offer_records(c, records, state->command->schema);
            for (size_t i = 0; state->command->other_schemas[i]; i++)
                offer_records(c, records, state->command->other_schemas[i]);
        }
        if (option->choices) {
            keep_list(c);
            offer_choices(c, option->choices);
        }
        break;
    }
    case DTI_OPTION_GLOB: {
        const size_t known =
            state->operands < OPERANDS_KEPT ? (size_t)state->operands : OPERANDS_KEPT;
        complete_tensors(c, state->operand, known,
                         !dti_option_find_long(state->command->options, "raw", strlen("raw")));
        break;
    }
    case DTI_OPTION_FILE: /* left to the shell */
        break;
    }
}

/* "fp32:mxfp4", "text:bf16", "add:bf16". */
static void offer_pairs(struct completion *c)
{
    const bool target = strchr(c->typed, ':') != NULL;
    keep_to(c, ':');
    (void)offer(c, "", "text", target ? "all codes, decoded" : "decimal numbers");
    for (unsigned i = 0; i < DTI_VECTORS_OPERATION_COUNT && !target; i++)
        (void)offer(c, "", dti_vectors_operation_name((enum dti_vectors_operation)i), "arithmetic");
    offer_dtypes(c);
    if (target)
        offer_blocks(c);
}

static void offer_operands(struct completion *c, const struct dti_command *command, int before)
{
    switch (command->operands) {
    case DTI_OPERANDS_DTYPES:
        offer_dtypes(c);
        break;
    case DTI_OPERANDS_VALUE_DTYPE:
    case DTI_OPERANDS_VALUE_FORMAT:
        if (before > 0)
            offer_dtypes(c);
        if (before > 0 && command->operands == DTI_OPERANDS_VALUE_FORMAT)
            offer_blocks(c);
        if (before > 0 && command->encodes)
            offer_encoded(c);
        break;
    case DTI_OPERANDS_COMMAND:
        offer_choices(c, dti_help_topics);
        offer_commands(c);
        break;
    case DTI_OPERANDS_SHELL:
        offer_choices(c, dti_completion_shells);
        break;
    case DTI_OPERANDS_BENCH:
        if (before == 0) {
            for (size_t i = 0; i < dti_bench_kind_count; i++)
                (void)offer(c, "", dti_bench_kinds[i]->name, dti_bench_kinds[i]->summary);
            break;
        }
        keep_list(c);
        keep_to(c, ':');
        offer_dtypes(c);
        break;
    case DTI_OPERANDS_PAIRS:
        offer_pairs(c);
        break;
    case DTI_OPERANDS_ARCHITECTURES:
        offer_architectures(c);
        break;
    case DTI_OPERANDS_FILES: /* left to the shell */
    case DTI_OPERANDS_NONE:
    case DTI_OPERANDS_WORDS:
        break;
    }
}

static struct state read_words(char **words, int count)
{
    struct state state = {0};
    for (int i = 0; i < count; i++) {
        const struct dti_option *const own = state.command ? state.command->options : NULL;
        if (state.awaits) {
            state.awaits = NULL;
        } else if (!state.options_ended && dti_is_option_word(words[i])) {
            if (strcmp(words[i], "--") == 0)
                state.options_ended = true;
            else if (!dti_option_awaits_value(own, dti_global_options, words[i], &state.awaits))
                state.awaits = NULL;
        } else if (!state.command && !state.nonsense) {
            state.command = dti_command_find(words[i]);
            state.nonsense = !state.command;
        } else {
            if (state.operands < OPERANDS_KEPT)
                state.operand[state.operands] = words[i];
            state.operands++;
        }
    }
    return state;
}

static enum dti_status run_complete(const void *args, char **operands, int operand_count,
                                    struct dti_command_context *cx, struct dti_error *reterr)
{
    (void)args, (void)reterr;
    const char *const word = operand_count > 0 ? operands[operand_count - 1] : "";
    const struct state state = read_words(operands, operand_count > 0 ? operand_count - 1 : 0);
    const struct dti_option *const own = state.command ? state.command->options : NULL;
    struct completion c = {.out = cx->out, .kept = word, .typed = word};

    if (state.nonsense)
        return DTI_OK;
    if (state.awaits) {
        offer_values(&c, state.awaits, &state);
    } else if (!state.options_ended && strncmp(word, "--", 2) == 0 && strchr(word, '=')) {
        const char *const value = strchr(word, '=') + 1;
        const size_t name_length = (size_t)(value - 1 - (word + 2));
        const struct dti_option *option = dti_option_find_long(own, word + 2, name_length);
        if (!option)
            option = dti_option_find_long(dti_global_options, word + 2, name_length);
        c.kept_length = (size_t)(value - word);
        c.typed = value;
        if (option)
            offer_values(&c, option, &state);
    } else if (!state.options_ended && word[0] == '-') {
        offer_options(&c, own);
        offer_options(&c, dti_global_options);
    } else if (!state.command) {
        offer_commands(&c);
    } else {
        offer_operands(&c, state.command, state.operands);
    }
    return DTI_OK;
}

const struct dti_command dti_command_complete = {
    .name = "__complete",
    .summary = "print completions of the last word",
    .synopsis = "WORD...",
    .verbatim = true,
    .operands = DTI_OPERANDS_WORDS,
    .run = run_complete,
};
