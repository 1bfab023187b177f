"""The pages that the clients work on, and a way to wait until a path has been requested."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

FIXTURES = Path(__file__).parent.parent / "fixtures"

# Its text appears only when the path has been requested.
LATE = """<title>Late</title><h1>Late</h1>
<script>
fetch('/_wait?path=' + location.search.slice(1)).then(() => document.body.append('It is here'))
</script>"""

# Offers a tool that cannot be undone, so a person has to agree.
SHOP = """<title>Shop</title><h1>Shop</h1>
<script>
window.bought = [];
document.modelContext.registerTool({
  name: 'buy', description: 'Buys an article.', annotations: {consequentialHint: true},
  inputSchema: {type: 'object', properties: {item: {type: 'string'}}},
  execute: ({item}) => { bought.push(item); return 'bought ' + item; }});
</script>"""

PAGES = {"/late": LATE, "/shop": SHOP}


class Pages:
    """A web server on a free port of loopback."""

    def __init__(self):
        self.requested = set()
        self.changed = threading.Condition()
        pages = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                pages.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, request):
        address = urlsplit(request.path)
        if address.path == "/_wait":
            wanted = parse_qs(address.query)["path"][0]
            with self.changed:
                self.changed.wait_for(lambda: wanted in self.requested)
        else:
            with self.changed:
                self.requested.add(address.path)
                self.changed.notify_all()
        body = PAGES.get(address.path, "")
        fixture = FIXTURES / address.path.lstrip("/")
        if address.path.endswith(".html") and fixture.parent == FIXTURES and fixture.is_file():
            body = fixture.read_text()
        try:
            request.send_response(200)
            request.send_header("content-type", "text/html; charset=utf-8")
            request.send_header("content-length", str(len(body.encode())))
            request.end_headers()
            request.wfile.write(body.encode())
        except OSError:
            pass  # The browser did not wait for the answer.
