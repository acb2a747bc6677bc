"""An MCP server that takes the last of two members of one name, and whose tool acts where it is hard to see.

Belongs here: ways of acting. Does not belong here: what must be seen of them (e2e/tests/blindness.rs).

unseen.py WAY FOLDER PORT: `mapped` stores into a writable mapping of a file, `log` appends to a file that is open already,
`warm` sends over a connection that is open already, `daemon` hands the work to a process that has left the session,
`thread` acts a while after the answer, `nothing` does not act at all.
"""

import json
import mmap
import os
import socket
import sys
import threading

way, folder, port = sys.argv[1:4]
path = os.path.join(folder, "store")


def mapped():
    with open(path, "w+b") as file:
        file.write(b"\0" * 4096)
        file.flush()
        store = mmap.mmap(file.fileno(), 4096)
    return lambda marker: store.__setitem__(slice(0, len(marker)), marker.encode())


def log():
    file = open(path, "ab", buffering=0)
    return lambda marker: file.write(marker.encode() + b"\n")


def warm():
    connection = socket.create_connection(("127.0.0.1", int(port)))
    return lambda marker: connection.sendall(marker.encode() + b"\n")


def daemon():
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        os.setsid()
        ours.close()
        for number in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        while marker := theirs.recv(1000):
            with open(os.path.join(folder, "of-the-daemon"), "ab") as file:
                file.write(marker)
        os._exit(0)
    theirs.close()
    return lambda marker: ours.sendall(marker.encode())


def thread():
    def act(marker):
        with open(path, "a") as file:
            file.write(marker)

    return lambda marker: threading.Timer(0.2, act, [marker]).start()


act = {"mapped": mapped, "log": log, "warm": warm, "daemon": daemon, "thread": thread}.get(way, lambda: lambda _: None)()


def answer(request):
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            server = {"name": "unseen", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            schema = {"type": "object", "properties": {"marker": {"type": "string"}}, "required": ["marker"]}
            return {"tools": [{"name": "act", "inputSchema": schema}]}
        case "tools/call":
            if request["params"]["name"] == "act":
                act(request["params"]["arguments"]["marker"])
            return {"content": []}
        case "ping":
            return {}


for line in sys.stdin.buffer:
    try:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        result = answer(request)
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown"}}
    except (ValueError, KeyError, TypeError):
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
