"""One process of the server: raw pipes, the handshake of either era, a sign of life.

Belongs here: bytes, sound messages, waiting. Does not belong here: hostile frames, verdicts.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import IO, Any

MODERN = "2026-07-28"
"""The revision whose requests stand alone, without a handshake."""

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)
"""The revisions that frames are written for."""

_META = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}
_LOOK = 0.005
"""Between two looks at whether the process has ended, in seconds. Nothing is judged by it."""
_PIPES = 2.0
"""How long a pipe that a descendant holds open is read after the end, in seconds."""


class Session:
    """A running server, in a process group of its own. `stop` ends it, whatever it does."""

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        """Starts it. Raises `OSError` if that cannot be done. `timeout`: of one answer, in seconds."""
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
        self._timeout = timeout
        self._next_id = 1
        self._changed = threading.Condition()
        self._open = 2
        self._stdout = bytearray()
        self._stderr = bytearray()
        # A server that does not read blocks this thread only.
        self._input: SimpleQueue[bytes | None] = SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read, args=(self._process.stdout, self._stdout), daemon=True),
            threading.Thread(target=self._read, args=(self._process.stderr, self._stderr), daemon=True),
        ]
        for thread in [*self._readers, threading.Thread(target=self._write, daemon=True)]:
            thread.start()

    @property
    def stderr(self) -> bytes:
        """What came on stderr by now."""
        with self._changed:
            return bytes(self._stderr)

    def take_id(self) -> int:
        """A request id that was not used, nor the one above it."""
        taken = self._next_id
        self._next_id += 2
        return taken

    def send(self, data: bytes) -> None:
        """Writes without waiting. That a server reads no more is seen by what it does not answer."""
        self._input.put(data)

    def end_input(self) -> None:
        """Ends its input behind what was sent."""
        self._input.put(None)

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """A request and its answer, if one comes in time."""
        request_id = self.take_id()
        request: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            request["params"] = params
        self.send(json.dumps(request).encode() + b"\n")
        return self.answer(request_id)

    def answer(self, request_id: int) -> dict[str, Any] | None:
        """The answer to this id, if it comes in time."""
        found: dict[str, Any] | None = None
        looked_at = 0

        def is_over() -> bool:
            nonlocal found, looked_at
            while found is None and (end := self._stdout.find(b"\n", looked_at)) >= 0:
                found = _answer(bytes(self._stdout[looked_at:end]), request_id)
                looked_at = end + 1
            return found is not None or self._open == 0

        with self._changed:
            self._changed.wait_for(is_over, self._timeout)
        return found

    def reach(self, phase: str, revision: str) -> bool:
        """Says what has been said in this phase; whether the server answered in this revision."""
        if phase == "new":
            return True
        if revision == MODERN:
            reply = self.ask("tools/list", _META)
            return reply is not None and "result" in reply
        client = {"name": "framegate-corpus", "version": "0"}
        reply = self.ask("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": client})
        result = reply.get("result") if reply else None
        if not isinstance(result, dict) or result.get("protocolVersion") != revision:
            return False
        if phase == "ready":
            self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return True

    def speaks(self, revision: str) -> bool:
        """Whether the server speaks the revision. For a process of its own: the answer may pin the era."""
        if revision == MODERN:
            reply = self.ask("server/discover", _META)
            return reply is not None and "result" in reply
        return self.reach("ready", revision)

    def is_alive(self, revision: str) -> bool:
        """Whether it still answers, whatever it says."""
        if revision == MODERN:
            return self.ask("server/discover", _META) is not None
        return self.ask("ping") is not None

    def wait_end(self, at_most: float) -> int | None:
        """The exit code, negative for a signal, if it ends in time."""
        deadline = time.monotonic() + at_most
        while (ended := self._ended()) is None and time.monotonic() < deadline:
            time.sleep(_LOOK)
        return ended

    def stop(self) -> None:
        """Kills the process group, and reads its pipes to their end."""
        self.end_input()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for reader in self._readers:
            reader.join(_PIPES)

    def _ended(self) -> int | None:
        # It is not waited for before `stop`: until then nobody else gets its number and is killed in its place.
        info = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if info is None:
            return None
        return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status

    def _read(self, pipe: IO[bytes], into: bytearray) -> None:
        with pipe:
            while piece := os.read(pipe.fileno(), 65536):
                with self._changed:
                    into += piece
                    self._changed.notify_all()
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError), pipe:
            while (data := self._input.get()) is not None:
                pipe.write(data)
                pipe.flush()


def _answer(line: bytes, request_id: int) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" in message:
        return None
    given = message.get("id")
    # `true` and `1.0` equal `1` in Python, and are no ids that were sent.
    return message if type(given) is int and given == request_id else None
