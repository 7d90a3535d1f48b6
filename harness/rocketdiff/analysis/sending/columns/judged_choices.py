"""Judges the asynchronous sends that become objects, in the order of their clients' choices; calm ones between them are counted."""

from heapq import heapify, heappop, heappush

import numpy as np

from rocketdiff.analysis.sending.columns.arm_columns import Ints
from rocketdiff.analysis.sending.columns.choices import Choices
from rocketdiff.analysis.sending.columns.judged_views import JudgedViews
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.oracle.producer.asynchronous.sends import Choice, judge_choice


class JudgedChoices(JudgedViews):
    """Views of one arm whose sends are asynchronous. All are judged at the first call, because any may be chosen before any other."""

    _all: dict[int, SendView] | None = None

    def judged(self, views: Ints) -> dict[int, SendView]:
        """Judge these views by number; the first time with all others that must be replayed."""
        new = {} if self._all is not None else self._judge_all()
        self._all = new if self._all is None else self._all
        others = np.array([view for view in views.tolist() if view not in self._all], dtype=np.int64)
        return new | self.as_expected(others)

    def _judge_all(self) -> dict[int, SendView]:
        choices = self._turns.choices
        assert choices is not None, "asked of asynchronous sends"
        keeps = self._turns.keeps[choices.views] & ~choices.is_retry
        found = self._objects(np.unique(choices.views[~keeps]))
        waiting = [self._in_order(choices, place) for place in np.flatnonzero(~keeps).tolist()]
        heapify(waiting)
        last = {int(choices.threads[place]): place - 1 for place in np.flatnonzero(~choices.follows).tolist()}
        while waiting:
            *_, place = heappop(waiting)
            view, thread = int(choices.views[place]), int(choices.threads[place])
            if view not in found:
                found[view] = self._made(view)
            if place > last[thread] + 1:
                self._replay.pass_over(thread, place - last[thread] - 1)
            last[thread] = place
            self._judge(choices, place, found[view])
            after = place + 1
            if after < keeps.size and keeps[after] and not self._is_known(choices, place):
                heappush(waiting, self._in_order(choices, after))
        return self._excused(dict(sorted(found.items())))

    def _objects(self, views: Ints) -> dict[int, SendView]:
        return dict(zip(views.tolist(), self.of(views), strict=True))

    def _in_order(self, choices: Choices, place: int) -> tuple[int, int, int]:
        return int(choices.at_ns[place]), int(self._columns.sends[choices.views[place]]), place

    def _judge(self, choices: Choices, place: int, send: SendView) -> None:
        assert send.row is not None, "every send has an end"
        choice = Choice(int(choices.at_ns[place]), int(choices.threads[place]), send.row, bool(choices.is_retry[place]))
        judgement = judge_choice(self._replay, choice, self._troubled)
        if judgement is not None:
            send.judgement = judgement

    def _is_known(self, choices: Choices, place: int) -> bool:
        """True if the counter is known after a choice, so that the calm one after it need not be replayed."""
        view, thread = int(choices.views[place]), int(choices.threads[place])
        return self._replay.stands_at(thread, int(self._columns.route[view]), int(self._turns.position[view]))
