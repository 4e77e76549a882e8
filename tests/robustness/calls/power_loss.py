#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Power fails while a command writes: whatever the file system has kept (power_model.py), the files are the old or the new
ones, as dtinfo-cast(1) promises; once the command has ended, the new ones; and the next run with --force succeeds.

    power_loss.py DTINFO MEASURE CALL_TRACER [long]
"""
import hashlib
import os
import sys

from output_sets import folder
from power_model import Disk, Names, Piece, Sync
from survival import QUICK, check, main, require, run
from traced import can_trace, traced
from writers import broken_promise, files_of, fill, is_new, is_temporary, select, tree, with_links, workplace

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
AGAIN = 200 if LONG else 4 if QUICK else 12  # states of a command after which it is run again


def digest(found):
    sums = [(path, hashlib.sha256(data).digest()) for path, data in sorted(found.items())]
    return hashlib.sha256(repr(sums).encode()).digest()


def recorded(row):
    """The disk after an undisturbed run."""
    fill(row.old)
    disk = Disk("o")
    done = traced(row.words, data=True)
    require(done.code == 0 and tree() == row.new, "an undisturbed run of", row.words, done.code, done.stderr)
    for call in done.calls:
        disk.play(call)
    return disk


def visible(found):
    return {path: data for path, data in found.items() if not is_temporary(path)}


def require_replayed(row, disk):
    """The model agrees with the file system where nothing is lost."""
    whole = list(disk.trees(len(disk.events), is_temporary))
    require(any(files_of(visible(found)) == files_of(row.new) for found in whole), "the replay does not give the new files of", row.words,
            [sorted(found) for found in whole])


def require_next_run(row, found):
    fill(with_links(row, found))
    if not os.path.exists(row.words[1]) and row.words[1].startswith("o/"):
        return  # the new model has replaced its input
    done = run(row.words + ([] if "--force" in row.words else ["--force"]))
    require(done.code == 0, "the next run after a loss of power", row.words, sorted(found), done.stderr)
    require(is_new(row, tree()), "other files after a loss of power", row.words, sorted(found), sorted(tree()))


@check
def a_loss_of_power_leaves_the_old_files_or_the_new_ones():
    with workplace() as rows:
        moments = states = 0
        for row in select(rows):
            disk = recorded(row)
            require_replayed(row, disk)
            seen, kinds, last = {}, set(), len(disk.events)
            for moment in disk.moments():
                for found in disk.trees(moment, is_temporary):
                    states += 1
                    key = digest(found)
                    if key not in seen:
                        seen[key] = found
                        why = broken_promise(row, visible(found))
                        require(not why, "after event %d of %d:" % (moment, last), why, row.words, sorted(found))
                    if moment == last:
                        require(files_of(visible(found)) == files_of(row.new), "lost after the command has ended:", row.words, sorted(found))
                    kinds.add("old" if files_of(visible(found)) == files_of(row.before) else "new" if files_of(visible(found)) == files_of(
                        row.new) else "some")
            require({"old", "new"} <= kinds, "not both the old and the new files are met:", row.words, kinds)
            moments += len(disk.moments())
            trees = list(seen.values())
            for found in trees[::max(1, len(trees) // AGAIN)]:
                require_next_run(row, found)
        print("        %d moments, %d states" % (moments, states))


@check
def the_model_loses_what_is_not_synced():
    """A file replaced by rename: without a sync, with one of the file, with one of the folder as well."""
    with folder():
        fill({"old": b"o" * 5000})
        disk = Disk("o")
        disk.base[1] = b""
        disk.events = [Names({(disk.root, "t"): 1}), Piece(1, 0, b"n" * 4096), Piece(1, 4096, b"n" * 904),
                       Names({(disk.root, "t"): 0, (disk.root, "old"): 1})]

        def met():
            return {found.get("old") for found in disk.trees(len(disk.events), is_temporary)}
        old, new = b"o" * 5000, b"n" * 5000
        require(met() == {b"", old, new, b"n" * 4096, bytes(4096) + b"n" * 904, bytes(5000), b"n" * 4096 + bytes(904)},
                "without a sync", met())
        disk.events.insert(3, Sync(1))
        require(met() == {old, new}, "with a sync of the file", met())
        disk.events.append(Sync(disk.root))
        require(met() == {new}, "with both", met())


if __name__ == "__main__":
    sys.exit(main() if can_trace() else 77)
