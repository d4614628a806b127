"""The page's server: files, requests, and the stream of what happens (server-sent events). For this machine only.

    /TOKEN/            the page          /TOKEN/stream        server-sent events
    /TOKEN/page/...    its files         /TOKEN/api/NAME      GET: what is asked; POST with JSON: what is to be done
    /TOKEN/lib/...     libraries, as npm has installed them

Without the token, which is new each time, nothing is answered. Neither are requests that name another host: a page from elsewhere
could otherwise have its name lead here.
"""
import json
import mimetypes
import queue
import secrets
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from host._common import SENSELESS, Failure
from view.kernel import Refused

PAGE = Path(__file__).resolve().parent / "page"
# Of the libraries only these: address below lib/, path below node_modules.
LIBRARIES = {
    "xterm.mjs": "@xterm/xterm/lib/xterm.mjs",
    "xterm.css": "@xterm/xterm/css/xterm.css",
    "addon-fit.mjs": "@xterm/addon-fit/lib/addon-fit.mjs",
    "uPlot.mjs": "uplot/dist/uPlot.esm.js",
    "uPlot.css": "uplot/dist/uPlot.min.css",
}
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8"}
LONGEST = 1 << 20  # bytes of a request
POLL = 0.1  # seconds until the server notices that it is to end
NAME_MAX = 80  # characters of a file's name
# xterm.js makes style sheets of its own.
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # connections that may come while this process is busy with events

    def __init__(self, port, live, console, libraries):
        self.live, self.console, self.libraries = live, console, libraries
        self.thread = None
        self.token = secrets.token_urlsafe(18)
        super().__init__(("127.0.0.1", port), Handler)
        self.hosts = {f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"}

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def handle_error(self, request, client_address):
        """A page that went away is nothing to tell."""

    def start(self):
        self.thread = threading.Thread(target=self.serve_forever, args=(POLL,), daemon=True)
        self.thread.start()

    def server_close(self):
        if self.thread:
            self.shutdown()  # or that thread would go on with a socket that is closed
            self.thread.join()
        super().server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that a connection may be idle, in front of a request or within one

    def log_message(self, *unused):
        """No log of requests: it has no reader."""

    # ---- Answers ----

    def answer(self, content, kind="application/json", code=200):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, code, text):
        self.close_connection = True  # what may follow of the request is not read
        self.answer({"error": text}, code=code)

    def send_file(self, path):
        if len(path.name) > NAME_MAX or not path.is_file():
            return self.refuse(404, f"no file {path.name}")
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return self.answer(path.read_bytes(), kind)

    # ---- Requests ----

    def rest(self):
        """The address behind the token as its parts; None, with an answer sent, if it is not for us."""
        where = urllib.parse.urlsplit(self.path)
        parts = urllib.parse.unquote(where.path).split("/")[1:]
        if self.headers.get("Host") not in self.server.hosts:
            return self.refuse(403, "this address is for 127.0.0.1")
        if not parts or not secrets.compare_digest(parts[0].encode(), self.server.token.encode()):
            return self.refuse(403, "the token of this address is not that of a running `fathom view`")
        self.query = {name: values[0] for name, values in urllib.parse.parse_qs(where.query).items()}
        return parts[1:]

    def do_GET(self):
        self.handle_with(self.get)

    def do_POST(self):
        self.handle_with(self.post)

    def handle_with(self, work):
        """Each request gets an answer, whatever stands in it."""
        try:
            work()
        except TimeoutError:
            self.refuse(408, "the request has not come to its end")
        except ValueError as err:  # UnicodeError is one
            self.refuse(400, f"not a request of the page: {err}")

    def get(self):
        parts = self.rest()
        if parts is None:
            return None
        if parts in ([], [""]):
            return self.send_file(PAGE / "index.html")
        if parts == ["stream"]:
            return self.stream()
        if len(parts) == 2 and parts[0] == "page" and not parts[1].startswith("."):
            return self.send_file(PAGE / parts[1])
        if len(parts) == 2 and parts[0] == "lib" and parts[1] in LIBRARIES:
            return self.send_file(self.server.libraries / LIBRARIES[parts[1]])
        if len(parts) == 2 and parts[0] == "api":
            return self.ask(f"get_{parts[1]}", self.query)
        return self.refuse(404, "no such page")

    def post(self):
        parts = self.rest()
        if parts is None:
            return None
        origin = self.headers.get("Origin")
        if origin and urllib.parse.urlsplit(origin).netloc not in self.server.hosts:
            return self.refuse(403, "not from another page")
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= LONGEST or len(parts) != 2 or parts[0] != "api":
            return self.refuse(400, "not a request of the page")
        try:
            wanted = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            return self.refuse(400, "not JSON")
        return self.ask(f"post_{parts[1]}", wanted if isinstance(wanted, dict) else {})

    def ask(self, name, wanted):
        method = getattr(self, name, None)
        if not method:
            return self.refuse(404, f"no request {name}")
        try:
            found = method(wanted)
        except KeyError as err:
            return self.refuse(400, f"the request has no {err}")
        except Refused as err:
            return self.refuse(400, str(err))
        except Failure as gone:
            return self.refuse(503, str(gone))
        except TimeoutError:
            return self.refuse(504, "the kernel has not answered in time")
        except OSError as err:
            return self.refuse(409, err.strerror or str(err))
        except UnicodeEncodeError:
            return self.refuse(400, "half of a pair of surrogates is no text")
        except SENSELESS as err:
            return self.refuse(502, f"what the kernel says makes no sense: {err!r}")
        return self.answer(found)

    def stream(self):
        """Server-sent events until the page goes away."""
        self.close_connection = True
        page, before = self.server.live.hub.join()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b"".join(b"data: " + one + b"\n\n" for one in before) + b'data: {"kind":"live"}\n\n')
            while True:
                self.wfile.write(self.next_messages(page))
        except OSError:
            pass
        finally:
            self.server.live.hub.leave(page)

    @staticmethod
    def next_messages(page):
        """All that is there, in one piece; a comment when there is nothing, to notice that the page has gone."""
        try:
            some = [page.get(timeout=5)]
        except queue.Empty:
            return b":\n\n"
        while not page.empty():
            some.append(page.get())
        return b"".join(b"data: " + one + b"\n\n" for one in some)

    # ---- Questions, each by its name ----

    def get_functions(self, _query):
        return {"list": self.server.live.kernel.functions()}

    def get_events(self, _query):
        return {"list": self.server.live.kernel.read("available_events").split()}

    def get_file(self, query):
        return {"text": self.server.live.kernel.read(query["name"], 1 << 20)}

    def get_why(self, query):
        return {"text": self.server.live.kernel.why(query.get("name", ""))}

    def post_write(self, wanted):
        return self.server.live.write(str(wanted["name"]), str(wanted["text"]), bool(wanted.get("append")))

    def post_instance(self, wanted):
        self.server.live.choose(str(wanted["name"]))
        return {}

    def post_keys(self, wanted):
        self.server.console.type(str(wanted["text"]))
        return {}

    def post_script(self, wanted):
        return self.server.live.run_script(str(wanted["text"]))

    def post_clear_flame(self, _wanted):
        self.server.live.clear_flame()
        return {}
