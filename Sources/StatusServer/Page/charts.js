// Lines of the last three minutes and charts of the last hour, as SVG with a text for screen readers.

import { duration, element, get, rate, shape, write } from "./format.js";
import { hour, series, span } from "./history.js";

/** The next larger 1, 2 or 5 followed by zeros, so that a scale does not change every second. */
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((step) => step * power >= value * 0.999);
}

function path(line, x, y) {
  let text = "";
  let isDrawing = false;
  for (const [ago, value] of line) {
    // A point without neighbours is drawn as a dot.
    if (value !== undefined) text += `${isDrawing ? "L" : "M"}${x(ago).toFixed(1)} ${y(value).toFixed(1)}${isDrawing ? "" : "h.01"}`;
    isDrawing = value !== undefined;
  }
  return text;
}

const values = (line) => line.map(([, value]) => value).filter((value) => value !== undefined);

/** A line of 180 by 40 units that is scaled to the width of its place. */
export function drawSpark(svg, line, name, what) {
  const known = values(line);
  const highest = ceiling(Math.max(...known, 0));
  const x = (ago) => 180 - (180 * ago) / span;
  const y = (value) => 38 - (36 * value) / highest;
  const drawn = path(line, x, y);
  const first = line.find(([, value]) => value !== undefined);
  const parts = [shape("path", { d: "M0 38H180", class: "ground" })];
  if (first) {
    const area = `${drawn}V38H${x(first[0]).toFixed(1)}Z`;
    parts.push(shape("path", { d: area, class: "area" }), shape("path", { d: drawn, class: "line" }));
  }
  svg.replaceChildren(...parts);
  svg.setAttribute("aria-label", known.length
    ? `${name}, ${what} a second in the last three minutes: now ${rate(known.at(-1))}, `
      + `lowest ${rate(Math.min(...known))}, highest ${rate(Math.max(...known))}`
    : `${name}: no rate is known yet`);
}

/** The most lanes with charts of their own. */
const lanesMax = 4;

/** A pair of charts for each lane. The lanes differ by a thousand in rate and time, so each has its own scale. */
export function drawCharts({ status, lanes }) {
  const place = get("charts");
  const names = status.lanes.slice(0, lanesMax).map(({ name }) => name);
  if (place.dataset.lanes !== JSON.stringify(names)) {
    place.dataset.lanes = JSON.stringify(names);
    place.replaceChildren(...names.flatMap(() => [0, 1].map(() => get("chart-template").content.firstElementChild.cloneNode(true))));
  }
  for (const [index, name] of names.entries()) {
    const [outcomes, times] = [place.children[2 * index], place.children[2 * index + 1]];
    chart(outcomes, `${name}: events with an outcome, a second`, [["all", "rate", "mark1"], ["failed", "failed", "mark4"]]
      .map(([word, key, mark]) => [word, (point) => point.lanes[name]?.[key], mark, lanes[name][key]]), rate);
    chart(times, `${name}: time from record to outcome`, ["p50", "p95", "p99"]
      .map((key, rank) => [key, (point) => point.lanes[name]?.total?.[key], `mark${rank + 1}`, lanes[name].total[key]]), duration);
  }
}

function chart(figure, title, kinds, show) {
  const svg = figure.querySelector("svg");
  const lines = kinds.map(([name, value, mark, now]) => ({ name, mark, now, line: series(value, hour) }));
  const [left, right, top, bottom] = [72, 596, 10, 98];
  const highest = Math.max(...lines.flatMap(({ line }) => values(line)), 0);
  const scale = ceiling(highest);
  const x = (ago) => right - ((right - left) * ago) / hour;
  const y = (value) => bottom - ((bottom - top) * value) / scale;
  const parts = [];
  for (const share of [0, 0.5, 1]) {
    const at = y(scale * share);
    parts.push(shape("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }));
    parts.push(shape("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, highest > 0 ? show(scale * share) : ""));
  }
  for (const [at, anchor, text] of [[left, "start", "1 h ago"], [right, "end", "now"]]) {
    parts.push(shape("text", { x: at, y: 116, "text-anchor": anchor }, text));
  }
  for (const { line, mark } of lines) parts.push(shape("path", { d: path(line, x, y), class: `line ${mark}` }));
  if (highest === 0) {
    const middle = { x: (left + right) / 2, y: (top + bottom) / 2 + 20, "text-anchor": "middle" };
    parts.push(shape("text", middle, "nothing in this time"));
  }
  svg.replaceChildren(...parts);
  const figures = lines.map(({ name, now }) => `${name} ${show(now)}`).join(", ");
  svg.setAttribute("aria-label", `${title}, the last hour; now: ${figures}`);
  write(figure.querySelector(".caption"), title);
  figure.querySelector(".key").replaceChildren(...lines.map(({ name, mark, now }) => {
    const entry = element("span");
    entry.append(element("i", undefined, mark), `${name} ${show(now)}`);
    return entry;
  }));
}
