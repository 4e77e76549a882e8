/* SPDX-License-Identifier: MIT
 *
 * Expressions over arrays through the public functions alone; test_expressions.py writes the
 * questions. */
#include "line_judge.h"

enum { OPERANDS = 4 };

static size_t code_bytes(const struct dti_format *format)
{
    struct dti_format_info info = {.size = sizeof info};
    dti_format_describe(format, &info);
    return info.container_bits / 8;
}

/* "name:format:2,3:00ff...": codes of container size, lowest byte first. */
static void read_operand(char *text, struct dti_operand *ret, unsigned char **ret_codes)
{
    char *const format = strchr(text, ':'), *const shape = strchr(format + 1, ':');
    char *const codes = strchr(shape + 1, ':');
    *format = *shape = *codes = '\0';
    memset(ret, 0, sizeof *ret);
    ret->size = sizeof *ret;
    ret->name = text;
    ret->format = format_of(format + 1);
    for (const char *at = shape + 1; *at; at += strcspn(at, ","), at += *at == ',')
        ret->shape[ret->rank++] = strtoull(at, NULL, 10);
    const size_t bytes = strlen(codes + 1) / 2;
    *ret_codes = (unsigned char *)malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte;
        (void)sscanf(codes + 1 + 2 * i, "%2x", &byte);
        (*ret_codes)[i] = (unsigned char)byte;
    }
    ret->codes = *ret_codes;
}

static char *hex(const void *codes, size_t bytes)
{
    char *const text = (char *)malloc(2 * bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)codes)[i]);
    text[2 * bytes] = '\0';
    return text;
}

static void check_output(struct dti_calc_output *output)
{
    char shape[128] = "", number[64];
    for (size_t i = 0; i < output->rank; i++) {
        const size_t used = strlen(shape);
        (void)snprintf(shape + used, sizeof shape - used, "%s%" PRIu64, i > 0 ? "," : "",
                       output->shape[i]);
    }
    check("the shape", shape, field[6]);
    char *const codes = hex(output->codes, output->count * code_bytes(output->format));
    check("the codes", codes, field[7]);
    free(codes);
    if (strcmp(field[8], "?") != 0)
        check("what went wrong first", output->first ? output->first : "-", field[8]);
    if (strcmp(field[9], "?") != 0) {
        (void)snprintf(number, sizeof number, "%" PRIu64, output->different);
        check("how many differ", output->has_truth ? number : "-", field[9]);
    }
    check("the format", dti_format_name(output->format), field[2]);
    dti_calc_free(context, output);
    check("freed", output->codes ? "codes" : "", "");
}

/* calc expression format order options accumulate | shape codes first different operands ...
 * An expected shape "!word" is the status of a failure, and the codes are the text of the error. */
static void judge_calc(void)
{
    struct dti_operand operands[OPERANDS];
    unsigned char *codes[OPERANDS];
    struct dti_calc_output output = {.size = sizeof output};
    struct dti_calc_spec spec = {.size = sizeof spec, .format = format_of(field[2])};
    struct dti_error error;
    spec.order = strcmp(field[3], "-") == 0 ? NULL : field[3];
    spec.fma = strchr(field[4], 'f') != NULL;
    spec.flush = strchr(field[4], 'z') != NULL;
    spec.truth = strchr(field[4], 't') != NULL;
    spec.accumulate = format_of(field[5]);
    spec.operands = operands;
    for (size_t i = 10; i < field_count && spec.operand_count < OPERANDS; i++) {
        read_operand(field[i], &operands[spec.operand_count], &codes[spec.operand_count]);
        spec.operand_count++;
    }
    const enum dti_status status =
        dti_calc_evaluate(context, field[1], SIZE_MAX, &spec, &output, &error);
    if (status != DTI_OK) {
        check("the status", dti_status_code(status), field[6] + (field[6][0] == '!'));
        check("the error", error.text, field[7]);
    } else if (field[6][0] == '!') {
        check("the status", "ok", field[6]);
        dti_calc_free(context, &output);
    } else {
        check_output(&output);
    }
    for (size_t i = 0; i < spec.operand_count; i++)
        free(codes[i]);
}

int main(void)
{
    static const struct judge_kind kinds[] = {{"calc", 10, judge_calc}};
    return judge_lines(kinds, 1);
}
