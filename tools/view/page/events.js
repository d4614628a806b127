// The list of events: on and off, filters, triggers, fields.
import { h, isNew, toggle } from "./dom.js";
import { ask, write } from "./net.js";
import { on, store } from "./store.js";

/** Lines "system:event<tab>text" of show_event_filters and show_event_triggers: those of one event. */
const linesOf = (text, event) =>
  (text || "")
    .split("\n")
    .filter((line) => line.split(/\s/)[0] === event)
    .map((line) => line.slice(event.length).trim());

export class Events {
  constructor() {
    this.chosen = null;
    this.find = h("input", { type: "search", placeholder: "search events", oninput: () => this.show() });
    this.list = h("div.list");
    this.detail = h("div.detail", { hidden: true });
    this.element = [
      h(
        "div.search",
        {},
        this.find,
        h("div.row", {}, h("button", { onclick: () => write("set_event", "") }, "all off")),
      ),
      this.list,
      this.detail,
    ];
    on("settings", () => {
      this.show();
      if (this.chosen) this.showRules();
    });
    on("about", () => this.show());
  }

  all() {
    const probes = [...(store.settings.dynamic_events || "").matchAll(/^\w+:(\S+)\/(\S+)/gm)].map(
      (match) => `${match[1]}:${match[2]}`,
    );
    return [...new Set([...(store.about?.events || []), ...probes])];
  }

  show() {
    const { set_event, show_event_filters, show_event_triggers } = store.settings;
    if (!isNew(this, set_event, show_event_filters, show_event_triggers, this.all(), this.find.value, this.chosen))
      return;
    const enabled = new Set((store.settings.set_event || "").split("\n")),
      text = this.find.value.trim().toLowerCase();
    const systems = new Map();
    const row = (event) =>
      h(
        `div.item${event === this.chosen ? ".on" : ""}`,
        { onclick: () => this.choose(event) },
        toggle(enabled.has(event), (wanted) => write(`events/${event.replace(":", "/")}/enable`, wanted ? "1" : "0")),
        h("span.name", { title: event }, event.split(":")[1]),
        this.has(event),
      );
    for (const one of this.all().filter((name) => name.toLowerCase().includes(text))) {
      const [system, name] = one.split(":");
      if (!systems.has(system)) systems.set(system, []);
      systems.get(system).push(name);
    }
    const isOn = [...enabled].filter((name) => name && name.toLowerCase().includes(text)).sort();
    this.list.replaceChildren(
      ...(isOn.length ? [h("div.group", {}, h("span", {}, "on")), ...isOn.map(row)] : []),
      ...[...systems].sort().flatMap(([system, some]) => [
        h(
          "div.group",
          {},
          h("span", {}, system),
          toggle(
            some.every((name) => enabled.has(`${system}:${name}`)),
            (wanted) => write(`events/${system}/enable`, wanted ? "1" : "0"),
            "",
            `all of ${system}`,
          ),
        ),
        ...some.sort().map((name) => row(`${system}:${name}`)),
      ]),
    );
  }

  has(event) {
    const { settings } = store;
    const some = [
      ...linesOf(settings.show_event_filters, event).map(() => "filter"),
      ...linesOf(settings.show_event_triggers, event).map(() => "trigger"),
    ];
    return some.length ? h("span.dim", {}, [...new Set(some)].join(" ")) : null;
  }

  async choose(event) {
    this.chosen = event;
    this.show();
    const file = `events/${event.replace(":", "/")}`;
    const fields = h("pre.dim", {}, "…");
    const filter = h("input", {
      type: "text",
      placeholder: "filter, e.g. next_pid > 0",
      onchange: () => write(`${file}/filter`, filter.value || "0"),
    });
    const trigger = h("input", {
      type: "text",
      placeholder: "trigger, e.g. stacktrace:5",
      onchange: async () => {
        if (trigger.value && (await write(`${file}/trigger`, trigger.value, true))) trigger.value = "";
      },
    });
    this.filter = filter;
    this.rules = h("div");
    this.detail.hidden = false;
    this.detail.replaceChildren(
      h("h3", {}, event),
      h("div.row", {}, filter),
      h("div.row", {}, trigger),
      this.rules,
      fields,
    );
    this.showRules();
    filter.value = linesOf(store.settings.show_event_filters, event)[0] || "";
    const found = await ask("file", { name: `${file}/format` });
    if (found)
      fields.textContent = [...found.text.matchAll(/^\s*field:(.*?);/gm)]
        .map((match) => match[1])
        .filter((one) => !/ common_/.test(one))
        .join("\n");
  }

  showRules() {
    const file = `events/${this.chosen.replace(":", "/")}`;
    const plain = (line) => line.replace(/:(unlimited|count=\d+)/, "").replace(/ \[\w+\]$/, "");
    this.rules.replaceChildren(
      ...linesOf(store.settings.show_event_triggers, this.chosen).map((line) =>
        h(
          "div.row",
          {},
          h("code", { style: "flex:1;overflow-wrap:anywhere" }, line),
          h("button", { title: "take it away", onclick: () => write(`${file}/trigger`, `!${plain(line)}`, true) }, "×"),
        ),
      ),
    );
  }
}
