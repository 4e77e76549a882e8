# SPDX-License-Identifier: MIT
"""New files from files, and questions about files: what the commands of dtinfo do."""
import os

from . import _dtinfo
from ._show import escape


class Document(dict):
    """The JSON document of a command: `dtinfo help json` explains its members.

    ok: whether the answer is yes: the assertions hold, the files are equal, each tensor is explained.
    """

    def __init__(self, members, ok=True):
        super().__init__(members)
        self.ok = ok

    def __repr__(self):
        title = "%s: %s" % (self.get("schema", "document"), "yes" if self.ok else "no")
        return "\n".join([title] + _outline(self, 1))

    def _repr_html_(self):
        import json
        return "<pre>%s</pre>" % escape(json.dumps(self, indent=2, ensure_ascii=False)[:100000])


SHOWN = 20  # entries of a list


def _outline(members, depth):
    """Lines for an object: what is said in a word, then lists of objects, an entry a line."""
    plain = ["%s %s" % (key, _word(value)) for key, value in members.items()
             if _is_word(value) and (value is not False or key == "ok") and
             not (depth == 1 and key in ("schema", "dtinfo"))]
    lines = ["  " * depth + ", ".join(plain)] if plain else []
    for key, value in members.items():
        if not isinstance(value, list) or not value or not isinstance(value[0], dict):
            continue
        lines.append("  " * depth + "%s:" % key)
        for entry in value[:SHOWN]:
            lines += _outline(entry, depth + 1)
        if len(value) > SHOWN:
            lines.append("  " * (depth + 1) + "... and %d more" % (len(value) - SHOWN))
    return lines


def _is_word(value):
    if isinstance(value, dict):
        return isinstance(value.get("name"), str)
    return isinstance(value, (str, int, float)) or (
        isinstance(value, list) and value != [] and not isinstance(value[0], (dict, list)))


def _word(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return value["name"]
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def _settings(options):
    """Options as pairs: keep='*.bias' or ['a', 'b'], force=True, block=32; underscores become dashes."""
    pairs = []
    for name, value in options.items():
        word = name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, os.PathLike):
                one = os.fspath(one)
            pairs.append((word, "" if one is True else str(one)))
    return pairs


def _document(text, ok=True):
    import json
    return Document(json.loads(text), ok) if text else None


def _convert(verb, path, what, output, options):
    return _document(_dtinfo.convert(verb, os.fspath(path), what, os.fspath(output), _settings(options)))


def cast_file(path, dtype, output, **options):
    """Casts the floats of a file or model to a dtype, as `dtinfo cast PATH DTYPE -o OUTPUT` does.

    options: those of the command, with underscores: keep='*.bias', cast_only=[...], overflow='saturate', ints=True,
        force=True. Returns the command's report, a Document. Raises DataError, WriteError, ArgumentError.
    """
    return _convert("cast", path, str(dtype), output, options)


def quantize_file(path, format, output, **options):
    """Quantizes a file or model, as `dtinfo quant PATH FORMAT -o OUTPUT` does: layout='compressed-tensors', keep=...

    Returns the command's report, a Document. Raises DataError, WriteError, ArgumentError.
    """
    return _convert("quant", path, format, output, options)


def dequantize_file(path, dtype, output, **options):
    """Makes floats of a quantized file or model, as `dtinfo quant PATH DTYPE --dequant -o OUTPUT` does.

    Returns the command's report, a Document. Raises DataError, WriteError, ArgumentError.
    """
    return _convert("dequant", path, str(dtype), output, options)


def transcode(path, layout, output, **options):
    """Translates a quantized file or model to another layout, as `dtinfo transcode PATH --to LAYOUT -o OUTPUT` does.

    Returns the command's report, a Document. Raises DataError, WriteError, ArgumentError.
    """
    return _convert("transcode", path, layout, output, options)


def _ask(question, paths, options):
    ok, text = _dtinfo.ask(question, [os.fspath(path) for path in paths], _settings(options))
    return _document(text, ok)


def inspect(path, **options):
    """The tensors of a file or model: what `dtinfo inspect --json` prints, as a Document. stats=True scans them."""
    return _ask("inspect", [path], options)


def check(path, **options):
    """Checks a file or model against assertions, the options of `dtinfo check`: no_nan=True, fits='fp16' ...

    Returns a Document, whose `ok` is the answer.
    """
    return _ask("check", [path], options)


def explain(source, path, **options):
    """Finds out how the tensors of a file were made from those of a source. Returns a Document; `ok`: all were."""
    return _ask("explain", [source, path], options)


def compare_files(a, b, options):
    return _ask("compare", [a, b], options)
