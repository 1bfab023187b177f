"""Pydantic AI: an agent with `MCPToolset` and a scripted model."""

import asyncio

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import shared


def server():
    if not shared.OVER_HTTP:
        return StdioTransport(**shared.SERVER)
    url, headers = shared.serve()
    return StreamableHttpTransport(url, headers=headers)


async def main():
    person = shared.Person()
    progress = []
    offered = []

    async def elicit(message, _form, _params, _context):
        from fastmcp.client.elicitation import ElicitResult

        return ElicitResult(action="accept", content={"run": True}) if person.answers(message) else ElicitResult(action="decline")

    async def on_progress(*_):
        if progress:
            await progress[0]()

    toolset = MCPToolset(
        server(),
        elicitation_handler=elicit,
        progress_handler=on_progress,
        tool_error_behavior="failed",
    )
    async with toolset:

        async def call(name, arguments):
            answers = []

            def model(messages, info):
                offered[:] = [tool.name for tool in info.function_tools]
                returned = [part for part in messages[-1].parts if part.part_kind == "tool-return"]
                if returned:
                    answers.append(str(returned[-1].content))
                    return ModelResponse(parts=[TextPart("Done.")])
                return ModelResponse(parts=[ToolCallPart(name, arguments)])

            await Agent(FunctionModel(model), toolsets=[toolset]).run("Go.")
            return answers[-1]

        async def call_with_progress(name, arguments, told):
            progress.append(told)
            return await call(name, arguments)

        async def names():
            await call("list_pages", {})
            return offered

        await names()
        await shared.shows_list_and_call(call, offered)
        # Without a handshake, the session has the name of the token.
        shared.one_daemon(shared.OWN if shared.OVER_HTTP else "python")
        await shared.shows_cancel(call)
        await shared.shows_question(call, person)
        await shared.shows_progress(call, call_with_progress)


asyncio.run(main())
