"""The exported corpus: its index, its frames, and how their holes are filled in.

Belongs here: what `framegate corpus export` writes. Does not belong here: processes, verdicts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check import Target

FORMAT = 3
"""The version of `index.json` that is read."""

LEVELS = ("must", "should", "policy")
"""How binding the rule is that a frame breaks. `policy`: the texts are silent."""

DEFAULT_LEVELS = ("must", "should")
"""The levels at which an effect is a defect by any reading."""

_HOLE = re.compile(
    rb"\$\{(tool|arguments|arguments_text|members|other_members|escaped_members|marker|id|next)\}"
)


def other(marker: str) -> str:
    """Stands for the marker in arguments that are given beside the frame's own."""
    return f"{marker}-other"



class CorpusError(Exception):
    """The folder is no export that this version reads, or the call does not fit its frames."""


@dataclass(frozen=True)
class Call:
    """A well-formed call of the server's own tool."""

    tool: str
    arguments: str
    """A JSON object in which `{marker}` stands for the marker."""

    @classmethod
    def of(cls, tool: str, arguments: Mapping[str, object]) -> Call:
        """A call from plain values.

        Raises `CorpusError` if they are no JSON, or if no argument holds `{marker}`.
        """
        try:
            text = _as_json(dict(arguments))
            text.encode()
        except (TypeError, ValueError) as error:
            raise CorpusError(f"the arguments are no JSON: {error}") from error
        if "{marker}" not in text:
            raise CorpusError(
                "no argument holds {marker}, so that no effect could be told from another: "
                "write it where the effect will show it"
            )
        return cls(tool, text)

    def fill_in(self, template: bytes, marker: str, request_id: int) -> bytes:
        """The bytes to send."""
        arguments = self.arguments.replace("{marker}", marker)
        beside = self.arguments.replace("{marker}", other(marker))
        values = {
            "tool": _in_string(self.tool),
            "arguments": arguments,
            "arguments_text": _in_string(arguments),
            "members": arguments[1:-1],
            "other_members": beside[1:-1],
            "escaped_members": ",".join(
                f'"{_all_escaped(name)}":{_as_json(value)}' for name, value in json.loads(beside).items()
            ),
            "marker": marker,
            "id": str(request_id),
            "next": str(request_id + 1),
        }
        return _HOLE.sub(lambda found: values[found[1].decode()].encode(), template)


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _in_string(text: str) -> str:
    """The text as the content of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _all_escaped(text: str) -> str:
    """The same, every UTF-16 unit written as an escape."""
    units = text.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


@dataclass(frozen=True)
class Case:
    """A hostile frame: a whole call of any tool that must be refused, with its well-formed twin."""

    id: str
    """`REASON/NAME`, as `framegate corpus list` prints it."""
    gist: str
    """What is wrong with the frame, in one line."""
    level: str
    """One of `LEVELS`."""
    revision: str
    """The protocol revision of the session."""
    phase: str
    """What was said before the frame: `new`, `initializing`, `ready` or `modern`."""
    twin_phase: str
    """The same for the twin."""
    ends_input: bool
    """Whether the input ends right behind the frame."""
    frame: bytes
    """The frame, with holes."""
    twin: bytes
    """The twin, with holes."""

    def check(self, target: Target) -> None:
        """Passes if the server refuses the frame, and raises a `Failure` otherwise.

        Raises `unittest.SkipTest`, which pytest knows, if the server speaks other revisions only.
        """
        __tracebackhide__ = True
        target.check(self)


def load(
    folder: str | os.PathLike[str],
    *,
    levels: Collection[str] = DEFAULT_LEVELS,
    revisions: Collection[str] | None = None,
) -> list[Case]:
    """The hostile frames of an exported folder that fit any server, of these levels and revisions.

    Raises `CorpusError` if the folder is no such export, or if no frame is left.
    """
    index = Path(folder) / "index.json"
    try:
        read = json.loads(index.read_bytes())
        if not isinstance(read, dict) or read.get("format") != FORMAT:
            raise CorpusError(f"{index}: not of format {FORMAT}: export the corpus anew, or update this package")
        cases = [
            _case(Path(folder), entry)
            for entry in read["cases"]
            if entry["general"] and entry["must_refuse"] and entry["level"] in levels
            if revisions is None or entry["revision"] in revisions
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{index}: {error!r}; `framegate corpus export DIR` writes such a folder") from error
    if not cases:
        raise CorpusError(f"{index}: no frame is of these levels and revisions: nothing would be tested")
    return cases


def _case(folder: Path, entry: Mapping[str, str | bool]) -> Case:
    return Case(
        id=str(entry["id"]),
        gist=str(entry["gist"]),
        level=str(entry["level"]),
        revision=str(entry["revision"]),
        phase=str(entry["phase"]),
        twin_phase=str(entry["twin_phase"]),
        ends_input=bool(entry["ends_input"]),
        frame=(folder / str(entry["frame"])).read_bytes(),
        twin=(folder / str(entry["twin"])).read_bytes(),
    )
