"""A scripted model: it implements the APIs that agents use, calls the tools of its script, and records the answers.

The script is a list of steps (tool, arguments). The number of tool answers says which step is next, so one instance
serves one conversation. A step names a tool by the end of the name under which the agent offers it.
"""

import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Ids must be unique, or agents confuse answers.
NUMBERS = itertools.count(1)


class FakeModel:
    def __init__(self, steps, prefix, before_last=lambda: None):
        self.steps, self.prefix, self.before_last = steps, prefix, before_last
        self.seen = []
        self.searches = 0
        self.missing = None
        self.lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length) or b"{}")
                model.answer(self, self.path.split("?")[0], body)

            def do_GET(self):
                model.send_json(self, {"data": [], "models": [], "object": "list"})

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, request, path, body):
        for end, protocol in PROTOCOLS.items():
            if path.endswith(end):
                offered, answers = protocol.read(body)
                break
        else:
            return self.send_json(request, {"input_tokens": 1, "totalTokens": 1})
        call = None
        # Agents send requests without tools for titles and such.
        if offered:
            with self.lock:
                call = self.next_call(offered, answers)
                self.seen.append({"offered": offered, "answers": answers, "call": call, "body": body})
        streams = path.endswith("streamGenerateContent") or body.get("stream")
        if streams:
            text = "".join(
                (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
                for event in protocol.events(call, body)
            )
            self.send(request, "text/event-stream", text + protocol.end)
        else:
            self.send_json(request, protocol.whole(call, body))

    def next_call(self, offered, answers):
        """The next step, or a search for its tool if the agent lets the model search, or the end.

        A model can call only what it is offered, so a tool that is missing ends the conversation.
        """
        step = len(answers) - self.searches
        if step >= len(self.steps):
            return None
        if step == len(self.steps) - 1:
            self.before_last()
        tool, arguments = self.steps[step]
        names = [name for name in offered if name == tool or name.endswith("_" + tool)]
        if not names and "ToolSearch" in offered:
            self.searches += 1
            return ("ToolSearch", {"query": f"select:{self.prefix}{tool}"})
        if not names:
            ours = [name for name in offered if name.startswith(self.prefix)]
            self.missing = f"{tool} is not offered after {self.steps[step - 1]}, only {ours}"
            return None
        return (names[0], arguments)

    def answers(self):
        """The answers of the tools, in order, without the results of searches."""
        assert self.missing is None, self.missing
        assert self.seen, "the agent asked no model"
        last = self.seen[-1]["answers"]
        is_search = lambda call: call and call[0] == "ToolSearch"
        searched = {number for number, seen in enumerate(self.seen) if is_search(seen["call"])}
        answers = [answer for number, answer in enumerate(last) if number not in searched]
        assert len(answers) == len(self.steps), f"{len(answers)} of {len(self.steps)} steps were answered: {answers}"
        return answers

    def send_json(self, request, value):
        self.send(request, "application/json", json.dumps(value))

    def send(self, request, kind, text):
        body = text.encode()
        request.send_response(200)
        request.send_header("content-type", kind)
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)


def as_text(content):
    return content if isinstance(content, str) else json.dumps(content)


class Anthropic:
    """Anthropic's messages, as Claude Code uses them."""

    end = ""

    @staticmethod
    def read(body):
        offered = [tool["name"] for tool in body.get("tools", [])]
        parts = [part for m in body["messages"] if isinstance(m["content"], list) for part in m["content"]]
        return offered, [as_text(part["content"]) for part in parts if part["type"] == "tool_result"]

    @staticmethod
    def events(call, body):
        number = next(NUMBERS)
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        usage = {"input_tokens": 1, "output_tokens": 1}
        yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        reason = "tool_use" if call else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}

    @staticmethod
    def whole(_call, body):
        content = [{"type": "text", "text": "Done."}]
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
                "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


class Responses:
    """OpenAI's responses, as Codex uses them."""

    end = ""

    @staticmethod
    def read(body):
        offered = []
        for tool in body.get("tools", []):
            if tool["type"] == "namespace":
                offered += [f"{tool['name']}__{inner['name']}" for inner in tool["tools"]]
            elif "name" in tool:
                offered.append(tool["name"])
        answers = [item for item in body["input"] if item.get("type") == "function_call_output"]
        return offered, [as_text(item["output"]) for item in answers]

    @staticmethod
    def events(call, body):
        response = {"id": "resp_1", "object": "response", "output": []}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": None, "output_tokens_details": None}
        yield {"type": "response.created", "response": response}
        if call:
            item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{next(NUMBERS)}", "name": call[0],
                    "arguments": json.dumps(call[1])}
            for tool in body["tools"]:
                if tool["type"] == "namespace" and call[0].startswith(tool["name"] + "__"):
                    item |= {"namespace": tool["name"], "name": call[0].removeprefix(tool["name"] + "__")}
        else:
            item = {"type": "message", "id": "m_1", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": {**response, "usage": usage}}

    @staticmethod
    def whole(call, body):
        number = next(NUMBERS)
        if call:
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0],
                    "arguments": json.dumps(call[1]), "status": "completed"}
        else:
            part = {"type": "output_text", "text": "Done.", "annotations": []}
            item = {"type": "message", "id": f"m_{number}", "role": "assistant", "status": "completed", "content": [part]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        return {"id": f"resp_{number}", "object": "response", "created_at": 1, "status": "completed", "error": None,
                "incomplete_details": None, "model": body["model"], "output": [item], "usage": usage, "tools": [],
                "parallel_tool_calls": False, "tool_choice": "auto"}


class Chat:
    """OpenAI's chat completions, as OpenCode uses them for a custom provider."""

    end = "data: [DONE]\n\n"

    @staticmethod
    def read(body):
        offered = [tool["function"]["name"] for tool in body.get("tools", [])]
        return offered, [as_text(m["content"]) for m in body["messages"] if m["role"] == "tool"]

    @staticmethod
    def events(call, body):
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            calls = [{"index": 0, "id": f"call_{next(NUMBERS)}", "type": "function", "function": function}]
            delta, reason = {"role": "assistant", "tool_calls": calls}, "tool_calls"
        else:
            delta, reason = {"role": "assistant", "content": "Done."}, "stop"
        yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}

    @staticmethod
    def whole(call, body):
        message, reason = {"role": "assistant", "content": "Done."}, "stop"
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            calls = [{"id": f"call_{next(NUMBERS)}", "type": "function", "function": function}]
            message, reason = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
        return {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


class Gemini:
    """Google's generateContent, as Gemini CLI uses it."""

    end = ""

    @staticmethod
    def read(body):
        offered = [f["name"] for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])]
        parts = [part for content in body["contents"] for part in content.get("parts", [])]
        return offered, [as_text(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]

    @classmethod
    def events(cls, call, body):
        yield cls.whole(call, body)

    @staticmethod
    def whole(call, _body):
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "Done."}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        content = {"role": "model", "parts": [part]}
        return {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}


PROTOCOLS = {
    "/messages": Anthropic,
    "/responses": Responses,
    "/chat/completions": Chat,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
}
