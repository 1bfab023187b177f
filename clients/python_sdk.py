"""The official Python SDK, as its documentation uses it: `Client(StdioServerParameters(…))`."""

import asyncio

import mcp_types as types
from mcp import Client, StdioServerParameters

import shared


async def main():
    person = shared.Person()

    async def elicit(_context, question):
        accepted = person.answers(question.message)
        return types.ElicitResult(action="accept", content={"run": True}) if accepted else types.ElicitResult(action="decline")

    async with Client(StdioServerParameters(**shared.SERVER), elicitation_callback=elicit) as client:

        async def call(name, arguments, on_progress=None):
            result = await client.call_tool(name, arguments, progress_callback=on_progress)
            return "\n".join(part.text for part in result.content if part.type == "text")

        async def names():
            return [tool.name for tool in (await client.list_tools()).tools]

        await shared.shows_list_and_call(call, await names())
        shared.one_daemon("python")
        async with client.listen(tools_list_changed=True) as subscription:
            await shared.shows_list_change(subscription.__anext__, call, names)
        await shared.shows_cancel(call)
        await shared.shows_question(call, person)
        await shared.shows_progress(call, call)


asyncio.run(main())
