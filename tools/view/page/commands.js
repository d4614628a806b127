// Every change that any page makes, as the command that makes it.
import { $, h, toast } from "./dom.js";
import { on, store } from "./store.js";

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    toast(`The browser does not let a page copy here:\n${text}`);
  }
}

const script = () =>
  ["cd /sys/kernel/tracing", ...store.commands.filter((one) => !one.error).map((one) => one.command)].join("\n") + "\n";

export function commands() {
  const foot = $("commands"),
    lines = h("div.lines"),
    count = h("span.dim");
  const fold = h(
    "button.quiet",
    {
      onclick: () => {
        foot.classList.toggle("small");
        dispatchEvent(new Event("resize"));
      },
    },
    "▾",
  );
  foot.append(
    h(
      "div.head",
      {},
      h("strong", {}, "Commands"),
      count,
      h("span.grow"),
      h("button", { onclick: () => copy(script()) }, "copy all"),
      fold,
    ),
    lines,
  );
  const show = () => {
    count.textContent = store.commands.length
      ? "what this page has written, in /sys/kernel/tracing"
      : "every switch of this page is a line of shell, which appears here";
    lines.replaceChildren(
      ...store.commands.map((one) =>
        h(
          "div.line",
          {},
          h("span.prompt", {}, "#"),
          h("code", {}, one.command),
          one.error ? h("span.error", {}, one.error) : "",
          h("button", { onclick: () => copy(one.command) }, "copy"),
        ),
      ),
    );
    lines.scrollTop = lines.scrollHeight;
  };
  on("commands", show);
  on("begin", show);
  show();
}
