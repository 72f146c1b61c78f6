// Numbers and times for people. Texts are added as text, never as markup, because events come from outside.

const grouped = new Intl.NumberFormat("en");
const nothing = "–";

export const get = (id) => document.getElementById(id);
export const sum = (values) => values.reduce((total, value) => total + value, 0);
export const number = (value) => (value === undefined || value === null ? nothing : grouped.format(value));

/** Shows one decimal for slow rates, so that one event in ten seconds is not shown as 0. */
export function rate(value) {
  if (value === undefined) return nothing;
  return number(value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value));
}

/** @param seconds the duration in seconds */
export function duration(seconds) {
  if (seconds === undefined || seconds === null) return nothing;
  if (seconds === 0) return "0 s";
  if (seconds < 0.9995) return `${(seconds * 1000).toFixed(seconds < 0.00995 ? 1 : 0)} ms`;
  if (seconds < 90) return `${seconds.toFixed(seconds < 9.95 ? 1 : 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/** The seconds from one time to another, at least 0. */
export const seconds = (from, to) => Math.max(0, (new Date(to) - new Date(from)) / 1000);
export const past = (instant, now) => (instant ? `${duration(Math.round(seconds(instant, now)))} ago` : "never");
export const plural = (count, noun, many = `${noun}s`) => `${number(count)} ${count === 1 ? noun : many}`;

export const bytes = (count) => (count < 1e6
  ? `${number(Math.round(count / 1e3))} kB`
  : `${number(Math.round(count / 1e5) / 10)} MB`);
export const time = (instant) => new Date(instant).toLocaleTimeString("en-GB");
/** The name of the reader's time zone. */
export const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(new Date())
  .find(({ type }) => type === "timeZoneName").value;
/** The time, with the day if it is not today. */
export function moment(instant) {
  const date = new Date(instant);
  return date.toDateString() === new Date().toDateString()
    ? time(instant)
    : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${time(instant).slice(0, 5)}`;
}
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/** Writes a text only if it has changed, so that screen readers, selections and layout are not disturbed. */
export function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

export function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/**
 * A row of a table.
 * @param cells [label, text, class] of each column behind the head; where columns have no heads, each cell says what it is
 */
export function tableRow(title, cells) {
  const made = element("tr");
  const head = element("th", title);
  head.scope = "row";
  made.append(head);
  for (const [label, text, className] of cells) {
    const cell = element("td", text, className);
    cell.dataset.label = label;
    made.append(cell);
  }
  return made;
}

export function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
