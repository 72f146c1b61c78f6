// Lines of the last three minutes, as SVG with a text for screen readers.

import { duration, element, rate, shape } from "./format.js";
import { series, span } from "./history.js";

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
    if (value !== undefined) text += `${isDrawing ? "L" : "M"}${x(ago).toFixed(1)} ${y(value).toFixed(1)}`;
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

export function drawCharts(point) {
  const total = point.total;
  const outcomes = [["all", (point) => point.rate, "mark1"], ["failed", (point) => point.failed, "mark4"]];
  chart("rate-chart", "Events with an outcome, a second", outcomes, rate, [point.rate, point.failed]);
  const times = ["p50", "p95", "p99"].map((name, index) => [name, (point) => point.total[name], `mark${index + 1}`]);
  chart("latency-chart", "Time from record to outcome", times, duration, [total.p50, total.p95, total.p99]);
}

function chart(id, title, kinds, show, now) {
  const svg = document.getElementById(id);
  const lines = kinds.map(([name, value, mark]) => ({ name, mark, line: series(value) }));
  const [left, right, top, bottom] = [72, 596, 10, 118];
  const highest = Math.max(...lines.flatMap(({ line }) => values(line)), 0);
  const scale = ceiling(highest);
  const x = (ago) => right - ((right - left) * ago) / span;
  const y = (value) => bottom - ((bottom - top) * value) / scale;
  const parts = [];
  for (const share of [0, 0.5, 1]) {
    const at = y(scale * share);
    parts.push(shape("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }));
    parts.push(shape("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, highest > 0 ? show(scale * share) : ""));
  }
  for (const [at, anchor, text] of [[left, "start", "3 min ago"], [right, "end", "now"]]) {
    parts.push(shape("text", { x: at, y: 134, "text-anchor": anchor }, text));
  }
  for (const { line, mark } of lines) parts.push(shape("path", { d: path(line, x, y), class: `line ${mark}` }));
  if (highest === 0) {
    const middle = { x: (left + right) / 2, y: (top + bottom) / 2 + 30, "text-anchor": "middle" };
    parts.push(shape("text", middle, "nothing in this time"));
  }
  svg.replaceChildren(...parts);
  const figures = lines.map(({ name }, index) => `${name} ${show(now[index])}`).join(", ");
  svg.setAttribute("aria-label", `${title}, the last three minutes; now: ${figures}`);
  const key = document.getElementById(`${id}-key`);
  key.replaceChildren(...lines.map(({ name, mark }, index) => {
    const entry = element("span");
    entry.append(element("i", undefined, mark), `${name} ${show(now[index])}`);
    return entry;
  }));
}
