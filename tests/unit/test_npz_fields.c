/* SPDX-License-Identifier: MIT
 *
 * Changes each field of the records in a valid zip archive. */
#include "npy_make.h"

#define HEADER "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

static struct zip zip;

static struct bytes array(size_t data_size)
{
    return npy_make(1, HEADER, strlen(HEADER), data_size);
}

/* Two arrays, "a.npy" and "b/../c.npy". */
static void make_two(bool wide)
{
    const struct bytes a = array(24);
    zip.count = zip.file.length = 0;
    zip_add(&zip, "a.npy", &a);
    zip_add(&zip, "b/../c.npy", &a);
    zip_finish(&zip, wide);
}

static void refused(const char *want)
{
    char text[DTI_QUOTE_SIZE];
    snprintf(text, sizeof text, "'x.npz'%s", want);
    file_make("x.npz", zip.file.data, zip.file.length);
    container_is_refused("x.npz", text);
}

/* A field of a record to change in a valid archive, and the expected error. */
enum record { END, END64, LOCATOR, ENTRY_0, ENTRY_1, LOCAL_0, LOCAL_1 };
struct change {
    bool wide;
    enum record record;
    size_t at, size;
    uint64_t value;
    const char *want;
};

static size_t place_of(enum record record)
{
    switch (record) {
    case END:
        return zip.end;
    case END64:
        return zip.end64;
    case LOCATOR:
        return zip.end64 + 56;
    case ENTRY_0:
    case ENTRY_1:
        return zip.members[record - ENTRY_0].entry;
    default:
        return zip.members[record - LOCAL_0].local;
    }
}

static void every_field_is_checked(void)
{
    static const char split[] = ": the zip archive is split over several files";
    static const char a_differs[] = ": member 'a.npy' has different sizes, CRCs or methods in its "
                                    "own header and in the directory";
    static const char reaches[] = ": member 'a.npy' overlaps what follows it";
    static const struct change changes[] = {
        {false, END, 4, 2, 1, split},
        {false, END, 6, 2, 1, split},
        {false, END, 8, 2, 1, split},
        {false, END, 8, 4, 0x30003,
         ": damaged: the directory of the zip archive has 107 bytes, too few for 3 members"},
        {false, END, 8, 4, 0x10001,
         ": damaged: the directory of the zip archive has data after the members that it counts"},
        {false, END, 8, 4, 0xFFFEFFFE,
         ": damaged: the directory of the zip archive has 107 bytes, "
         "too few for 65534 members"},
        {false, END, 12, 4, 106,
         ": damaged: the directory of the zip archive has 106 bytes from byte 261 on, but its end "
         "record is at byte 368"},
        {false, END, 16, 4, 262,
         ": damaged: the directory of the zip archive has 107 bytes from byte 262 on, but its end "
         "record is at byte 368"},
        {false, END, 16, 4, UINT32_MAX,
         ": damaged: the directory of the zip archive has 107 bytes from byte 4294967295 on, but "
         "its end record is at byte 368"},
        {true, END, 8, 4, 0x10001, ": damaged: the two end records of the zip archive disagree"},
        {true, END, 12, 4, 7, ": damaged: the two end records of the zip archive disagree"},
        {true, END, 16, 4, 7, ": damaged: the two end records of the zip archive disagree"},
        {true, LOCATOR, 4, 4, 1, split},
        {true, LOCATOR, 16, 4, 2, split},
        {true, LOCATOR, 8, 8, UINT64_MAX,
         ": damaged: the 64-bit end record of the zip archive is "
         "not where its locator says"},
        {true, END64, 0, 1, 'Q', ": damaged: the 64-bit end record of the zip archive is invalid"},
        {true, END64, 4, 8, 45, ": damaged: the 64-bit end record of the zip archive is invalid"},
        {true, END64, 16, 4, 1, split},
        {true, END64, 20, 4, 1, split},
        {true, END64, 24, 8, 1, split},
        {true, END64, 40, 8, UINT64_MAX - 10,
         ": damaged: the directory of the zip archive has 18446744073709551605 bytes from byte 261 "
         "on, but its end record is at byte 424"},
        {false, ENTRY_0, 0, 1, 'Q',
         ": damaged: an entry in the directory of the zip archive is not a member"},
        {false, ENTRY_0, 6, 1, 64, ": member 'a.npy' needs a newer version of the zip format"},
        {false, ENTRY_0, 8, 2, 1, ": member 'a.npy' is encrypted"},
        {false, ENTRY_0, 8, 2, 0x40, ": member 'a.npy' is encrypted"},
        {false, ENTRY_0, 8, 2, 0x20, ": member 'a.npy' is a patch of another file"},
        {false, ENTRY_0, 10, 2, 12,
         ": member 'a.npy' uses compression method 12; only stored (0) and deflated (8) are "
         "supported"},
        {false, ENTRY_0, 10, 2, 8, a_differs},
        {false, ENTRY_0, 16, 4, 7, a_differs},
        {false, ENTRY_0, 20, 8, UINT64_C(94) << 32 | 94, reaches},
        {false, ENTRY_0, 20, 8, UINT64_C(92) << 32 | 92, a_differs},
        {false, ENTRY_0, 24, 4, 94,
         ": member 'a.npy' is stored uncompressed, but its sizes differ: 93 and 94 bytes"},
        {false, ENTRY_0, 28, 2, 500,
         ": damaged: the directory of the zip archive ends in the middle of a member"},
        {false, ENTRY_0, 34, 2, 1, split},
        {false, ENTRY_0, 42, 4, 1, ": there are bytes before the first member of the zip archive"},
        {false, ENTRY_1, 42, 4, 0, reaches},
        {false, ENTRY_1, 42, 4, 127, reaches},
        {false, ENTRY_1, 42, 4, 129, ": member 'b/../c.npy' overlaps what follows it"},
        {false, ENTRY_1, 42, 4, 1000000,
         ": member 'b/../c.npy' begins after the end of the members"},
        {false, ENTRY_1, 46 + 2, 1, 0, ": member 'b/\\x00./c.npy' has a NUL in its name"},
        {true, ENTRY_0, 51 + 2, 2, 25, ": member 'a.npy' has a damaged extra field"},
        {true, ENTRY_0, 51 + 2, 2, 16, ": member 'a.npy' has a damaged extra field"},
        {true, ENTRY_0, 51, 2, 2, ": there are bytes before the first member of the zip archive"},
        {true, ENTRY_0, 51 + 4, 8, UINT64_MAX,
         ": member 'a.npy' is stored uncompressed, but its sizes differ: 93 and "
         "18446744073709551615 bytes"},
        {true, ENTRY_0, 51 + 12, 8, UINT64_MAX, reaches},
        {true, ENTRY_1, 56 + 20, 8, UINT64_MAX,
         ": member 'b/../c.npy' begins after the end of the members"},
        {false, LOCAL_0, 0, 4, 0x06054b50,
         ": member 'a.npy' is not where the directory says: its header is not there"},
        {false, LOCAL_0, 6, 2, 1, a_differs},
        {false, LOCAL_0, 6, 2, 8, a_differs},
        {false, LOCAL_0, 8, 2, 8, a_differs},
        {false, LOCAL_0, 14, 4, 7, a_differs},
        {false, LOCAL_0, 18, 4, 92, a_differs},
        {false, LOCAL_0, 18, 8, 0, a_differs},
        {false, LOCAL_0, 22, 4, 0, a_differs},
        {false, LOCAL_0, 26, 2, 4,
         ": member 'a.npy' is not where the directory says: its header is not there"},
        {false, LOCAL_0, 28, 2, 1, reaches},
        {false, LOCAL_0, 30, 1, 'b',
         ": member 'a.npy' has different names in its own header and in the directory"},
        {false, LOCAL_1, 28, 2, 65535, ": member 'b/../c.npy' overlaps what follows it"},
    };
    folder_enter();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const struct change *const change = &changes[i];
        make_two(change->wide);
        patch(&zip.file, place_of(change->record) + change->at, change->value, change->size);
        refused(change->want);
    }
    folder_leave();
}

UNIT_MAIN(every_field_is_checked)
