// Latency tracers: the longest time so far, and the trace that the kernel has kept of it.
import { duration, h } from "./dom.js";
import { write } from "./net.js";
import { on, store } from "./store.js";

const ABOUT = {
  irqsoff: "interrupts off",
  preemptoff: "preemption off",
  preemptirqsoff: "either off",
  wakeup: "woken, until it runs",
  wakeup_rt: "woken, until it runs: real-time threads",
};

export class Latency {
  constructor() {
    this.chosen = null; // the newest if none
    this.which = h("select");
    this.calls = h("input", { type: "checkbox" });
    this.go = h("button.main", { onclick: () => this.begin() }, "begin");
    this.stop = h("button", { onclick: () => write("current_tracer", "nop") }, "end");
    this.again = h("button", { onclick: () => write("tracing_max_latency", "0") }, "forget the maximum");
    this.big = h("div.big");
    this.what = h("div.dim");
    this.maxima = h("div");
    this.trace = h("pre");
    this.element = h(
      "div.wide",
      {},
      h(
        "div.bar",
        {},
        h("label.field", {}, "longest time", this.which),
        h(
          "label.field",
          { title: "options/function-trace: also what was called meanwhile" },
          this.calls,
          "with the calls in it",
        ),
        this.go,
        this.stop,
        this.again,
      ),
      h("div.latency", {}, h("div.card", {}, this.big, this.what, this.maxima), h("div.card", {}, this.trace)),
    );
    on("latency", () => this.show());
    on("settings", () => this.show());
    on("restart", ({ all }) => {
      if (all) this.chosen = null;
      this.show();
    });
    on("about", () => this.fill());
    this.fill();
  }

  fill() {
    const known = Object.keys(ABOUT).filter((name) => store.about?.latency.includes(name));
    this.which.replaceChildren(...known.map((name) => h("option", { value: name }, `${name}: ${ABOUT[name]}`)));
    this.show();
  }

  async begin() {
    await write("options/function-trace", this.calls.checked ? "1" : "0");
    if (store.settings.current_tracer === this.which.value) await write("tracing_max_latency", "0");
    else await write("current_tracer", this.which.value);
  }

  show() {
    const tracer = store.settings.current_tracer || "nop",
      isOn = tracer in ABOUT;
    this.stop.disabled = this.again.disabled = !isOn;
    this.big.textContent = isOn ? duration(1000 * Number(store.settings.tracing_max_latency || 0)) : "–";
    this.what.textContent = isOn ? `${tracer}: ${ABOUT[tracer]}` : "No latency tracer is on.";
    const one = this.chosen || store.latencies.at(-1);
    const row = (each) =>
      h(
        `div.item${each === one ? ".on" : ""}`,
        {
          onclick: () => {
            this.chosen = each;
            this.show();
          },
        },
        h("span", {}, duration(each.us * 1000)),
        h("span.dim", {}, new Date(each.at * 1000).toTimeString().slice(0, 8)),
      );
    this.maxima.replaceChildren(...store.latencies.slice(-40).reverse().map(row));
    this.trace.textContent = one
      ? one.trace
      : "Each new maximum is kept here with its trace: what the CPU did from the one end to the other.";
  }
}
