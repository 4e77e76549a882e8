/* SPDX-License-Identifier: MIT
 *
 * Lists the tensors of a checkpoint: name, dtype, shape, and the first numbers.
 *
 *     list_checkpoint model.safetensors */
#include <stdio.h>

#include <dtinfo.h>

enum { SHOWN = 3, CODE_MAX = 16 };

/* Prints the first numbers of a tensor. */
static enum dti_status show(struct dti_context *context, struct dti_file *file, size_t at,
                            const struct dti_tensor_info *tensor, struct dti_error *error)
{
    const size_t count = tensor->elements < SHOWN ? (size_t)tensor->elements : SHOWN;
    unsigned char codes[SHOWN * CODE_MAX];
    const enum dti_status status = dti_file_read(file, at, 0, count, codes, error);
    struct dti_format_info format = {.size = sizeof format};
    dti_format_describe(tensor->format, &format);
    for (size_t i = 0; status == DTI_OK && format.component == NULL && i < count; i++) {
        const unsigned bytes = format.container_bits / 8;
        uint64_t code = 0;
        for (unsigned k = 0; k < bytes; k++) /* on a little-endian machine */
            code |= (uint64_t)codes[i * bytes + k] << 8 * k;
        struct dti_value value;
        char text[64];
        dti_value_of_code(tensor->format, code, &value);
        dti_value_spell(context, &value, tensor->format, DTI_SPELL_SHORTEST, text, sizeof text);
        printf(" %s", text);
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: list_checkpoint FILE\n");
        return 2;
    }
    struct dti_error error;
    struct dti_context *context = NULL;
    struct dti_file *file = NULL;
    struct dti_file_info info = {.size = sizeof info};
    enum dti_status status = dti_context_new(&context, NULL, &error);
    if (status == DTI_OK)
        status = dti_file_open(&file, context, argv[1], NULL, &error);
    if (status == DTI_OK) {
        dti_file_describe(file, &info);
        printf("%s, %zu tensors\n", info.container, info.tensor_count);
    }
    for (size_t i = 0; status == DTI_OK && i < info.tensor_count; i++) {
        struct dti_tensor_info tensor = {.size = sizeof tensor};
        dti_file_tensor(file, i, &tensor);
        printf("%.*s %s [", (int)tensor.name_length, tensor.name,
               tensor.quantized ? tensor.quantized : tensor.stored_as);
        for (size_t axis = 0; axis < tensor.rank; axis++)
            printf("%s%llu", axis > 0 ? ", " : "", (unsigned long long)tensor.shape[axis]);
        printf("]");
        if (tensor.format != NULL)
            status = show(context, file, i, &tensor, &error);
        else
            printf(" (%s)", tensor.refusal);
        printf("\n");
    }
    if (status != DTI_OK)
        fprintf(stderr, "list_checkpoint: %s\n", error.text);
    dti_file_close(file);
    dti_context_free(context);
    return status == DTI_OK ? 0 : 1;
}
