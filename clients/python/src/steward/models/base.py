"""The base class of all models."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")


class Model(BaseModel):
    """The base class of all models."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True
    )


AnyModel = TypeVar("AnyModel", bound=Model)


class Page(Model, Generic[Item]):
    """A page of a list."""

    data: list[Item]
    has_more: bool
    next_cursor: str | None
