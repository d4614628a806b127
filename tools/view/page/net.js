// The server: requests, commands, and the stream of what happens.
import { $, toast } from "./dom.js";
import { store } from "./store.js";

/** The answer of /api/NAME; null, with a message on the page, when it refuses. */
async function request(name, options) {
  try {
    const answer = await fetch(`api/${name}`, options);
    const content = await answer.json();
    if (answer.ok) return content;
    toast(content.error || `${name}: ${answer.status}`);
  } catch (error) {
    toast(`The server of this page does not answer (${error.message}).`);
  }
  return null;
}

export const ask = (name, query = {}) => request(`${name}?${new URLSearchParams(query)}`);
export const tell = (name, content = {}) =>
  request(name, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  });

/** As `echo text > name`, or `>>`. Resolves to whether the kernel took it; what it said otherwise is shown. */
export async function write(name, text, append = false) {
  const done = await tell("write", { name, text, append });
  if (done && !done.error) $("toast").hidden = true; // it was about a try before
  if (done && done.error) toast(`${done.command}\n${done.error}`);
  return Boolean(done) && !done.error;
}

const WORD = /^[A-Za-z0-9_@%+=:,./^-]+$/;
const quoted = (text) => (WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
/** Where a file is: an instance has most of them, and the others are the root's for all. */
export const pathOf = (name) =>
  (store.settings.own || []).includes(name.split("/")[0]) ? `instances/${store.settings.instance}/${name}` : name;
/** The command that write() stands for, to be shown before it is done. */
export const command = (name, text, append = false) =>
  `echo ${text ? `${quoted(text)} ` : ""}${append ? ">>" : ">"} ${pathOf(name)}`;

/** Server-sent events; the browser connects again by itself, and then everything begins anew. */
export function listen(handle, lost) {
  const source = new EventSource("stream");
  source.onopen = () => handle({ kind: "begin" });
  source.onmessage = (event) => handle(JSON.parse(event.data));
  source.onerror = () => lost();
}
