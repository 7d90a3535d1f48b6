"""The limits inside a field of a record: of a value, of each part of a list, and of each member of an object in it."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, get_args, get_origin, get_type_hints

from rocketdiff.core.records.field_types import Limits


@dataclass(frozen=True, slots=True)
class Shape:
    """
    What is known of a value.

    limits: of a number or text. each: of the parts of a list of any length. places: of a list of fixed length. members: of an
    object, by name.
    """

    limits: Limits | None = None
    each: "Shape | None" = None
    places: tuple["Shape", ...] = ()
    members: tuple[tuple[str, "Shape"], ...] = ()

    @property
    def has_limits(self) -> bool:
        inner = (self.each, *self.places, *(shape for _, shape in self.members))
        return self.limits is not None or any(shape is not None and shape.has_limits for shape in inner)

    def parts_of(self, value: object, name: str) -> Iterator[tuple[object, Limits]]:
        """Yield each number and text of a value with its limits, which have a name. name: of the field."""
        if value is None:
            return
        if self.limits is not None:
            yield value, self.limits if self.limits.name else _named(self.limits, name)
        if self.each is not None and isinstance(value, tuple):
            for part in value:
                yield from self.each.parts_of(part, name)
        if self.places and isinstance(value, tuple):
            for part, shape in zip(value, self.places, strict=True):
                yield from shape.parts_of(part, name)
        for member, shape in self.members:
            yield from shape.parts_of(getattr(value, member), member)


def _named(limits: Limits, name: str) -> Limits:
    return Limits(limits.below, limits.is_natural, limits.is_filled, limits.is_error, name)


def shape_of(annotation: object) -> Shape:
    """Return the shape of an annotation: ``Int32`` and ``Int32 | None`` have the same."""
    if get_origin(annotation) is Annotated:
        found = next((limits for limits in getattr(annotation, "__metadata__", ()) if isinstance(limits, Limits)), None)
        return Shape(limits=found)
    if get_origin(annotation) is tuple:
        parts = get_args(annotation)
        if len(parts) == 2 and parts[1] is Ellipsis:
            return Shape(each=shape_of(parts[0]))
        return Shape(places=tuple(map(shape_of, parts)))
    if isinstance(annotation, type) and is_dataclass(annotation):
        types = get_type_hints(annotation, include_extras=True)
        return Shape(members=tuple((each.name, shape_of(types[each.name])) for each in fields(annotation)))
    return next((shape for part in get_args(annotation) if (shape := shape_of(part)).has_limits), Shape())
