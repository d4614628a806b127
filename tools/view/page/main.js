// The frame: the bar above, the lists at the left, the views; everything else is in a module of its own.
import { $, h, isNew, toast } from "./dom.js";
import { commands } from "./commands.js";
import { Events } from "./events.js";
import { Flame } from "./flame.js";
import { Functions } from "./functions.js";
import { Histograms } from "./histograms.js";
import { Latency } from "./latency.js";
import { Log } from "./log.js";
import { listen, tell, write } from "./net.js";
import { Now, showRate } from "./now.js";
import { Probes } from "./probes.js";
import { Scripts } from "./scripts.js";
import { Shell } from "./shell.js";
import { handle, on, store } from "./store.js";
import { Timeline } from "./timeline.js";

const timeline = new Timeline(),
  flame = new Flame(),
  shell = new Shell();
const views = {
  now: ["Now", new Now()],
  timeline: ["Timeline", timeline],
  flame: ["Flame", flame],
  histograms: ["Histograms", new Histograms()],
  scripts: ["Scripts", new Scripts()],
  latency: ["Latency", new Latency()],
  log: ["Events", new Log()],
  shell: ["Shell", shell],
};
const sides = {
  functions: ["Functions", new Functions()],
  events: ["Events", new Events()],
  probes: ["Probes", new Probes()],
};

/** A row of tabs; what is chosen is kept for the next time the page is loaded. */
function tabs(row, all, body, key, chosen) {
  const choose = (name) => {
    for (const button of row.children) button.classList.toggle("on", button.dataset.name === name);
    body.replaceChildren(...[all[name][1].element].flat());
    sessionStorage.setItem(key, name);
    all[name][1].show?.();
    all[name][1].shown?.();
  };
  row.append(
    ...Object.entries(all).map(([name, [label]]) =>
      h("button", { "data-name": name, onclick: () => choose(name) }, label),
    ),
  );
  const before = sessionStorage.getItem(key);
  choose(before in all ? before : chosen in all ? chosen : Object.keys(all)[0]);
}

function theme() {
  const wanted =
    localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = wanted;
  if ($("view").contains(shell.element)) shell.shown();
}

function showInstance({ instance, instances }) {
  const select = $("instance");
  if (isNew(select, instances))
    select.replaceChildren(
      h("option", { value: "" }, "the root"),
      ...instances.map((name) => h("option", { value: name }, name)),
    );
  select.value = instance;
}

function bar() {
  $("instance").onchange = async (event) => {
    if (!(await tell("instance", { name: event.target.value }))) showInstance(store.settings);
  };
  $("tracer").onchange = (event) => write("current_tracer", event.target.value);
  $("recording").onchange = (event) => write("tracing_on", event.target.checked ? "1" : "0");
  $("empty").onclick = () => write("trace", "");
  $("theme").onclick = () => {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    theme();
  };
  on("about", ({ tracers, version }) => {
    $("tracer").replaceChildren(...tracers.map((name) => h("option", { value: name }, name)));
    document.title = `Fathom: ${version.split(" ").slice(0, 2).join(" ")}`;
  });
  on("settings", ({ settings }) => {
    showInstance(settings);
    $("tracer").value = settings.current_tracer;
    $("recording").checked = settings.tracing_on === "1";
  });
  on("numbers", showRate);
  on("gap", () => toast("This page was behind; what came meanwhile is not in its pictures."));
}

function connection(state, text) {
  $("link").className = `link ${state}`;
  $("link").querySelector("span").textContent = text;
}

function showLive() {
  if (!store.dead) connection("live", store.about?.version.split(" ").slice(0, 2).join(" ") || "live");
}

function obituary({ reason, console: said }) {
  connection("dead", "the kernel has ended");
  document.querySelector(".obituary")?.remove();
  const words = said.trim();
  document
    .querySelector("main")
    .prepend(
      h(
        "div.obituary",
        {},
        h("strong", {}, `The kernel has ended: ${reason}.`),
        " What is below is from before.",
        words ? h("pre", {}, words) : "",
      ),
    );
}

/** One frame: only the view that is seen is drawn. Pictures that need not be fluent are drawn five times a second. */
let flameAt = 0;
function frame(time) {
  if ($("view").contains(timeline.element)) timeline.draw();
  if ($("view").contains(flame.element) && time - flameAt > 200) {
    flame.draw();
    flameAt = time;
  }
  requestAnimationFrame(frame);
}

bar();
theme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
tabs($("side-tabs"), sides, $("side-body"), "side", "events");
tabs($("view-tabs"), views, $("view"), "view", location.hash.slice(1));
commands();
on("live", showLive);
on("dead", obituary);
connection("", "connecting");
// Something comes ten times a second, even when nothing happens in the kernel.
setInterval(() => {
  const seconds = Math.floor((performance.now() - store.heard) / 1000);
  if (store.dead || !store.about || !$("link").matches(".live, .silent")) return;
  if (seconds >= 3) connection("silent", `the kernel has not answered for ${seconds} s`);
  else showLive();
}, 1000);
listen(handle, () => {
  if (!store.dead) connection("dead", "the server of this page has ended");
});
requestAnimationFrame(frame);
// For tests: what the page knows, and how long its frames took.
window.fathom = { store, timeline, flame };
