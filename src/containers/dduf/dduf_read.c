/* SPDX-License-Identifier: MIT
 *
 * Finds the tensors of a dduf by the headers of its .safetensors members. */
#include <string.h>

#include "containers/dduf/dduf.h"
#include "containers/safetensors/safetensors.h"
#include "util/text/ascii.h"

static const char safetensors[] = ".safetensors";

/* Locates the members; all must be stored, and one of them must be the model's index. */
static bool read_members(struct dti_opening *opening, struct dti_dduf *dduf)
{
    struct dti_zip *const zip = &dduf->npz.zip;
    const char *const file_label = opening->label;
    bool indexed = false;
    for (size_t i = 0; i < zip->count; i++) {
        const struct dti_zip_member *const member = &zip->members[i];
        char label[DTI_ZIP_LABEL_SIZE];
        opening->label = dti_zip_label(label, &opening->file->input, member);
        if (!dti_npz_check_method(opening, member))
            return false;
        if (member->method != DTI_ZIP_STORED)
            return dti_opening_refuse(opening, " is compressed, which members of a dduf are not");
        opening->label = file_label;
        if (!dti_zip_locate(opening, zip, i))
            return false;
        indexed |= dti_text_is(member->name, member->name_length, "model_index.json");
        dduf->count += dti_text_ends(member->name, member->name_length, safetensors);
    }
    return indexed || dti_opening_refuse(opening, " has no model_index.json, as a dduf has");
}

/* Prefixes the tensor names with the folder. */
static bool name_tensors(struct dti_opening *opening, const struct dti_dduf_part *part,
                         const char *member)
{
    for (size_t i = 0; i < part->tensor_count && part->folder > 0; i++) {
        struct dti_tensor *const tensor = &opening->container->tensors[part->first + i];
        char *const name = dti_opening_array(opening, part->folder + tensor->name_length + 1, 1);
        if (!name)
            return false;
        memcpy(name, member, part->folder);
        memcpy(name + part->folder, tensor->name, tensor->name_length + 1);
        tensor->name = name;
        tensor->name_length += (uint32_t)part->folder;
    }
    return true;
}

static bool read_part(struct dti_opening *opening, const struct dti_zip_member *member,
                      struct dti_dduf_part *part)
{
    struct dti_container *const container = opening->container;
    uint64_t start;
    part->first = container->tensor_count;
    part->first_metadata = container->metadata_count;
    for (size_t i = 0; i < member->name_length; i++)
        part->folder = member->name[i] == '/' ? i + 1 : part->folder;
    if (!dti_safetensors_read_at(opening, 0, member->data, member->size, &start))
        return false;
    part->tensor_count = container->tensor_count - part->first;
    part->metadata_count = container->metadata_count - part->first_metadata;
    return name_tensors(opening, part, member->name);
}

static bool read_parts(struct dti_opening *opening, struct dti_dduf *dduf)
{
    const char *const file_label = opening->label;
    const struct dti_zip *const zip = &dduf->npz.zip;
    struct dti_dduf_part *part = dduf->parts;
    char label[DTI_ZIP_LABEL_SIZE], name[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < zip->count; i++) {
        const struct dti_zip_member *const member = &zip->members[i];
        if (!dti_text_ends(member->name, member->name_length, safetensors))
            continue;
        *part = (struct dti_dduf_part){.member = i};
        opening->note_about = dti_quote(name, member->name, member->name_length);
        opening->label = dti_zip_label(label, &opening->file->input, member);
        if (!read_part(opening, member, part++))
            return false;
    }
    opening->note_about = NULL;
    opening->label = file_label;
    return true;
}

static bool open_dduf(struct dti_opening *opening)
{
    struct dti_container *const container = opening->container;
    struct dti_dduf *const dduf = dti_opening_array(opening, 1, sizeof *dduf);
    if (!dduf)
        return false;
    *dduf = (struct dti_dduf){.npz = {.pool = opening->pool}};
    if (!dti_zip_open(opening, &dduf->npz.zip) || !read_members(opening, dduf))
        return false;
    dduf->parts = dti_opening_array(opening, dduf->count, sizeof *dduf->parts);
    if (!dduf->parts || !read_parts(opening, dduf) ||
        !dti_opening_check_names(opening, container->tensors, container->tensor_count,
                                 DTI_NAMED(struct dti_tensor, name),
                                 (struct dti_subject){.what = "tensor", .argument = true},
                                 " occurs twice"))
        return false;
    dduf->metadata = dti_opening_copy(opening, container->metadata, container->metadata_count,
                                      sizeof *container->metadata);
    container->own = dduf;
    return dduf->metadata && dti_opening_unite_metadata(opening);
}

/* Such an archive is identified by the extension of its first member. */
static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    (void)file_size;
    return dti_is_zip(head, head_size, ".json") || dti_is_zip(head, head_size, safetensors) ||
           dti_is_zip(head, head_size, ".model") || dti_is_zip(head, head_size, ".txt");
}

const struct dti_container_ops dti_dduf_ops = {
    .traits = DTI_TRAIT_SEVERAL | DTI_TRAIT_PLACED | DTI_TRAIT_REMADE,
    .remade = DTI_CONTAINER_DDUF,
    .detect = detect,
    .open = open_dduf,
    .verify = dti_npz_verify,
    .free = dti_npz_free,
    .stores = dti_safetensors_stores,
    .layout = dti_dduf_layout,
};
