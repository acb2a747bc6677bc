"""A server that mistreats whoever reads it, for `framegate check` to survive.

Belongs here: ways to flood, to fall silent and to leave processes behind, each a word.
Does not belong here: what the bench says of them (`e2e/tests/survival.rs`).

`hostile.py TAG WAY`. TAG is in the arguments of every process that is forked here, so that it can be found. But for its
way, which is named below, it is a sound server with one tool.
"""

import json
import os
import signal
import sys
import threading
import time

WAY = sys.argv[2]
PIECE = 64 * 1024
CHILDREN = 50


def write(descriptor, piece):
    """All of it; ends the process when nobody reads any more."""
    while piece:
        piece = piece[os.write(descriptor, piece) :]


def flood(descriptor, unit, pieces=None):
    piece = unit * (PIECE // len(unit))
    while pieces is None or pieces > 0:
        write(descriptor, piece)
        pieces = pieces and pieces - 1


def forked(act):
    """A process that does this and never comes back."""
    child = os.fork()
    if child == 0:
        try:
            act()
            while True:
                time.sleep(60)
        finally:
            os._exit(0)
    return child


def detached(act):
    """The same in a session of its own, without a parent and without our environment's memory of it."""

    def daemon():
        os.setsid()
        forked(act)
        os._exit(0)

    os.waitpid(forked(daemon), 0)


def let_go():
    """Holds none of the standard streams."""
    for descriptor in range(3):
        os.close(descriptor)


def renamed():
    """Another program with an empty environment, which holds none of the streams."""
    let_go()
    os.execve("/bin/sh", ["sh", "-c", "while :; do sleep 1; done", sys.argv[1]], {})


def late(process):
    """Writes once this process has ended, be it waited for or not."""

    def act():
        while os.path.exists(f"/proc/{process}/exe"):
            time.sleep(0.01)
        flood(1, b"late\n")

    return act


def serve():
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        results = {
            "initialize": lambda: {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "hostile", "version": "0"},
            },
            "tools/list": lambda: {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]},
            "tools/call": lambda: {"content": []},
            "ping": lambda: {},
        }
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in results:
            answer["result"] = results[message["method"]]()
        else:
            answer["error"] = {"code": -32601, "message": "no such method"}
        write(1, json.dumps(answer).encode() + b"\n")
        if WAY == "reads-no-more" and message["method"] == "tools/list":
            time.sleep(3600)


WAYS = {
    "floods-messages": lambda: flood(1, b'{"jsonrpc":"2.0","method":"notifications/message"}\n'),
    "floods-garbage": lambda: flood(1, b"garbage\n"),
    "floods-blank-lines": lambda: flood(1, b"\n"),
    "floods-brackets": lambda: flood(1, b"{\n"),
    "floods-one-line": lambda: flood(1, b"x", pieces=2_000),
    "floods-one-array": lambda: (write(1, b"[0"), flood(1, b",0", pieces=400), write(1, b"]\n"), flood(1, b"\n")),
    "floods-stderr": lambda: flood(2, b"log\n"),
    "floods-both": lambda: (threading.Thread(target=flood, args=(2, b"log\n")).start(), flood(1, b"garbage\n")),
    "logs-for-ever": lambda: threading.Thread(target=flood, args=(2, b"log\n"), daemon=True).start(),
    "never-reads": lambda: time.sleep(3600),
    "reads-no-more": lambda: None,
    "closes-stdin": lambda: (os.close(0), time.sleep(3600)),
    "closes-stdout": lambda: (os.close(1), time.sleep(3600)),
    "closes-stderr": lambda: os.close(2),
    "closes-all": lambda: (let_go(), time.sleep(3600)),
    "leaves-children": lambda: [forked(let_go) for _ in range(CHILDREN)],
    "leaves-sessions": lambda: [detached(let_go) for _ in range(CHILDREN)],
    "leaves-a-stranger": lambda: detached(renamed),
    "leaves-a-holder": lambda: detached(lambda: None),
    "ignores-sigterm": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "writes-after-its-end": lambda: forked(late(os.getpid())),
    "sessions-write-after-its-end": lambda: detached(late(os.getpid())),
}


WAYS[WAY]()
serve()
