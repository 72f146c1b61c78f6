"use strict";

// Every text goes in as text, never as markup: events come from outside.
const get = (id) => document.getElementById(id);
const grouped = new Intl.NumberFormat("en");
const number = (value) => (value === undefined || value === null ? "–" : grouped.format(value));
const history = [];
const historyMax = 180;
let token = "";

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function duration(seconds) {
  if (seconds === undefined || seconds === null) return "–";
  if (seconds === 0) return "0 s";
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const settled = (status) => sum(status.lanes.map((lane) => sum(Object.values(lane.outcomes))));

/** The time that `share` of the counted did not exceed; undefined for none. */
function quantile(counts, bounds, share) {
  const total = sum(counts);
  if (total === 0) return undefined;
  let below = 0;
  for (let index = 0; index < counts.length; index += 1) {
    if (counts[index] > 0 && below + counts[index] >= share * total) {
      const lower = index === 0 ? 0 : bounds[index - 1];
      const upper = index < bounds.length ? bounds[index] : lower;
      return lower + ((upper - lower) * (share * total - below)) / counts[index];
    }
    below += counts[index];
  }
  return undefined;
}

const totals = (status) => status.lanes.map((lane) => lane.latency.total.counts)
  .reduce((all, counts) => all.map((count, index) => count + counts[index]));

function remember(status) {
  const point = { at: Date.parse(status.at) / 1000, settled: settled(status), counts: totals(status) };
  // Rates and percentiles are those of the last ten seconds: one second alone says little about a few events.
  const before = history.findLast((earlier) => point.at - earlier.at >= 9.5) ?? history[0];
  if (before) {
    point.rate = Math.max(0, (point.settled - before.settled) / Math.max(0.001, point.at - before.at));
    const recent = point.counts.map((count, index) => Math.max(0, count - before.counts[index]));
    [point.p50, point.p95, point.p99] = [0.5, 0.95, 0.99].map((share) => quantile(recent, status.latencyBounds, share));
  }
  history.push(point);
  if (history.length > historyMax) history.shift();
}

// Charts

function chart(svg, lines, show) {
  const [left, right, top, bottom] = [56, 596, 8, 138];
  const highest = Math.max(...lines.flatMap((line) => line.values.filter((value) => value !== undefined)), 0);
  const scale = highest > 0 ? highest * 1.1 : 1;
  const y = (value) => bottom - ((bottom - top) * value) / scale;
  const x = (index) => right - ((right - left) * (history.length - 1 - index)) / (historyMax - 1);
  const parts = [];
  for (const share of [0, 0.5, 1]) {
    const at = y(scale * share);
    parts.push(shape("line", { x1: left, x2: right, y1: at, y2: at, class: "grid" }));
    const label = shape("text", { x: left - 6, y: at + 4, "text-anchor": "end" });
    label.textContent = highest > 0 ? show(scale * share) : "";
    parts.push(label);
  }
  for (const [share, text] of [[0, "3 min ago"], [1, "now"]]) {
    const label = shape("text", { x: share === 0 ? left : right, y: 154, "text-anchor": share === 0 ? "start" : "end" });
    label.textContent = text;
    parts.push(label);
  }
  for (const line of lines) {
    let path = "";
    let isDrawing = false;
    line.values.forEach((value, index) => {
      if (value === undefined) { isDrawing = false; return; }
      path += `${isDrawing ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      isDrawing = true;
    });
    parts.push(shape("path", { d: path, class: line.mark }));
  }
  if (highest === 0) {
    const label = shape("text", { x: (left + right) / 2, y: (top + bottom) / 2 - 6, "text-anchor": "middle" });
    label.textContent = "nothing settled in this time";
    parts.push(label);
  }
  svg.replaceChildren(...parts);
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function key(place, entries) {
  place.replaceChildren(...entries.map(([mark, text]) => {
    const entry = element("span");
    const sign = element("i", undefined, mark);
    entry.append(sign, text);
    return entry;
  }));
}

// Parts of the page

const limits = {
  halt: "sending is halted", "hub-pause": "the hub asked us to wait", rate: "limited by the configured rate",
  concurrency: "limited by the hub's speed", broker: "limited by the results topic", pause: "paused by an operator",
};

function showState(status) {
  const [text, tone] = !status.healthy ? ["stuck", "bad"] : status.halts.length ? ["halted", "bad"]
    : !status.ready ? ["not ready", "warn"] : ["sending", "good"];
  get("state").textContent = text;
  get("state").className = `state ${tone}`;
  get("limit").textContent = status.limitedBy.map((reason) => limits[reason] ?? reason).join(", ");
  document.title = `${text} · Newswire`;
  const notices = status.halts.map((halt) => ({ title: `Halted: ${halt.reason}`, detail: halt.detail, remedy: halt.remedy, since: halt.since }));
  for (const reason of status.notReady.filter((reason) => !reason.code.startsWith("hub-") && reason.code !== "flood")) {
    notices.push({ title: "Not ready", detail: reason.detail, remedy: reason.remedy });
  }
  if (status.stuck) notices.push({ title: "Stuck", detail: status.stuck, remedy: "Restart the process, and report this." });
  // Untouched while nothing changes, so that it is read out once.
  const text2 = JSON.stringify(notices);
  if (get("notices").dataset.shown === text2) return;
  get("notices").dataset.shown = text2;
  get("notices").replaceChildren(...notices.map((notice) => {
    const box = element("div", undefined, "notice");
    box.append(element("strong", notice.title), element("p", notice.detail));
    if (notice.remedy) box.append(element("p", `What to do: ${notice.remedy}`));
    if (notice.since) box.append(element("p", `Since ${new Date(notice.since).toLocaleTimeString()}`, "quiet"));
    return box;
  }));
}

function showFigures(status) {
  const last = history.at(-1);
  get("rate").textContent = last.rate === undefined ? "–" : number(Math.round(last.rate * 10) / 10);
  const known = status.lanes.filter((lane) => lane.lag !== undefined);
  get("lag").textContent = known.length ? number(sum(known.map((lane) => lane.lag))) : "–";
  get("age").textContent = known.length ? duration(Math.max(...known.map((lane) => lane.lagSeconds))) : "–";
  get("flight").textContent = `${number(status.inFlight)} of ${number(status.concurrencyLimit)}`;
  get("connections").textContent = number(status.connections);
  get("tokens").textContent = status.tokens === undefined ? "unlimited" : number(status.tokens);
  chart(get("rate-chart"), [{ values: history.map((point) => point.rate), mark: "mark1" }], (value) => number(Number(value.toPrecision(3))));
  chart(get("latency-chart"), ["p50", "p95", "p99"].map((name, index) => (
    { values: history.map((point) => point[name]), mark: `mark${index + 1}` })), duration);
  key(get("latency-key"), ["p50", "p95", "p99"].map((name, index) => (
    [`mark${index + 1}`, `${name} ${duration(last[name])}`])));
}

function showLanes(status) {
  const body = get("lanes");
  for (const lane of status.lanes) {
    let row = [...body.rows].find((row) => row.dataset.lane === lane.name);
    if (!row) {
      row = body.insertRow();
      row.dataset.lane = lane.name;
      const title = element("th", lane.name);
      title.scope = "row";
      title.title = lane.topics.join(", ");
      row.append(title);
      for (let index = 0; index < 6; index += 1) row.insertCell().className = "number";
      row.insertCell();
      const actions = row.insertCell();
      actions.className = "actions";
      const button = (name, order) => {
        const made = element("button", name);
        made.type = "button";
        made.setAttribute("aria-label", `${name}: lane ${lane.name}`);
        made.addEventListener("click", () => act(lane.name, order()));
        actions.append(made);
      };
      button("Pause", () => (row.dataset.paused === "true" ? "resume" : "pause"));
      button("Send what waits", () => "release?waiting=send");
      button("Give up what waits", () => "release?waiting=dead-letter");
    }
    row.dataset.paused = lane.paused;
    const { queue, hub } = lane.latency;
    const texts = [number(lane.partitions), number(lane.lag), number(lane.held), number(lane.delayed),
      `${duration(queue.p50)} / ${duration(queue.p99)}`, `${duration(hub.p50)} / ${duration(hub.p99)}`, lane.paused ? "paused" : lane.flooded ? "stopped" : "open"];
    const heads = body.parentElement.tHead.rows[0].cells;
    texts.forEach((text, index) => {
      row.cells[index + 1].textContent = text;
      // Where the heads have no room, each cell says what it is.
      row.cells[index + 1].dataset.label = heads[index + 1].textContent;
    });
    row.cells[7].className = lane.flooded ? "bad" : lane.paused ? "warn" : "";
    const [toggle, ...releases] = row.querySelectorAll("button");
    toggle.textContent = lane.paused ? "Resume" : "Pause";
    toggle.setAttribute("aria-label", `${toggle.textContent} lane ${lane.name}`);
    for (const button of releases) button.hidden = !lane.flooded;
  }
}

async function act(lane, order) {
  const action = order.split("?")[0];
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(`api/lanes/${lane}/${order}`, { method: "POST", headers }).catch(() => undefined);
  if (answer?.ok) {
    get("token-form").hidden = true;
    get("action").textContent = `Asked lane ${lane} to ${action}.`;
  } else {
    get("token-form").hidden = answer?.status !== 401;
    const problem = await answer?.json().catch(() => undefined);
    get("action").textContent = `Could not ${action} lane ${lane}: ${problem?.error ?? "no answer"}`;
  }
}

function showOutcomes(id, title, entries) {
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry.outcomes)))];
  if (!names.includes("accepted")) names.unshift("accepted");
  const head = element("tr");
  for (const [index, name] of [title, ...names].entries()) {
    const cell = element("th", name, index ? "number" : "");
    cell.scope = "col";
    head.append(cell);
  }
  get(`${id}-head`).replaceChildren(head);
  get(id).replaceChildren(...entries.map((entry) => {
    const row = element("tr");
    const heading = element("th", entry.name);
    heading.scope = "row";
    row.append(heading, ...names.map((name) => element("td", number(entry.outcomes[name] ?? 0), "number")));
    return row;
  }));
}

function showDeadLetters(status) {
  const rows = status.lanes.flatMap((lane) => Object.entries(lane.deadLetters).map(([reason, count]) => [lane.name, reason, count]));
  const text = JSON.stringify(rows);
  if (get("dead").dataset.shown === text) return;
  get("dead").dataset.shown = text;
  if (!rows.length) {
    get("dead").replaceChildren(element("p", "None since the start.", "quiet"));
    return;
  }
  const box = element("div", undefined, "card");
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const name of ["Lane", "Reason", "Records"]) {
    const cell = element("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const [lane, reason, count] of rows) {
    const row = body.insertRow();
    row.append(element("td", lane), element("td", reason), element("td", number(count), "number"));
  }
  const hint = element("p", "Once the cause is mended, send them again with ", "quiet");
  hint.append(element("code", "newswire redrive --config newswire.yaml"), ".");
  box.append(table, hint);
  get("dead").replaceChildren(box);
}

// Results

const failures = new Set(["rejected", "exhausted", "unknown", "undecodable", "unroutable"]);

async function showResults() {
  const event = get("event").value.trim();
  const query = event ? `event=${encodeURIComponent(event)}&limit=200` : "limit=20";
  const answer = await fetch(`api/results?${query}`).catch(() => undefined);
  if (!answer?.ok || event !== get("event").value.trim()) return;
  const { results } = await answer.json();
  get("results").replaceChildren(...results.map((result) => {
    const row = element("tr");
    const tone = result.outcome === "accepted" ? "accepted" : failures.has(result.outcome) ? "failed" : "other";
    const source = `${result.source.topic}/${result.source.partition}/${result.source.offset}`;
    const took = result.latencyMs?.total === undefined ? "–" : duration(result.latencyMs.total / 1000);
    row.append(
      element("td", new Date(result.settledAt).toLocaleTimeString()), element("td", result.eventId ?? "unknown", "wide"),
      element("td", result.outcome, `outcome outcome-${tone}`), element("td", result.categories.join(", ")),
      element("td", result.lane), element("td", source), element("td", took, "number"),
      element("td", result.error ? `${result.error.code}: ${result.error.detail}` : "", "wide"));
    return row;
  }));
  get("results-note").textContent = results.length ? "" : event ? "No result of this event is kept here." : "Nothing settled yet.";
}

// Life

function show(status) {
  remember(status);
  showState(status);
  showFigures(status);
  showLanes(status);
  showOutcomes("lane-outcomes", "Lane", status.lanes);
  showOutcomes("category-outcomes", "Category", status.categories);
  showDeadLetters(status);
  get("version").textContent = `Newswire ${status.version}, up ${duration((Date.parse(status.at) - Date.parse(status.startedAt)) / 1000)}`;
}

let shown = -1;
function follow() {
  const stream = new EventSource("api/stream");
  stream.onmessage = (message) => {
    const status = JSON.parse(message.data);
    show(status);
    if (settled(status) !== shown) showResults();
    shown = settled(status);
  };
  stream.onerror = () => {
    get("state").textContent = "no connection to the publisher";
    get("state").className = "state bad";
    // A browser connects again by itself after a cut, but not after a refusal.
    if (stream.readyState === EventSource.CLOSED) setTimeout(follow, 5000);
  };
}
follow();
get("search").addEventListener("submit", (event) => { event.preventDefault(); showResults(); });
get("event").addEventListener("input", showResults);
get("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = get("token").value;
  get("token-form").hidden = true;
  get("action").textContent = "Now try again.";
});
