// The map: topics, lanes, hub, outcomes, and what flows between them.

import { drawSpark } from "./charts.js";
import { duration, element, get, moment, number, rate, sum, write } from "./format.js";
import { count, series } from "./history.js";
import { ask } from "./orders.js";

const signs = { good: "●", idle: "○", warn: "▲", bad: "■" };

function badge(station, { tone, word }) {
  station.dataset.tone = tone;
  write(station.querySelector(".sign"), signs[tone]);
  write(station.querySelector(".word"), word);
}

/** @param stop the tone of the blockage, if there is one */
function flow(pipe, { flow: value, stop }) {
  pipe.dataset.flow = stop === "bad" ? "blocked" : stop ? "paused" : value >= 100 ? "fast" : value > 0 ? "slow" : "none";
}

/** The part of a template's copy that shows a figure. */
const part = (place, name) => place.querySelector(`[data-figure=${name}]`);

export function drawMap(point, { stations }) {
  const { status } = point;
  const list = get("lanes");
  const names = JSON.stringify(status.lanes.map((lane) => [lane.name, lane.topics]));
  // The lanes have changed, because the process was restarted with other settings.
  if (list.dataset.lanes !== names) list.replaceChildren();
  list.dataset.lanes = names;
  for (const [index, lane] of status.lanes.entries()) {
    const row = list.children[index] ?? addLane(list, lane);
    drawLane(row, lane, point.lanes[lane.name], stations.lanes[index], stations.hub);
  }

  flow(get("to-hub"), stations.hub);
  badge(get("hub"), stations.hub);
  write(get("requests"), rate(point.requests));
  write(get("flight"), `${number(status.inFlight)} of ${number(status.concurrencyLimit)}`);
  write(get("connections"), number(status.connections) + (status.http ? " · " + status.http : ""));
  write(get("pace"), status.rate ? `${number(status.rate.perSecond)}/s` : "unlimited");
  write(get("tokens"), status.tokens === undefined ? "–" : number(status.tokens));
  write(get("answer"), pair(point.hub));
  drawSpark(get("hub-spark"), series((point) => point.requests), "Hub", "requests");

  badge(get("outcomes"), stations.outcomes);
  flow(get("to-outcomes"), stations.outcomes);
  const all = {};
  for (const { outcomes } of status.lanes) {
    for (const [name, count] of Object.entries(outcomes)) all[name] = (all[name] ?? 0) + count;
  }
  const counts = { accepted: all.accepted ?? 0, failed: count(all, "failed") };
  write(get("accepted-rate"), rate(point.accepted));
  drawSpark(get("outcomes-spark"), series((point) => point.accepted), "Outcomes", "accepted events");
  write(get("accepted"), number(counts.accepted));
  write(get("failed"), number(counts.failed));
  get("failed").classList.toggle("bad", counts.failed > 0);
  write(get("unsent"), number(count(all, "unsent")));
  const { held } = status;
  write(get("held"), number(held?.events));
  write(get("held-next"), held?.nextDue ? `next ${moment(held.nextDue)}` : "");
  write(get("dead-letters"), number(sum(status.lanes.flatMap((lane) => Object.values(lane.deadLetters)))));
}

const pair = ({ p50, p99 }) => `${duration(p50)} / ${duration(p99)}`;

function addLane(list, lane) {
  const row = get("lane-template").content.firstElementChild.cloneNode(true);
  row.querySelector(".topics").replaceChildren(...lane.topics.map((topic) => element("span", topic)));
  write(row.querySelector(".lane .name"), lane.name);
  const [send, deadLetter] = row.querySelectorAll(".orders button");
  const order = () => (row.dataset.paused === "true" ? "resume" : "pause");
  row.querySelector(".toggle").addEventListener("click", () => ask(lane.name, order()));
  send.addEventListener("click", () => ask(lane.name, "release?waiting=send", row.dataset.waiting));
  deadLetter.addEventListener("click", () => ask(lane.name, "release?waiting=dead-letter", row.dataset.waiting));
  send.setAttribute("aria-label", `Send the rest of lane ${lane.name}`);
  deadLetter.setAttribute("aria-label", `Dead-letter the rest of lane ${lane.name}`);
  list.append(row);
  return row;
}

function drawLane(row, lane, figures, { topics, lane: state }, hub) {
  const isKnown = lane.lag !== undefined;
  badge(row.querySelector(".source"), topics);
  write(part(row, "behind"), number(lane.lag));
  write(part(row, "oldest"), isKnown ? duration(lane.lagSeconds) : "–");
  write(part(row, "trend"), isKnown ? trend(lane, figures) : "–");
  flow(row.querySelector(".to-lane"), topics);

  badge(row.querySelector(".lane"), state);
  write(part(row, "rate"), rate(figures.rate));
  write(part(row, "partitions"), number(lane.partitions));
  write(part(row, "buffered"), number(lane.held));
  write(part(row, "delayed"), number(lane.delayed));
  drawSpark(row.querySelector(".spark"), series((point) => point.lanes[lane.name]?.rate), `Lane ${lane.name}`,
    "events");
  // A blockage at the hub is also shown before it.
  flow(row.querySelector(".to-hub"), state.stop === "bad" || !hub.stop ? state : hub);

  row.dataset.paused = lane.paused;
  row.dataset.waiting = lane.lag ?? lane.held;
  const toggle = row.querySelector(".toggle");
  write(toggle, lane.paused ? "Resume" : "Pause");
  toggle.setAttribute("aria-label", `${toggle.textContent} lane ${lane.name}`);
  for (const button of row.querySelectorAll(".orders button")) button.hidden = !lane.flooded;
}

function trend(lane, { trend }) {
  if (!lane.lag) return "caught up";
  if (!(Math.abs(trend) >= 0.5)) return "steady";
  return trend > 0 ? `+${rate(trend)}/s` : `−${rate(-trend)}/s`;
}
