// The page of `newswire ingest`: the feeds of this process, the newest problem first.

import { drawFeeds, firstProblem, push, stateCells } from "./feedrows.js";
import { duration, get, number, plural, seconds, sentence } from "./format.js";
import { follow } from "./report.js";

/** The most rows that a browser can redraw every few seconds. */
const LIMIT = 200;

function nextPoll(feed, now) {
  if (feed.state === "gone" || feed.state === "stopped") return "never";
  if (!feed.nextPoll) return "";
  const left = seconds(now, feed.nextPoll);
  const when = left > 0 ? `in ${duration(Math.round(left))}` : "now";
  return feed.because ? `${when}: ${feed.because}` : when;
}

function cells(feed, now) {
  const counts = feed.counts ?? {};
  const entries = counts.entries ?? {};
  const share = counts.polls ? `${Math.round((100 * counts.unchanged) / counts.polls)} %` : "–";
  return [
    ...stateCells(feed, now),
    ["Next poll", nextPoll(feed, now), "sentence"],
    ["New", number(entries.alert), "number"],
    ["Updated", number(entries.update), "number"],
    ["Noise", number(entries.noise), "number"],
    ["Stale", number(entries.stale), "number"],
    ["Unchanged", share, "number"],
    ["Failed", number(counts.failures), counts.failures ? "number warn" : "number"],
    ["WebSub", push(feed)],
  ];
}

function verdict(status) {
  const [reason] = status.reasons;
  if (reason) return ["bad", "Not ready", "Feeds are not followed", sentence(reason.detail), sentence(reason.remedy)];
  if (status.problemCount > 0) {
    const isAll = status.problemCount === status.feedCount;
    const title = `${plural(status.problemCount, "feed")} of ${number(status.feedCount)} cannot be read`;
    return [isAll ? "bad" : "warn", isAll ? "No news" : "Look", title, firstProblem(status), isAll
      ? "Look whether this machine reaches the Internet; otherwise see the table." : "See the table; the newest problem comes first."];
  }
  if (status.feedCount === 0) return ["idle", "Standing by", "No feed is this process’s", "Others of the group follow them.", "Nothing."];
  return ["good", "Good", `${plural(status.feedCount, "feed")} followed`, "All publishers answer.", "Nothing."];
}

function draw(status) {
  get("no-feeds").hidden = status.feeds.length > 0;
  drawFeeds(status, cells);
}

follow(LIMIT, verdict, draw);
