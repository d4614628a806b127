// Flame graphs: of the times of function_graph, which grow while it runs, of samples, or of a histogram whose key is a stack;
// and below it the twin of all of them, the time that threads were off the CPUs.
import { css, duration, fit, h, hue, tip } from "./dom.js";
import { command, tell as post, write } from "./net.js";
import { store } from "./store.js";

const ROW = 18;
const SAMPLES = "samples: time on CPUs";

/** Lines of hist_folded, "a;b;c 12", as a tree [name, weight, count, children]. */
export function treeOf(folded) {
  const root = ["all", 0, 0, new Map()];
  for (const line of folded.split("\n")) {
    const at = line.lastIndexOf(" ");
    const weight = Number(line.slice(at + 1));
    if (at < 0 || line.startsWith("#") || !weight) continue;
    let node = root;
    node[1] += weight;
    for (const name of line.slice(0, at).split(";")) {
      if (!node[3].has(name)) node[3].set(name, [name, 0, 0, new Map()]);
      node = node[3].get(name);
      node[1] += weight;
      node[2] += weight;
    }
  }
  const plain = ([name, weight, count, children]) => [
    name,
    weight,
    count,
    [...children.values()].map(plain).sort((a, b) => (a[0] < b[0] ? -1 : 1)),
  ];
  return plain(root);
}

const TWINS = ["profile:sample", "sched:sched_switch"]; // the events of both panels
const linesOf = (name) => (store.settings[name] || "").split("\n");
const hasStack = (event) =>
  linesOf("show_event_triggers").some((line) => line.startsWith(event) && line.includes("stacktrace:"));
const fileOf = (event, name) => `events/${event.replace(":", "/")}/${name}`;
const SWITCHES = [
  ...TWINS.map((event) => [fileOf(event, "trigger"), "stacktrace", event]),
  ...TWINS.map((event) => [fileOf(event, "enable"), "1"]),
];

/**
 * Switch both on, and begin both panels at the same moment. set_event lists an event that has only a trigger, too: so it
 * does not tell whether it is enabled.
 */
async function measureTwins() {
  for (const [name, text, event] of SWITCHES) if (!(event && hasStack(event)) && !(await write(name, text))) return;
  await post("clear_flame");
}

/** A flame graph with a line above it that says of what. */
class Panel {
  constructor(find) {
    this.find = find;
    this.path = []; // names of the frames that were clicked, outermost first
    this.boxes = [];
    this.canvas = h("canvas");
    this.title = h("b");
    this.where = h("span.dim");
    this.element = h("div.wide.flame", {}, h("div.bar", {}, this.title, this.where), this.canvas);
    this.canvas.onclick = (event) => {
      const box = this.at(event);
      if (box) this.path = box.path;
    };
    this.canvas.onmousemove = (event) => tip(event, this.at(event)?.text || "");
    this.canvas.onmouseleave = (event) => tip(event, "");
  }

  at(event) {
    return this.boxes.find(
      (one) =>
        event.offsetX >= one.x &&
        event.offsetX < one.x + one.width &&
        event.offsetY >= one.y &&
        event.offsetY < one.y + ROW,
    );
  }

  /** Nothing to draw: the panel goes away. */
  hide() {
    this.element.hidden = true;
    this.boxes = [];
  }

  picture(tree, isTime, title) {
    this.element.hidden = false;
    this.title.textContent = title;
    const { pen, width, height } = fit(this.canvas);
    const show = isTime ? duration : (count) => `${count.toLocaleString("en")} hits`;
    this.colours = {
      text: css("--slice-text"),
      light: css("--slice-light"),
      warm: css("--flame-light"),
      area: css("--area"),
      dim: css("--idle"),
    };
    pen.fillStyle = this.colours.area;
    pen.fillRect(0, 0, width, height);
    pen.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
    pen.textBaseline = "middle";
    this.boxes = [];
    this.total = tree[1];
    const frame = { pen, width: width - 28, height, show, wanted: this.find.value };
    // Frames above the clicked one are as wide as it.
    let node = tree,
      level = 0;
    for (const name of this.path) {
      const next = node[3].find((one) => one[0] === name);
      if (!next) break;
      this.box(frame, node, 14, frame.width, level++, this.path.slice(0, level - 1));
      node = next;
    }
    this.below(frame, node, 14, frame.width, level, this.path.slice(0, level));
    this.where.textContent = `${show(node[1])} in ${node[2].toLocaleString("en")} ${isTime ? "times" : "events"} · click a frame to look into it`;
  }

  below(frame, node, x, width, level, path) {
    this.box(frame, node, x, width, level, path);
    if ((level + 1) * ROW > frame.height) return;
    for (const child of node[3]) {
      const share = (width * child[1]) / node[1];
      if (share >= 1) this.below(frame, child, x, share, level + 1, [...path, child[0]]);
      x += share;
    }
  }

  box({ pen, show, wanted }, node, x, width, level, path) {
    const y = 4 + level * ROW,
      [name, weight, count] = node;
    const warm = (hue(name) % 40) + 14;
    pen.fillStyle = level === 0 ? this.colours.dim : `hsl(${warm} 62% ${this.colours.warm})`;
    if (wanted && name.includes(wanted)) pen.fillStyle = `hsl(285 60% ${this.colours.light})`;
    pen.fillRect(x, y, Math.max(width - 0.6, 0.6), ROW - 1);
    if (width > 30) {
      pen.fillStyle = level === 0 ? css("--text") : this.colours.text;
      pen.fillText(name.slice(0, Math.floor((width - 6) / 6.7)), x + 4, y + ROW / 2);
    }
    this.boxes.push({
      x,
      y,
      width,
      path,
      text: `${name}\n${show(weight)}, ${((100 * weight) / (this.total || 1)).toFixed(1)} %\n${count.toLocaleString("en")} times`,
    });
  }
}

export class Flame {
  constructor() {
    this.find = h("input", { type: "search", placeholder: "highlight functions" });
    this.on = new Panel(this.find);
    this.off = new Panel(this.find);
    this.source = h("select", { onchange: () => this.whole() });
    this.twins = h(
      "button",
      { onclick: measureTwins, title: SWITCHES.map(([name, text]) => command(name, text)).join("\n") },
      "time on and off CPUs",
    );
    this.start = startHelp();
    this.element = h(
      "div.wide",
      {},
      h(
        "div.bar",
        {},
        h("label.field", {}, "of", this.source),
        this.find,
        h("button", { onclick: () => this.whole() }, "whole"),
        h("button", { onclick: () => post("clear_flame") }, "begin anew"),
        this.twins,
      ),
      this.on.element,
      this.off.element,
      this.start,
    );
  }

  whole() {
    this.on.path = [];
    this.off.path = [];
  }

  get boxes() {
    return [...this.on.boxes, ...this.off.boxes];
  }

  /** The pictures that can be shown: [name, tree, whether weights are times]. */
  sources() {
    const found = store.times.on[1] ? [[SAMPLES, () => store.times.on, true]] : [];
    if (store.flame && store.flame[1]) found.push(["function_graph: time", () => store.flame, true]);
    for (const one of store.histograms)
      if (one.folded) found.push([`${one.event}: hits`, () => treeOf(one.folded), false]);
    return found;
  }

  /** The chosen one of the sources; the list of them follows what there is. */
  chosen() {
    const sources = this.sources();
    const names = sources.map(([name]) => name);
    if (names.join() !== [...this.source.options].map((one) => one.value).join()) {
      const hadSamples = [...this.source.options].some((one) => one.value === SAMPLES);
      const before = !hadSamples && names.includes(SAMPLES) ? SAMPLES : this.source.value;
      this.source.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
      if (names.includes(before)) this.source.value = before;
    }
    return sources.find(([name]) => name === this.source.value);
  }

  draw() {
    const chosen = this.chosen();
    const { on, off, ns } = store.times;
    this.start.hidden = Boolean(chosen || off[1]);
    const isOn = (event) => hasStack(event) && linesOf("set_event").includes(event);
    this.twins.hidden = on[1] > 0 && off[1] > 0 && TWINS.every(isOn);
    const span = ns ? ` in ${duration(ns)}` : "";
    if (chosen) {
      const [name, tree, isTime] = chosen;
      this.on.picture(tree(), isTime, tree() === on ? `on CPU${span}` : name);
    } else this.on.hide();
    if (off[1]) this.off.picture(off, true, `off CPU${span}`);
    else this.off.hide();
  }
}

function startHelp() {
  return h(
    "div.empty",
    {},
    h(
      "p",
      {},
      "Where does the time go? function_graph measures each call, and the picture grows while it runs. ",
      "Begin with a few functions (the list on the left, “graph it”), or with all of them:",
    ),
    h(
      "button.main",
      { onclick: () => write("current_tracer", "function_graph") },
      "echo function_graph > current_tracer",
    ),
    h("p", {}, "Or sample the CPUs, and beside that see what threads wait for:"),
    h("button", { onclick: measureTwins }, "time on and off CPUs"),
    h("p", {}, "Or count who causes an event: in Histograms, choose an event and the key common_stacktrace."),
  );
}
