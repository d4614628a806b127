// The timeline: for each CPU who runs, below it the calls of function_graph by depth and events as marks; or a row for each thread.
import { css, duration, fit, h, hue, tip } from "./dom.js";
import { clock, store, threadName } from "./store.js";

const LEFT = 118,
  AXIS = 22,
  SLICE = 26,
  CALL = 14,
  MARK = 13,
  GAP = 11,
  DEEPEST = 8,
  THREADS = 24,
  LETTER = 6.2;

/** The first place in a list, sorted by what `of` gives, at which it is at least `value`. */
export function lowerBound(list, value, of) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Timeline {
  constructor() {
    this.span = 4e9; // ns across
    this.end = null; // the right edge when it stands still; null: now
    this.mode = "cpus";
    this.top = 0; // scrolled down by so many pixels
    this.hits = [];
    this.frames = [];
    this.build();
  }

  build() {
    this.canvas = h("canvas", { tabIndex: 0, title: "" });
    this.live = h("button", {
      onclick: () => {
        this.end = this.end === null ? clock() : null;
        this.showState();
      },
    });
    this.mode_ = h(
      "select",
      {
        onchange: (event) => {
          this.mode = event.target.value;
          this.top = 0;
        },
      },
      h("option", { value: "cpus" }, "CPUs"),
      h("option", { value: "threads" }, "threads"),
    );
    this.hint = h("span.dim");
    this.element = h(
      "div.wide",
      {},
      h(
        "div.bar",
        {},
        this.live,
        h("label.field", {}, "rows", this.mode_),
        h("button", { onclick: () => this.zoom(0.5), title: "zoom in" }, "+"),
        h("button", { onclick: () => this.zoom(2), title: "zoom out" }, "−"),
        this.hint,
      ),
      this.canvas,
    );
    this.canvas.onwheel = (event) => this.wheel(event);
    this.canvas.onpointerdown = (event) => this.grab(event);
    this.canvas.onpointermove = (event) => this.move(event);
    this.canvas.onpointerup = () => {
      this.held = null;
    };
    this.canvas.onpointerleave = (event) => tip(event, "");
    this.canvas.onkeydown = (event) => this.key(event);
    this.showState();
  }

  showState() {
    this.live.textContent = this.end === null ? "❚❚ stop here" : "▶ live";
    this.live.className = this.end === null ? "" : "main";
    this.hint.textContent = "wheel: zoom · drag: move · shift-wheel: scroll";
  }

  // ---- Moving ----

  right() {
    return this.end ?? clock() - 2e8;
  } // what has just happened is not here yet

  zoom(factor, at = 1) {
    const span = Math.min(Math.max(this.span * factor, 2000), 60e9);
    if (this.end === null && at > 0.9) {
      this.span = span;
      return;
    }
    const from = this.right() - this.span;
    const fixed = from + at * this.span;
    this.span = span;
    this.end = fixed + (1 - at) * span;
    this.showState();
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey) {
      this.top = Math.max(0, this.top + event.deltaY + event.deltaX);
      return;
    }
    const width = this.canvas.clientWidth - LEFT;
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max((event.offsetX - LEFT) / width, 0), 1));
  }

  grab(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.held = { x: event.offsetX, y: event.offsetY, end: this.right(), top: this.top };
  }

  move(event) {
    if (this.held && event.buttons) {
      const moved = event.offsetX - this.held.x;
      if (Math.abs(moved) > 2 || this.end !== null) {
        this.end = this.held.end - (moved * this.span) / (this.canvas.clientWidth - LEFT);
        this.showState();
      }
      this.top = Math.max(0, this.held.top - (event.offsetY - this.held.y));
      return;
    }
    const [x, y] = [event.offsetX, event.offsetY];
    const found = this.hits.find((one) => y >= one.y && y < one.y + one.height);
    tip(event, found ? found.tell(this.timeAt(x), this.span / (this.canvas.clientWidth - LEFT)) : "");
  }

  key(event) {
    const steps = { ArrowLeft: -0.2, ArrowRight: 0.2 };
    if (event.key in steps) {
      this.end = this.right() + steps[event.key] * this.span;
      this.showState();
    }
    if (event.key === "+") this.zoom(0.5, 0.5);
    if (event.key === "-") this.zoom(2, 0.5);
  }

  timeAt(x) {
    return this.right() - this.span + ((x - LEFT) * this.span) / (this.canvas.clientWidth - LEFT);
  }

  // ---- Drawing ----

  readColours() {
    const { theme } = document.documentElement.dataset;
    if (theme === this.theme) return;
    this.theme = theme;
    this.known = new Map();
    this.colours = {
      text: css("--text"),
      dim: css("--dim"),
      grid: css("--grid"),
      idle: css("--idle"),
      area: css("--area"),
      on: css("--slice-text"),
      light: css("--slice-light"),
    };
  }

  draw() {
    const begin = performance.now();
    const { pen, width, height } = fit(this.canvas);
    this.view = { from: this.right() - this.span, to: this.right(), scale: (width - LEFT) / this.span, width, height };
    this.readColours();
    pen.fillStyle = this.colours.area;
    pen.fillRect(0, 0, width, height);
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "middle";
    this.hits = [];
    const bottom = this.mode === "cpus" ? this.drawCpus(pen) : this.drawThreads(pen);
    this.top = Math.max(0, Math.min(this.top, bottom + this.top - height + 10));
    this.drawAxis(pen);
    this.frames.push(performance.now() - begin);
    if (this.frames.length > 600) this.frames.shift();
  }

  x(time) {
    return LEFT + (time - this.view.from) * this.view.scale;
  }

  colour(key) {
    let found = this.known.get(key);
    if (!found)
      this.known.set(key, (found = key === 0 ? this.colours.idle : `hsl(${hue(key)} 52% ${this.colours.light})`));
    return found;
  }

  drawAxis(pen) {
    const { from, to, width, height } = this.view;
    const raw = (this.span * 110) / (width - LEFT);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
    const digits = Math.min(Math.max(0, Math.ceil(9 - Math.log10(step))), 9);
    pen.fillStyle = this.colours.area;
    pen.fillRect(0, 0, width, AXIS);
    pen.fillStyle = this.colours.dim;
    for (let time = Math.ceil(from / step) * step; time < to; time += step) {
      const x = Math.round(this.x(time));
      pen.fillRect(x, AXIS - 5, 1, 5);
      pen.fillText(`${(time / 1e9).toFixed(digits)} s`, x + 4, AXIS / 2 - 1);
    }
    pen.fillRect(0, AXIS - 1, width, 1);
    if (!height || store.now) return;
    pen.fillText("Nothing yet: switch sched_switch on, and this fills.", LEFT, height / 2);
  }

  label(pen, y, text, small = "") {
    pen.fillStyle = this.colours.area;
    pen.fillRect(0, y - 2, LEFT - 4, SLICE + 4);
    pen.fillStyle = this.colours.text;
    pen.fillText(text, 14, y + SLICE / 2, LEFT - 24);
    if (!small) return;
    pen.fillStyle = this.colours.dim;
    pen.fillText(small, 14, y + SLICE / 2 + 14, LEFT - 24);
  }

  /** Boxes [begin, end, key, text] from `list`, which is sorted by end. What is narrower than a pixel shares it. */
  boxes(pen, list, start, y, height, box) {
    const { to, width } = this.view;
    let drawn = -1;
    for (let at = start; at < list.length; at++) {
      const { begin, end, key, text } = box(list[at]);
      if (begin > to) break;
      const left = Math.max(this.x(begin), LEFT),
        right = Math.min(this.x(end), width);
      if (right <= LEFT || right <= drawn) continue;
      const from = Math.max(left, drawn);
      pen.fillStyle = this.colour(key);
      pen.fillRect(from, y, Math.max(right - from, 1), height - 1);
      drawn = Math.max(right, Math.floor(from) + 1);
      if (right - left > 34 && key !== 0) {
        pen.fillStyle = this.colours.on;
        pen.fillText(text.slice(0, (right - left - 6) / LETTER), left + 4, y + height / 2);
      }
    }
  }

  drawCpus(pen) {
    let y = AXIS + 6 - this.top;
    for (const [number, cpu] of [...store.cpus].sort((a, b) => a[0] - b[0])) {
      const first = y;
      this.sliceRow(pen, cpu, y);
      y += SLICE;
      y = this.callRows(pen, cpu, y);
      if (cpu.marks.length) y = this.markRow(pen, cpu, y);
      this.label(pen, first, `CPU ${number}`);
      pen.fillStyle = this.colours.grid;
      pen.fillRect(0, y + GAP / 2, this.view.width, 1);
      y += GAP;
    }
    return y;
  }

  sliceRow(pen, cpu, y) {
    const box = ([begin, end, pid, count]) => ({
      begin,
      end,
      key: pid,
      text: count > 1 ? `${threadName(pid)} …` : threadName(pid),
    });
    const start = lowerBound(cpu.slices, this.view.from, (one) => one[1]);
    this.boxes(pen, cpu.slices, start, y, SLICE, box);
    const open = cpu.running && [cpu.running[1], this.view.to, cpu.running[0], 1];
    if (open && open[0] < open[1]) this.boxes(pen, [open], 0, y, SLICE, box);
    this.hits.push({
      y,
      height: SLICE,
      tell: (time, pixel) => {
        const found = cpu.slices[lowerBound(cpu.slices, time - pixel, (one) => one[1])];
        const one = found && found[0] <= time + pixel ? found : open;
        if (!one || one[0] > time) return "";
        const [begin, end, pid, count] = one;
        return count > 1
          ? `${count} times another thread in ${duration(end - begin)}, mostly\n${threadName(pid)} (${pid}); zoom in on a quieter moment for each`
          : `${threadName(pid)} (${pid})\n${one === open ? "since" : "ran"} ${duration(end - begin)}, from ${(begin / 1e9).toFixed(6)} s`;
      },
    });
  }

  callRows(pen, cpu, top) {
    const { from, to } = this.view;
    const rows = new Map();
    for (let at = lowerBound(cpu.calls, from, (one) => one[2]); at < cpu.calls.length; at++) {
      const call = cpu.calls[at];
      if (call[1] > to || call[0] >= DEEPEST) continue;
      if (!rows.has(call[0])) rows.set(call[0], []);
      rows.get(call[0]).push(call);
    }
    const depth = rows.size ? Math.max(...rows.keys()) + 1 : 0;
    for (const [level, calls] of rows) {
      const y = top + level * CALL;
      this.boxes(pen, calls, 0, y, CALL, ([, begin, end, name]) => ({ begin, end, key: name, text: name }));
      this.hits.push({
        y,
        height: CALL,
        tell: (time, pixel) => {
          const one = calls[lowerBound(calls, time - pixel, (call) => call[2])];
          if (!one || one[1] > time + pixel) return "";
          const [, begin, end, name, pid, ns] = one;
          return `${name}()\n${duration(ns)}, by ${threadName(pid)} (${pid})${ns > end - begin ? "; the part since it came to this CPU" : ""}`;
        },
      });
    }
    return top + depth * CALL;
  }

  markRow(pen, cpu, y) {
    const { marks } = cpu;
    let drawn = -2;
    const start = lowerBound(marks, this.view.from, (one) => one[0]);
    for (let at = start; at < marks.length && marks[at][0] <= this.view.to; at++) {
      const x = Math.round(this.x(marks[at][0]));
      if (x < LEFT || x < drawn + 2) continue;
      pen.fillStyle = this.colour(marks[at][1]);
      pen.fillRect(x, y + 2, 2, MARK - 4);
      drawn = x;
    }
    this.hits.push({
      y,
      height: MARK,
      tell: (time, pixel) => {
        const first = lowerBound(marks, time - 4 * pixel, (one) => one[0]);
        const some = marks.slice(first, first + 6).filter((one) => one[0] < time + 4 * pixel);
        return some
          .map(([at, name, pid, text]) => `${(at / 1e9).toFixed(6)} s  ${name}  (${threadName(pid)})\n${text}`)
          .join("\n");
      },
    });
    return y + MARK;
  }

  // ---- A row for each thread ----

  /** Those that ran longest in what is shown: [pid, ns, [slices]]. */
  busiest() {
    const { from, to } = this.view;
    const threads = new Map();
    for (const [number, cpu] of store.cpus) {
      const open = cpu.running ? [[cpu.running[1], to, cpu.running[0], 1]] : [];
      for (const list of [cpu.slices, open]) {
        for (let at = lowerBound(list, from, (one) => one[1]); at < list.length && list[at][0] <= to; at++) {
          const [begin, end, pid] = list[at];
          if (pid === 0) continue;
          const one = threads.get(pid) || [pid, 0, []];
          one[1] += Math.min(end, to) - Math.max(begin, from);
          one[2].push([begin, end, number]);
          threads.set(pid, one);
        }
      }
    }
    return [...threads.values()].sort((a, b) => b[1] - a[1]).slice(0, THREADS);
  }

  drawThreads(pen) {
    let y = AXIS + 6 - this.top;
    // By number, so that rows do not change places while it runs.
    for (const [pid, ns, slices] of this.busiest().sort((a, b) => a[0] - b[0])) {
      slices.sort((a, b) => a[1] - b[1]);
      this.boxes(pen, slices, 0, y, SLICE, ([begin, end, cpu]) => ({
        begin,
        end,
        key: `cpu ${cpu}`,
        text: `CPU ${cpu}`,
      }));
      this.hits.push({
        y,
        height: SLICE,
        tell: (time, pixel) => {
          const one = slices[lowerBound(slices, time - pixel, (slice) => slice[1])];
          if (!one || one[0] > time + pixel)
            return `${threadName(pid)} (${pid})\n${duration(ns)} of ${duration(this.span)}`;
          return `${threadName(pid)} (${pid}) on CPU ${one[2]}\n${duration(one[1] - one[0])}`;
        },
      });
      this.label(pen, y, `${threadName(pid)} ${pid}`);
      y += SLICE + 5;
    }
    return y;
  }
}
