"""Turns call builders into methods of both clients, with the signature of the builder."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar, overload

from ._internal.call import Body, Call, Item, ListCall, StreamCall
from ._internal.engine import Engine, events, items, pages, perform
from ._internal.ports import run
from .models import Event, Page

P = ParamSpec("P")
Made = TypeVar("Made")
Result = TypeVar("Result")
Value = TypeVar("Value")


class Resource:
    """A part of a client."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def call(self, method: Callable[[Engine, Made], Result], made: Made) -> Result:
        """Runs `method` with the engine of the client."""
        return method(self._engine, made)


class Method(Generic[P, Made, Result]):
    """A method with the parameters of `make`. It runs `execute` with the call that `make` returns."""

    def __init__(self, make: Callable[P, Made], execute: Callable[[Engine, Made], Result]) -> None:
        self._make = make
        self._execute = execute
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: Any, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, resource: None, owner: Any) -> Method[P, Made, Result]: ...
    @overload
    def __get__(self, resource: Resource, owner: Any) -> Callable[P, Result]: ...
    def __get__(
        self, resource: Resource | None, owner: Any
    ) -> Method[P, Made, Result] | Callable[P, Result]:
        if resource is None:
            return self

        @wraps(self._make)
        def method(*args: P.args, **kwargs: P.kwargs) -> Result:
            return resource.call(self._execute, self._make(*args, **kwargs))

        method.__name__ = self._name
        # `help` shows the parameters of `make`, without its return type.
        signature = inspect.signature(self._make)
        method.__dict__["__signature__"] = signature.replace(return_annotation=signature.empty)
        return method


class List(Generic[Item]):
    """A list of the API: iterate over all entries, or over its `pages`; `page()` reads only the first page."""

    def __init__(self, engine: Engine, call: ListCall[Item]) -> None:
        self._engine = engine
        self._call = call

    def page(self) -> Page[Item]:
        return run(perform(self._engine, self._call.first()))

    def pages(self) -> Iterator[Page[Item]]:
        return drain(pages(self._engine, self._call))

    def __iter__(self) -> Iterator[Item]:
        return drain(items(self._engine, self._call))


class AsyncList(Generic[Item]):
    """A list of the API: iterate over all entries, or over its `pages`; `page()` reads only the first page."""

    def __init__(self, engine: Engine, call: ListCall[Item]) -> None:
        self._engine = engine
        self._call = call

    async def page(self) -> Page[Item]:
        return await perform(self._engine, self._call.first())

    def pages(self) -> AsyncGenerator[Page[Item], None]:
        return pages(self._engine, self._call)

    def __aiter__(self) -> AsyncGenerator[Item, None]:
        return items(self._engine, self._call)


def blocking(make: Callable[P, Call[Body]]) -> Method[P, Call[Body], Body]:
    return Method(make, lambda engine, call: run(perform(engine, call)))


def awaiting(make: Callable[P, Call[Body]]) -> Method[P, Call[Body], Coroutine[Any, Any, Body]]:
    return Method(make, perform)


def listing(make: Callable[P, ListCall[Item]]) -> Method[P, ListCall[Item], List[Item]]:
    return Method(make, List)


def async_listing(make: Callable[P, ListCall[Item]]) -> Method[P, ListCall[Item], AsyncList[Item]]:
    return Method(make, AsyncList)


def streaming(
    make: Callable[P, StreamCall],
) -> Method[P, StreamCall, Generator[Event, None, None]]:
    return Method(make, lambda engine, call: drain(events(engine, call)))


def async_streaming(
    make: Callable[P, StreamCall],
) -> Method[P, StreamCall, AsyncGenerator[Event, None]]:
    return Method(make, events)


def drain(source: AsyncGenerator[Value, None]) -> Generator[Value, None, None]:
    """A generator over an asynchronous one that never suspends. Closing it closes the source."""
    try:
        while True:
            try:
                value = run(anext(source))
            except StopAsyncIteration:
                return
            yield value
    finally:
        run(source.aclose())
