/* SPDX-License-Identifier: MIT
 *
 * The zip format of PyTorch files: one folder with the pickle, "data.pkl", and a member per
 * storage, "data/KEY", all stored without compression. Sizes are only in the directory. */
#include <inttypes.h>
#include <string.h>

#include "containers/torch/torch_parts.h"
#include "util/text/ascii.h"

enum { FOLDER_MAX = 1000 }; /* bytes of its name */
static const char pickle_name[] = "data.pkl", data_folder[] = "data/";

static bool refuse_member(struct dti_opening *opening, const struct dti_zip_member *member,
                          const char *text)
{
    const struct dti_subject subject = {
        .what = "member", .name = member->name, .length = member->name_length};
    return dti_opening_refuse_of(opening, subject, "%s", text);
}

bool dti_torch_locate(struct dti_opening *opening, struct dti_zip *zip, size_t index)
{
    const struct dti_zip_member *const member = &zip->members[index];
    if (member->data > 0)
        return true;
    if (member->flags & (DTI_ZIP_ENCRYPTED | DTI_ZIP_PATCH))
        return refuse_member(opening, member, " is encrypted or a patch");
    if (member->method != DTI_ZIP_STORED || member->packed != member->size)
        return refuse_member(opening, member,
                             " is compressed, which torch.save() never does; save the file again");
    return dti_zip_locate(opening, zip, index);
}

static bool locate_member(struct dti_torch_reading *reading, size_t index)
{
    return dti_torch_locate(reading->opening, &reading->zip, index);
}

bool dti_torch_has_sums(const struct dti_zip *zip)
{
    size_t at = 0;
    while (at < zip->count && zip->members[at].crc == 0)
        at++;
    return at < zip->count;
}

/* The member with this name in the folder; NULL: there is none. */
static const struct dti_zip_member *find(const struct dti_torch_reading *reading,
                                         const char *folder, const char *name, size_t length,
                                         size_t *ret_index)
{
    char text[FOLDER_MAX + DTI_TORCH_KEY_MAX + sizeof data_folder];
    const size_t inner = strlen(folder);
    memcpy(text, reading->zip.members[0].name, reading->folder_length);
    memcpy(text + reading->folder_length, folder, inner);
    memcpy(text + reading->folder_length + inner, name, length);
    return dti_name_order_find(&reading->order, text, reading->folder_length + inner + length,
                               ret_index)
               ? &reading->zip.members[*ret_index]
               : NULL;
}

static bool locate(struct dti_torch_reading *reading, struct dti_subject tensor,
                   struct dti_torch_storage *storage)
{
    char key[DTI_QUOTE_SIZE];
    size_t index;
    const struct dti_zip_member *const member =
        find(reading, data_folder, storage->key, storage->key_length, &index);
    dti_quote(key, storage->key, storage->key_length);
    if (!member)
        return dti_opening_refuse_of(reading->opening, tensor,
                                     ": its storage %s is not in the file", key);
    if (!locate_member(reading, index))
        return false;
    if (member->size != storage->bytes)
        return dti_opening_refuse_of(reading->opening, tensor,
                                     ": its storage %s should have %" PRIu64
                                     " bytes, but it has %" PRIu64,
                                     key, storage->bytes, member->size);
    storage->offset = member->data;
    return true;
}

/* Checks that there is one folder, starting with the first member, and no code in it. */
static bool check_members(struct dti_torch_reading *reading)
{
    const struct dti_zip *const zip = &reading->zip;
    const struct dti_zip_member *const first = &zip->members[0];
    size_t index;
    if (zip->count == 0 || !dti_text_ends(first->name, first->name_length, pickle_name))
        return dti_opening_refuse(reading->opening,
                                  " is a zip archive that does not begin with data.pkl");
    reading->folder_length = first->name_length - (sizeof pickle_name - 1);
    if (reading->folder_length > FOLDER_MAX)
        return dti_opening_refuse(
            reading->opening, " has a folder with a name of more than %d bytes", (int)FOLDER_MAX);
    if (!dti_name_order_of(&reading->order, zip->members, zip->count,
                           DTI_NAMED(struct dti_zip_member, name)))
        return dti_opening_no_memory(reading->opening);
    for (size_t i = 0; i < zip->count; i++) {
        if (zip->members[i].name_length < reading->folder_length ||
            memcmp(zip->members[i].name, first->name, reading->folder_length) != 0)
            return refuse_member(reading->opening, &zip->members[i],
                                 " is outside the folder of the PyTorch file");
    }
    static const char constants[] = "constants.pkl";
    return !find(reading, "", constants, sizeof constants - 1, &index) ||
           dti_zip_refuse_script(reading->opening);
}

static bool read_byte_order(struct dti_torch_reading *reading)
{
    static const char name[] = "byteorder", big[] = "big", little[] = "little";
    char text[sizeof little] = "";
    size_t index;
    const struct dti_zip_member *const member = find(reading, "", name, sizeof name - 1, &index);
    if (!member)
        return true;
    if (!locate_member(reading, index))
        return false;
    if (member->size >= sizeof text)
        return refuse_member(reading->opening, member, " is neither \"little\" nor \"big\"");
    if (!dti_opening_read(reading->opening, text, (size_t)member->size, member->data))
        return false;
    reading->big_endian = strcmp(text, big) == 0;
    return reading->big_endian || strcmp(text, little) == 0 ||
           refuse_member(reading->opening, member, " is neither \"little\" nor \"big\"");
}

bool dti_torch_open_zip(struct dti_torch_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    reading->locate = locate;
    if (!dti_zip_open(opening, &reading->zip) || !check_members(reading) ||
        !read_byte_order(reading) || !locate_member(reading, 0))
        return false;
    const struct dti_zip_member *const member = &reading->zip.members[0];
    const uint64_t end = member->data + member->size;
    if (!dti_pickle_read(opening, member->data, end, &reading->pickle))
        return false;
    opening->file->header_bytes += member->size;
    return reading->pickle.end == end ||
           refuse_member(reading->opening, member, " has bytes after the end of its pickle");
}
