"""OpenAI's agents SDK: an agent with `MCPServerStdio` and a scripted model."""

import asyncio

from agents import Agent, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.mcp import MCPServerStdio
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import shared


class Scripted(Model):
    """Calls one tool, then repeats its answer."""

    def __init__(self, name, arguments):
        self.name, self.arguments, self.offered, self.answer = name, arguments, [], None

    async def get_response(self, *_, input, tools, **__):
        self.offered = [tool.name for tool in tools]
        answers = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if answers:
            self.answer = str(answers[-1]["output"])
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            output = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        else:
            import json

            output = ResponseFunctionToolCall(
                type="function_call", call_id="c", name=self.name, arguments=json.dumps(self.arguments)
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


async def main():
    set_tracing_disabled(True)
    async with MCPServerStdio(params=shared.SERVER) as server:
        offered = []

        async def call(name, arguments):
            model = Scripted(name, arguments)
            await Runner.run(Agent(name="tester", mcp_servers=[server], model=model), "Go.")
            offered[:] = model.offered
            return model.answer

        await call("list_pages", {})
        await shared.shows_list_and_call(call, offered)
        shared.one_daemon("python")

        async def names():
            await call("list_pages", {})
            return offered

        await shared.shows_list_change(None, call, names)
        await shared.shows_cancel(call)
        await shared.shows_question(call, None)


asyncio.run(main())
