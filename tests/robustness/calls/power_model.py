# SPDX-License-Identifier: MIT
"""A file system in memory that loses power. It replays the calls of a recorded run and yields, for any moment, what a real
one may have kept:

- What was written to a file before it was synced is there. Of all else, each block of 4096 bytes may be there or not, and
  the file may be longer than what was kept, with zeros.
- The names made, moved and removed in a folder before that was synced are as they were then. Later changes of a folder
  take effect in their order, as with a journal, up to any of them; those of different folders independently of each other.
  A file that moves is in one of the two folders.

This allows more than ext4 and XFS do, which keep the order across folders, too.
"""
import dataclasses
import itertools
import os
import random

from traced import inode_of

BLOCK = 4096
SUBSETS_MOST = 64  # all subsets, if there are no more
SAMPLES = 24
CUTS_MOST = 400
REMOVED, LOST = 0, -1


@dataclasses.dataclass
class Names:
    """What a call did to names: {(folder, name): inode or REMOVED}."""
    changed: dict

    def folders(self):
        return {folder for folder, _ in self.changed}


@dataclasses.dataclass
class Piece:
    """A part of a block that a call wrote, or, without data, a new size."""
    inode: int
    position: int
    data: bytes
    shrinks: bool = False


@dataclasses.dataclass
class Sync:
    inode: int


class Disk:
    def __init__(self, root):
        """Starts with what is in the folder now, all of it synced."""
        self.root = inode_of(root)
        self.folders, self.base, self.names = {self.root}, {}, {}
        self.events, self.synced, self.links = [], {}, {}
        for at, folders, files in os.walk(root):
            for name in folders + files:
                path = os.path.join(at, name)
                inode = self.names[inode_of(at), name] = inode_of(path)
                if os.path.islink(path):
                    self.links[inode] = os.readlink(path)
                elif name in folders:
                    self.folders.add(inode)
                else:
                    with open(path, "rb") as file:
                        self.base[inode] = file.read()

    def play(self, call):
        """Takes a call of the run. Those outside the folder have no effect."""
        first, second = call.files
        if call.result < 0:
            return
        if call.name in ("openat", "mkdirat") and call.made and not first.inode and first.folder in self.folders:
            if call.name == "mkdirat":
                self.folders.add(call.made)
            else:
                self.base[call.made] = b""
            self.events.append(Names({(first.folder, first.leaf): call.made}))
        elif call.name in ("write", "pwrite64") and first.inode in self.base:
            end, at = call.position + len(call.data), call.position
            while at < end:
                next_ = min(end, at // BLOCK * BLOCK + BLOCK)
                self.events.append(Piece(first.inode, at, call.data[at - call.position:next_ - call.position]))
                at = next_
        elif call.name == "ftruncate" and first.inode in self.base:
            self.events.append(Piece(first.inode, call.arguments[1], b"", True))
        elif call.name == "fallocate" and first.inode in self.base:
            self.events.append(Piece(first.inode, call.arguments[2] + call.arguments[3], b""))
        elif call.name in ("renameat", "renameat2", "linkat") and {first.folder, second.folder} & self.folders:
            gone = {} if call.name == "linkat" else {(first.folder, first.leaf): REMOVED}
            self.events.append(Names({**gone, (second.folder, second.leaf): first.inode}))
        elif call.name == "unlinkat" and first.folder in self.folders:
            self.events.append(Names({(first.folder, first.leaf): REMOVED}))
        elif call.name in ("fsync", "fdatasync") and first.inode in {*self.base, *self.folders}:
            self.events.append(Sync(first.inode))

    def _synced_until(self, moment):
        """{inode: the number of events before its last sync}."""
        return {event.inode: at for at, event in enumerate(self.events[:moment]) if isinstance(event, Sync)}

    def _kept(self, inode, synced, pieces):
        if (inode, synced) not in self.synced:
            self.synced[inode, synced] = write(self.base[inode], [piece for at, piece in pieces if at < synced])
        return self.synced[inode, synced]

    def contents(self, inode, moment, only_first=False):
        """What the file may hold; first, only what must be there."""
        synced = self._synced_until(moment).get(inode, 0)
        pieces = [(at, event) for at, event in enumerate(self.events[:moment]) if isinstance(event, Piece) and event.inode == inode]
        kept = self._kept(inode, synced, pieces)
        pending = [piece for at, piece in pieces if at >= synced]
        if not pending or only_first:
            return [kept]
        if 2 ** len(pending) <= SUBSETS_MOST:
            chosen = list(itertools.product((False, True), repeat=len(pending)))
        else:
            draw, count = random.Random(len(pending)), len(pending)
            chosen = [[False] * count, [True] * count]
            chosen += [[at != hole for at in range(count)] for hole in draw.sample(range(count), min(count, SAMPLES))]
            chosen += [[draw.random() < 0.5 for _ in range(count)] for _ in range(SAMPLES)]
        found = [write(kept, [piece for piece, is_kept in zip(pending, some) if is_kept]) for some in chosen]
        size = len(write(kept, pending))
        found += [data + bytes(size - len(data)) for data in found if len(data) < size]
        return list(dict.fromkeys(found))

    def name_states(self, moment):
        """What the names may be: {(folder, name): inode}, each once."""
        changes = [(at, event) for at, event in enumerate(self.events[:moment]) if isinstance(event, Names)]
        synced = self._synced_until(moment)
        durable = {at for at, event in changes if any(at < synced.get(folder, 0) for folder in event.folders())}
        for at, event in reversed(changes):  # what came before in the same folder is as durable
            if any(later in durable and event.folders() & other.folders() for later, other in changes if later > at):
                durable.add(at)
        pending = [(at, event) for at, event in changes if at not in durable]
        folders = sorted({folder for _, event in pending for folder in event.folders()})
        ranges = [[0] + [at + 1 for at, event in pending if folder in event.folders()] for folder in folders]
        cuts = itertools.product(*ranges)
        for some in itertools.islice(cuts, CUTS_MOST):
            until = dict(zip(folders, some))
            within = [{at < until[folder] for folder in event.folders()} for at, event in pending]
            if any(len(sides) > 1 for sides in within):
                continue  # in one folder it is kept, in the other it is not
            lost = {at for (at, _), sides in zip(pending, within) if False in sides}
            names = dict(self.names)
            for at, event in changes:
                if at not in lost:
                    names.update(event.changed)
            yield {place: inode for place, inode in names.items() if inode != REMOVED}

    def moments(self):
        """The numbers of events after which to look: what a write adds may also be lost, so the moment after it covers the
        one before."""
        return [at for at in range(len(self.events) + 1) if at == len(self.events) or not isinstance(self.events[at], Piece)]

    def trees(self, moment, is_temporary):
        """What may be in the folder: {path: bytes}, folders with a slash at the end. All files have the first of their
        possible contents, or all another; temporary ones the first."""
        for names in self.name_states(moment):
            places = dict(self._walk(names, self.root, ""))
            for path, inode in places.items():
                if inode in self.links:
                    places[path] = places.get(os.path.normpath(os.path.join(os.path.dirname(path), self.links[inode])), LOST)
            options = {path: self.contents(inode, moment, is_temporary(path)) for path, inode in places.items() if inode in self.base}
            for number in range(max((len(list_) for list_ in options.values()), default=1)):
                yield {path: options[path][min(number, len(options[path]) - 1)] if path in options else b""
                       for path, inode in places.items() if inode != LOST}

    def _walk(self, names, folder, prefix):
        for (above, name), inode in sorted(names.items()):
            if above == folder and inode in self.folders:
                yield prefix + name + "/", inode
                yield from self._walk(names, inode, prefix + name + "/")
            elif above == folder:
                yield prefix + name, inode


def write(data, pieces):
    """The bytes of a file after some writes."""
    result = bytearray(data)
    for piece in pieces:
        end = piece.position + len(piece.data)
        if end > len(result):
            result.extend(bytes(end - len(result)))
        if piece.shrinks:
            del result[end:]
        result[piece.position:end] = piece.data
    return bytes(result)
