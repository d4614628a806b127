// Events as lines, the newest above: what they say, one by one.
import { h } from "./dom.js";
import { on, store, threadName } from "./store.js";

const LINES = 200;

export class Log {
  constructor() {
    this.find = h("input", { type: "search", placeholder: "only lines with…", oninput: () => this.show(true) });
    this.hold = h("button", {
      onclick: () => {
        this.isHeld = !this.isHeld;
        this.show(true);
      },
    });
    this.note = h("span.dim", {}, "Of many events some: all of them are in trace_pipe.");
    this.lines = h("pre.pad");
    this.element = h("div", {}, h("div.bar", {}, this.hold, this.find, this.note), this.lines);
    this.at = 0;
    on("batch", () => this.show(false));
  }

  /** Not more than four times a second: no reader is faster. */
  show(now = true) {
    this.hold.textContent = this.isHeld ? "▶ live" : "❚❚ stop here";
    if (!this.element.isConnected || (!now && (this.isHeld || performance.now() - this.at < 250))) return;
    this.at = performance.now();
    const text = this.find.value.toLowerCase(),
      rows = [];
    for (const [cpu, { marks }] of store.cpus) {
      for (let left = marks.length - 1, found = 0; left >= 0 && found < LINES; left--) {
        const [time, name, pid, fields] = marks[left];
        const line = `${(time / 1e9).toFixed(6).padStart(14)}  CPU ${cpu}  ${`${threadName(pid)} ${pid}`.padEnd(22)} ${name.padEnd(18)} ${fields}`;
        if (text && !line.toLowerCase().includes(text)) continue;
        rows.push([time, line]);
        found++;
      }
    }
    const newest = rows
      .sort((a, b) => b[0] - a[0])
      .slice(0, LINES)
      .map((row) => row[1]);
    this.lines.textContent =
      newest.join("\n") ||
      (text
        ? "No such line."
        : "No events yet. Those of sched_switch and of tracers are in the timeline, others here.");
  }
}
