"""What all answers have in common."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")


class Model(BaseModel):
    """What all answers have in common."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True
    )


AnyModel = TypeVar("AnyModel", bound=Model)


class Page(Model, Generic[Item]):
    """A part of a list."""

    data: list[Item]
    has_more: bool
    next_cursor: str | None
