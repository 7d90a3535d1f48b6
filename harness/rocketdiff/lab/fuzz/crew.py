"""A few worker processes that take pieces of work in turn; none outlives the one that hired it."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from rocketdiff.core.errors import HarnessError

Piece = TypeVar("Piece")
Result = TypeVar("Result")
Piece_contra = TypeVar("Piece_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

_END_S = 10.0
"""A worker closes its Java host when its pipe ends, which takes less than a second."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """An error of ours on its way between processes; pickle cannot rebuild one from its positional arguments."""

    kind: type[HarnessError]
    expected: str
    seen: str
    hint: str

    def error(self) -> HarnessError:
        return self.kind(self.expected, seen=self.seen, hint=self.hint)


class Worker(Protocol[Piece_contra, Result_co]):
    """Does one piece after the other, in its own process."""

    def __call__(self, piece: Piece_contra, /) -> Result_co: ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


class Crew(Generic[Piece, Result]):
    """Context manager around so many processes, each with a worker made by ``hire(argument)``."""

    def __init__(self, number: int, hire: Callable[[Any], Worker[Piece, Result]], argument: object) -> None:
        # Spawned, not forked: a fork would copy the locks of threads that the caller may have.
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(number):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, hire, argument), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def map(self, pieces: Iterable[Piece]) -> Iterator[Result]:
        """Results as they come, in no order; raises what a worker raised."""
        rest = iter(pieces)
        busy = [pipe for pipe in self._pipes if _hand_on(pipe, rest)]
        while busy:
            for pipe in wait(busy):
                assert isinstance(pipe, Connection)
                result = _heard(pipe)
                if not _hand_on(pipe, rest):
                    busy.remove(pipe)
                yield result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(_END_S if kind is None else 0)
            process.kill()
            process.join()


def _hand_on(pipe: Connection, rest: Iterator[object]) -> bool:
    for piece in rest:
        pipe.send(piece)
        return True
    return False


def _heard(pipe: Connection) -> Any:
    try:
        result = pipe.recv()
    except EOFError:
        raise HarnessError("a worker process to finish its work", seen="one that died") from None
    if isinstance(result, _Failed):
        raise result.error()
    return result


def _work(pipe: Connection, hire: Callable[[Any], Worker[Any, Any]], argument: object) -> None:
    """Life of a worker: until the pipe ends, or Ctrl-C, which reaches the whole group and is reported by the other side."""
    worker = hire(argument)
    with suppress(EOFError, KeyboardInterrupt, OSError):
        while True:
            pipe.send(_done(worker, pipe.recv()))
    worker.close()


def _done(worker: Worker[Any, Any], piece: object) -> object:
    try:
        return worker(piece)
    except HarnessError as error:
        return _Failed(type(error), error.expected, error.seen, error.hint)
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to the one who gave the piece
        return _Failed(HarnessError, f"a worker to finish {piece}", f"{type(error).__name__}: {error}", "")
