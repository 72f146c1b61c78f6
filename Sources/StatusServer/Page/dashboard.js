// Polls the status once a second, and shows its age when there is no answer.

import { drawCharts } from "./charts.js";
import { condition } from "./condition.js";
import { follow, startControl } from "./control.js";
import { note } from "./desk.js";
import { drawFeeds, firstProblem, push, stateCells } from "./feedrows.js";
import { duration, get, number, sentence, time, write, zone } from "./format.js";
import { remember, settled } from "./history.js";
import { drawMap } from "./map.js";
import { startOrders } from "./orders.js";
import { drawResults, drawTables } from "./tables.js";
import { startTerms } from "./terms.js";

let newest;
let receivedAt;
let isFrozen = false;
let problem;
/** The timer of the next request; undefined during a request. */
let next;
let shownResults = -1;

// The page polls instead of reading a stream. A browser opens six connections to a host, and the streams of six tabs would leave
// none for a seventh.
async function ask() {
  clearTimeout(next);
  next = undefined;
  const began = performance.now();
  const status = await answer();
  // An error in the drawing must not end the polling.
  next = setTimeout(ask, Math.max(100, 1000 - (performance.now() - began)));
  if (status) receive(status);
  draw();
}

/** @returns the status, or undefined with `problem` set */
async function answer() {
  try {
    const reply = await fetch("api/status", { signal: AbortSignal.timeout(3000) });
    if (reply.ok) return await reply.json();
    problem = `The publisher answers with ${reply.status}`;
  } catch (error) {
    problem = error.name === "TimeoutError" ? "The publisher does not answer" : "The publisher cannot be reached";
  }
}

function receive(status) {
  const before = newest?.status;
  newest = remember(status);
  newest.before = before;
  note(status);
  receivedAt = performance.now();
  problem = undefined;
}

function draw() {
  const isLost = problem !== undefined;
  const wasLost = document.body.classList.contains("lost");
  document.body.classList.toggle("lost", isLost);
  document.body.classList.toggle("still", isLost || isFrozen);
  if (isLost) drawVerdict(lost());
  else if (!isFrozen || wasLost) drawStatus();
  follow(newest?.status, isLost);
  // Written last, so that it never appears above figures that could not be drawn.
  write(get("age"), isLost ? "No connection" : `Live, ${time(newest.status.at)} ${zone}`);
  get("age").dataset.tone = isLost ? "bad" : "good";
}

function lost() {
  const age = receivedAt === undefined
    ? ""
    : `The numbers below are ${duration(Math.round((performance.now() - receivedAt) / 1000))} old. `;
  return {
    state: "No connection", tone: "bad", title: problem, causes: [],
    why: age || "Nothing is known yet.", todo: "Look whether the process runs. This page tries again every second.",
  };
}

function drawStatus() {
  const found = condition(newest, newest.before);
  const { status } = newest;
  drawVerdict(found);
  drawMap(newest, found);
  drawCharts(newest);
  drawTables(newest);
  const { hub, group } = status;
  if (hub) write(get("identity"), `Hub ${hub.name} at ${hub.host}, consumer group ${group}; this process is ${status.replica}`);
  write(get("version"),
    `Newswire ${status.version}, up ${duration((Date.parse(status.at) - Date.parse(status.startedAt)) / 1000)}`);
  const count = status.lanes.reduce((total, lane) => total + settled(lane.outcomes), 0);
  if (count !== shownResults) drawResults();
  shownResults = count;
}

function drawVerdict({ state, tone, title, why, todo, causes }) {
  get("verdict").dataset.tone = tone;
  write(get("state"), state);
  write(get("title"), title);
  write(get("why-label"), tone === "bad" || causes.length ? "Why" : "Queue");
  write(get("why"), why);
  write(get("todo"), todo);
  const more = causes.filter((cause) => cause.title !== title).map((cause) => `${cause.title}. ${cause.todo}`);
  write(get("more"), [...new Set(more)].join("\n"));
  document.title = `${state} · Newswire`;
  // The announcement omits the figures, which change every second.
  announce([state, ...new Set(causes.map((cause) => cause.title))].map((words) => `${words}.`).join(" "));
}

// Requests the data that `newswire ingest` has stored about feeds. It changes slowly and is requested separately.
async function askForFeeds() {
  let pause = 30_000;
  try {
    const reply = await fetch("api/feeds", { signal: AbortSignal.timeout(8000) });
    if (reply.ok) {
      const known = await reply.json();
      if (!known) return;
      showFeeds(known);
      if (!known.ready) pause = 2000;
    }
  } catch {
    // The verdict shows that the answer is missing.
  }
  setTimeout(askForFeeds, pause);
}

function showFeeds(known) {
  const { at, feedCount, problemCount, reasons: [reason] } = known;
  get("feeds-section").hidden = false;
  write(get("feeds-remark"), reason ? sentence(reason.detail)
    : problemCount ? `${number(problemCount)} of ${number(feedCount)} cannot be read. ${firstProblem(known)}`
    : `${number(feedCount)} without a problem, by what newswire ingest has stored until ${time(at)}`);
  get("feeds-remark").classList.toggle("bad", problemCount > 0);
  drawFeeds(known, (feed) => [...stateCells(feed, at), ["WebSub", push(feed)]]);
}

// Announces one state at a time, after it has lasted, because a changing state would produce many announcements.
let spoken = "";
let waiting;
let timer;
function announce(text) {
  if (text === waiting || (text === spoken && !timer)) return;
  clearTimeout(timer);
  waiting = text;
  timer = setTimeout(() => {
    timer = waiting = undefined;
    spoken = text;
    write(get("spoken"), text);
  }, spoken ? 1500 : 0);
}

get("freeze").addEventListener("click", () => {
  isFrozen = !isFrozen;
  get("freeze").setAttribute("aria-pressed", isFrozen);
  write(get("frozen"), isFrozen ? `Frozen at ${time(Date.now())}` : "");
  if (newest) draw();
});
get("search").addEventListener("submit", (event) => { event.preventDefault(); drawResults(); });
get("event").addEventListener("input", drawResults);
// Browsers slow the timers of hidden tabs to one call a minute.
document.addEventListener("visibilitychange", () => { if (!document.hidden && next !== undefined) ask(); });
for (const place of document.querySelectorAll(".zone")) place.textContent = `, ${zone}`;
startOrders();
startControl();
startTerms();
ask();
askForFeeds();
