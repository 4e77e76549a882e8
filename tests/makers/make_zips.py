# SPDX-License-Identifier: MIT
"""Zip archives written field by field, so that each field can be wrong in ways that zipfile never writes."""
import struct
import zlib

LOCAL = {"mark": (0, "I"), "version": (4, "H"), "flags": (6, "H"), "method": (8, "H"), "time": (10, "I"), "crc": (14, "I"),
         "packed": (18, "I"), "size": (22, "I"), "name_length": (26, "H"), "extra_length": (28, "H")}
CENTRAL = {"mark": (0, "I"), "made_by": (4, "H"), "version": (6, "H"), "flags": (8, "H"), "method": (10, "H"), "time": (12, "I"),
           "crc": (16, "I"), "packed": (20, "I"), "size": (24, "I"), "name_length": (28, "H"), "extra_length": (30, "H"),
           "comment_length": (32, "H"), "disk": (34, "H"), "inner": (36, "H"), "outer": (38, "I"), "header": (42, "I")}
END = {"mark": (0, "I"), "disk": (4, "H"), "first_disk": (6, "H"), "here": (8, "H"), "count": (10, "H"), "directory_size": (12, "I"),
       "directory": (16, "I"), "comment_length": (20, "H")}
DESCRIPTOR, ENCRYPTED, UTF8 = 8, 1, 0x800
FULL = 0xffffffff


def fields(layout, size, values):
    raw = bytearray(size)
    for name, value in values.items():
        struct.pack_into("<" + layout[name][1], raw, layout[name][0], value)
    return bytes(raw)


class Entry:
    """local, central: fields to override. wide: sizes are in a zip64 extra field."""

    def __init__(self, name, data, method=0, flags=0, local=None, central=None, extra=b"", central_extra=b"", comment=b"",
                 wide=False, descriptor=None, after=b""):
        self.name, self.data, self.method, self.flags = name.encode(), data, method, flags
        self.local, self.central, self.extra, self.central_extra = local or {}, central or {}, extra, central_extra
        self.comment, self.wide, self.descriptor, self.after = comment, wide, descriptor, after
        if method == 8:
            squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
            self.packed = squeezed.compress(data) + squeezed.flush()
        else:
            self.packed = data

    def numbers(self):
        return {"flags": self.flags, "method": self.method, "crc": zlib.crc32(self.data), "packed": len(self.packed), "size": len(self.data)}

    def sizes(self):
        return struct.pack("<2H2Q", 1, 16, len(self.data), len(self.packed))

    def local_bytes(self):
        extra = (self.sizes() if self.wide else b"") + self.extra
        values = {"mark": 0x04034b50, "version": 45 if self.wide else 20, **self.numbers(), "name_length": len(self.name),
                  "extra_length": len(extra)}
        if self.wide:
            values.update(packed=FULL, size=FULL)
        if self.flags & DESCRIPTOR and self.descriptor is not None:
            values.update(crc=0, packed=0, size=0)
        values.update(self.local)
        return fields(LOCAL, 30, values) + self.name + extra + self.packed + (self.descriptor or b"") + self.after

    def central_bytes(self, at):
        extra = self.central_extra
        values = {"mark": 0x02014b50, "made_by": 45 | 3 << 8, "version": 45 if self.wide else 20, **self.numbers(),
                  "outer": 0o100644 << 16, "header": at}
        if self.wide:
            values.update(packed=FULL, size=FULL, header=FULL)
            extra = struct.pack("<2H3Q", 1, 24, len(self.data), len(self.packed), at) + extra
        values.update(name_length=len(self.name), extra_length=len(extra), comment_length=len(self.comment))
        values.update(self.central)
        return fields(CENTRAL, 46, values) + self.name + extra + self.comment


def descriptor(data, packed=None, mark=True, wide=False):
    packed = len(data) if packed is None else packed
    return (b"PK\7\x08" if mark else b"") + struct.pack("<I2Q" if wide else "<3I", zlib.crc32(data), packed, len(data))


def build(entries, end=None, end64=None, comment=b"", before=b"", order=None, last=b"", ranges=None):
    """end: fields of the end record; end64: of its 64-bit form, written if not None. order: of the directory. ranges:
    a list that receives (first, last, what) for everything that is not data."""
    out, places = bytearray(before), []
    for entry in entries:
        places.append(len(out))
        raw = entry.local_bytes()
        if ranges is not None:
            head = raw.index(entry.packed, 30) if entry.packed else len(raw)
            ranges.append((len(out), len(out) + head, "local"))
            ranges.append((len(out) + head + len(entry.packed), len(out) + len(raw), "descriptor"))
        out += raw
    directory = len(out)
    for at in order or range(len(entries)):
        raw = entries[at].central_bytes(places[at])
        if ranges is not None:
            ranges.append((len(out), len(out) + len(raw), "central"))
        out += raw
    size, there = len(out) - directory, len(out)
    if end64 is not None:
        wide = {"mark": 0x06064b50, "left": 44, "made_by": 45, "version": 45, "disk": 0, "first_disk": 0, "here": len(entries),
                "count": len(entries), "size": size, "directory": directory, "locator": 0x07064b50, "locator_disk": 0,
                "place": there, "disks": 1, **end64}
        out += struct.pack("<IQ2H2I4QIIQI", *wide.values())
    values = {"mark": 0x06054b50, "here": len(entries), "count": len(entries), "directory_size": size, "directory": directory,
              "comment_length": len(comment), **(end or {})}
    out += fields(END, 22, values) + comment + last
    if ranges is not None:
        ranges.append((there, len(out), "end"))
    return bytes(out)
