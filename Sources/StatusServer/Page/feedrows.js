// Rows of the tables of feeds, on the page of `newswire ingest` and on the dashboard.

import { duration, element, number, past, seconds, sentence, tableRow } from "./format.js";

function state(feed, now) {
  if (feed.state === "capped") return `capped ${past(feed.since, now)}`;
  if (feed.since) return `${feed.state} for ${duration(Math.round(seconds(feed.since, now)))}`;
  if (feed.until) return `${feed.state}, ${duration(Math.round(seconds(now, feed.until)))} left`;
  return feed.state;
}

/** The cells whose values the state topic also contains. */
export function stateCells(feed, now) {
  return [
    ["State", state(feed, now), feed.problem ? "bad" : feed.state === "waiting" ? "warn" : ""],
    ["Last success", past(feed.lastSuccess, now)],
    ["Last new", past(feed.lastNew, now)],
  ];
}

/** The text about rows that a table omits; empty if it shows all. */
export const more = ({ feeds, feedCount }) => (feeds.length < feedCount
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
export function row(feed, cells) {
  const made = tableRow(feed.name, cells);
  const [head] = made.cells;
  head.title = feed.url;
  for (const remark of remarks(feed)) head.append(element("div", remark, "muted sentence"));
  return made;
}
