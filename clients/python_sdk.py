"""The official Python SDK, as its documentation uses it: `Client(StdioServerParameters(…))`, and over HTTP."""

import asyncio

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

import shared


def server():
    if not shared.OVER_HTTP:
        return StdioServerParameters(**shared.SERVER)
    url, headers = shared.serve()
    return streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))


async def main():
    person = shared.Person()

    async def elicit(_context, question):
        accepted = person.answers(question.message)
        return types.ElicitResult(action="accept", content={"run": True}) if accepted else types.ElicitResult(action="decline")

    async with Client(server(), elicitation_callback=elicit) as client:

        async def call(name, arguments, on_progress=None):
            result = await client.call_tool(name, arguments, progress_callback=on_progress)
            return "\n".join(part.text for part in result.content if part.type == "text")

        async def names():
            return [tool.name for tool in (await client.list_tools()).tools]

        await shared.shows_list_and_call(call, await names())
        # Without a handshake, the session has the name of the token.
        shared.one_daemon(shared.OWN if shared.OVER_HTTP else "python")
        async with client.listen(tools_list_changed=True) as subscription:
            await shared.shows_list_change(subscription.__anext__, call, names)
        await shared.shows_cancel(call)
        await shared.shows_question(call, person)
        await shared.shows_progress(call, call)


asyncio.run(main())
