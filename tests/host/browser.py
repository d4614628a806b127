"""A headless Chromium, driven by its DevTools protocol over two pipes: nothing but the browser is needed for that.

    with Browser() as browser:
        page = browser.page(address); page.click("button.main"); page.wait("document.title")
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PATIENCE = 5  # how much slower than an idle one a machine may be


class Browser:
    def __init__(self, width=1280, height=800):
        self.home = tempfile.mkdtemp(prefix="fathom-browser-")
        command_in, self.commands = os.pipe()
        self.answers, answers_out = os.pipe()

        def pipes():
            # The browser reads from 3 and writes to 4. Duplicates first: one of ours may be 3 or 4 itself.
            spare_in, spare_out = os.dup(command_in), os.dup(answers_out)
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        words = [
            "setpriv",
            "--pdeathsig",
            "TERM",
            "chromium",
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            f"--window-size={width},{height}",
            f"--user-data-dir={self.home}",
            "about:blank",
        ]
        self.process = subprocess.Popen(
            words,
            preexec_fn=pipes,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(command_in)
        os.close(answers_out)
        self.width, self.height = width, height
        self.number, self.buffer, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(10)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.home, ignore_errors=True)

    def _message(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(end - time.monotonic(), 0))
            data = os.read(self.answers, 1 << 20) if ready else b""
            if not data:
                raise AssertionError("the browser does not answer" if not ready else "the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        end = time.monotonic() + 30 * PATIENCE
        while True:
            answer = self._message(end)
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer.get('error')}"
                return answer["result"]
            self.events.append(answer)

    def page(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        page.call("Runtime.enable")
        page.call("Page.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=self.width, height=self.height, deviceScaleFactor=1, mobile=False)
        page.call("Page.navigate", url=address)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def run(self, expression):
        """The value of an expression of JavaScript; of a promise what comes of it."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def wait(self, expression, seconds=20):
        """Until the expression is true; its value."""
        end = time.monotonic() + seconds * PATIENCE
        while not (
            value := self.run(
                f"(() => {{ try {{ const one = {expression}; return one instanceof Element || one; }} catch (error) {{ return null; }} }})()"
            )
        ):
            assert time.monotonic() < end, f"never true: {expression}\n{self.errors()}\n{self.run('document.body.innerText')}"
            time.sleep(0.05)
        return value

    def errors(self):
        """Exceptions of the page, and its words on the browser's console."""
        found = [
            one
            for one in self.browser.events
            if one.get("sessionId") == self.session and one["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        ]
        return [json.dumps(one["params"])[:600] for one in found]

    def place(self, selector):
        """The middle of an element, which is brought into view."""
        return self.wait(
            f"(() => {{ const e = {found(selector)}; e.scrollIntoView({{block: 'nearest'}}); const r = e.getBoundingClientRect(); "
            "return r.width && [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )

    def click(self, selector):
        x, y = self.place(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, buttons=1)

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type(self, selector, text, enter=False):
        self.click(selector)
        self.run(f"{found(selector)}.select?.()")
        self.call("Input.insertText", text=text)
        if enter:
            self.key("Enter", "\r")

    def key(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                text=text if kind == "keyDown" else "",
                windowsVirtualKeyCode={"Enter": 13}.get(key, 0),
            )

    def keys(self, text):
        """Key by key, to what has the focus."""
        for one in text:
            self.call("Input.dispatchKeyEvent", type="char", text=one)

    def choose(self, selector, value):
        self.run(f"(() => {{ const e = {found(selector)}; e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change')); }})()")

    def picture(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


def found(selector):
    """JavaScript for an element: a CSS selector, or "selector=text" for the first whose own text begins so."""
    css, _, text = selector.partition("=")
    if not text or "[" in css:
        return f"document.querySelector({json.dumps(selector)})"
    return f"[...document.querySelectorAll({json.dumps(css)})].find((one) => one.textContent.trim().startsWith({json.dumps(text)}))"
