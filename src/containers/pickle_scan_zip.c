/* SPDX-License-Identifier: MIT
 *
 * The pickles of a zip archive: members whose names say so. torch also reads compressed ones, so
 * they are unpacked, up to a bound. */
#include <stdlib.h>
#include <string.h>

#include "containers/inflate.h"
#include "containers/pickle_scan_parts.h"
#include "containers/zip.h"
#include "dtinfo/ascii.h"
#include "dtinfo/scratch.h"

enum { PIECE = 1 << 16, UNPACKED_MAX = 64 << 20 };

static bool is_pickle(const struct dti_zip_member *member)
{
    static const char *const endings[] = {".pkl", ".pickle"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i]);
        if (member->name_length >= length &&
            dti_ascii_equal_start(member->name + member->name_length - length, endings[i], length))
            return true;
    }
    return false;
}

/* Unpacks a member to scratch. */
static enum dti_status unpack(struct dti_inflate *stream, unsigned char *piece,
                              const struct dti_zip_member *member, const struct dti_input *from,
                              const char *label, struct dti_input *scratch,
                              struct dti_error *reterr)
{
    size_t got = PIECE;
    enum dti_status status = DTI_OK;
    dti_inflate_start(stream, from, member->data, member->packed, label);
    while (status == DTI_OK && got == PIECE && scratch->size <= UNPACKED_MAX) {
        status = dti_inflate_read(stream, piece, PIECE, &got, reterr);
        if (status == DTI_OK && got > 0)
            status = dti_scratch_append(scratch, piece, got, reterr);
    }
    if (status == DTI_OK && scratch->size > UNPACKED_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s unpacks to more than %d bytes", label,
                        (int)UNPACKED_MAX);
    return status;
}

static bool scan_unpacked(struct dti_scanning *scanning, const struct dti_zip_member *member,
                          const char *label)
{
    struct dti_opening *const opening = scanning->opening;
    struct dti_container_file *const archive = opening->file;
    struct dti_container_file file = {.path = archive->path};
    struct dti_inflate *const stream = dti_inflate_new();
    unsigned char *const piece = malloc(PIECE);
    enum dti_status status = stream && piece ? DTI_OK : dti_no_memory(opening->error);
    if (status == DTI_OK)
        status = dti_scratch_open(&file.input, archive->input.name, 0, opening->error);
    if (status == DTI_OK) {
        status = unpack(stream, piece, member, &archive->input, label, &file.input, opening->error);
        if (status == DTI_BAD_INPUT && dti_scan_fault(scanning, opening->error->text))
            status = DTI_OK; /* what came before is followed */
        opening->file = &file;
        scanning->base = 0;
        if (status == DTI_OK && !dti_scan_pickles(scanning, 0, file.input.size, SIZE_MAX))
            status = opening->status;
        opening->file = archive;
        dti_input_close(&file.input);
    }
    free(piece);
    dti_inflate_free(stream);
    return dti_opening_goes_on(opening, status);
}

/* Why it is not followed; NULL: it is. */
static const char *refusal_of(const struct dti_zip_member *member)
{
    if (member->flags & (DTI_ZIP_ENCRYPTED | DTI_ZIP_PATCH))
        return " is encrypted or a patch: not looked at";
    if (member->method != DTI_ZIP_STORED && member->method != DTI_ZIP_DEFLATED)
        return " is compressed by an unknown method: not looked at";
    if (member->method == DTI_ZIP_STORED && member->packed != member->size)
        return " has two sizes: not looked at";
    return NULL;
}

static bool scan_member(struct dti_scanning *scanning, struct dti_zip *zip, size_t index)
{
    struct dti_opening *const opening = scanning->opening;
    const struct dti_zip_member *const member = &zip->members[index];
    const char *const archive = opening->label, *const refusal = refusal_of(member);
    char label[DTI_ZIP_LABEL_SIZE];
    opening->label = dti_zip_label(label, &opening->file->input, member);
    bool good = true;
    if (refusal || !dti_zip_locate(opening, zip, index)) {
        if (refusal)
            (void)dti_opening_refuse(opening, "%s", refusal);
        good = opening->status != DTI_NO_MEMORY && dti_scan_fault(scanning, opening->error->text);
    } else if (member->method == DTI_ZIP_DEFLATED) {
        good = scan_unpacked(scanning, member, label);
    } else {
        scanning->base = member->data;
        good = dti_scan_pickles(scanning, member->data, member->data + member->size, SIZE_MAX);
    }
    opening->label = archive;
    return good;
}

bool dti_scan_zip(struct dti_scanning *scanning)
{
    struct dti_opening *const opening = scanning->opening;
    struct dti_zip zip;
    if (!dti_zip_open(opening, &zip))
        return opening->status != DTI_NO_MEMORY && dti_scan_fault(scanning, opening->error->text);
    for (size_t i = 0; i < zip.count; i++) {
        if (is_pickle(&zip.members[i]) && !scan_member(scanning, &zip, i))
            return false;
    }
    return true;
}
