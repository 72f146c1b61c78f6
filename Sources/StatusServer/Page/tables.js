// The tables below the map: details of the lanes, outcomes, dead letters, the latest results.

import { bytes, duration, element, get, number, sum, time, write } from "./format.js";
import { outcomes } from "./facts.js";
import { explained } from "./terms.js";

export function drawTables(point) {
  const { status } = point;
  drawDetails(status, point.lanes);
  drawOutcomes("lane-outcomes", "Lane", status.lanes);
  drawOutcomes("category-outcomes", "Category", status.categories);
  const all = [...new Set(status.lanes.flatMap(({ outcomes }) => Object.keys(outcomes)))];
  write(get("totals-remark"), all.map((name) => `${number(sum(status.lanes.map(({ outcomes }) => outcomes[name] ?? 0)))} ${name}`).join(", "));
  drawDeadLetters(status);
}

/** Rewrites the cells of a table in place; rows and columns are only ever added. */
function fill(body, rows, columns) {
  for (const [index, [name, ...texts]] of rows.entries()) {
    const row = body.rows[index] ?? body.insertRow();
    if (!row.cells.length) {
      const heading = element("th");
      heading.scope = "row";
      row.append(heading);
    }
    write(row.cells[0], name);
    for (const [column, text] of texts.entries()) {
      const cell = row.cells[column + 1] ?? row.insertCell();
      cell.className = "number";
      // On narrow screens without column heads, each cell shows its own label.
      cell.dataset.label = columns[column];
      write(cell, text);
    }
  }
  while (body.rows.length > rows.length) body.deleteRow(-1);
}

function drawDetails(status, figures) {
  const pair = ({ p50, p99 }) => `${duration(p50)} / ${duration(p99)}`;
  const heads = [...get("details").parentElement.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent.trim());
  fill(get("details"), status.lanes.map((lane) => {
    const { hub, queue } = figures[lane.name];
    return [lane.name, number(lane.partitions), number(lane.held), bytes(lane.heldBytes), number(lane.ready),
      number(lane.delayed),
      pair(queue), pair(hub), pair(lane.latency.total)];
  }), heads);
}

function drawOutcomes(id, title, entries) {
  // The outcomes that have occurred, in order of first occurrence, so that no column moves.
  const head = get(`${id}-head`);
  const names = [...head.rows[0]?.cells ?? []].slice(1).map((cell) => cell.dataset.outcome);
  const occurring = new Set(["accepted", ...entries.flatMap((entry) => Object.keys(entry.outcomes))]);
  const added = [...occurring].filter((name) => !names.includes(name));
  const row = head.rows[0] ?? head.insertRow();
  if (!row.cells.length) row.append(element("th", title));
  for (const name of added) {
    const cell = element("th", undefined, "number");
    cell.scope = "col";
    cell.dataset.outcome = name;
    cell.append(explained(name, name));
    row.append(cell);
  }
  names.push(...added);
  fill(get(id), entries.map((entry) => [entry.name, ...names.map((name) => number(entry.outcomes[name] ?? 0))]), names);
}

function drawDeadLetters(status) {
  const rows = status.lanes.flatMap((lane) => Object.entries(lane.deadLetters)
    .map(([reason, count]) => [lane.name, reason, number(count)]));
  write(get("no-dead"), rows.length ? `${number(sum(status.lanes.flatMap((lane) => Object.values(lane.deadLetters))))} since the start` : "None since the start.");
  get("some-dead").hidden = !rows.length;
  const body = get("dead");
  if (body.dataset.shown === JSON.stringify(rows)) return;
  // It opens with the first letter, and stays closed if the reader closes it.
  if (rows.length && !body.rows.length) get("dead-section").open = true;
  body.dataset.shown = JSON.stringify(rows);
  body.replaceChildren(...rows.map(([lane, reason, count]) => {
    const row = element("tr");
    row.append(element("td", lane), element("td", reason), element("td", count, "number"));
    return row;
  }));
}

let isAsking = false;

/** The latest results, or those of the requested event. */
export async function drawResults() {
  if (isAsking) return;
  isAsking = true;
  const event = get("event").value.trim();
  const query = event ? `event=${encodeURIComponent(event)}&limit=200` : "limit=20";
  const answer = await fetch(`api/results?${query}`, { signal: AbortSignal.timeout(5000) })
    .then((answer) => (answer.ok ? answer.json() : undefined)).catch(() => undefined);
  isAsking = false;
  // The reader has changed the text during the request.
  if (event !== get("event").value.trim()) return drawResults();
  if (!answer) return;
  const { results } = answer;
  get("results").replaceChildren(...results.map((result) => {
    const row = element("tr");
    const tone = { sent: "good", failed: "bad" }[outcomes[result.outcome]?.kind] ?? "warn";
    const source = `${result.source.topic}/${result.source.partition}/${result.source.offset}`;
    const took = result.latencyMs?.total === undefined ? "–" : duration(result.latencyMs.total / 1000);
    row.append(
      element("td", time(result.settledAt)), element("td", result.eventId ?? "unknown", "wide"),
      element("td", result.outcome, `outcome ${tone}`), element("td", result.categories.join(", ")),
      element("td", result.lane), element("td", source), element("td", took, "number"),
      element("td", result.error ? `${result.error.code}: ${result.error.detail}` : "", "wide"));
    return row;
  }));
  write(get("results-note"), results.length
    ? ""
    : event
    ? "No result of this event is kept here."
    : "Nothing has an outcome yet.");
}
