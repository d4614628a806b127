// Probes: events of one's own at any function, return or instruction.
import { h, isNew, toggle } from "./dom.js";
import { ask, command, write } from "./net.js";
import { on, store } from "./store.js";

const KINDS = [
  ["f", "entry, by ftrace"],
  ["f%return", "return, by ftrace"],
  ["p", "entry or instruction"],
  ["r", "return"],
];

export class Probes {
  constructor() {
    const preview = () => this.preview();
    this.kind = h(
      "select",
      { onchange: preview },
      KINDS.map(([value, text]) => h("option", { value }, text)),
    );
    this.where = h("input", {
      type: "text",
      placeholder: "function, or function+0x5",
      oninput: preview,
      onchange: () => this.why(),
    });
    this.name = h("input", { type: "text", placeholder: "name of the event", oninput: preview });
    this.what = h("input", { type: "text", placeholder: "values, e.g. $arg* or ret=$retval", oninput: preview });
    this.line = h("code.preview");
    this.about = h("pre.dim", { style: "margin-top:6px;white-space:pre-wrap" });
    this.list = h("div.list");
    const full = (input) => {
      input.style.flex = "1";
      return h("div.row", {}, input);
    };
    this.element = [
      this.list,
      h(
        "div.detail",
        {},
        h("h3", {}, "a new probe"),
        h("div.row", {}, this.kind),
        full(this.where),
        full(this.name),
        full(this.what),
        this.line,
        h("div.row", {}, h("button.main", { onclick: () => this.make() }, "make it, and switch it on")),
        this.about,
      ),
    ];
    on("settings", () => {
      this.show();
      this.preview();
    });
    this.preview();
  }

  event() {
    return (
      this.name.value.trim() ||
      `${this.where.value.trim().replace(/\W+/g, "_") || "name"}${/return|r/.test(this.kind.value) ? "_ret" : ""}`
    );
  }

  text() {
    const [kind, suffix] = this.kind.value.split("%");
    return `${kind}:view/${this.event()} ${this.where.value.trim() || "FUNCTION"}${suffix ? "%return" : ""} ${this.what.value.trim()}`.trim();
  }

  preview() {
    this.line.textContent = `${command("dynamic_events", this.text(), true)}\n${command(`events/view/${this.event()}/enable`, "1")}`;
  }

  async make() {
    if (await write("dynamic_events", this.text(), true)) await write(`events/view/${this.event()}/enable`, "1");
  }

  async why() {
    const name = this.where.value.trim().split("+")[0];
    this.about.textContent = name ? (await ask("why", { name }))?.text.trim() || "" : "";
  }

  show() {
    if (!isNew(this, store.settings.dynamic_events, store.settings.set_event)) return;
    const enabled = new Set((store.settings.set_event || "").split("\n"));
    const found = (store.settings.dynamic_events || "").split("\n").filter((line) => /^\w+:/.test(line));
    this.list.replaceChildren(
      ...found.map((line) => {
        const event = line.split(/[: ]/)[1],
          [system, name] = event.split("/");
        return h(
          "div.item",
          { title: line },
          toggle(enabled.has(`${system}:${name}`), (on_) => write(`events/${event}/enable`, on_ ? "1" : "0")),
          h("span.name", {}, line),
          h(
            "button",
            {
              title: "take it away",
              onclick: async () => {
                if (enabled.has(`${system}:${name}`) && !(await write(`events/${event}/enable`, "0"))) return;
                write("dynamic_events", `-:${event}`, true);
              },
            },
            "×",
          ),
        );
      }),
      found.length
        ? ""
        : h("div.note", {}, "No probes. One at a function's entry shows each call with the values you ask for."),
    );
  }
}
