// Combines the statuses of the last three minutes with the publisher's history of the last hour: rates, trends, percentiles.

import { sum } from "./format.js";
import { outcomes as facts } from "./facts.js";

/** The seconds of the lines on the map, and of the charts. */
export const span = 180;
export const hour = 3600;
/** The seconds between two points of the history. */
const step = 10;
/** The seconds for rates (one second is too short for few events), and for percentiles and trends. */
const [short, long] = [5, 10];

const points = [];
/** Points of the last hour, about ten seconds apart, with the same figures as the newest ones. */
let past = [];

/** Fetches the last hour from the publisher, at the start and after a gap. */
async function fill() {
  const reply = await fetch("api/history", { signal: AbortSignal.timeout(8000) }).catch(() => undefined);
  if (!reply?.ok) return;
  const { lanes: names, points: all } = await reply.json();
  const total = (lanes, name) => sum(lanes.map((lane) => lane[name]));
  past = all.map(({ at, requests, lanes }) => ({
    at: Date.parse(at) / 1000, requests, rate: total(lanes, "rate"), accepted: total(lanes, "accepted"), failed: total(lanes, "failed"),
    lanes: Object.fromEntries(lanes.map((lane, index) => [names[index], { ...lane, total: lane }])),
  }));
}

/** The names of all outcomes of a kind: `sent`, `failed`, `unsent` or `waiting`. */
export const namesOf = (kind) => Object.keys(facts).filter((name) => facts[name].kind === kind);
export const count = (outcomes, kind) => sum(namesOf(kind).map((name) => outcomes[name] ?? 0));
export const settled = (outcomes) => sum(Object.values(outcomes));
const added = (lists) => lists.reduce((all, counts) => all.map((count, index) => count + counts[index]));

/** @returns the newest point: the status with its rates, each undefined until two statuses are known. */
export function remember(status) {
  const last = points.at(-1);
  // A new process counts from zero.
  const isNew = last && last.status.startedAt !== status.startedAt;
  if (isNew) points.length = past.length = 0;
  const at = Date.parse(status.at) / 1000;
  if (!last || isNew || at - last.at > 1.5 * step) fill();
  const point = { at, status, lanes: {} };
  const ago = (seconds) => points.findLast((earlier) => at - earlier.at >= seconds - 0.5) ?? points[0] ?? point;
  const [before, longBefore] = [ago(short), ago(long)];
  const elapsed = at - before.at;
  const perSecond = (now, then) => (elapsed > 0.2 ? Math.max(0, (now - then) / elapsed) : undefined);
  for (const lane of status.lanes) {
    const [earlier, long] = [before, longBefore]
      .map(({ status }) => status.lanes.find((other) => other.name === lane.name) ?? lane);
    point.lanes[lane.name] = {
      rate: perSecond(settled(lane.outcomes), settled(earlier.outcomes)),
      accepted: perSecond(lane.outcomes.accepted ?? 0, earlier.outcomes.accepted ?? 0),
      failed: perSecond(count(lane.outcomes, "failed"), count(earlier.outcomes, "failed")),
      trend: at - longBefore.at >= short ? (lane.lag - long.lag) / (at - longBefore.at) : undefined,
      hub: recent("hub", [lane], [long], status.latencyBounds),
      queue: recent("queue", [lane], [long], status.latencyBounds),
      total: recent("total", [lane], [long], status.latencyBounds),
    };
  }
  const lanes = Object.values(point.lanes);
  const total = (name) => (elapsed > 0.2 ? sum(lanes.map((lane) => lane[name] ?? 0)) : undefined);
  point.rate = total("rate");
  point.accepted = total("accepted");
  point.failed = total("failed");
  point.requests = perSecond(status.requests, before.status.requests);
  point.hub = recent("hub", status.lanes, longBefore.status.lanes, status.latencyBounds);
  points.push(point);
  if (point.rate !== undefined && at - (past.at(-1)?.at ?? 0) >= step) {
    const { status: _, ...figures } = point;
    past.push(figures);
  }
  while (past.length && at - past[0].at > hour) past.shift();
  point.limit = limit(at, last?.limit);
  while (points.length && at - points[0].at > span) points.shift();
  return point;
}

/** The limiter that applied most of the time. It is shown until it is rare, so that the word does not flicker. */
function limit(at, before) {
  const recent = points.filter((point) => at - point.at <= short);
  const share = (name) => recent.filter(({ status }) => status.limitedBy.includes(name)).length / recent.length;
  if (before && share(before) >= 0.3) return before;
  return recent.length < 2 ? undefined : ["broker", "rate", "concurrency"].find((name) => share(name) >= 0.6);
}

/** The points of a line: `[seconds ago, value]`, the oldest first. A line of an hour has a point for every ten seconds. */
export function series(value, length = span) {
  const now = points.at(-1)?.at ?? 0;
  const fine = (length > span ? points.slice(-1) : points).filter(({ rate }) => rate !== undefined);
  const begin = fine[0]?.at ?? now;
  return [...past.filter(({ at }) => at < begin && now - at <= length), ...fine].map((point) => [now - point.at, value(point)]);
}

/** Percentiles of a latency over the last seconds; undefined without any events in them. */
function recent(name, lanes, earlier, bounds) {
  const now = added(lanes.map((lane) => lane.latency[name].counts));
  const then = added(earlier.map((lane) => lane.latency[name].counts));
  const counts = now.map((count, index) => Math.max(0, count - then[index]));
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(counts, bounds, share));
  return { p50, p95, p99 };
}

/** The time in seconds that `share` of the events did not exceed; undefined without events. */
function quantile(counts, bounds, share) {
  const total = sum(counts);
  if (total === 0) return undefined;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const lower = index === 0 ? 0 : bounds[index - 1];
      const upper = bounds[index] ?? lower;
      return lower + ((upper - lower) * (share * total - below)) / count;
    }
    below += count;
  }
  return undefined;
}
