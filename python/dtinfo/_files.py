# SPDX-License-Identifier: MIT
"""Files of tensors: reading them as a mapping, and writing new ones."""
import os
from collections.abc import Mapping

from . import _dtinfo
from ._errors import DataError, TensorNotFoundError
from ._show import count, html_table, table

_PIECE = 1 << 24  # elements that are copied at once; a multiple of 8


class FileMissingError(DataError, FileNotFoundError):
    """The file does not exist."""

    __module__ = "dtinfo"


def open(source, *, name=None, stored=False, lenient=False, assume=None, bits=None, block=None):
    """Opens a file of tensors: safetensors, npy, npz, GGUF, PyTorch, ONNX, DDUF, or a model in several files.

    source: a path, an https:// or hf:// address, a descriptor, or bytes. name: of messages, for the latter two.
    stored: quantized tensors appear as their parts instead of as numbers. lenient: accept trailing bytes.
    assume: what npy's types without a dtype hold (V1, V2). bits, block: of quantized tensors whose file leaves it open.

    Returns a File, a mapping of names to Tensors; use it with `with`. Raises DataError, and FileMissingError.
    """
    if not isinstance(source, (str, int, bytes, bytearray, memoryview)):
        source = os.fspath(source)
    try:
        return File(_dtinfo.file_open(source, name=name, stored=stored, lenient=lenient, assume=assume, bits=bits,
                                      block=block))
    except DataError as error:
        if isinstance(source, str) and "://" not in source and not os.path.lexists(source):
            missing = FileMissingError(str(error))
            missing.status, missing.remedy, missing.advice = error.status, error.remedy, error.advice
            raise missing from None
        raise


class Tensor:
    """A tensor of an open file; its numbers are read when they are asked for.

    dtype: of its numbers, which is fp32 for quantized tensors; None if it cannot be read, for the reason in `refusal`.
    stored_as: its type as the file spells it. quantized: the format of its codes, or None. layout: how its parts are
    stored. stored_bytes: in the file.
    """

    def __init__(self, file, index):
        facts = file._handle.tensor(index)
        self.dtype = facts.pop("format")
        self._file, self._index = file, index
        self._path, self._offset, self._packing = facts.pop("path"), facts.pop("offset"), facts.pop("packing")
        self.__dict__.update(facts)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        return self.elements

    def __len__(self):
        if not self.shape:
            raise TypeError("a tensor without dimensions has no len()")
        return self.shape[0]

    def read(self, first=0, count=None):
        """Elements of the flattened tensor as an Array of one dimension; all of them in the tensor's shape."""
        if first == 0 and count is None:
            return self._shaped(0, self.elements, self.shape)
        if count is None:
            count = max(self.elements - first, 0)
        return self._file._handle.read(self._index, first, count)

    def _shaped(self, first, count, shape):
        flat = self._file._handle.read(self._index, first, count)
        return flat if flat.shape == tuple(shape) else _dtinfo.reshape(flat, shape)

    def __getitem__(self, key):
        """Rows along the first axis, as an Array: only those are read."""
        rest = 1
        for length in self.shape[1:]:
            rest *= length
        if key is Ellipsis or key == ():
            return self.read()
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise IndexError("rows are read with a step of 1; index the result for others")
            return self._shaped(start * rest, max(stop - start, 0) * rest, (max(stop - start, 0),) + self.shape[1:])
        row = key.__index__()
        if not -len(self) <= row < len(self):
            raise IndexError("row %d of %d" % (row, len(self)))
        return self._shaped(row % len(self) * rest, rest, self.shape[1:])

    def numpy(self, copy=False):
        """An array of numpy: a read-only view of the file where that has the numbers as numpy would, else a copy.

        A view needs the file to stay as it is.
        """
        native = self.dtype.numpy if self.dtype else None
        if self._path and native is not None and not copy and self.elements and native.itemsize * 8 == self.dtype.bits:
            import numpy
            return numpy.memmap(self._path, native, "r", self._offset, self.shape)
        return self.read().numpy()

    def __array__(self, dtype=None, copy=None):
        array = self.numpy(copy=bool(copy))
        return array if dtype is None else array.astype(dtype)

    def torch(self):
        """A tensor of torch."""
        return self.read().torch()

    def stats(self):
        """Statistics of its numbers."""
        return _dtinfo.stats(self.read())

    def _row(self):
        kind = self.quantized or str(self.dtype or self.stored_as)
        return (self.name, kind, "x".join(map(str, self.shape)) or "scalar", count(self.stored_bytes) + " bytes")

    def __repr__(self):
        return "Tensor(%s)" % ", ".join(self._row())


class File(Mapping):
    """An open file: a mapping of names to Tensors.

    container: 'safetensors' and so on. version: of the container, or None. metadata: a dict. notes: what is unusual.
    """

    def __init__(self, handle):
        self._handle = handle
        facts = handle.describe()
        self.container, self.version, self._count = facts["container"], facts["version"], facts["tensor_count"]
        self._indices = None

    def _index(self):
        if self._indices is None:
            self._indices = {name: index for index, name in enumerate(self._handle.names())}
        return self._indices

    def __getitem__(self, name):
        index = self._index().get(name)
        if index is None:
            from difflib import get_close_matches
            near = get_close_matches(name, self._index(), 3) if isinstance(name, str) and self._count < 10000 else []
            error = TensorNotFoundError("no tensor '%s'%s" % (name, "; did you mean %s?" % " or ".join(
                "'%s'" % word for word in near) if near else ""))
            error.status, error.argument, error.suggestions = "unknown_option", str(name), tuple(near)
            raise error
        return Tensor(self, index)

    def __iter__(self):
        return iter(self._index())

    def __len__(self):
        return self._count

    @property
    def metadata(self):
        """Keys and values: strings, and what JSON makes of other values."""
        import json
        found = {}
        for key, value, kind in self._handle.metadata():
            try:
                found[key] = value if kind == 0 else json.loads(value)
            except ValueError:
                found[key] = value
        return found

    @property
    def notes(self):
        return self._handle.notes()

    def close(self):
        """Closes the file; its Tensors cannot be read any more."""
        self._handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _title(self):
        return "%s, %s tensors" % (self.container, count(self._count))

    def _rows(self, most=50):
        rows = [Tensor(self, index)._row() for index in range(min(self._count, most))]
        return rows + [("...",)] * (self._count > most)

    def __repr__(self):
        try:
            return table(self._title(), self._rows())
        except ValueError:
            return "File(%s, closed)" % self.container

    def _repr_html_(self):
        return html_table(self._title(), self._rows())


class Writer:
    """A new file of tensors, which appears complete or not at all: use it with `with`, and it appears at the end.

    path: .safetensors, .npy or .npz, or any with container=. force: an existing file may be replaced.
    """

    def __init__(self, path, *, container=None, force=False):
        self._handle = _dtinfo.writer_new(os.fspath(path), container=container, replace=force)
        self._tensors = {}

    def metadata(self, key, value):
        """Declares a string of metadata (safetensors)."""
        self._handle.metadata(key, value)

    def tensor(self, name, dtype, shape):
        """Declares a tensor; all are declared before the first write()."""
        self._handle.tensor(name, dtype, tuple(shape))
        self._tensors[name] = len(self._tensors)

    def write(self, name, array, first=0):
        """Writes an array of the tensor's dtype to its elements from number `first` on, row-major."""
        self._handle.write(self._tensors[name], first, array)

    def close(self):
        """Gives up what was not committed."""
        self._handle.close()

    def commit(self):
        """Completes the file."""
        self._handle.commit()
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._handle.commit()
        finally:
            self.close()


def _declared(array):
    if isinstance(array, Tensor):
        if array.dtype is None:
            raise TypeError("cannot read %s: %s" % (array.stored_as, array.refusal))
        return array.dtype, array.shape
    return _dtinfo.describe(array)


def save(path, tensors, *, container=None, metadata=None, force=False):
    """Writes a new file with these tensors: a mapping of names to arrays of any kind, or to Tensors of open files.

    container: 'safetensors', 'npy', 'npz', 'raw'; None: by the path's extension. metadata: a mapping of str to str.
    force: an existing file may be replaced. Raises WriteError, ArgumentError.
    """
    with Writer(path, container=container, force=force) as writer:
        for key, value in (metadata or {}).items():
            writer.metadata(key, value)
        for name, array in tensors.items():
            writer.tensor(name, *_declared(array))
        for name, array in tensors.items():
            if not isinstance(array, Tensor):
                writer.write(name, array)
                continue
            for first in range(0, array.elements, _PIECE):
                writer.write(name, array.read(first, min(_PIECE, array.elements - first)), first)
