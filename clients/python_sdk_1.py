"""The official Python SDK for the protocol before 2026-07-28: a session with a handshake."""

import asyncio

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

import shared


async def main():
    person = shared.Person()
    news = asyncio.Queue()

    async def elicit(_context, question):
        accepted = person.answers(question.message)
        return types.ElicitResult(action="accept", content={"run": True}) if accepted else types.ElicitResult(action="decline")

    async def on_message(message):
        if isinstance(message, types.ServerNotification) and isinstance(message.root, types.ToolListChangedNotification):
            news.put_nowait(True)

    async with (
        stdio_client(StdioServerParameters(**shared.SERVER)) as (reading, writing),
        ClientSession(reading, writing, elicitation_callback=elicit, message_handler=on_message) as session,
    ):
        await session.initialize()

        async def call(name, arguments, on_progress=None):
            result = await session.call_tool(name, arguments, progress_callback=on_progress)
            return "\n".join(part.text for part in result.content if part.type == "text")

        async def names():
            return [tool.name for tool in (await session.list_tools()).tools]

        await shared.shows_list_and_call(call, await names())
        shared.one_daemon("mcp")
        await shared.shows_list_change(news.get, call, names)
        await shared.shows_question(call, person)
        await shared.shows_progress(call, call)


asyncio.run(main())
