"""Compares the models and the errors with the OpenAPI document."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from steward import errors, models

DOCUMENT = json.loads(
    (Path(__file__).parents[4] / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8")
)
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
NAMES = {"DryRun": "Preview"}
PAGES = {name for name in SCHEMAS if name.endswith("List")} | {"YieldHistory"}
# Schemas of requests, errors and operators, and parts of other objects.
EXCLUDED = re.compile(r"Request$|Error$|^(Issue|Readiness|ReadinessProbe|ChainState|ServiceBalance)$")

DESCRIBED = sorted(
    name
    for name, schema in SCHEMAS.items()
    if "properties" in schema and name not in PAGES
    if name == "IntentError" or not EXCLUDED.search(name)
)


def _resolve(schema: Any) -> Any:
    name = schema.get("$ref", "").removeprefix("#/components/schemas/")
    return SCHEMAS[name] if name else schema


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_model_has_the_fields_of_the_document(name: str) -> None:
    model = getattr(models, NAMES.get(name, name), None)
    if model is None:
        pytest.fail(f"Model {name} is missing.")
    _compare(SCHEMAS[name], model, name)


def _compare(schema: Any, model: type[models.Model], place: str) -> None:
    fields = {one.alias or "": one for one in model.model_fields.values()}
    assert set(fields) == set(schema["properties"]), place
    required = set(schema["required"])
    assert {alias for alias, one in fields.items() if one.is_required()} == required, place
    for alias, field in fields.items():
        described = _resolve(schema["properties"][alias])
        described = _resolve(described.get("items", described))
        inner = [one for one in _leaves(field.annotation) if inspect.isclass(one)]
        nested = [one for one in inner if issubclass(one, models.Model)]
        if nested and "properties" in described:
            _compare(described, nested[0], f"{place}.{alias}")
        _assert_exact(described, inner, f"{place}.{alias}")


def _assert_exact(described: Any, types: list[type], place: str) -> None:
    """Decimal text is Decimal, never float. Integer text is int."""
    pattern = described.get("pattern", "")
    names = {one.__name__ for one in types}
    if r"(\.\d+)?$" in pattern:
        assert "Decimal" in names, place
    elif pattern == r"^\d+$":
        assert "int" in names, place
    elif described.get("format") == "date-time":
        assert "datetime" in names, place


def _leaves(annotation: Any) -> list[Any]:
    parts = get_args(annotation)
    return [leaf for part in parts for leaf in _leaves(part)] if parts else [annotation]


def test_every_error_code_has_a_class_with_its_name() -> None:
    codes = {
        name: schema["properties"]["error"]["const"]
        for name, schema in SCHEMAS.items()
        if name.endswith("Error") and "error" in schema.get("properties", {})
    }
    assert codes
    for name, code in codes.items():
        assert errors.error_classes[code] is getattr(errors, name)


def test_every_code_of_a_failed_intent_is_known() -> None:
    codes = set(SCHEMAS["IntentFailureCode"]["enum"])
    assert codes == set(_literals(models.IntentFailureCode))
    assert set(errors.failure_classes) <= codes


def test_every_reason_is_known() -> None:
    listed = [schema["enum"] for name, schema in SCHEMAS.items() if name.endswith("Reason")]
    assert {reason for some in listed for reason in some} == set(get_args(errors.Reason))


def _literals(annotation: Any) -> list[str]:
    return [name for part in get_args(annotation) for name in get_args(part)]
