// The list of functions: which are in the filter, what they are, and what can be done with them.
import { h, isNew, toggle } from "./dom.js";
import { ask, write } from "./net.js";
import { on, store } from "./store.js";

const SHOWN = 300;

/** Names in a file such as set_ftrace_filter, without its comments and commands. */
const names = (text) =>
  new Set(
    (text || "")
      .split("\n")
      .filter((line) => line && !line.startsWith("#"))
      .map((line) => line.split(/[ :]/)[0]),
  );

export class Functions {
  constructor() {
    this.all = [];
    this.chosen = null;
    this.find = h("input", {
      type: "search",
      placeholder: "search functions, e.g. sched or vfs_*",
      oninput: () => this.show(),
    });
    this.note = h("div.dim");
    this.list = h("div.list");
    this.detail = h("div.detail", { hidden: true });
    this.matching = h("button", { onclick: () => write("set_ftrace_filter", this.glob()) });
    this.none = h("button", { onclick: () => write("set_ftrace_filter", "") }, "all functions");
    this.element = [
      h("div.search", {}, this.find, h("div.row", {}, this.matching, this.none), this.note),
      this.list,
      this.detail,
    ];
    on("settings", () => this.show());
    on("about", async () => {
      this.all = (await ask("functions"))?.list || [];
      this.show();
    });
  }

  glob() {
    const text = this.find.value.trim();
    return text.includes("*") ? text : `*${text}*`;
  }

  matches() {
    const text = this.find.value.trim();
    if (!text) return this.all;
    const pattern = new RegExp(
      text.includes("*")
        ? `^${text
            .split("*")
            .map((part) => part.replace(/\W/g, "\\$&"))
            .join(".*")}$`
        : text.replace(/\W/g, "\\$&"),
      "i",
    );
    return this.all.filter((name) => pattern.test(name));
  }

  show() {
    if (!isNew(this, store.settings.set_ftrace_filter, this.find.value, this.chosen, this.all.length)) return;
    const filter = names(store.settings.set_ftrace_filter),
      found = this.matches();
    found.sort((a, b) => filter.has(b) - filter.has(a));
    this.matching.textContent = this.find.value ? `only ${this.glob()}` : "only those found";
    this.matching.disabled = !this.find.value;
    this.none.disabled = !filter.size;
    this.note.textContent = `${found.length} of ${this.all.length} functions; ${filter.size ? `${filter.size} in set_ftrace_filter` : "the tracer takes all"}`;
    this.list.replaceChildren(
      ...found.slice(0, SHOWN).map((name) =>
        h(
          `div.item${name === this.chosen ? ".on" : ""}`,
          { onclick: () => this.choose(name) },
          toggle(
            filter.has(name),
            (on_) => write("set_ftrace_filter", on_ ? name : `!${name}`, true),
            "",
            "in set_ftrace_filter",
          ),
          h("span.name", { title: name }, name),
        ),
      ),
    );
    if (found.length > SHOWN) this.list.append(h("div.note", {}, `and ${found.length - SHOWN} more: search`));
  }

  async choose(name) {
    this.chosen = name;
    this.show();
    const about = h("pre", {}, "…");
    this.detail.hidden = false;
    const act = (label, title, ...writes) =>
      h(
        "button",
        {
          title,
          onclick: async () => {
            for (const one of writes) if (!(await write(...one))) return;
          },
        },
        label,
      );
    this.detail.replaceChildren(
      h("h3", {}, name),
      about,
      h(
        "div.row",
        {},
        act(
          "trace it",
          "the tracer function, with this function only",
          ["set_ftrace_filter", name],
          ["current_tracer", "function"],
        ),
        act(
          "graph it",
          "what it calls, and how long that takes",
          ["set_graph_function", name],
          ["current_tracer", "function_graph"],
        ),
        act("who calls it", "a stack with each call", ["set_ftrace_filter", `${name}:stacktrace`, true]),
        h(
          "button",
          {
            title: "an event of its own, with its arguments if their types are known",
            onclick: () => this.probe(name, about.textContent),
          },
          "probe it",
        ),
      ),
    );
    const found = await ask("why", { name });
    about.textContent = found?.text.trim() || "its prototype: type `why " + name + "` in the shell";
  }

  async probe(name, prototype) {
    const event = `view/${name.replace(/\W/g, "_")}`;
    const hasArguments = prototype.includes(`${name}(`) && !prototype.includes(`${name}(void)`);
    if (await write("dynamic_events", `f:${event} ${name}${hasArguments ? " $arg*" : ""}`, true))
      write(`events/${event}/enable`, "1");
  }
}
