/* SPDX-License-Identifier: MIT
 *
 * Cast results for people: the full answer for one value, with a picture of the number between its
 * neighbours; one line per value; tables of one value in several dtypes, and in one dtype by
 * several number stacks. */
#include <stdio.h>
#include <string.h>

#include "answers/cast/number_line.h"
#include "cli/cast/values.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "core/number/spell.h"
#include "report/table.h"

enum { VALUE_COLUMN = DTI_HUMAN_VALUE, NOTE_COLUMN = DTI_HUMAN_NOTE, EXACT_WHOLE = 1200 };

/* A text that is copied whole, with what follows it: in long streams that takes less time than to
 * look for its end. */
struct phrase {
    unsigned char length;
    char text[47];
};
#define PHRASE(text_)                              \
    {                                              \
        .length = sizeof(text_) - 1, .text = text_ \
    }

static const struct phrase roundings[][2] = {
    /* up, down */
    [DTI_ROUND_NEAREST_EVEN] = {PHRASE("rounded up to nearest"), PHRASE("rounded down to nearest")},
    [DTI_ROUND_NEAREST_AWAY] = {PHRASE("rounded up to nearest, ties away"),
                                PHRASE("rounded down to nearest, ties away")},
    [DTI_ROUND_ZERO] = {PHRASE("truncated toward zero"), PHRASE("truncated toward zero")},
    [DTI_ROUND_UP] = {PHRASE("rounded up"), PHRASE("rounded up")},
    [DTI_ROUND_DOWN] = {PHRASE("rounded down"), PHRASE("rounded down")},
    [DTI_ROUND_ODD] = {PHRASE("rounded up to odd"), PHRASE("rounded down to odd")},
    [DTI_ROUND_STOCHASTIC] = {PHRASE("rounded up randomly"), PHRASE("rounded down randomly")},
};
static const struct phrase is_exact = PHRASE("exact"), is_inexact = PHRASE(", inexact"),
                           is_underflow = PHRASE(", inexact, underflow"),
                           is_not_zero = PHRASE("not zero, inexact"),
                           is_smallest = PHRASE("the smallest, as nothing becomes zero; inexact");

/* Room for the whole phrase is needed. Returns the length. */
static size_t say(char *at, const struct phrase *phrase)
{
    memcpy(at, phrase->text, sizeof phrase->text);
    return phrase->length;
}

/* Why the input has no counterpart: "max 65504", "lowest 0", "no nan"; "fp16 max 65504" if it was
 * lost in a dtype of --via. */
enum { CAST_LIMIT_SIZE = DTI_TEXT_SIZE + DTI_NAME_SIZE + 12 };
static const char *limit_words(const struct dti_cast_result *result,
                               const struct dti_scalar *scalar, char buffer[CAST_LIMIT_SIZE])
{
    const struct dti_cast *const route = dti_cast_route(result);
    const struct dti_format *f = dti_cast_stage(route, scalar->stage);
    bool on_the_way = scalar->stage < route->via_count;
    const char *where = on_the_way ? f->name : "", *gap = on_the_way ? " " : "";
    bool low = scalar->input.negative;
    char text[DTI_TEXT_SIZE];
    struct dti_value limit;
    uint64_t code = 0;
    if (scalar->input.kind == DTI_CLASS_NAN) {
        (void)snprintf(buffer, CAST_LIMIT_SIZE, "%s%sno nan", where, gap);
        return buffer;
    }
    (void)(low ? dti_code_lowest(f, &code) : dti_code_max(f, &code));
    dti_decode(f, code, &limit);
    dti_spell_stored(text, f, code, &limit);
    (void)snprintf(buffer, CAST_LIMIT_SIZE, "%s%s%s %s", where, gap, low ? "lowest" : "max", text);
    return buffer;
}

/* The style of a stored number: one that became infinity, NaN or zero stands out. */
static enum dti_style style_of(const struct dti_cast_result *result)
{
    enum dti_style style = DTI_STYLE_BOLD;
    for (size_t i = 0; i < result->components && result->known; i++) {
        const enum dti_class was = result->component[i].input.kind;
        const enum dti_class is = result->component[i].stored.kind;
        if (is > DTI_CLASS_FINITE && is != was)
            return DTI_STYLE_BAD;
        if (is == DTI_CLASS_ZERO && was != DTI_CLASS_ZERO)
            style = DTI_STYLE_WARN;
    }
    return style;
}

/* "rounded up to nearest, inexact", "exact", "beyond the range, overflow (max 65504)". Returns the
 * length. */
enum { DESCRIPTION_SIZE = 240 };
static size_t describe(const struct dti_cast_result *result, const struct dti_scalar *scalar,
                       char buffer[DESCRIPTION_SIZE])
{
    const struct dti_format *f = &result->target->cast.dst;
    const struct dti_cast *const route = dti_cast_route(result);
    const struct dti_policy *policy = &route->policy;
    char limit[CAST_LIMIT_SIZE];
    if (scalar->flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID)) {
        bool overflow = (scalar->flags & DTI_FLAG_OVERFLOW) != 0;
        const char *what = "no counterpart";
        if (policy->overflow == DTI_OVERFLOW_WRAP && dti_format_is_integer(f) && overflow)
            what = "wrapped to the low bits";
        else if (scalar->flags & DTI_FLAG_SATURATED)
            what = "saturated";
        else if (overflow)
            what = "beyond the range";
        return (size_t)snprintf(
            buffer, DESCRIPTION_SIZE, "%s, %s%s (%s)", what, overflow ? "overflow" : "",
            scalar->flags & DTI_FLAG_INVALID ? overflow ? ", invalid" : "invalid" : "",
            limit_words(result, scalar, limit));
    }
    if (!(scalar->flags & DTI_FLAG_INEXACT))
        return say(buffer, &is_exact);
    if (f->kind == DTI_KIND_BOOL)
        return say(buffer, &is_not_zero);
    if (f->specials == DTI_SPECIALS_POSIT && scalar->input.exponent < dti_format_min_exponent(f))
        return say(buffer, &is_smallest);
    const enum dti_round round = result->target->rule && dti_format_is_integer(f)
                                     ? DTI_ROUND_ZERO
                                     : dti_cast_round(route, f);
    const size_t length = say(buffer, &roundings[round][dti_scalar_direction(scalar) < 0]);
    return length +
           say(buffer + length, scalar->flags & DTI_FLAG_UNDERFLOW ? &is_underflow : &is_inexact);
}

static const char *description(const struct dti_cast_result *result,
                               const struct dti_scalar *scalar, char buffer[DESCRIPTION_SIZE])
{
    (void)describe(result, scalar, buffer);
    return buffer;
}

static void put_head(const struct dti_cast_operand *operand, const struct dti_cast_result *result,
                     struct dti_line *line)
{
    char shown[HUMAN_OPERAND_SIZE], text[DTI_CAST_TEXT_SIZE];
    (void)dti_human_operand(shown, operand->text, operand->length);
    dti_line_text(line, shown);
    dti_line_text(line, " -> ");
    dti_line_text(line, result->target->dtype.name);
    dti_line_text(line, " = ");
    (void)dti_cast_text(text, result);
    dti_line_put(line, style_of(result), text);
    dti_line_to(line, NOTE_COLUMN);
}

static bool put_exact(const struct dti_value *stored, struct dti_line *line)
{
    struct dti_buffer exact;
    dti_buffer_init(&exact);
    bool has_exact = dti_spell_exact(&exact, stored);
    if (has_exact) {
        dti_human_label(line, "exact", "");
        if (exact.length > EXACT_WHOLE) {
            dti_line_print(line, DTI_STYLE_PLAIN, "%.64s", exact.data);
            dti_line_print(line, DTI_STYLE_DIM, "... (%zu characters; --json has all)",
                           exact.length);
        } else {
            dti_line_text(line, exact.data);
        }
        dti_line_end(line);
    }
    bool failed = exact.failed;
    dti_buffer_free(&exact);
    return !failed;
}

static bool put_error(const struct dti_cast_operand *operand, size_t component,
                      const struct dti_scalar *scalar, struct dti_line *line)
{
    struct dti_difference difference;
    struct dti_buffer exact;
    char text[DTI_TEXT_SIZE];
    bool has_exact;
    if (!scalar->has_step || component >= operand->components ||
        scalar->input.kind > DTI_CLASS_FINITE)
        return true;
    dti_buffer_init(&exact);
    if (!dti_number_difference(&operand->number[component], &scalar->stored, &difference, &exact,
                               &has_exact)) {
        dti_buffer_free(&exact);
        return false;
    }
    dti_human_label(line, "error", dti_human_signed(text, &difference.absolute, &exact, 8));
    if (difference.absolute.kind == DTI_CLASS_FINITE) {
        struct dti_value ulp = dti_scalar_ulps(scalar, &difference.absolute);
        if (difference.relative.kind == DTI_CLASS_FINITE)
            dti_line_print(line, DTI_STYLE_PLAIN, "   %s",
                           dti_human_signed_percent(text, &difference.relative, 4));
        dti_line_print(line, DTI_STYLE_PLAIN, "   %s ulp",
                       dti_human_magnitude(text, &ulp, NULL, 6));
    }
    dti_line_end(line);
    dti_buffer_free(&exact);
    return true;
}

static void put_step(const struct dti_format *f, const struct dti_scalar *scalar,
                     struct dti_line *line)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value step;
    if (!scalar->has_step)
        return;
    dti_value_set(&step, false, 1, scalar->step_exponent);
    dti_spell_text(text, &step);
    dti_human_label(line, "step", text);
    dti_line_to(line, NOTE_COLUMN);
    dti_line_print(line, DTI_STYLE_DIM, "spacing of %s here (2^%d)\n", f->name,
                   (int)scalar->step_exponent);
}

/* finite: whether the given number is. */
static void put_neighbours(const struct dti_neighbour ends[2], bool finite, struct dti_line *line)
{
    static const char *const names[2] = {"below", "above"};
    size_t widths[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        if (ends[i].there && strlen(ends[i].text) > widths[0])
            widths[0] = strlen(ends[i].text);
        if (ends[i].there && strlen(ends[i].code) > widths[1])
            widths[1] = strlen(ends[i].code);
    }
    for (int i = 0; i < 2; i++) {
        char off[DTI_TEXT_SIZE];
        if (!ends[i].there)
            continue;
        dti_human_label(line, names[i], ends[i].text);
        dti_line_to(line, VALUE_COLUMN + widths[0] + 3);
        dti_line_text(line, ends[i].code);
        if (ends[i].finite && finite) {
            dti_line_to(line, VALUE_COLUMN + widths[0] + 3 + widths[1] + 3);
            dti_line_print(line, DTI_STYLE_PLAIN, "off by %s",
                           dti_human_magnitude(off, &ends[i].distance, &ends[i].exact, 8));
        }
        if (ends[i].chosen)
            dti_line_put(line, DTI_STYLE_GOOD, "   <- chosen");
        dti_line_end(line);
    }
}

static void put_route(const struct dti_cast_result *result, struct dti_line *line)
{
    const struct dti_cast *const route = dti_cast_route(result);
    if (route->via_count > 0) {
        dti_human_label(line, "via", "");
        for (size_t i = 0; i < route->via_count; i++)
            dti_line_print(line, DTI_STYLE_PLAIN, "%s%s", i > 0 ? ", " : "", route->via[i].name);
        dti_line_end(line);
    }
    if (result->target->rule) {
        dti_human_label(line, "like", dti_stack_title(result->target->rule->stack));
        if (result->note) {
            dti_line_put(line, DTI_STYLE_DIM, ": ");
            dti_line_put(line, DTI_STYLE_DIM, result->note);
        }
        dti_line_end(line);
    }
}

static void put_device(const struct cast_values *values, const struct dti_cast_result *result,
                       struct dti_line *line)
{
    if (values->job.device.choice.kind == DTI_DEVICE_CPU)
        return;
    dti_human_label(line, "device", result->device);
    dti_line_to(line, NOTE_COLUMN);
    dti_line_print(line, DTI_STYLE_DIM, "%s\n",
                   result->device_reason ? result->device_reason : "stores the same");
}

static bool put_component(const struct dti_cast_operand *operand, size_t component,
                          const struct dti_format *f, const struct dti_scalar *scalar,
                          struct dti_line *line)
{
    char text[DTI_TEXT_SIZE];
    dti_human_bits(line, f, scalar->code);
    bool done = true;
    if (scalar->stored.kind <= DTI_CLASS_FINITE) {
        dti_spell_hexfloat(text, &scalar->stored);
        dti_human_label(line, "hexfloat", text);
        dti_line_end(line);
        done = put_exact(&scalar->stored, line);
    }
    return done && put_error(operand, component, scalar, line);
}

static enum dti_status show_full(const struct cast_values *values,
                                 const struct dti_cast_operand *operand,
                                 const struct dti_cast_result *result, struct dti_error *reterr)
{
    static const char *const components[] = {"real", "imaginary"};
    const struct dti_format *f = &result->target->cast.dst;
    struct dti_line line = dti_command_context_line(values->cx);
    struct dti_neighbour ends[2];
    char text[DESCRIPTION_SIZE], other[DTI_TEXT_SIZE];
    bool done = true;

    put_head(operand, result, &line);
    if (result->known && result->components == 1)
        dti_line_text(&line, description(result, &result->component[0], text));
    else if (!result->known)
        dti_line_text(&line, "unknown");
    dti_line_end(&line);

    for (size_t i = 0; i < result->components && result->known && done; i++) {
        if (result->components == 2) {
            dti_spell_text(text, &result->component[i].stored);
            dti_human_label(&line, components[i], text);
            dti_line_to(&line, NOTE_COLUMN);
            dti_line_print(&line, DTI_STYLE_PLAIN, "%s\n",
                           description(result, &result->component[i], text));
        }
        done = put_component(operand, i, f, &result->component[i], &line);
    }
    const bool single = done && result->known && result->components == 1;
    if (single) {
        put_step(f, &result->component[0], &line);
        done = dti_neighbours_find(operand, f, &result->component[0], ends);
        put_neighbours(ends, operand->value[0].kind <= DTI_CLASS_FINITE, &line);
    }
    put_route(result, &line);
    put_device(values, result, &line);
    if (dti_cast_saturated(result, operand, other)) {
        dti_human_label(&line, "hint", "");
        dti_line_put(&line, DTI_STYLE_WARN, "--overflow saturate gives ");
        dti_line_print(&line, DTI_STYLE_WARN, "%s\n", other);
    }
    if (single) {
        const size_t width = (size_t)values->cx->width;
        const size_t room = width > VALUE_COLUMN ? width - VALUE_COLUMN : 0;
        if (done)
            dti_number_line_put(&line, operand, &result->component[0], ends, VALUE_COLUMN, room,
                                values->cx->ascii);
        dti_neighbours_free(ends);
    }
    return done ? DTI_OK : dti_no_memory(reterr);
}

static char *add(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

/* The line of a known result in a stream, without styles: the same bytes as below, in one piece,
 * because in a long stream the pieces of a dti_line take more time than all the rest. */
static void put_plain_line(struct dti_buffer *text, const struct dti_cast_operand *operand,
                           const struct dti_cast_result *result)
{
    enum {
        ROOM = HUMAN_OPERAND_SIZE + DTI_NAME_SIZE + 2 * DTI_CAST_TEXT_SIZE + NOTE_COLUMN +
               DESCRIPTION_SIZE + 16 /* blanks and signs in between */
    };
    if (!dti_buffer_reserve(text, ROOM))
        return;
    char *const begin = text->data + text->length, *at = begin;
    at += dti_human_operand(at, operand->text, operand->length); /* a column for each byte */
    at = add(at, " -> ", 4);
    at = add(stpcpy(at, result->target->dtype.name), " = ", 3);
    at += dti_cast_text(at, result);
    const size_t column = (size_t)(at - begin);
    const size_t blanks = column < NOTE_COLUMN ? NOTE_COLUMN - column : 2;
    memset(at, ' ', NOTE_COLUMN);
    at += blanks;
    at += dti_cast_bits(at, result);
    at = add(at, "   ", 3);
    at += describe(result, &result->component[0], at);
    at = add(at, "\n", 2) - 1; /* with its NUL */
    text->length += (size_t)(at - begin);
}

void dti_cast_human_line(const struct cast_values *values, const struct dti_cast_operand *operand,
                         const struct dti_cast_result *result)
{
    if (values->text && !values->cx->colour && result->known) {
        put_plain_line(values->text, operand, result);
        return;
    }
    struct dti_line line = {
        .out = values->cx->out, .text = values->text, .colour = values->cx->colour};
    char text[DESCRIPTION_SIZE];
    put_head(operand, result, &line);
    if (!result->known) {
        dti_line_text(&line, "unknown");
    } else {
        char bits[DTI_CAST_TEXT_SIZE];
        (void)dti_cast_bits(bits, result);
        dti_line_text(&line, bits);
        dti_line_text(&line, "   ");
        dti_line_text(&line, description(result, &result->component[0], text));
    }
    dti_line_end(&line);
}

static void same_cells(struct dti_table *table, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        dti_text_cell(table, text);
}

static void put_lost(struct dti_table *table, const struct dti_cast_result *result)
{
    const struct dti_scalar *scalar = &result->component[0];
    char limit[CAST_LIMIT_SIZE];
    bool overflow = (scalar->flags & DTI_FLAG_OVERFLOW) != 0;
    dti_table_cell(table, DTI_STYLE_BAD, overflow ? "overflow" : "invalid");
    dti_text_cell(table, limit_words(result, scalar, limit));
    dti_text_cell(table, "");
}

static bool put_error_cells(struct dti_table *table, const struct dti_cast_operand *operand,
                            const struct dti_cast_result *result)
{
    const struct dti_scalar *scalar = &result->component[0];
    char text[DTI_TEXT_SIZE];
    struct dti_difference difference;
    struct dti_buffer exact;
    bool has_exact;
    if (!scalar->has_step || scalar->input.kind > DTI_CLASS_FINITE) {
        same_cells(table, 3, "-");
        return true;
    }
    dti_buffer_init(&exact);
    if (!dti_number_difference(&operand->number[0], &scalar->stored, &difference, &exact,
                               &has_exact)) {
        dti_buffer_free(&exact);
        return false;
    }
    struct dti_value ulp = dti_scalar_ulps(scalar, &difference.absolute);
    dti_text_cell(
        table, dti_human_signed(text, &difference.absolute, exact.length <= 12 ? &exact : NULL, 6));
    if (difference.relative.kind == DTI_CLASS_FINITE)
        dti_table_print(table, DTI_STYLE_PLAIN, "%s %%",
                        dti_human_percent(text, &difference.relative, 3));
    else
        dti_text_cell(table, "-");
    bool off = ulp.kind == DTI_CLASS_FINITE;
    dti_text_cell(table, off ? dti_human_magnitude(text, &ulp, NULL, 3) : "-");
    dti_buffer_free(&exact);
    return true;
}

static bool put_row(struct dti_table *table, const struct dti_cast_operand *operand,
                    const struct dti_cast_result *result)
{
    char text[DTI_CAST_TEXT_SIZE], other[DTI_TEXT_SIZE];
    bool done = true;
    dti_text_cell(table, result->target->dtype.name);
    (void)dti_cast_text(text, result);
    dti_table_cell(table, style_of(result), text);
    if (!result->known) {
        dti_table_cell(table, DTI_STYLE_WARN, "unknown");
        same_cells(table, 2, "");
    } else if (result->components == 1 &&
               (result->component[0].flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID))) {
        put_lost(table, result);
    } else if (result->components == 1) {
        done = put_error_cells(table, operand, result);
    } else {
        same_cells(table, 3, "");
    }
    (void)dti_cast_bits(text, result);
    dti_text_cell(table, text);
    if (dti_cast_saturated(result, operand, other))
        dti_table_print(table, DTI_STYLE_DIM, "--overflow saturate gives %s", other);
    else
        dti_table_cell(table, DTI_STYLE_DIM, !result->known && result->note ? "see --stacks" : "");
    return done;
}

/* The device that stores the same, and for how many of the dtypes. */
static void put_devices(const struct cast_values *values, struct dti_line *line)
{
    const struct dti_cast_device *const device = &values->job.device;
    const char *const why = device->why_cpu   ? device->why_cpu
                            : device->why_not ? device->why_not
                                              : "nothing is stored";
    if (device->choice.kind == DTI_DEVICE_CPU)
        return;
    const bool all = device->runner && device->asked == device->numbers;
    dti_line_print(line, DTI_STYLE_PLAIN, "  device %s%s", device->runner ? device->begun : "cpu",
                   device->runner ? " stores the same" : "");
    if (device->runner && !all)
        dti_line_print(line, DTI_STYLE_PLAIN, " in %llu of %llu", (unsigned long long)device->asked,
                       (unsigned long long)device->numbers);
    if (!all) {
        dti_line_text(line, ": ");
        dti_line_put(line, DTI_STYLE_DIM, why);
    }
    dti_line_end(line);
}

static enum dti_status show_ladder(const struct cast_values *values,
                                   const struct dti_cast_operand *operand,
                                   const struct dti_cast_result *results, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("dtype|stored|error|rel|ulp|bits|", "9985367");
    bool done = table != NULL;
    for (size_t i = 0; i < values->job.target_count && done; i++)
        done = put_row(table, operand, &results[i]);
    const enum dti_status status = dti_table_finish(table, done, values->cx, reterr);
    struct dti_line line = dti_command_context_line(values->cx);
    if (status == DTI_OK)
        put_devices(values, &line);
    return status;
}

static enum dti_status show_digits(const struct cast_values *values,
                                   const struct dti_cast_result *results, struct dti_error *reterr)
{
    struct dti_buffer digits;
    size_t width = 0;
    bool done = true;
    for (size_t i = 0; i < values->job.target_count; i++) {
        const size_t length = strlen(results[i].target->dtype.name);
        width = length > width ? length : width;
    }
    dti_buffer_init(&digits);
    for (size_t i = 0; i < values->job.target_count && done; i++) {
        struct dti_line line = dti_command_context_line(values->cx);
        dti_buffer_clear(&digits);
        done = dti_cast_digits(&digits, &results[i], (size_t)values->args->digits);
        if (!values->cx->quiet) {
            dti_line_text(&line, results[i].target->dtype.name);
            dti_line_to(&line, width + 2);
        }
        dti_line_text(&line, digits.data);
        dti_line_end(&line);
    }
    dti_buffer_free(&digits);
    return done ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status show_stacks(const struct cast_values *values,
                                   const struct dti_cast_operand *operand,
                                   const struct dti_cast_result *result, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("stack|as of|stored|bits|", "93977");
    for (int i = 0; i < DTI_STACK_COUNT; i++) {
        struct dti_cast_target target;
        struct dti_cast_result other;
        char text[DTI_CAST_TEXT_SIZE] = "-", bits[DTI_CAST_TEXT_SIZE] = "-";
        enum dti_style style = DTI_STYLE_BOLD;
        const bool there = dti_cast_by_stack(result, operand, (enum dti_stack)i, &target, &other);
        if (!there && dti_stack_is_hardware((enum dti_stack)i))
            continue;
        if (there && other.known) {
            (void)dti_cast_text(text, &other);
            (void)dti_cast_bits(bits, &other);
            style = style_of(&other);
        }
        dti_text_cell(table, dti_stack_name((enum dti_stack)i));
        dti_text_cell(table, dti_stack_version((enum dti_stack)i));
        dti_table_cell(table, style, text);
        dti_text_cell(table, bits);
        if (!there)
            dti_table_cell(table, DTI_STYLE_DIM, "no such dtype");
        else
            dti_table_cell(table, other.known ? DTI_STYLE_DIM : DTI_STYLE_WARN,
                           other.note ? other.note : "");
    }
    return dti_put_table(values->cx, table, 2, reterr);
}

void dti_cast_put_text(const struct cast_values *values, char *text, size_t length)
{
    text[length] = '\n';
    if (values->text)
        dti_buffer_append(values->text, text, length + 1);
    else
        (void)fwrite(text, 1, length + 1, values->cx->out);
}

enum dti_status dti_cast_human(const struct cast_values *values,
                               const struct dti_cast_operand *operand,
                               const struct dti_cast_result *results, struct dti_error *reterr)
{
    const struct dti_command_context *const cx = values->cx;
    const size_t count = values->job.target_count;
    enum dti_status status = DTI_OK;
    if (values->args->digits_given)
        return show_digits(values, results, reterr);
    if (values->args->stacks) {
        for (size_t i = 0; i < count && status == DTI_OK; i++) {
            dti_cast_human_line(values, operand, &results[i]);
            status = show_stacks(values, operand, &results[i], reterr);
        }
        return status;
    }
    if (values->single && !cx->quiet)
        return count == 1 ? show_full(values, operand, results, reterr)
                          : show_ladder(values, operand, results, reterr);
    for (size_t i = 0; i < count; i++) {
        char text[DTI_CAST_TEXT_SIZE];
        if (!cx->quiet)
            dti_cast_human_line(values, operand, &results[i]);
        else
            dti_cast_put_text(values, text, dti_cast_text(text, &results[i]));
    }
    return DTI_OK;
}
