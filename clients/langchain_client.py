"""LangChain's adapter: tools that start a server for each call, and tools of one session."""

import asyncio

from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.types import ElicitResult

import shared


def text_of(answer):
    if isinstance(answer, str):
        return answer
    return "\n".join(part.get("text", "") for part in answer)


async def main():
    person = shared.Person()
    progress = []

    async def elicit(_context, params, _callback_context):
        accepted = person.answers(params.message)
        return ElicitResult(action="accept", content={"run": True}) if accepted else ElicitResult(action="decline")

    async def on_progress(*_):
        if progress:
            await progress[0]()

    connections = {"browser": {**shared.SERVER, "transport": "stdio"}}
    client = MultiServerMCPClient(connections, callbacks=Callbacks(on_progress=on_progress, on_elicitation=elicit))
    alone = {tool.name: tool for tool in await client.get_tools()}
    opened = text_of(await alone["new_page"].ainvoke({"url": f"{shared.PAGES}/fields.html"}))
    assert "fields.html" in opened, opened

    async with client.session("browser") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session, callbacks=client.callbacks, server_name="browser")}

        async def call(name, arguments):
            return text_of(await tools[name].ainvoke(arguments))

        async def call_with_progress(name, arguments, told):
            progress.append(told)
            return await call(name, arguments)

        await shared.shows_list_and_call(call, tools)
        shared.one_daemon("mcp")
        await shared.shows_question(call, person)
        await shared.shows_progress(call, call_with_progress)


asyncio.run(main())
