/* SPDX-License-Identifier: MIT
 *
 * Cast results for people: the full answer for one value, or one line per value. */
#include <stdio.h>
#include <string.h>

#include "cli/cast/values.h"
#include "cli/shared/human.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

enum { VALUE_COLUMN = DTI_HUMAN_VALUE, NOTE_COLUMN = DTI_HUMAN_NOTE, EXACT_WHOLE = 1200 };

static const char *const roundings[][2] = {
    /* up, down */
    [DTI_ROUND_NEAREST_EVEN] = {"rounded up to nearest", "rounded down to nearest"},
    [DTI_ROUND_NEAREST_AWAY] = {"rounded up to nearest, ties away",
                                "rounded down to nearest, ties away"},
    [DTI_ROUND_ZERO] = {"truncated toward zero", "truncated toward zero"},
    [DTI_ROUND_UP] = {"rounded up", "rounded up"},
    [DTI_ROUND_DOWN] = {"rounded down", "rounded down"},
    [DTI_ROUND_ODD] = {"rounded up to odd", "rounded down to odd"},
    [DTI_ROUND_STOCHASTIC] = {"rounded up randomly", "rounded down randomly"},
};

const char *dti_cast_limit(const struct dti_cast_result *result, const struct dti_scalar *scalar,
                           char buffer[CAST_LIMIT_SIZE])
{
    const struct dti_cast *const route = dti_cast_route(result);
    const struct dti_format *f = dti_cast_stage(route, scalar->stage);
    bool on_the_way = scalar->stage < route->via_count;
    const char *where = on_the_way ? f->name : "", *gap = on_the_way ? " " : "";
    bool low = scalar->input.negative;
    char text[DTI_TEXT_SIZE];
    struct dti_value limit;
    uint64_t code = 0;
    if (scalar->input.class == DTI_CLASS_NAN) {
        (void)snprintf(buffer, CAST_LIMIT_SIZE, "%s%sno nan", where, gap);
        return buffer;
    }
    (void)(low ? dti_code_lowest(f, &code) : dti_code_max(f, &code));
    dti_decode(f, code, &limit);
    dti_spell_stored(text, f, code, &limit);
    (void)snprintf(buffer, CAST_LIMIT_SIZE, "%s%s%s %s", where, gap, low ? "lowest" : "max", text);
    return buffer;
}

enum dti_style dti_cast_style(const struct dti_cast_result *result)
{
    enum dti_style style = DTI_STYLE_BOLD;
    for (size_t i = 0; i < result->components && result->known; i++) {
        const enum dti_class was = result->component[i].input.class;
        const enum dti_class is = result->component[i].stored.class;
        if (is > DTI_CLASS_FINITE && is != was)
            return DTI_STYLE_BAD;
        if (is == DTI_CLASS_ZERO && was != DTI_CLASS_ZERO)
            style = DTI_STYLE_WARN;
    }
    return style;
}

/* "rounded up to nearest, inexact", "exact", "beyond the range, overflow (max 65504)". */
enum { DESCRIPTION_SIZE = 240 };
static const char *describe(const struct dti_cast_result *result, const struct dti_scalar *scalar,
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
        (void)snprintf(buffer, DESCRIPTION_SIZE, "%s, %s%s (%s)", what, overflow ? "overflow" : "",
                       scalar->flags & DTI_FLAG_INVALID ? overflow ? ", invalid" : "invalid" : "",
                       dti_cast_limit(result, scalar, limit));
    } else if (!(scalar->flags & DTI_FLAG_INEXACT)) {
        return "exact";
    } else if (f->kind == DTI_KIND_BOOL) {
        return "not zero, inexact";
    } else {
        enum dti_round round = result->target->rule && dti_format_is_integer(f)
                                   ? DTI_ROUND_ZERO
                                   : dti_cast_round(route, f);
        const bool underflow = (scalar->flags & DTI_FLAG_UNDERFLOW) != 0;
        char *const end = stpcpy(buffer, roundings[round][dti_scalar_direction(scalar) < 0]);
        (void)stpcpy(end, underflow ? ", inexact, underflow" : ", inexact");
    }
    return buffer;
}

static void put_head(const struct dti_cast_operand *operand, const struct dti_cast_result *result,
                     struct dti_line *line)
{
    char shown[HUMAN_OPERAND_SIZE], text[DTI_CAST_TEXT_SIZE];
    dti_line_text(line, dti_human_operand(shown, operand->text, operand->length));
    dti_line_text(line, " -> ");
    dti_line_text(line, result->target->dtype.name);
    dti_line_text(line, " = ");
    (void)dti_cast_text(text, result);
    dti_line_put(line, dti_cast_style(result), text);
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
        scalar->input.class > DTI_CLASS_FINITE)
        return true;
    dti_buffer_init(&exact);
    if (!dti_number_difference(&operand->number[component], &scalar->stored, &difference, &exact,
                               &has_exact)) {
        dti_buffer_free(&exact);
        return false;
    }
    dti_human_label(line, "error", dti_human_signed(text, &difference.absolute, &exact, 8));
    if (difference.absolute.class == DTI_CLASS_FINITE) {
        struct dti_value ulp = dti_scalar_ulps(scalar, &difference.absolute);
        if (difference.relative.class == DTI_CLASS_FINITE)
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

static bool find_neighbour(const struct dti_cast_operand *operand, const struct dti_format *f,
                           uint64_t code, struct cast_neighbour *ret)
{
    struct dti_value value;
    struct dti_difference difference;
    struct dti_buffer exact;
    bool has_exact;
    dti_decode(f, code, &value);
    dti_spell_stored(ret->text, f, code, &value);
    dti_spell_code(ret->code, code, f->width);
    ret->there = true;
    ret->off[0] = '\0';
    ret->finite = value.class <= DTI_CLASS_FINITE;
    if (!ret->finite || operand->value[0].class > DTI_CLASS_FINITE)
        return true;
    dti_buffer_init(&exact);
    bool done = dti_number_difference(&operand->number[0], &value, &difference, &exact, &has_exact);
    if (done) {
        dti_human_magnitude(ret->off, &difference.absolute, &exact, 8);
        ret->distance = difference.absolute;
    }
    dti_buffer_free(&exact);
    return done;
}

static bool find_neighbours(const struct dti_cast_operand *operand, const struct dti_format *f,
                            const struct dti_scalar *scalar, struct cast_neighbour ret[2])
{
    const bool there[2] = {scalar->has_below, scalar->has_above};
    const uint64_t codes[2] = {scalar->below, scalar->above};
    for (int i = 0; i < 2; i++) {
        ret[i] = (struct cast_neighbour){.chosen = there[i] && codes[i] == scalar->code};
        if (there[i] && !find_neighbour(operand, f, codes[i], &ret[i]))
            return false;
    }
    return true;
}

static void put_neighbours(const struct cast_neighbour neighbours[2], struct dti_line *line)
{
    static const char *const names[2] = {"below", "above"};
    size_t widths[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        if (neighbours[i].there && strlen(neighbours[i].text) > widths[0])
            widths[0] = strlen(neighbours[i].text);
        if (neighbours[i].there && strlen(neighbours[i].code) > widths[1])
            widths[1] = strlen(neighbours[i].code);
    }
    for (int i = 0; i < 2; i++) {
        if (!neighbours[i].there)
            continue;
        dti_human_label(line, names[i], neighbours[i].text);
        dti_line_to(line, VALUE_COLUMN + widths[0] + 3);
        dti_line_text(line, neighbours[i].code);
        if (neighbours[i].off[0]) {
            dti_line_to(line, VALUE_COLUMN + widths[0] + 3 + widths[1] + 3);
            dti_line_print(line, DTI_STYLE_PLAIN, "off by %s", neighbours[i].off);
        }
        if (neighbours[i].chosen)
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
    if (values->job.device.wish.kind == DTI_DEVICE_CPU)
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
    if (scalar->stored.class <= DTI_CLASS_FINITE) {
        dti_spell_hexfloat(text, &scalar->stored);
        dti_human_label(line, "hexfloat", text);
        dti_line_end(line);
        done = put_exact(&scalar->stored, line);
    }
    return done && put_error(operand, component, scalar, line);
}

enum dti_status dti_cast_human_full(const struct cast_values *values,
                                    const struct dti_cast_operand *operand,
                                    const struct dti_cast_result *result, struct dti_error *reterr)
{
    static const char *const components[] = {"real", "imaginary"};
    const struct dti_format *f = &result->target->cast.dst;
    struct dti_line line = {.out = values->cx->out, .colour = values->cx->colour};
    struct cast_neighbour neighbours[2] = {{.there = false}, {.there = false}};
    char text[DESCRIPTION_SIZE], other[DTI_TEXT_SIZE];
    bool done = true;

    put_head(operand, result, &line);
    if (result->known && result->components == 1)
        dti_line_text(&line, describe(result, &result->component[0], text));
    else if (!result->known)
        dti_line_text(&line, "unknown");
    dti_line_end(&line);

    for (size_t i = 0; i < result->components && result->known && done; i++) {
        if (result->components == 2) {
            dti_spell_text(text, &result->component[i].stored);
            dti_human_label(&line, components[i], text);
            dti_line_to(&line, NOTE_COLUMN);
            dti_line_print(&line, DTI_STYLE_PLAIN, "%s\n",
                           describe(result, &result->component[i], text));
        }
        done = put_component(operand, i, f, &result->component[i], &line);
    }
    if (done && result->known && result->components == 1) {
        put_step(f, &result->component[0], &line);
        done = find_neighbours(operand, f, &result->component[0], neighbours);
        put_neighbours(neighbours, &line);
    }
    put_route(result, &line);
    put_device(values, result, &line);
    if (dti_cast_saturated(result, operand, other)) {
        dti_human_label(&line, "hint", "");
        dti_line_put(&line, DTI_STYLE_WARN, "--overflow saturate gives ");
        dti_line_print(&line, DTI_STYLE_WARN, "%s\n", other);
    }
    if (done && result->known && result->components == 1)
        dti_cast_draw(operand, &result->component[0], neighbours, values->cx);
    return done ? DTI_OK : dti_no_memory(reterr);
}

void dti_cast_human_line(const struct cast_values *values, const struct dti_cast_operand *operand,
                         const struct dti_cast_result *result)
{
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
        dti_line_text(&line, describe(result, &result->component[0], text));
    }
    dti_line_end(&line);
}
