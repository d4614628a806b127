// Scripts in the words of bpftrace, compiled by the kernel: one that is typed here, and all others of
// scripts/. Their tables are bars, which move as the kernel counts.
import { bars, h, isNew, toast } from "./dom.js";
import { command, tell, write } from "./net.js";
import { on, store } from "./store.js";

const OWN = "view"; // the one that is typed here
const SHOWN = 24; // keys of a table
const EXAMPLES = [
  "kprobe:vfs_read { @[comm] = count(); }",
  "kretprobe:vfs_read { @bytes = hist(retval); }",
  "kprobe:vfs_read { @start[tid] = nsecs; } kretprobe:vfs_read /@start[tid]/ { @ns[comm] = hist(nsecs - @start[tid]); delete(@start[tid]); }",
  "profile:hz:99 { @[kstack(3)] = count(); }",
];

/** The pictures of a table: one of all plain keys, and one for each histogram: [title, rows]. */
export function pictures(table) {
  const plain = table.entries.filter((one) => !one.bars.length);
  const rows = plain.sort((a, b) => b.number - a.number).slice(0, SHOWN);
  const found = rows.length ? [[table.name, rows.map((one) => [one.key || table.name, one.number, one.value])]] : [];
  for (const one of table.entries.filter((entry) => entry.bars.length))
    found.push([one.key ? `${table.name}[${one.key}]` : table.name, one.bars]);
  return found;
}

export class Scripts {
  constructor() {
    this.cards = new Map();
    this.text = h("textarea", { rows: 3, spellcheck: false, value: EXAMPLES[0], oninput: () => this.preview() });
    this.examples = h("select", { onchange: () => this.take() }, h("option", { value: "" }, "examples"));
    this.examples.append(...EXAMPLES.map((one) => h("option", { value: one }, one)));
    this.line = h("code.preview");
    this.said = h("pre.said");
    this.list = h("div.pad");
    this.element = h(
      "div",
      {},
      h(
        "div.bar",
        {},
        this.text,
        h("button.main", { onclick: () => this.run() }, "run"),
        this.examples,
        h("div.row", {}, this.line),
      ),
      this.said,
      this.list,
    );
    on("scripts", () => this.show());
    this.preview();
  }

  take() {
    if (this.examples.value) this.text.value = this.examples.value;
    this.preview();
  }

  preview() {
    this.line.textContent = command(`scripts/${OWN}/program`, this.text.value);
  }

  async run() {
    const done = await tell("script", { text: this.text.value });
    if (done && done.error) toast(`${done.command}\n${done.error}`);
  }

  show() {
    if (!this.element.isConnected) return;
    const { list, said } = store.scripts;
    this.said.textContent = said;
    this.said.hidden = !said;
    for (const one of list) {
      if (!this.cards.has(one.name)) this.cards.set(one.name, this.card(one.name));
      this.cards.get(one.name).update(one);
    }
    for (const name of this.cards.keys()) if (!list.some((one) => one.name === name)) this.cards.delete(name);
    if (isNew(this.list, ...this.cards.keys()))
      this.list.replaceChildren(
        ...(this.cards.size
          ? [...this.cards.values()].map((card) => card.element)
          : [h("div.empty", {}, "No script is there. One that is run here is compiled by the kernel itself.")]),
      );
  }

  card(name) {
    const program = h("code.dim"),
      body = h("div"),
      end = h("button", {}, "end");
    const head = h("h2", {}, name, h("span.dim", {}, `cat scripts/${name}/maps`), h("span.grow"), end);
    return {
      element: h("div.card.script", {}, head, h("div.row", {}, program), body),
      update(one) {
        program.textContent = one.program;
        end.textContent = one.on ? "end" : "run again";
        end.onclick = () => write(`scripts/${name}/enable`, one.on ? "0" : "1");
        const all = one.tables.flatMap(pictures);
        body.replaceChildren(
          ...(all.length
            ? all.map(([title, rows]) => h("div.table", {}, h("h3", {}, title), bars(rows)))
            : [h("span.dim", {}, one.on ? "nothing counted yet" : "it does not run")]),
        );
      },
    };
  }
}
