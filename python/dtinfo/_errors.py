# SPDX-License-Identifier: MIT
"""Exceptions: the library's message, with the remedy in Python's words."""


class Error(Exception):
    """What dtinfo refuses or fails to do.

    status: the library's word, such as 'unknown_dtype'. remedy: the word of what would help, such as 'keep', or
    'none'. advice: that in words. argument: the text that was wrong. suggestions: the nearest valid spellings.
    """

    status = "bug"
    remedy = "none"
    advice = ""
    argument = ""
    suggestions = ()

    def __str__(self):
        return self.args[0] if self.args else self.status


class ArgumentError(Error, ValueError):
    """An argument that has no effect here, does not fit, or is not one of those there are."""


class UnknownDtypeError(ArgumentError, KeyError):
    """No dtype of that name, or several."""


class DataError(Error, OSError, ValueError):
    """A file that is not what it should be, or cannot be read."""


class WriteError(Error, OSError):
    """An output that cannot be written."""


class UnavailableError(Error, RuntimeError):
    """Something that is not available on this machine or was not built in."""


class TensorNotFoundError(Error, KeyError):
    """No tensor of that name in the file."""


def _rename(*classes):
    for one in classes:
        one.__module__ = "dtinfo"  # as tracebacks name it


_rename(Error, ArgumentError, UnknownDtypeError, DataError, WriteError, UnavailableError, TensorNotFoundError)

_CLASSES = {
    "usage": ArgumentError, "unknown_option": ArgumentError, "wrong_kind": ArgumentError,
    "bad_value": ArgumentError, "bad_pattern": ArgumentError, "not_representable": ArgumentError,
    "unknown_dtype": UnknownDtypeError, "ambiguous_dtype": UnknownDtypeError,
    "bad_input": DataError, "unrecognized": DataError, "write_failed": WriteError,
    "unavailable": UnavailableError, "device_failed": UnavailableError,
}

# Remedies by their words, where Python has an argument for them; others get the library's advice. An argument is
# that of the function that failed, or of cast(), quantize(), open() or a rewrite of files.
_WORDS = {
    "replace": "force=True replaces it",
    "replace_again": "run it again with force=True",
    "other_output": "give another output",
    "remove_file": "remove it, or give another output",
    "say_kind": "dtinfo.from_codes() takes raw codes",
    "accept_trailing": "lenient=True reads it anyway",
    "read_rest": "lenient=True reads the rest of the file",
    "assume_other": "assume= overrides it",
    "assume_1_byte": "give assume='fp8_e4m3fn' (or another 1-byte dtype)",
    "assume_2_bytes": "give assume='bf16' (or another 2-byte dtype)",
    "assume_4_bytes": "give assume='fp32' (or another 4-byte dtype)",
    "assume_8_bytes": "give assume='fp64' (or another 8-byte dtype)",
    "say_bits": "give bits=",
    "choose_bits": "choose one with bits=",
    "read_8_bits": "bits=8 reads it as uint8",
    "say_block": "give block=",
    "say_bits_or_block": "choose one with bits= or block=",
    "override_config": "bits= or block= overrides it",
    "keep_or_override": "keep= leaves it unchanged, bits= or block= overrides that",
    "say_layout": "choose one with layout=",
    "compute": "dtinfo.calc() computes expressions",
    "list_dtypes": "dtinfo.dtypes() lists them all",
    "list_tensors": "list(file) has its tensors",
    "quantize": "dtinfo.quantize() makes integers with scales",
    "quantize_blocks": "use dtinfo.quantize() for it",
    "quantize_or_elements": "use dtinfo.quantize() for it, or the dtype of its elements",
    "keep": "keep= leaves it unchanged",
    "keep_all": "keep= leaves them unchanged",
    "keep_instead": "keep it with keep=",
    "pad_or_keep": "pad=True pads rows with zeros, keep= leaves it unchanged",
    "cast_integers": "ints=True casts them",
    "floats": "the layout 'bf16' makes floats of it",
    "floats_or_keep": "the layout 'bf16' makes floats of it, keep= leaves it unchanged",
    "leave_out": "leave it out with select=",
    "select_one": "choose it with select=",
    "select_others": "select= writes the others",
    "read_stored": "add what is missing or quantize it again, or read what is stored with stored=True",
    "saturate": "overflow='saturate' stores the largest number instead",
    "say_packing": "give packing='low' or 'high'",
}


def exception(status, text, remedy="none", advice="", argument="", suggestions=()):
    """The exception for an error of the library."""
    words = _WORDS.get(remedy, advice if remedy != "none" else "")
    error = _CLASSES.get(status, Error)("%s; %s" % (text, words) if words else text)
    error.status, error.remedy, error.advice = status, remedy, advice
    error.argument, error.suggestions = argument, tuple(suggestions)
    return error
