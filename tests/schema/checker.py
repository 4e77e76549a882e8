# SPDX-License-Identifier: MIT
"""Loads the JSON Schemas of this project with resolved references, and validates documents.

The validator knows only the keywords that the schemas use (an unknown one is an error) and needs only
Python, so that real output is validated everywhere. If python-jsonschema is installed, it validates, too.
Unlike a general validator, ours also requires that a schema describes every member.
"""
import json
import pathlib
import re

try:
    import jsonschema
except ImportError:
    jsonschema = None

IGNORED = {"$schema", "$id", "$defs", "title", "description", "unit"}
COMMON = "common.schema.json"
TYPES = {
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
    "string": lambda x: isinstance(x, str),
    "boolean": lambda x: isinstance(x, bool),
    "null": lambda x: x is None,
    "number": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
}


def local(schema):
    """Turns references to the common file into references within the schema."""
    if isinstance(schema, dict):
        return {key: value.replace(COMMON, "") if key == "$ref" else local(value)
                for key, value in schema.items()}
    if isinstance(schema, list):
        return [local(item) for item in schema]
    return schema


def load(folder):
    """Returns {"dtinfo.cast/1": schema}, each one self-contained."""
    folder = pathlib.Path(folder)
    common = json.loads((folder / COMMON).read_text(encoding="utf-8"))
    schemas = {}
    for path in sorted(folder.glob("dtinfo.*.schema.json")):
        schema = local(json.loads(path.read_text(encoding="utf-8")))
        schema["$defs"] = dict(local(common["$defs"]), **schema.get("$defs", {}))
        schemas[schema["title"]] = schema
    return schemas


def members(schema):
    """Returns the names of all members that a schema describes."""
    if isinstance(schema, list):
        return set().union(*map(members, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return own.union(*map(members, schema.values()))


class Checker:
    def __init__(self, schema):
        self.schema = schema
        self.judge = None
        if jsonschema and hasattr(jsonschema, "Draft202012Validator"):
            jsonschema.Draft202012Validator.check_schema(schema)
            self.judge = jsonschema.Draft202012Validator(schema)

    def problems(self, document):
        """Returns the problems of a document, one line each; empty if it is valid."""
        found = list(self.check(self.schema, document, "$"))
        if self.judge:
            found += ["jsonschema: %s: %s" % (error.json_path, error.message[:300])
                      for error in self.judge.iter_errors(document)]
        return found

    def resolve(self, schema):
        while "$ref" in schema:
            target = self.schema
            for key in schema["$ref"].lstrip("#/").split("/"):
                target = target[key]
            schema = target
        return schema

    def check(self, schema, value, where):
        schema = self.resolve(schema)
        for keyword, rule in schema.items():
            if keyword in IGNORED:
                continue
            method = getattr(self, "check_" + keyword, None)
            if method is None:
                raise ValueError("the validator does not know the keyword " + keyword)
            yield from method(rule, value, where, schema)

    def check_type(self, rule, value, where, _):
        names = rule if isinstance(rule, list) else [rule]
        if not any(TYPES[name](value) for name in names):
            yield "%s: %r is not of type %s" % (where, value, " or ".join(names))

    def check_const(self, rule, value, where, _):
        if value != rule:
            yield "%s: %r is not %r" % (where, value, rule)

    def check_enum(self, rule, value, where, _):
        if value not in rule:
            yield "%s: %r is not one of %r" % (where, value, rule)

    def check_pattern(self, rule, value, where, _):
        if isinstance(value, str) and not re.search(rule, value):
            yield "%s: %r does not match %s" % (where, value[:80], rule)

    def check_minimum(self, rule, value, where, _):
        if TYPES["number"](value) and value < rule:
            yield "%s: %r is less than %r" % (where, value, rule)

    def check_required(self, rule, value, where, _):
        if isinstance(value, dict):
            for name in rule:
                if name not in value:
                    yield "%s: there is no member %s" % (where, name)

    def check_properties(self, rule, value, where, _):
        if isinstance(value, dict):
            for name, member in value.items():
                if name in rule:
                    yield from self.check(rule[name], member, "%s.%s" % (where, name))
                else:
                    yield "%s: no schema describes the member %s" % (where, name)

    def check_items(self, rule, value, where, _):
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield from self.check(rule, item, "%s[%d]" % (where, number))

    def check_anyOf(self, rule, value, where, _):
        tried = [list(self.check(choice, value, where)) for choice in rule]
        if all(tried):
            yield from min(tried, key=len)
