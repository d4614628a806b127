// Flame graphs: of the times of function_graph, which grow while it runs, or of a histogram whose key is a stack.
import { css, duration, fit, h, hue, tip } from "./dom.js";
import { tell as post, write } from "./net.js";
import { store } from "./store.js";

const ROW = 18;

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

export class Flame {
  constructor() {
    this.path = []; // names of the frames that were clicked, outermost first
    this.boxes = [];
    this.canvas = h("canvas");
    this.source = h("select", {
      onchange: () => {
        this.path = [];
      },
    });
    this.find = h("input", { type: "search", placeholder: "highlight functions" });
    this.where = h("span.dim");
    this.element = h(
      "div.wide",
      {},
      h(
        "div.bar",
        {},
        h("label.field", {}, "of", this.source),
        this.find,
        h(
          "button",
          {
            onclick: () => {
              this.path = [];
            },
          },
          "whole",
        ),
        h("button", { onclick: () => post("clear_flame") }, "begin anew"),
        this.where,
      ),
      this.canvas,
    );
    this.canvas.onclick = (event) => {
      const box = this.at(event);
      if (box) this.path = box.path;
    };
    this.canvas.onmousemove = (event) => tip(event, this.at(event)?.text || "");
    this.canvas.onmouseleave = (event) => tip(event, "");
    this.start = h(
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
      h("p", {}, "Or count who causes an event: in Histograms, choose an event and the key common_stacktrace."),
    );
    this.element.append(this.start);
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

  /** The pictures that can be shown: [name, tree, whether weights are times]. */
  sources() {
    const found = store.flame && store.flame[1] ? [["function_graph: time", () => store.flame, true]] : [];
    for (const one of store.histograms)
      if (one.folded) found.push([`${one.event}: hits`, () => treeOf(one.folded), false]);
    return found;
  }

  draw() {
    const sources = this.sources();
    this.start.hidden = sources.length > 0;
    this.canvas.style.display = sources.length ? "block" : "none";
    const names = sources.map(([name]) => name);
    if (names.join() !== [...this.source.options].map((one) => one.value).join()) {
      const before = this.source.value;
      this.source.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
      if (names.includes(before)) this.source.value = before;
    }
    const chosen = sources.find(([name]) => name === this.source.value);
    if (!chosen) return;
    this.picture(chosen[1](), chosen[2]);
  }

  picture(tree, isTime) {
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
    this.where.textContent = `${show(node[1])} in ${node[2].toLocaleString("en")} ${isTime ? "calls" : "events"} · click a frame to look into it`;
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
