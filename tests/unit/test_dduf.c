/* SPDX-License-Identifier: MIT
 *
 * DDUF: tensors of its members, named with their folders; invalid archives; and the layout of a new
 * file based on an old one. */
#include "npy_make.h"
#include "tally.h"

static struct zip zip;

/* Adds a safetensors file with `header` and `data_size` bytes of data. */
static void add_safetensors(const char *name, const char *header, size_t data_size)
{
    static struct bytes file;
    file.length = 0;
    put_number(&file, strlen(header), 8);
    put(&file, header, strlen(header));
    for (size_t i = 0; i < data_size; i++)
        put_number(&file, i + 1, 1);
    zip_add(&zip, name, &file);
}

static void add_text(const char *name, const char *text)
{
    static struct bytes file;
    file.length = 0;
    put(&file, text, strlen(text));
    zip_add(&zip, name, &file);
}

static void make(const char *index, const char *second)
{
    zip.count = zip.file.length = 0;
    add_text(index, "{}");
    add_safetensors("unet/a.safetensors",
                    "{\"__metadata__\":{\"format\":\"pt\",\"of\":\"unet\"},"
                    "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
                    8);
    add_text("unet/config.json", "{\"a\":1}");
    add_safetensors(second,
                    "{\"__metadata__\":{\"format\":\"pt\",\"of\":\"vae\"},"
                    "\"n\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                    "\"w\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[1,3]}}",
                    3);
    zip_finish(&zip, false);
    file_make("x.dduf", zip.file.data, zip.file.length);
}

static void tensors_have_the_names_of_their_folders(void)
{
    static const char *const names[] = {"unet/w", "vae/n", "vae/w"};
    folder_enter();
    make("model_index.json", "vae/a.safetensors");
    if (CHECK(container_opens("x.dduf", NULL))) {
        CHECK(container->kind == DTI_CONTAINER_DDUF);
        CHECK(CHECK_SIZE(container->tensor_count, 3));
        for (size_t i = 0; i < container->tensor_count; i++) {
            unsigned char first = 0;
            const struct dti_input *input;
            uint64_t offset;
            CHECK_STR(container->tensors[i].name, names[i]);
            CHECK_SIZE(container->tensors[i].name_length, strlen(names[i]));
            CHECK(dti_container_data(container, i, &input, &offset, &error) == DTI_OK);
            CHECK(dti_input_read_at(input, &first, 1, offset, &error) == DTI_OK);
            CHECK_U64(first, i == 2 ? 2 : 1);
        }
        CHECK_SIZE(container->metadata_count, 2); /* each key once */
        CHECK_STR(container->metadata[1].value, "unet");
        CHECK(dti_container_verify(container, NULL, NULL, &error) == DTI_OK);
        dti_container_free(container);
    }
    zip.file.data[zip.members[2].data] ^= 1; /* a text: only full verification detects it */
    file_make("x.dduf", zip.file.data, zip.file.length);
    if (CHECK(container_opens("x.dduf", NULL))) {
        CHECK(dti_container_verify(container, NULL, NULL, &error) == DTI_BAD_INPUT);
        dti_container_free(container);
    }
    folder_leave();
}

static void other_archives_are_refused(void)
{
    folder_enter();
    make("index.json", "vae/a.safetensors");
    container_is_refused("x.dduf", "'x.dduf' has no model_index.json, as a dduf has");
    make("model_index.json", "unet/b.safetensors");
    container_is_refused("x.dduf", "'x.dduf': tensor 'unet/w' occurs twice");
    zip.count = zip.file.length = 0;
    const struct bytes text = {.data = "{}", .length = 2}, packed = {.data = "\3\0", .length = 2};
    zip_add_packed(&zip, "model_index.json", &text, 8, &packed);
    zip_finish(&zip, false);
    file_make("x.dduf", zip.file.data, zip.file.length);
    container_is_refused("x.dduf", "'x.dduf': member 'model_index.json' is compressed, which "
                                   "members of a dduf are not");
    make("model_index.json", "vae/a.safetensors");
    patch(&zip.file, zip.members[1].data, 1000, 8);
    file_make("x.dduf", zip.file.data, zip.file.length);
    container_is_refused("x.dduf", "'x.dduf': member 'unet/a.safetensors': truncated: the header "
                                   "needs 1008 bytes, the file has 113");
    folder_leave();
}

/* Describes a new fp32 tensor of this shape. */
static void name(struct dti_new_tensor *tensor, size_t source, const uint64_t *shape)
{
    tensor->name_length = (uint32_t)strlen(tensor->name);
    tensor->format = dti_format_get(DTI_FP32);
    tensor->rank = 1;
    tensor->shape = shape;
    tensor->source = (uint32_t)source;
}

/* Tensors in any order, one of them new in its folder. */
static void a_new_one_has_the_members_of_the_old(void)
{
    struct dti_new_tensor tensors[] = {{.name = "vae/w"}, {.name = "unet/w"}, {.name = "vae/new"}};
    const uint64_t shape = 3;
    struct dti_new_head head;
    uint64_t size = 0;
    folder_enter();
    make("model_index.json", "vae/a.safetensors");
    if (CHECK(container_opens("x.dduf", NULL))) {
        dti_new_head_init(&head);
        head.from = container;
        for (size_t i = 0; i < 3; i++)
            name(&tensors[i], i, &shape);
        CHECK(dti_container_layout(DTI_CONTAINER_DDUF, tensors, 3, NULL, 0, &head, &size, &error) ==
              DTI_OK);
        CHECK_STR(tensors[0].name, "unet/w");
        CHECK_STR(tensors[1].name, "vae/w");
        CHECK_STR(tensors[2].name, "vae/new");
        CHECK_SIZE(tensors[0].source, 1);
        CHECK_U64(tensors[2].offset, tensors[1].offset + 12);
        CHECK_SIZE(head.count, 5);              /* four members and the directory */
        CHECK_U64(size, head.text.length + 36); /* padding is part of the text */
        dti_new_head_free(&head);
        dti_new_head_init(&head);
        head.from = container;
        tensors[0].name = "else/w";
        CHECK(dti_container_layout(DTI_CONTAINER_DDUF, tensors, 1, NULL, 0, &head, &size, &error) ==
              DTI_WRONG_KIND);
        CHECK_STR(error.text, "tensor 'else/w' is in no folder of the model; write safetensors");
        dti_new_head_free(&head);
        dti_container_free(container);
    }
    folder_leave();
}

static void a_new_tensor_goes_to_the_nearest_folder(void)
{
    struct dti_new_tensor tensors[] = {{.name = "unet/new"}, {.name = "unet/deep/new"}};
    const uint64_t shape = 3;
    struct dti_new_head head;
    uint64_t size = 0;
    folder_enter();
    make("model_index.json", "unet/deep/a.safetensors");
    if (CHECK(container_opens("x.dduf", NULL))) {
        dti_new_head_init(&head);
        head.from = container;
        for (size_t i = 0; i < 2; i++)
            name(&tensors[i], i, &shape);
        CHECK(dti_container_layout(DTI_CONTAINER_DDUF, tensors, 2, NULL, 0, &head, &size, &error) ==
              DTI_OK);
        CHECK_STR(tensors[1].name, "unet/deep/new");
        CHECK(tensors[1].offset > tensors[0].offset + 12); /* in another member */
        dti_new_head_free(&head);
        dti_container_free(container);
    }
    folder_leave();
}

static enum dti_status lay_out(struct dti_error *reterr)
{
    struct dti_new_tensor tensors[] = {{.name = "vae/w"}, {.name = "unet/w"}};
    const uint64_t shape = 3;
    struct dti_container *from;
    struct dti_new_head head;
    uint64_t size = 0;
    enum dti_status status = dti_container_open(&from, "x.dduf", NULL, reterr);
    if (status != DTI_OK)
        return status;
    dti_new_head_init(&head);
    head.from = from;
    for (size_t i = 0; i < 2; i++)
        name(&tensors[i], i, &shape);
    status = dti_container_layout(DTI_CONTAINER_DDUF, tensors, 2, NULL, 0, &head, &size, reterr);
    dti_new_head_free(&head);
    dti_container_free(from);
    return status;
}

static void memory_that_runs_out_is_told(void)
{
    folder_enter();
    make("model_index.json", "vae/a.safetensors");
    tally_fail_each(lay_out);
    folder_leave();
}

UNIT_MAIN(tensors_have_the_names_of_their_folders, other_archives_are_refused,
          a_new_one_has_the_members_of_the_old, a_new_tensor_goes_to_the_nearest_folder,
          memory_that_runs_out_is_told)
