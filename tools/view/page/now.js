// The first view: what is on, how many events come, which threads run and which functions are called most.
import { $, bars, css, duration, h } from "./dom.js";
import { ask, command, write } from "./net.js";
import { on, store, threadName } from "./store.js";

const LINES = 5; // events that have a line of their own

// Where to begin: each is one command, which is its own label.
const BEGINNINGS = [
  ["Who runs where?", "events/sched/sched_switch/enable", "1"],
  ["What is called?", "current_tracer", "function"],
  ["How long does it take?", "current_tracer", "function_graph"],
  ["All of scheduling", "events/sched/enable", "1"],
  ["Memory", "events/kmem/enable", "1"],
  ["Interrupts", "events/irq/enable", "1"],
];

export class Now {
  constructor() {
    this.why = h("div.why");
    this.isOn = h("div.why");
    this.chart = h("div.chart");
    this.threads = h("div");
    this.functions = h("div");
    this.events = h("div");
    const start = BEGINNINGS.map(([name, file, text]) =>
      h(
        "button",
        {
          onpointerenter: (event) => {
            event.target.title = command(file, text);
          },
          onclick: () => write(file, text),
        },
        name,
      ),
    );
    this.element = h(
      "div.pad",
      {},
      h(
        "div.card",
        {},
        h("h2", {}, "What is going on ", h("span.dim", {}, "cat why")),
        this.isOn,
        this.why,
        h("div.quick", {}, start),
      ),
      h("div.card", { style: "margin-top:12px" }, h("h2", {}, "Events a second"), this.chart),
      h(
        "div.cards",
        {},
        h("div.card", {}, h("h2", {}, "Threads ", h("span.dim", {}, "time on a CPU, by sched_switch")), this.threads),
        h("div.card", {}, h("h2", {}, "Functions ", h("span.dim", {}, "calls a second, by tracers")), this.functions),
        h("div.card", {}, h("h2", {}, "Events ", h("span.dim", {}, "a second")), this.events),
      ),
    );
    on("numbers", () => this.show());
    on("settings", () => {
      this.sayWhatIsOn();
      this.askWhy();
    });
    setInterval(() => this.askWhy(), 2000);
    this.makeChart();
  }

  async makeChart() {
    try {
      const { default: UPlot } = await import("../lib/uPlot.mjs");
      document.head.append(h("link", { rel: "stylesheet", href: "lib/uPlot.css" }));
      this.UPlot = UPlot;
    } catch {
      this.chart.textContent = "uPlot is not installed; `make view-page` does that.";
    }
  }

  sayWhatIsOn() {
    const { tracing_on, current_tracer, set_event, set_ftrace_filter, set_graph_function, dynamic_events } =
      store.settings;
    const lines = (text) => (text || "").split("\n").filter((line) => line && !line.startsWith("#"));
    const events = lines(set_event),
      filter = lines(set_ftrace_filter),
      graph = lines(set_graph_function);
    const words = (some) =>
      some.length > 4 ? `${some.slice(0, 4).join(", ")} and ${some.length - 4} more` : some.join(", ");
    const parts = [`tracer ${current_tracer}`, events.length ? `events ${words(events)}` : "no events"];
    if (filter.length) parts.push(`functions ${words(filter)}`);
    if (graph.length) parts.push(`graphs of ${words(graph)}`);
    if (lines(dynamic_events).length) parts.push(`${lines(dynamic_events).length} probes`);
    if (tracing_on !== "1") parts.unshift("recording is off");
    this.isOn.textContent = parts.join(" · ");
  }

  async askWhy() {
    if (!this.element.isConnected || store.dead) return;
    const found = await ask("why");
    if (found) this.why.textContent = found.text.trim();
  }

  show() {
    if (!this.element.isConnected || !store.numbers) return;
    const { seconds, ns: span, busy, functions, events } = store.numbers;
    const all = busy.reduce((sum, [, ns]) => sum + ns, 0) || 1;
    const nothing = (text) => h("span.dim", {}, text);
    this.threads.replaceChildren(
      busy.length
        ? bars(
            busy.slice(0, 10).map(([pid, ns]) => [`${threadName(pid)} ${pid || ""}`, ns]),
            (ns) => `${((100 * ns) / all).toFixed(1)} %${span ? `  ${duration((ns * 1e9) / span)}/s` : ""}`,
          )
        : nothing("sched_switch is off, or nothing ran"),
    );
    this.functions.replaceChildren(
      functions.length
        ? bars(
            functions.slice(0, 10).map(([name, count]) => [name, count / seconds]),
            rate,
          )
        : nothing("no tracer calls, or no calls"),
    );
    this.events.replaceChildren(
      events.length
        ? bars(
            events.slice(0, 10).map(([name, count]) => [name, count / seconds]),
            rate,
          )
        : nothing("no events"),
    );
    this.draw();
  }

  /** A line for all events and one for each of those that come most often. */
  draw() {
    if (!this.UPlot || !this.chart.clientWidth) return;
    const sums = new Map();
    for (const one of store.rates)
      for (const [name, count] of one.events) sums.set(name, (sums.get(name) || 0) + count);
    const names = [...sums]
      .sort((a, b) => b[1] - a[1])
      .slice(0, LINES)
      .map(([name]) => name);
    const data = [
      store.rates.map((one) => one.at),
      store.rates.map((one) => one.total),
      ...names.map((name) => store.rates.map((one) => one.events.get(name) || 0)),
    ];
    const shape = `${names.join()} ${this.chart.clientWidth} ${document.documentElement.dataset.theme}`;
    if (shape === this.shape) {
      this.plot.setData(data);
      return;
    }
    this.shape = shape;
    this.plot?.destroy();
    const axis = { stroke: css("--dim"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid") } };
    const colours = ["#2a9d8f", "#e07a3f", "#8e63c7", "#c9a227", "#d1577a"];
    this.plot = new this.UPlot(
      {
        width: this.chart.clientWidth,
        height: 132,
        cursor: { drag: { x: false }, points: { show: false } },
        legend: { live: false },
        axes: [
          {
            ...axis,
            space: 90,
            values: (_, times) => times.map((time) => new Date(time * 1000).toTimeString().slice(0, 8)),
          },
          { ...axis, size: 64, values: (_, counts) => counts.map((count) => count.toLocaleString("en")) },
        ],
        series: [
          {},
          { label: "all", stroke: css("--text"), width: 1.5, points: { show: false } },
          ...names.map((name, at) => ({ label: name, stroke: colours[at], width: 1.5, points: { show: false } })),
        ],
      },
      data,
      this.chart,
    );
  }
}

const rate = (count) => `${Math.round(count).toLocaleString("en")} /s`;
export function showRate() {
  const { numbers } = store;
  if (numbers)
    $("rate").textContent =
      `${rate(numbers.total / numbers.seconds)} events${numbers.lost ? ` · ${numbers.lost.toLocaleString("en")} lost` : ""}`;
}
