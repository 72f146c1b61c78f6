// The page of `newswire ingest`: the feeds of this process, the newest problem first.

import { duration, element, get, number, sentence, write } from "./format.js";

const PERIOD = 2000;
const TROUBLED = new Set(["failing", "blocked", "gone"]);
let lastAnswer;

const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const seconds = (from, to) => Math.max(0, (new Date(to) - new Date(from)) / 1000);
const past = (instant, now) => (instant ? `${duration(Math.round(seconds(instant, now)))} ago` : "never");

function nextPoll(feed, now) {
  if (feed.state === "gone" || feed.state === "stopped") return "never";
  if (!feed.nextPoll) return "";
  const left = seconds(now, feed.nextPoll);
  const when = left > 0 ? `in ${duration(Math.round(left))}` : "now";
  return feed.because ? `${when}: ${feed.because}` : when;
}

function state(feed, now) {
  if (feed.since) return `${feed.state} for ${duration(Math.round(seconds(feed.since, now)))}`;
  if (feed.until) return `${feed.state}, ${duration(Math.round(seconds(now, feed.until)))} left`;
  return feed.state;
}

function cells(feed, now) {
  const counts = feed.counts ?? {};
  const entries = counts.entries ?? {};
  const share = counts.polls ? `${Math.round((100 * counts.unchanged) / counts.polls)} %` : "–";
  const push = feed.webSub.state === "none" ? "–" : feed.webSub.proven ? "proven" : feed.webSub.state;
  return [
    ["State", state(feed, now), feed.problem ? "bad" : feed.state === "waiting" ? "warn" : ""],
    ["Last success", past(feed.lastSuccess, now)],
    ["Last new", past(feed.lastNew, now)],
    ["Next poll", nextPoll(feed, now), "sentence"],
    ["New", number(entries.alert), "number"],
    ["Updated", number(entries.update), "number"],
    ["Noise", number(entries.noise), "number"],
    ["Stale", number(entries.stale), "number"],
    ["Unchanged", share, "number"],
    ["Failed", number(counts.failures), counts.failures ? "number warn" : "number"],
    ["WebSub", push],
  ];
}

function row(feed, now) {
  const made = element("tr");
  const head = element("th", feed.name);
  head.scope = "row";
  head.title = feed.url;
  for (const remark of [feed.detail && sentence(feed.detail), feed.movedTo && `Moved for good: set url to ${feed.movedTo}.`]) {
    if (remark) head.append(element("div", remark, "muted sentence"));
  }
  made.append(head);
  for (const [label, text, className] of cells(feed, now)) {
    const cell = element("td", text, className);
    cell.dataset.label = label;
    made.append(cell);
  }
  return made;
}

function verdict(status) {
  const [reason] = status.reasons;
  if (reason) return ["bad", "Not ready", "Feeds are not followed", sentence(reason.detail), sentence(reason.remedy)];
  const troubled = status.feeds.filter((feed) => TROUBLED.has(feed.state));
  if (troubled.length > 0) {
    const [first] = troubled;
    const title = `${plural(troubled.length, "feed")} of ${number(status.feeds.length)} cannot be read`;
    return ["warn", "Look", title, `${first.name}: ${sentence(first.detail ?? first.state)}`,
      "See the table; the newest problem comes first."];
  }
  if (status.feeds.length === 0) return ["idle", "Standing by", "No feed is this process’s", "Others of the group follow them.", "Nothing."];
  return ["good", "Good", `${plural(status.feeds.length, "feed")} followed`, "All publishers answer.", "Nothing."];
}

function show(status) {
  const [tone, word, title, why, todo] = verdict(status);
  get("verdict").dataset.tone = tone;
  for (const [id, text] of [["state", word], ["title", title], ["why", why], ["todo", todo], ["spoken", `${word}: ${title}`]]) {
    write(get(id), text);
  }
  get("no-feeds").hidden = status.feeds.length > 0;
  get("some-feeds").hidden = status.feeds.length === 0;
  get("feeds").replaceChildren(...status.feeds.map((feed) => row(feed, status.at)));
  write(get("version"), `Newswire ${status.version}, started ${past(status.startedAt, status.at)}`);
}

function age() {
  const place = get("age");
  const old = lastAnswer === undefined ? Infinity : (performance.now() - lastAnswer) / 1000;
  place.dataset.tone = old < 10 ? "good" : "bad";
  write(place, old < 10 ? "Live" : old === Infinity ? "No answer" : `No answer for ${duration(Math.round(old))}`);
}

async function refresh() {
  try {
    const answer = await fetch("api/status", { signal: AbortSignal.timeout(8000) });
    if (answer.ok) {
      show(await answer.json());
      lastAnswer = performance.now();
    }
  } catch {
    // The age tells.
  }
  age();
  setTimeout(refresh, PERIOD);
}

refresh();
