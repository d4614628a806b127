// Histograms that the kernel counts itself, and how they change: bars, and a heat map with a column for each look.
import { bars, css, fit, h } from "./dom.js";
import { ask, command, pathOf, write } from "./net.js";
import { on, store } from "./store.js";

const SHOWN = 24; // entries of a histogram

/** The number that a key begins with, to sort scales by: "~ 2^7", "128-255", "12". */
function order(text) {
  const power = /2\^(-?\d+)/.exec(text);
  if (power) return 2 ** Number(power[1]);
  const number = /-?\d+/.exec(text);
  return number ? Number(number[0]) : NaN;
}

/** "~ 2^12" is all up to 4096. */
const plain = (name) => name.replace(/^~ 2\^(\d+)$/, (_, power) => `≤ ${(2 ** Number(power)).toLocaleString("en")}`);

/** Entries as they are to be seen: scales in their order, all else by how often. */
export function sorted(histogram) {
  const rows = histogram.entries.map(([keys, values]) => [keys.join(", "), values.hitcount || 0]);
  const isScale = /\.(log2|buckets)/.test(histogram.keys) || rows.every(([name]) => /^-?\d+$/.test(name));
  if (isScale && !histogram.keys.includes(",")) return rows.sort((a, b) => order(a[0]) - order(b[0])).slice(0, 64);
  return rows.sort((a, b) => b[1] - a[1]).slice(0, SHOWN);
}

export class Histograms {
  constructor() {
    this.cards = new Map();
    this.event = h("input", {
      type: "text",
      placeholder: "event, e.g. kmem:kmalloc",
      value: "kmem:kmalloc",
      size: 26,
      oninput: () => this.fields(),
    });
    this.event.setAttribute("list", "events");
    this.known = h("datalist", { id: "events" });
    this.key = h("select", { onchange: () => this.preview() });
    const scale = (name) => h("option", { value: name[0] === "." ? name : "" }, name);
    this.scale = h(
      "select",
      { onchange: () => this.preview() },
      ["as it is", ".log2", ".buckets=10", ".sym", ".hex"].map(scale),
    );
    this.line = h("code.preview");
    this.add = h("button.main", { onclick: () => this.begin() }, "count");
    this.list = h("div.pad");
    this.element = h(
      "div",
      {},
      h(
        "div.bar",
        {},
        h("label.field", {}, "event", this.event),
        this.known,
        h("label.field", {}, "key", this.key),
        h("label.field", {}, "scale", this.scale),
        this.add,
        this.line,
      ),
      this.list,
    );
    on("histograms", () => this.show());
    on("about", () => this.fill());
    on("restart", () => this.cards.clear());
    this.fill();
  }

  fill() {
    if (!store.about) return;
    this.known.replaceChildren(...store.about.events.map((name) => h("option", { value: name })));
    this.fields();
  }

  file(name) {
    return `events/${this.event.value.replace(":", "/")}/${name}`;
  }

  async fields() {
    const asked = this.event.value;
    if (!/^\w+:\w+$/.test(asked) || asked === this.asked) return;
    this.asked = asked;
    if (!store.about.events.includes(asked) && !(store.settings.dynamic_events || "").includes(asked.replace(":", "/")))
      return;
    const found = await ask("file", { name: this.file("format") });
    if (!found || asked !== this.event.value) return;
    const names = [...found.text.matchAll(/^\s*field:.*?(\w+)(?:\[.*?\])?;/gm)]
      .map((match) => match[1])
      .filter((name) => !name.startsWith("common_"));
    this.key.replaceChildren(
      ...[...names, "common_pid.execname", "common_cpu", "common_stacktrace"].map((name) =>
        h("option", { value: name }, name),
      ),
    );
    const size = names.find((name) => /bytes|size|len|runtime|delay/.test(name));
    this.key.value = size || names[0];
    this.scale.value = size ? ".log2" : "";
    this.preview();
  }

  text() {
    return `hist:keys=${this.key.value}${this.key.value.startsWith("common_") ? "" : this.scale.value}`;
  }

  preview() {
    this.append = store.histograms.some((one) => one.event === this.event.value);
    this.line.textContent = command(this.file("trigger"), this.text(), this.append);
  }

  async begin() {
    this.preview();
    await write(this.file("trigger"), this.text(), this.append);
  }

  show() {
    if (!this.element.isConnected) return;
    const keys = new Set();
    for (const one of store.histograms) {
      const key = `${one.event} ${one.trigger}`;
      keys.add(key);
      if (!this.cards.has(key)) this.cards.set(key, this.card(one));
      this.cards.get(key).update(one, store.heat.get(key));
    }
    for (const key of this.cards.keys()) if (!keys.has(key)) this.cards.delete(key);
    const wanted = [...this.cards.values()].map((card) => card.element);
    if (wanted.length !== this.list.childElementCount || wanted.some((one, at) => one !== this.list.children[at])) {
      const none = h(
        "div.empty",
        {},
        "No histogram is set. They count inside the kernel: nothing has to be recorded or read for them.",
      );
      this.list.replaceChildren(...(wanted.length ? wanted : [none]));
    }
    this.preview();
  }

  card(one) {
    const file = `events/${one.event.replace(":", "/")}`;
    const short = one.trigger.replace(/:(vals=hitcount|sort=hitcount|size=2048)/g, "");
    const head = h(
      "h2",
      {},
      one.event,
      h("span.dim", {}, `cat ${pathOf(file)}/hist`),
      h("span.grow"),
      h("button", { onclick: () => write(`${file}/trigger`, `${one.trigger}:clear`, true) }, "empty"),
      h("button", { onclick: () => write(`${file}/trigger`, `!${one.trigger}`, true) }, "take away"),
    );
    const sum = h("span.dim"),
      left = h("div"),
      canvas = h("canvas");
    const element = h(
      "div.card.hist",
      {},
      head,
      h("div.row", {}, h("code.dim", {}, short), sum),
      h("div.two", {}, left, canvas),
    );
    return {
      element,
      update(now, map) {
        const rows = sorted(now);
        sum.textContent = `${now.hits.toLocaleString("en")} hits${now.dropped ? `, ${now.dropped} dropped` : ""}`;
        left.replaceChildren(
          rows.length
            ? bars(rows.map(([name, count]) => [plain(name), count]))
            : h("span.dim", {}, "nothing counted yet"),
        );
        heat(canvas, rows, map ? map.columns : []);
      },
    };
  }
}

/** Time goes to the right, entries go down, and the darker, the more often. */
function heat(canvas, rows, columns) {
  const { pen, width, height } = fit(canvas);
  pen.clearRect(0, 0, width, height);
  if (!rows.length || !columns.length) return;
  const left = 96,
    cell = Math.max((height - 16) / rows.length, 3);
  const slots = Math.max(columns.length, 30),
    across = (width - left) / slots;
  const most = Math.max(1, ...columns.flatMap((one) => rows.map(([name]) => one.get(name) || 0)));
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "middle";
  rows.forEach(([name], row) => {
    const y = row * cell;
    if (cell >= 10 || row % Math.ceil(10 / cell) === 0) {
      pen.fillStyle = css("--dim");
      pen.fillText(plain(name).length > 15 ? `${plain(name).slice(0, 14)}…` : plain(name), 0, y + cell / 2);
    }
    columns.forEach((one, at) => {
      const share = Math.log1p(one.get(name) || 0) / Math.log1p(most);
      pen.fillStyle = share ? `hsl(215 70% 50% / ${0.12 + 0.88 * share})` : css("--raised");
      pen.fillRect(left + (slots - columns.length + at) * across, y, Math.max(across - 0.5, 1), cell - 1);
    });
  });
  pen.fillStyle = css("--dim");
  if (columns.length >= 30) pen.fillText(`${Math.round(columns.length / 2)} s ago`, left, height - 6);
  pen.textAlign = "right";
  pen.fillText("now", width, height - 6);
  pen.textAlign = "left";
}
