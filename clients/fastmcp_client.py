"""fastmcp's client, with the configuration that its documentation shows: `Client({"mcpServers": …})`."""

import asyncio

from fastmcp import Client

import shared


async def main():
    person = shared.Person()
    changed = asyncio.Event()

    async def elicit(message, _form, _params, _context):
        from fastmcp.client.elicitation import ElicitResult

        return ElicitResult(action="accept", content={"run": True}) if person.answers(message) else ElicitResult(action="decline")

    server = shared.SERVER
    if shared.OVER_HTTP:
        url, headers = shared.serve()
        server = {"url": url, "headers": headers}
    configuration = {"mcpServers": {"browser": server}}
    async with Client(configuration, elicitation_handler=elicit) as client:

        async def call(name, arguments, on_progress=None):
            result = await client.call_tool(name, arguments, progress_handler=on_progress, raise_on_error=False)
            return "\n".join(part.text for part in result.content if part.type == "text")

        async def names():
            return [tool.name for tool in await client.list_tools()]

        await shared.shows_list_and_call(call, await names())
        # Without a handshake, the session has the name of the token.
        shared.one_daemon(shared.OWN if shared.OVER_HTTP else "python")
        await shared.shows_list_change(asyncio.sleep, call, names)
        await shared.shows_cancel(call)
        await shared.shows_question(call, person)
        await shared.shows_progress(call, call)


asyncio.run(main())
