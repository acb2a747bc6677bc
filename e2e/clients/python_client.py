"""Drives a server with PyPI `mcp`, 1.x or 2.x, and prints what it saw as one JSON object.

Belongs here: connect, list, call, tool error, denial, cancel, close, as a user of that library writes
them. Does not belong here: judging. `python_client.py PLAN` where PLAN is the JSON of `clients.rs`.
"""

import asyncio
import importlib.metadata
import json
import os
import sys

MAJOR = int(importlib.metadata.version("mcp").split(".")[0])
PLAN = json.loads(sys.argv[1])


def seen(result):
    """A tool result as the caller of the library sees it, in the spelling of either version."""
    dump = result.model_dump(by_alias=True)
    return {
        "is_error": bool(dump.get("isError")),
        "text": "".join(block.get("text", "") for block in dump["content"]),
        "structured": dump.get("structuredContent"),
    }


async def attempt(call):
    try:
        return seen(await call)
    except Exception as error:  # whatever the library raises is what its user gets
        return {"raised": f"{type(error).__name__}: {error}"}


async def wait_for_file(path):
    while not os.path.exists(path):
        await asyncio.sleep(0.01)


async def steps(call_tool, list_tools, cancel_call, report):
    tools = await list_tools()
    report["tools"] = sorted(tool.name for tool in tools.tools)
    for name in ("good", "tool_error", "denied"):
        step = PLAN[name]
        report[name] = await attempt(call_tool(step["tool"], step["arguments"]))
    step = PLAN["cancel"]
    pending = asyncio.ensure_future(call_tool(step["tool"], step["arguments"]))
    await wait_for_file(step["when"])
    report["cancelled"] = await cancel_call(pending)
    open(step["then"], "w").close()
    step = PLAN["after"]
    report["after"] = await attempt(call_tool(step["tool"], step["arguments"]))


async def given_up(pending):
    """Whether a call that was given up stays without an answer."""
    pending.cancel()
    try:
        return {"answered": seen(await pending)}
    except asyncio.CancelledError:
        return "given up"


async def version_1(report):
    from mcp import ClientSession, StdioServerParameters, types
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=PLAN["command"][0], args=PLAN["command"][1:], env={})
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            report["revision"] = (await session.initialize()).protocolVersion

            async def cancel(pending):
                # This library leaves the notification to its user; its last request is the call.
                params = types.CancelledNotificationParams(requestId=session._request_id - 1)
                note = types.CancelledNotification(method="notifications/cancelled", params=params)
                await session.send_notification(types.ClientNotification(note))
                return await given_up(pending)

            await steps(session.call_tool, session.list_tools, cancel, report)


async def version_2(report):
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(command=PLAN["command"][0], args=PLAN["command"][1:], env={})
    async with Client(server, mode=PLAN["mode"]) as client:
        report["revision"] = client.session.protocol_version
        await steps(client.call_tool, client.list_tools, given_up, report)


async def main():
    report = {"library": f"mcp {importlib.metadata.version('mcp')}"}
    await (version_1 if MAJOR == 1 else version_2)(report)
    report["closed"] = True
    print(json.dumps(report))


asyncio.run(main())
