/* SPDX-License-Identifier: MIT
 *
 * Which tensors of a file are shown, and in which order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answers/inspect_parts.h"
#include "answers/tensors.h"
#include "dtinfo/ascii.h"
#include "dtinfo/glob.h"

/* Length of the digits at a place, and of the zeros before the number proper. */
static size_t digits(const char *text, size_t length, size_t *ret_zeros)
{
    size_t count = 0, zeros = 0;
    while (count < length && dti_ascii_digit(text[count])) {
        zeros += zeros == count && text[count] == '0';
        count++;
    }
    *ret_zeros = zeros;
    return count;
}

/* Bytes in order, but numbers by what they are worth: layers.2 before layers.10. */
static int compare_names(const struct dti_tensor *a, const struct dti_tensor *b)
{
    size_t i = 0, j = 0;
    while (i < a->name_length && j < b->name_length) {
        const char *const left = a->name + i, *const right = b->name + j;
        if (dti_ascii_digit(*left) && dti_ascii_digit(*right)) {
            size_t zeros_left, zeros_right;
            const size_t m = digits(left, a->name_length - i, &zeros_left);
            const size_t n = digits(right, b->name_length - j, &zeros_right);
            if (m - zeros_left != n - zeros_right)
                return m - zeros_left < n - zeros_right ? -1 : 1;
            const int order = memcmp(left + zeros_left, right + zeros_right, m - zeros_left);
            if (order != 0)
                return order;
            i += m;
            j += n;
        } else {
            if (*left != *right)
                return (unsigned char)*left < (unsigned char)*right ? -1 : 1;
            i++;
            j++;
        }
    }
    const size_t rest_a = a->name_length - i, rest_b = b->name_length - j;
    return (rest_a > rest_b) - (rest_a < rest_b);
}

/* A comparison for qsort() of pointers to tensors, `order` of a and b. Tensors stand in one array
 * in the order of the file: a tie is settled by it. */
#define ORDER(name, order)                                                           \
    static int name(const void *left, const void *right)                             \
    {                                                                                \
        const struct dti_tensor *const a = *(const struct dti_tensor *const *)left;  \
        const struct dti_tensor *const b = *(const struct dti_tensor *const *)right; \
        const int found = (order);                                                   \
        return found != 0 ? found : DIFFERENCE(a, b);                                \
    }
#define DIFFERENCE(a, b) (((a) > (b)) - ((a) < (b)))

ORDER(by_name, compare_names(a, b))
ORDER(by_size, DIFFERENCE(b->bytes, a->bytes))
ORDER(by_elements, DIFFERENCE(b->elements, a->elements))
ORDER(by_dtype, strcmp(dti_tensor_dtype(a), dti_tensor_dtype(b)))
ORDER(by_offset,
      a->file != b->file ? DIFFERENCE(a->file, b->file) : DIFFERENCE(a->offset, b->offset))

static void sort(const struct dti_tensor **shown, size_t count, enum dti_inspect_sort order)
{
    static int (*const orders[])(const void *, const void *) = {
        [DTI_INSPECT_SORT_NAME] = by_name,         [DTI_INSPECT_SORT_SIZE] = by_size,
        [DTI_INSPECT_SORT_DTYPE] = by_dtype,       [DTI_INSPECT_SORT_OFFSET] = by_offset,
        [DTI_INSPECT_SORT_ELEMENTS] = by_elements,
    };
    if (order != DTI_INSPECT_SORT_FILE && count > 1)
        qsort((void *)shown, count, sizeof *shown, orders[order]);
}

static void reverse(const struct dti_tensor **shown, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const struct dti_tensor *const other = shown[count - 1 - i];
        shown[count - 1 - i] = shown[i];
        shown[i] = other;
    }
}

/* regexec() reads a name up to its NUL: one that holds another NUL is matched up to that. When
 * memory runs out, glibc's (2.36) says that nothing was found, and malloc() tells by errno. */
static enum dti_status is_wanted(const struct dti_inspect_request *request,
                                 const struct dti_tensor *tensor, bool *ret,
                                 struct dti_error *reterr)
{
    *ret = !request->only || dti_glob_list_match(request->only, tensor->name, tensor->name_length);
    if (!*ret || !request->grep)
        return DTI_OK;
    errno = 0;
    const int code = regexec(request->grep, tensor->name, 0, NULL, 0);
    if (code != 0 && (code != REG_NOMATCH || errno == ENOMEM))
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    *ret = code == 0;
    return DTI_OK;
}

enum dti_status dti_inspect_select(struct dti_inspect_report *report, struct dti_error *reterr)
{
    const struct dti_inspect_request *const request = report->request;
    const struct dti_container *const container = report->container;
    const size_t count = container->tensor_count;
    report->shown = calloc(count > 0 ? count : 1, sizeof *report->shown);
    if (!report->shown)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        bool wanted;
        const enum dti_status status = is_wanted(request, &container->tensors[i], &wanted, reterr);
        if (status != DTI_OK)
            return status;
        if (wanted)
            report->shown[report->shown_count++] = &container->tensors[i];
    }
    sort(report->shown, report->shown_count, request->sort);
    if (request->reverse)
        reverse(report->shown, report->shown_count);
    return dti_scaled_codes_find(&report->scaled, container, report->shown, report->shown_count)
               ? DTI_OK
               : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}
