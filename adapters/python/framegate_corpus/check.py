"""A server under test: its controls, and the verdict on one frame.

Belongs here: what must be seen before a frame counts, what a refusal is. Does not belong here: pipes, the corpus.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
import time
import unittest
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .corpus import Call, other
from .session import REVISIONS, Session

if TYPE_CHECKING:
    from .corpus import Case

_QUIET = 0.06
"""The least that a handler is given after the sign of life before its effect is looked for, in seconds."""
_SLOWER = 3
"""How many times as long as the control's effect took."""
_LOOK = 0.005
"""Between two looks for an effect, in seconds."""
_DATA = 65
"""A session that ends with this code says that its input was refused (sysexits.h, EX_DATAERR)."""
_SHOWN = 2000
"""The most that is shown of bytes."""


class Failure(AssertionError):
    """Why a case did not pass. Bytes of the server are escaped in the text."""

    verdict = "fail"

    def __init__(self, what: str) -> None:
        super().__init__(f"{self.verdict}: {what}")


class EffectObserved(Failure):
    """The frame must be refused, and the call inside it was carried out."""

    verdict = "effect-observed"


class Inconclusive(Failure):
    """The well-formed twin was not seen, so that nothing can be said of the frame."""

    verdict = "inconclusive"


class Unavailable(Failure):
    """The server cannot be started, or ended with a failure."""

    verdict = "unavailable"


class Hung(Failure):
    """What was sent behind the frame is not answered, and the server did not end."""

    verdict = "hung"


@dataclass(frozen=True)
class _Seen:
    """A control that was seen."""

    after: float
    """How long its effect took, in seconds."""
    ends: bool
    """Whether the server ends when its input does."""


class Target:
    """A server's command, a call of one of its tools, and a recorder of the effect.

    It keeps the controls that were seen: one that several tests share starts one process for each frame.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        tool: str,
        arguments: Mapping[str, object],
        seen: Callable[[str], bool],
        timeout: float = 5.0,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        """`command` is started as it is; `env` and `cwd` are those of `subprocess.Popen`.

        `arguments` must be valid for `tool`; `{marker}` in them stands for a text that names the frame: ASCII letters,
        digits and `-`. `seen(marker)` is the recorder: whether what the tool does happened with this marker. It must
        look at the effect, and not at a log, where a refused frame may be quoted. `timeout`, in seconds: how long an
        answer, an effect of the control, or an end may take.

        Raises `CorpusError` if the arguments are no JSON or do not hold `{marker}`.
        """
        self._command = list(command)
        self._call = Call.of(tool, arguments)
        self._recorder = seen
        self._timeout = timeout
        self._env = env
        self._cwd = cwd
        self._speaks: dict[str, bool] = {}
        self._controls: dict[tuple[str, str], _Seen | str] = {}
        self._run = secrets.token_hex(4)
        self._markers = itertools.count()

    def check(self, case: Case) -> None:
        """See `Case.check`."""
        __tracebackhide__ = True
        control = self._control(case)
        session = self._start()
        try:
            if not session.reach(case.phase, case.revision):
                raise Unavailable(self._told(case, session, "the handshake was not answered, though the control's was"))
            marker = self._marker()
            frame = self._call.fill_in(case.frame, marker, session.take_id())
            session.send(frame)
            if case.ends_input:
                session.end_input()
            alive = not case.ends_input and session.is_alive(case.revision)
            ended = None if alive else session.wait_end(self._timeout)
            seen = self._sees(marker, max(_QUIET, _SLOWER * control.after))
            session.end_input()
            if alive and control.ends:
                session.wait_end(self._timeout)
        finally:
            session.stop()
        # What runs on when the input has ended acts late.
        if seen or self._recorder(marker) or self._recorder(other(marker)):
            what = "the frame must be refused, and the call inside it was carried out"
            raise EffectObserved(self._told(case, session, what, frame))
        if ended not in (None, 0, _DATA):
            raise Unavailable(self._told(case, session, f"the frame ended the server with {_end(ended)}", frame))
        if not alive and ended is None and not case.ends_input:
            raise Hung(self._told(case, session, "what was sent behind the frame is not answered any more", frame))

    def _control(self, case: Case) -> _Seen:
        """The well-formed twin was seen, in a process of its own; raises if not."""
        __tracebackhide__ = True
        if not self._is_spoken(case.revision):
            if not any(self._is_spoken(revision) for revision in REVISIONS):
                raise Inconclusive("the server answers the handshake of no revision")
            raise unittest.SkipTest(f"the server does not speak {case.revision}")
        state = (case.twin_phase, case.revision)
        if state not in self._controls:
            self._controls[state] = self._run_control(case)
        control = self._controls[state]
        if isinstance(control, str):
            raise Inconclusive(control)
        return control

    def _run_control(self, case: Case) -> _Seen | str:
        """What was seen, or why nothing can be said."""
        session = self._start()
        try:
            if not session.reach(case.twin_phase, case.revision):
                return "the handshake was answered once and then not again"
            marker, request_id = self._marker(), session.take_id()
            twin = self._call.fill_in(case.twin, marker, request_id)
            begun = time.monotonic()
            session.send(twin)
            answer = session.answer(request_id)
            if self._sees(marker, self._timeout):
                after = time.monotonic() - begun
                session.end_input()
                return _Seen(after, session.wait_end(self._timeout) is not None)
        finally:
            session.stop()
        answered = "was not answered" if answer is None else f"was answered {_shown(json.dumps(answer).encode())}"
        what = f"the well-formed call {answered}, and the recorder did not see its effect"
        return self._told(case, session, what, twin)

    def _is_spoken(self, revision: str) -> bool:
        if revision not in self._speaks:
            session = self._start()
            try:
                self._speaks[revision] = session.speaks(revision)
            finally:
                session.stop()
        return self._speaks[revision]

    def _start(self) -> Session:
        try:
            return Session(self._command, timeout=self._timeout, env=self._env, cwd=self._cwd)
        except OSError as error:
            raise Unavailable(f"the server cannot be started: {error}") from error

    def _marker(self) -> str:
        """Never used before; none is the beginning of another."""
        return f"fgm-{self._run}-{next(self._markers):06}"

    def _sees(self, marker: str, within: float) -> bool:
        deadline = time.monotonic() + within
        while not (seen := self._recorder(marker)) and time.monotonic() < deadline:
            time.sleep(_LOOK)
        return seen

    @staticmethod
    def _told(case: Case, session: Session, what: str, sent: bytes | None = None) -> str:
        lines = [what, f"case: {case.id}: {case.gist}", f"level: {case.level}, revision: {case.revision}"]
        if sent is not None:
            lines.append(f"sent: {_shown(sent)}")
        if session.stderr:
            lines.append(f"stderr ends: {session.stderr[-_SHOWN:]!r}")
        return "\n  ".join(lines)


def _shown(data: bytes) -> str:
    more = f"... ({len(data)} bytes)" if len(data) > _SHOWN else ""
    return f"{data[:_SHOWN]!r}{more}"


def _end(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
