// Small helpers for everything that is on the page.

/** An element: h("button.main", {onclick, title}, "text", child, ...). Properties go on the element, `data-` ones too. */
export function h(what, properties = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((one) => one !== null && one !== undefined));
  return element;
}

export const $ = (id) => document.getElementById(id);

/** Whether a list has to be made again: elements that stay can be clicked while others change. */
export function isNew(owner, ...facts) {
  const key = JSON.stringify(facts);
  if (owner.shown_ === key) return false;
  owner.shown_ = key;
  return true;
}

/** A switch; `change` gets the wanted state. It shows that state until the kernel tells what came of it. */
export function toggle(on, change, label = "", title = "") {
  const box = h("input", { type: "checkbox", checked: on });
  box.onchange = () => change(box.checked);
  const all = h("label.switch", { title }, box, h("i"), label);
  all.onclick = (event) => event.stopPropagation();
  return all;
}

/** Rows of name and number with a bar behind them, as wide as the number's share of the largest. */
export function bars(rows, show = (value) => value.toLocaleString("en")) {
  const most = Math.max(1, ...rows.map((row) => row[1]));
  return h(
    "div.bars",
    {},
    rows.map(([name, value, title]) => {
      const fill = h("span.fill");
      fill.style.width = `${(100 * value) / most}%`;
      return h("div.one", { title: title || name }, fill, h("span.name", {}, name), h("b", {}, show(value)));
    }),
  );
}

export function tip(event, text) {
  const box = $("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = `${Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8)}px`;
  box.style.top = `${Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8)}px`;
}

let toastTimer = 0;
export function toast(text) {
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  box.onclick = () => {
    box.hidden = true;
  };
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    box.hidden = true;
  }, 7000);
}

/** A time in ns as people say it. */
export function duration(ns) {
  const units = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ];
  const [size, unit] = units.find(([one]) => ns >= one) || [1, "ns"];
  const value = ns / size;
  return `${value >= 100 || size === 1 ? Math.round(value) : value.toFixed(value >= 10 ? 1 : 2)} ${unit}`;
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A hue that is always the same for the same name or number. */
export function hue(key) {
  let sum = 2166136261;
  for (const letter of String(key)) sum = Math.imul(sum ^ letter.charCodeAt(0), 16777619);
  return ((sum >>> 0) * 137) % 360;
}

/** Make a canvas as many pixels as it has on the screen; its context, in units of CSS pixels. */
export function fit(canvas) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { pen, width, height };
}
