// The state of the page. Messages of the server change it, and listeners added by on(kind) are
// told.

export const SECONDS = 60; // of slices, calls and events that are kept
const MOST = 120000; // of one CPU, whatever their time

const listeners = new Map();
export const store = {};

function reset() {
  Object.assign(store, {
    about: null,
    settings: {},
    now: 0,
    nowAt: 0,
    names: new Map([[0, "<idle>"]]),
    cpus: new Map(),
    commands: [],
    numbers: null,
    rates: [],
    flame: null,
    times: { on: ["all", 0, 0, []], off: ["all", 0, 0, []], ns: 0 },
    histograms: [],
    heat: new Map(),
    scripts: { list: [], said: "" },
    latencies: [],
    console: "",
    dead: null,
    heard: performance.now(),
    lost: 0,
  });
}
reset();

export function on(kind, tell) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(tell);
  return () => listeners.get(kind).delete(tell);
}
export const emit = (kind, message) => listeners.get(kind)?.forEach((tell) => tell(message));

function cpu(number) {
  const key = Number(number);
  if (!store.cpus.has(key)) store.cpus.set(key, { slices: [], calls: [], marks: [], running: null });
  return store.cpus.get(key);
}

/** Drop what is too old, but not with every message: that would copy the rest each time. */
function trim(list, endOf) {
  if (list.length > MOST) list.splice(0, list.length - MOST * 0.8);
  if (list.length > 1000 && endOf(list[list.length >> 2]) < store.now - SECONDS * 1e9) list.splice(0, list.length >> 2);
}

function batch(message) {
  for (const [number, some] of Object.entries(message.slices || {})) {
    const { slices } = cpu(number);
    slices.push(...some);
    trim(slices, (one) => one[1]);
  }
  for (const [number, some] of Object.entries(message.calls || {})) {
    const { calls } = cpu(number);
    calls.push(...some.sort((a, b) => a[2] - b[2]));
    trim(calls, (one) => one[2]);
  }
  for (const [number, some] of Object.entries(message.marks || {})) {
    const { marks } = cpu(number);
    marks.push(...some.sort((a, b) => a[0] - b[0]));
    trim(marks, (one) => one[0]);
  }
  for (const [number, running] of Object.entries(message.running || {})) cpu(number).running = running;
  for (const [pid, name] of Object.entries(message.names || {})) store.names.set(Number(pid), name);
  setNow(message);
}

function setNow(message) {
  if (!message.now) return;
  store.now = message.now;
  store.nowAt = performance.now();
}

/** How many were added to each entry of a histogram since the last look: a column of its heat map. */
function histograms(message) {
  store.histograms = message.list;
  for (const one of message.list) {
    const key = `${one.event} ${one.trigger}`;
    const map = store.heat.get(key) || { before: null, columns: [] };
    const hits = new Map(one.entries.map(([keys, values]) => [keys.join(", "), values.hitcount || 0]));
    if (map.before) {
      map.columns.push(
        new Map([...hits].map(([name, count]) => [name, Math.max(0, count - (map.before.get(name) || 0))])),
      );
      if (map.columns.length > 120) map.columns.shift();
    }
    map.before = hits;
    store.heat.set(key, map);
  }
}

function numbers(message) {
  store.numbers = message;
  store.lost = message.lost;
  store.rates.push({
    at: message.at,
    total: message.total / message.seconds,
    events: new Map(message.events.map(([name, count]) => [name, count / message.seconds])),
  });
  if (store.rates.length > 240) store.rates.shift();
}

const handlers = {
  begin: reset,
  about(message) {
    store.about = message;
    for (const one of message.cpus) cpu(one);
  },
  settings(message) {
    store.settings = message.settings;
  },
  commands(message) {
    store.commands = message.list;
  },
  restart({ all }) {
    for (const one of store.cpus.values()) Object.assign(one, { slices: [], calls: [], marks: [], running: null });
    store.now = 0;
    if (all) Object.assign(store, { rates: [], latencies: [], heat: new Map() });
  },
  batch,
  now: setNow,
  numbers,
  histograms,
  scripts(message) {
    store.scripts = message;
  },
  flame(message) {
    store.flame = message.tree;
  },
  times({ on, off, ns }) {
    store.times = { on, off, ns };
  },
  latency(message) {
    store.latencies.push(message);
  },
  console(message) {
    store.console = (store.console + message.text).slice(-200000);
  },
  dead(message) {
    store.dead = message;
  },
};

export function handle(message) {
  if (message.kind === "now" || message.kind === "batch") store.heard = performance.now();
  handlers[message.kind]?.(message);
  emit(message.kind, message);
}

/** The kernel's time at this moment, as far as it can be told. */
export const clock = () =>
  store.dead ? store.now : store.now + (store.now ? Math.min(performance.now() - store.nowAt, 1000) * 1e6 : 0);
export const threadName = (pid) => store.names.get(pid) || `thread ${pid}`;
