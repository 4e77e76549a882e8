/* SPDX-License-Identifier: MIT
 *
 * Tensors and their losses as cells of tables. */
#include "cli/shared/tensor_cells.h"

#include <string.h>

#include "answers/tensors.h"
#include "core/number/spell.h"
#include "util/text/escape.h"

bool dti_tensor_cell(struct dti_table *table, const struct dti_tensor *tensor)
{
    struct dti_buffer name;
    dti_buffer_init(&name);
    dti_escape(&name, tensor->name, tensor->name_length);
    const bool whole = !name.failed;
    dti_table_cell(table, DTI_STYLE_PLAIN, name.data);
    dti_buffer_free(&name);
    return whole;
}

static const char *quote_of(const char *name, size_t length)
{
    return length == 0 || name[0] == ' ' || name[length - 1] == ' ' ? "'" : "";
}

void dti_name_text(struct dti_buffer *text, const char *name, size_t length)
{
    dti_buffer_puts(text, quote_of(name, length));
    dti_escape(text, name, length);
    dti_buffer_puts(text, quote_of(name, length));
}

void dti_name_cell(struct dti_table *table, const char *name, size_t length)
{
    dti_table_cell(table, DTI_STYLE_PLAIN, quote_of(name, length));
    dti_table_safe(table, name, length);
    dti_table_more(table, "%s", quote_of(name, length));
}

bool dti_name_put(struct dti_line *line, enum dti_style style, const char *name, size_t length)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    dti_name_text(&text, name, length);
    const bool whole = !text.failed;
    dti_line_put(line, style, text.data);
    dti_buffer_free(&text);
    return whole;
}

void dti_text_cell(struct dti_table *table, const char *text)
{
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

void dti_number_cell(struct dti_table *table, uint64_t number)
{
    char text[DTI_TEXT_SIZE];
    (void)dti_spell_u64(text, number);
    dti_text_cell(table, text);
}

void dti_count_cell(struct dti_table *table, uint64_t count)
{
    char text[DTI_TEXT_SIZE];
    (void)dti_spell_u64(text, count);
    dti_table_cell(table, count > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN, text);
}

void dti_loss_cell(struct dti_table *table, const struct dti_loss_summary *loss, double figure)
{
    char text[DTI_TEXT_SIZE];
    dti_table_cell(table, DTI_STYLE_PLAIN,
                   loss->compared > 0 ? dti_figure_words(text, figure, 4) : "-");
}

const char *dti_loss_place(char buffer[DTI_LOSS_PLACE_SIZE], const struct dti_tensor *tensor,
                           uint64_t index)
{
    char name[DTI_QUOTE_SIZE];
    dti_quote(name, tensor->name, tensor->name_length);
    (void)snprintf(buffer, DTI_LOSS_PLACE_SIZE, "%.*s, element %llu", (int)(strlen(name) - 2),
                   name + 1, (unsigned long long)index);
    return buffer;
}

const char *dti_plural_words(char buffer[DTI_PLURAL_SIZE], size_t count, const char *word)
{
    (void)snprintf(buffer, DTI_PLURAL_SIZE, "%zu %s%s", count, word, count == 1 ? "" : "s");
    return buffer;
}

enum dti_status dti_table_finish(struct dti_table *table, bool whole,
                                 const struct dti_command_context *cx, struct dti_error *reterr)
{
    if (whole)
        return dti_put_table(cx, table, 2, reterr);
    dti_table_free(table);
    return dti_no_memory(reterr);
}
