"""A server's own test: hostile frames around a call of its tool must have no effect.

EXAMPLE_SERVER is the server's command as a JSON array, in which `{folder}` stands for the folder that its tool
`probe_write` makes files in; EXAMPLE_TIMEOUT, if set, how long it may take to answer, in seconds.
"""

import json
import os

import pytest
from framegate_corpus import Case, Target


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("effects")
    command = [part.replace("{folder}", str(folder)) for part in json.loads(os.environ["EXAMPLE_SERVER"])]
    return Target(
        command,
        tool="probe_write",
        arguments={"marker": "{marker}"},
        seen=lambda marker: (folder / marker).exists(),
        timeout=float(os.environ.get("EXAMPLE_TIMEOUT", "5")),
    )


def test_hostile_frame_is_refused(framegate_case: Case, target: Target) -> None:
    framegate_case.check(target)
