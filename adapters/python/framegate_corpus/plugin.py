"""The pytest plugin: options, and the parametrised `framegate_case`.

Belongs here: pytest. Does not belong here: what a case does.
"""

from __future__ import annotations

import pytest

from .corpus import DEFAULT_LEVELS, LEVELS, CorpusError, load
from .session import REVISIONS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the options."""
    group = parser.getgroup("framegate", "hostile MCP frames")
    group.addoption(
        "--framegate-corpus",
        metavar="DIR",
        help="the folder that `framegate corpus export DIR` wrote; or `framegate_corpus` in the ini file",
    )
    group.addoption(
        "--framegate-level",
        action="append",
        choices=LEVELS,
        help="only frames that break a rule of this level; may be given several times; by default must and should",
    )
    group.addoption(
        "--framegate-revision",
        action="append",
        choices=REVISIONS,
        help="only frames of this protocol revision; may be given several times; by default all",
    )
    parser.addini("framegate_corpus", type="paths", default=[], help="see --framegate-corpus")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes one test for each frame of every test function that takes `framegate_case`."""
    if "framegate_case" not in metafunc.fixturenames:
        return
    options = metafunc.config
    folder = options.getoption("--framegate-corpus") or next(iter(options.getini("framegate_corpus")), None)
    if folder is None:
        raise pytest.UsageError(
            "`framegate_case` needs --framegate-corpus DIR; `framegate corpus export DIR` writes that folder"
        )
    levels = options.getoption("--framegate-level") or DEFAULT_LEVELS
    try:
        cases = load(folder, levels=levels, revisions=options.getoption("--framegate-revision"))
    except CorpusError as error:
        raise pytest.UsageError(str(error)) from error
    metafunc.parametrize("framegate_case", cases, ids=[case.id for case in cases])
