"""Classes and patterns that are made whole when they are first used, and not when their module is loaded.

The time of a short run is that of its imports. The standard library compiles the methods of a dataclass from text,
which takes half a millisecond a class, and a pattern takes a tenth; of the modules that a file needs it needs few
classes and fewer patterns. `dataclass` here takes the place of the standard library's, and `regex` that of
`re.compile`, in modules that every run loads.
"""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, AnyStr, TypeVar, cast

T = TypeVar("T", bound=type)

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, order=False):
        """A dataclass of the standard library whose `__init__` is compiled when it is first called."""

        def decorate(cls):
            return _with_late_methods(cls, frozen, slots, eq, order)

        return decorate if cls is None else decorate(cls)


def _with_late_methods(cls: T, frozen: bool, slots: bool, eq: bool, order: bool) -> T:
    own = frozenset(name for name, value in vars(cls).items() if value is not None)
    made = cast(Any, dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls))
    fields = dataclasses.fields(made)
    key = _key([f.name for f in fields if f.compare])
    methods: dict[str, Any] = {"__init__": _late_init(made, frozen), "__repr__": _repr(fields)}
    if eq:
        methods["__eq__"] = _comparison(operator.eq, key)
        methods["__hash__"] = (lambda self: hash(key(self))) if frozen else None
    if order:
        methods |= {
            f"__{x.__name__}__": _comparison(x, key) for x in (operator.lt, operator.le, operator.gt, operator.ge)
        }
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        methods |= {"__getstate__": _state, "__setstate__": _set_state} if slots else {}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return cast(T, made)


def _key(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What is compared of an object."""
    get = operator.attrgetter(*names) if names else lambda _: ()
    return get if len(names) != 1 else lambda self: (get(self),)


def _comparison(
    compare: Callable[[Any, Any], bool], key: Callable[[Any], tuple[Any, ...]]
) -> Callable[[Any, Any], bool]:
    def method(self: Any, other: Any) -> bool:
        return compare(key(self), key(other)) if other.__class__ is self.__class__ else NotImplemented

    return method


def _repr(fields: tuple[dataclasses.Field[Any], ...]) -> Callable[[Any], str]:
    names = [f.name for f in fields if f.repr]

    @recursive_repr()
    def method(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return method


def _late_init(made: Any, frozen: bool) -> Callable[..., None]:
    """`__init__`, which takes the place of itself when it is first called."""

    def method(self: Any, *args: Any, **named: Any) -> None:
        made.__init__ = real = _compiled_init(made, frozen)
        real(self, *args, **named)

    return method


def _compiled_init(made: Any, frozen: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": dataclasses.MISSING}
    parameters = {False: ["self"], True: []}  # by whether they are keyword-only
    body = []
    for f in dataclasses.fields(made):
        value = f.name
        if f.default_factory is not dataclasses.MISSING:
            known[f"_make_{f.name}"] = f.default_factory
            value = f"_make_{f.name}() if {f.name} is _missing else {f.name}" if f.init else f"_make_{f.name}()"
        elif f.default is not dataclasses.MISSING:
            known[f"_default_{f.name}"] = f.default
            value = value if f.init else f"_default_{f.name}"
        if f.init:
            made_late = f.default_factory is not dataclasses.MISSING
            default = "=_missing" if made_late else f"=_default_{f.name}" if f"_default_{f.name}" in known else ""
            parameters[bool(f.kw_only)].append(f.name + default)
        elif value == f.name:
            continue  # it is set later
        body.append(f"_set(self, {f.name!r}, {value})" if frozen else f"self.{f.name} = {value}")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    named = ["*", *parameters[True]] if parameters[True] else []
    text = f"def __init__({', '.join([*parameters[False], *named])}):\n " + "\n ".join(body or ["pass"])
    exec(text, known)
    real = known["__init__"]
    real.__qualname__ = f"{made.__qualname__}.__init__"
    return cast("Callable[..., None]", real)


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)


class _Pattern:
    """A pattern that is compiled when something is asked of it. What it is asked is its own from then on."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._asked = text, flags

    def __getattr__(self, name: str) -> Any:
        real = cast(Any, re.compile)(*self._asked)
        for known in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split", "pattern"):
            self.__dict__[known] = getattr(real, known)
        return getattr(real, name)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern that is compiled when it is first used. It cannot be handed to functions of `re`."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
