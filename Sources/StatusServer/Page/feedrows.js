// Rows of the tables of feeds, on the page of `newswire ingest` and on the dashboard.

import { duration, element, get, number, past, plural, seconds, sentence, sum, tableRow, write } from "./format.js";

function state(feed, now) {
  if (feed.state === "capped") return `capped ${past(feed.since, now)}`;
  if (feed.since) return `${feed.state} for ${feed.members ? "up to " : ""}${age(feed, now)}`;
  if (feed.until) return `${feed.state}, ${duration(Math.round(seconds(now, feed.until)))} left`;
  return feed.state;
}

const age = ({ since }, now) => duration(Math.round(seconds(since, now)));

/** The cells whose values the state topic also contains. */
export function stateCells(feed, now) {
  return [
    ["State", state(feed, now), feed.problem ? "bad" : feed.state === "waiting" ? "warn" : ""],
    ["Last success", past(feed.lastSuccess, now)],
    ["Last new", past(feed.lastNew, now)],
  ];
}

/** The text about rows that a table omits; empty if it shows all. */
const more = ({ feeds, feedCount }) => (feeds.length < feedCount
  ? `The first ${number(feeds.length)} of ${number(feedCount)}: problems, then by name.` : "");

export const push = ({ webSub }) => (webSub.state === "none" ? "–" : webSub.proven ? "proven" : webSub.state);

function remarks(feed) {
  return [
    feed.detail && sentence(feed.detail),
    feed.heldBack > 0 && `${number(feed.heldBack)} held back by limits, sent later.`,
    feed.quiet && `Strangely quiet: usually something new every ${duration(feed.usualGapSeconds)}.`,
    feed.movedTo && `Moved for good: set url to ${feed.movedTo}.`,
  ].filter(Boolean);
}

/** @param cells [label, text, class] of each column after the name */
function row(feed, cells) {
  const made = tableRow(feed.name, cells);
  const [head] = made.cells;
  if (feed.url) head.title = feed.url;
  for (const remark of remarks(feed)) head.append(element("div", remark, "muted sentence"));
  if (feed.members) head.append(element("div", names(feed.members), "muted sentence"));
  return made;
}

/** The first of many names, as far as anybody reads them. */
const names = (all) => all.slice(0, 12).join(", ") + (all.length > 12 ? ` and ${number(all.length - 12)} more` : "");

const newest = (feeds, key) => feeds.map((feed) => feed[key]).filter(Boolean).sort().at(-1);

/** Feeds with the same problem as one row, in the order of their first. */
function grouped(feeds) {
  const groups = Map.groupBy(feeds, ({ state, detail, problem, name }) => (problem ? `${state} ${detail}` : name));
  return [...groups.values()].map((members) => {
    if (members.length === 1) return members[0];
    const total = (count) => sum(members.map(count));
    const entries = ["alert", "update", "noise", "stale"].map((name) => [name, total(({ counts }) => counts?.entries?.[name] ?? 0)]);
    const of = (name) => total(({ counts }) => counts?.[name] ?? 0);
    const { state, detail, problem } = members[0];
    return {
      name: `${number(members.length)} feeds`, members: members.map(({ name }) => name).sort(), state, detail, problem,
      since: members.map(({ since }) => since).filter(Boolean).sort()[0], lastSuccess: newest(members, "lastSuccess"),
      lastNew: newest(members, "lastNew"), heldBack: total(({ heldBack }) => heldBack ?? 0), webSub: { state: "none" },
      counts: { entries: Object.fromEntries(entries), polls: of("polls"), unchanged: of("unchanged"), failures: of("failures") },
    };
  });
}

/** The most rows shown of those that need somebody; the others follow below, folded. */
const rowsMax = 30;
let wereFew;

/**
 * Shows the feeds that somebody should look at, and folds the others.
 * @param cells the cells of a feed
 */
export function drawFeeds(known, cells) {
  const { at, feeds } = known;
  const needsLook = (feed) => feed.problem || feed.quiet || feed.movedTo || feed.state === "waiting";
  const open = grouped(feeds.filter(needsLook));
  const shown = open.slice(0, rowsMax);
  const calm = [...open.slice(rowsMax), ...feeds.filter((feed) => !needsLook(feed))];
  const fill = (place, list) => place.replaceChildren(...list.map((feed) => row(feed, cells(feed, at))));
  get("some-feeds").hidden = !shown.length;
  fill(get("feeds"), shown);
  get("healthy-section").hidden = !calm.length;
  write(get("healthy-remark"), open.length > rowsMax ? `${plural(calm.length, "other row")}` : `${plural(calm.length, "feed")} without a problem`);
  fill(get("healthy"), calm);
  // A few feeds need no folding where there is room. Otherwise the section stays as the reader wants it.
  const areFew = calm.length <= 10 && innerWidth > 560;
  if (areFew !== wereFew) get("healthy-section").open = areFew;
  wereFew = areFew;
  write(get("feeds-more"), more(known));
}

/** The first problem in one sentence, with its age; empty without one. */
export function firstProblem({ at, feeds }) {
  const [first] = grouped(feeds.filter(({ problem }) => problem));
  if (!first) return "";
  return `${first.members ? `${first.name} (${names(first.members)})` : first.name}: ${sentence(first.detail ?? first.state)}`
    + (first.since ? ` It has lasted ${first.members ? "up to " : ""}${age(first, at)}.` : "");
}
