"""A tool's schema in the narrower dialect that a vendor's strict mode takes, and answers brought back from it (pure).

Strict mode wants every object closed and every property required. An optional property becomes one that may be null;
the null is left out of the answer again. A schema with an open object has no strict form.
"""

from collections.abc import Mapping, Sequence

Schema = Mapping[str, object]

KEPT = frozenset(
    ("type", "description", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf")
)


def strict(schema: Schema) -> dict[str, object] | None:
    """The strict form, or None. Bounds of numbers and lengths are left out: whoever reads the answer checks them."""
    if schema.get("type") == "object" or "properties" in schema:
        return _closed(schema)
    if not set(schema) & {"type", "enum", "const", "anyOf"} or "$ref" in schema:
        return None
    told = {name: value for name, value in schema.items() if name in KEPT}
    if isinstance(items := schema.get("items"), Mapping):
        inner = strict(items)
        if inner is None:
            return None
        told["items"] = inner
    elif schema.get("type") == "array":
        return None
    if isinstance(choices := schema.get("anyOf"), Sequence):
        inners = [strict(one) if isinstance(one, Mapping) else None for one in choices]
        if None in inners:
            return None
        told["anyOf"] = inners
    return told


def _closed(schema: Schema) -> dict[str, object] | None:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or schema.get("additionalProperties", False) is not False:
        return None
    told = dict[str, object]()
    for name, value in properties.items():
        inner = strict(value) if isinstance(value, Mapping) else None
        if inner is None:
            return None
        told[name] = inner if name in _required(schema) else _or_null(inner)
    closed: dict[str, object] = {name: value for name, value in schema.items() if name in KEPT}
    return closed | {"type": "object", "properties": told, "required": list(told), "additionalProperties": False}


def _or_null(schema: dict[str, object]) -> dict[str, object]:
    return schema if _takes_null(schema) else {"anyOf": [schema, {"type": "null"}]}


def _required(schema: Schema) -> Sequence[object]:
    required = schema.get("required", ())
    return required if isinstance(required, Sequence) else ()


def _takes_null(schema: Schema) -> bool:
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, Sequence) and not isinstance(kind, str) and "null" in kind):
        return True
    choices = schema.get("anyOf")
    return isinstance(choices, Sequence) and any(isinstance(one, Mapping) and _takes_null(one) for one in choices)


def without_nulls(value: object, schema: Schema) -> object:
    """The answer without the nulls that only the strict form made it say."""
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(value, dict) and isinstance(properties, Mapping):
        return {
            name: without_nulls(inner, properties.get(name, {}))
            for name, inner in value.items()
            if inner is not None or not _is_ours(name, properties, _required(schema))
        }
    if isinstance(value, list) and isinstance(items, Mapping):
        return [without_nulls(one, items) for one in value]
    return value


def _is_ours(name: str, properties: Mapping[str, object], required: Sequence[object]) -> bool:
    own = properties.get(name)
    return isinstance(own, Mapping) and name not in required and not _takes_null(own)
