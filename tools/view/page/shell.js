// The guest's console in the page, by xterm.js.
import { css, h } from "./dom.js";
import { tell } from "./net.js";
import { on, store } from "./store.js";

export class Shell {
  constructor() {
    this.box = h("div.term");
    this.note = h("span.dim");
    this.element = h("div.wide", {}, h("div.bar", {}, this.note), this.box);
    this.typed = "";
    on("console", (message) => this.terminal?.write(message.text));
    on("begin", () => this.terminal?.reset());
    this.ready = this.load();
  }

  async load() {
    try {
      const [{ Terminal }, { FitAddon }] = await Promise.all([
        import("../lib/xterm.mjs"),
        import("../lib/addon-fit.mjs"),
      ]);
      document.head.append(h("link", { rel: "stylesheet", href: "lib/xterm.css" }));
      this.Terminal = Terminal;
      this.fit = new FitAddon();
    } catch {
      this.note.textContent = "xterm.js is not installed; `make view-page` does that.";
    }
  }

  /** A terminal can only measure itself where it is seen. */
  async shown() {
    await this.ready;
    if (!this.Terminal) return;
    if (!this.terminal) this.open();
    this.terminal.options.theme = theme();
    this.fit.fit();
    this.terminal.focus();
    this.note.textContent = `${
      store.about?.has_console
        ? "the kernel's console"
        : "a shell in the kernel; its console is in the terminal where it was started"
    }. Something to look at: hackbench, stress all, preemptirq_delay irq 2000; help lists all.`;
  }

  open() {
    this.terminal = new this.Terminal({
      fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace",
      fontSize: 13,
      scrollback: 5000,
      theme: theme(),
    });
    this.terminal.loadAddon(this.fit);
    this.terminal.open(this.box);
    this.terminal.write(store.console);
    this.terminal.onData((text) => {
      this.typed += text;
      this.send();
    });
    new ResizeObserver(() => {
      if (this.box.clientWidth) this.fit.fit();
    }).observe(this.box);
  }

  /** Keys in their order: what is typed while a request is under way goes with the next one. */
  async send() {
    if (this.sending || !this.typed) return;
    this.sending = true;
    const text = this.typed;
    this.typed = "";
    await tell("keys", { text });
    this.sending = false;
    this.send();
  }
}

function theme() {
  return {
    background: css("--area"),
    foreground: css("--text"),
    cursor: css("--accent"),
    cursorAccent: css("--area"),
    selectionBackground: css("--accent-soft"),
  };
}
