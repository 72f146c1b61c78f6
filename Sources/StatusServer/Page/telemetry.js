// The page of `newswire telemetry`: the number of reached devices, and the reasons why others were not reached.

import { platforms } from "./facts.js";
import { duration, get, number, past, plural, seconds, sentence, sum, tableRow, write } from "./format.js";
import { follow } from "./report.js";

/** The most tags listed; the newest come first. */
const LIMIT = 50;
/** The times and bounds of the alert rules, so that the page and an alert agree. */
const CREDENTIALS = 15 * 60;
const TAG = 60 * 60;
const TAG_SENDS = 2;
const SHARE = { least: 0.5, devices: 100 };

const MEANING = {
  Success: "taken by the platform",
  NoTargets: "no device has the tags",
  Skipped: "a second registration of the same device",
  Dropped: "the platform dropped it",
  BadChannel: "the device’s address is not valid any more",
  ExpiredChannel: "the device’s address has expired",
  WrongToken: "the device’s address is of another app",
  ChannelDisconnected: "the device is not connected",
  ChannelThrottled: "too many for this device",
  Throttled: "too many for the platform",
  InvalidCredentials: "the hub’s own key for the platform is refused: nobody there gets anything",
  InvalidNotificationSize: "too large for the platform",
  InvalidNotificationFormat: "not in the platform’s form",
  PnsServerError: "an error of the platform",
  PnsUnavailable: "the platform is down",
  PnsUnreachable: "the hub cannot reach the platform",
  PnsInterfaceError: "the platform answered something else than agreed",
  AbandonedNotificationMessages: "given up after too many attempts",
  UnknownError: "the hub does not know why",
};
const HARMLESS = ["Success", "Skipped"];

const ANSWERS = [
  ["details", "Answered with details"], ["nothing", "Answered that it knows nothing yet"], ["refused", "Refused the question"],
  ["wait", "Asked to wait"], ["not-allowed", "Does not allow questions"], ["token-refused", "Refused the key"],
  ["unreadable", "Answered what cannot be read"], ["failed", "Did not answer"],
];
const SKIPPED = [
  ["not-sampled", "Sends not asked about: not in the sample"], ["too-old", "Sends not asked about: too old"],
  ["without-id", "Sends not asked about: the hub gave no id"],
];
const USUAL = ["details", "nothing", "not-sampled"];

const nameOf = (platform) => (platforms[platform] ? `${platforms[platform]} (${platform})` : platform);
const percent = (part, whole) => (whole > 0 ? `${Math.floor((1000 * part) / whole) / 10} %` : "–");
const list = new Intl.ListFormat("en");
const within = (time, timed) => (time !== undefined ? duration(time) : timed > 0 ? "over 30 min" : "–");
const since = (instant, now) => seconds(instant, now);

/** What the verdict names at present, by kind of problem. It stays while the problem lasts, so that the verdict does not flicker. */
const named = {};

/** The worst candidate, or the one that was named before if it is still among them. */
function worst(kind, candidates, key, rank) {
  const kept = candidates.find((candidate) => key(candidate) === named[kind]);
  const found = kept ?? candidates.toSorted((one, other) => rank(other) - rank(one))[0];
  named[kind] = found && key(found);
  return found;
}

/** The platforms that have recently refused the hub's key, with their devices. */
function deadPlatforms({ outcomes, at }) {
  const dead = outcomes.filter(({ outcome, last }) => outcome === "InvalidCredentials" && since(last, at) < CREDENTIALS);
  return [...Map.groupBy(dead, ({ platform }) => platform)].map(([platform, rows]) => ({ platform, devices: sum(rows.map(({ devices }) => devices)) }));
}

function fewReached({ sends }) {
  const lanes = [...Map.groupBy(sends, ({ lane }) => lane)].map(([lane, own]) => (
    { lane, targets: sum(own.map(({ targets }) => targets)), successes: sum(own.map(({ successes }) => successes)) }));
  return lanes.filter(({ targets, successes }) => targets > SHARE.devices && successes < SHARE.least * targets);
}

function verdict(status) {
  const { at, ended, open, targets, successes, problem, skipped, reasons: [reason] } = status;
  if (reason) {
    return ["bad", "Not ready", "The hub is not asked what became of sends", `${sentence(reason.detail)} News goes out all the same.`,
      sentence(reason.remedy)];
  }
  const all = deadPlatforms(status);
  const dead = worst("platform", all, ({ platform }) => platform, ({ devices }) => devices);
  if (dead) {
    const others = all.filter((other) => other !== dead).map(({ platform }) => nameOf(platform));
    return ["bad", "Look", `No notifications on ${nameOf(dead.platform)}`,
      `The platform refuses the hub’s own key${others.length ? `, as ${list.format(others)} does` : ""}. The hub accepts sends all the same.`,
      "Renew the certificate, key or secret of the platform in the notification hub’s settings in Azure."];
  }
  const nobodys = sum(status.sends.map(({ states }) => states.NoTargetFound ?? 0));
  if (ended && nobodys === ended) {
    return ["warn", "Look", "No device at all", `None of ${plural(ended, "send")} found a device: nobody is registered with this hub for any of its tags.`,
      "Look whether the apps register with this hub: its name, its connection string, the tags of categories.*.tag."];
  }
  const tags = status.withoutTarget.filter(({ sends, last }) => sends > TAG_SENDS && since(last, at) < TAG);
  const nobody = worst("tag", tags, ({ tag }) => tag, ({ sends }) => sends);
  if (nobody) {
    return ["warn", "Look", `Nobody has the tag ${nobody.tag}`,
      `${plural(nobody.sends, "send")} to it found no device, the last ${past(nobody.last, at)}.${tags.length > 1 ? ` ${plural(tags.length - 1, "other tag is", "other tags are")} like it.` : ""}`,
      "Compare categories.*.tag with what your apps register; a typing error shows here first."];
  }
  const few = worst("lane", fewReached(status), ({ lane }) => lane, ({ targets, successes }) => -successes / targets);
  if (few) {
    return ["warn", "Look", `Only ${percent(few.successes, few.targets)} of the devices on lane ${few.lane} were reached`,
      `${number(few.successes)} of ${plural(few.targets, "device")}, since the start.`, "See below what the platforms did."];
  }
  if (problem) return ["warn", "Waiting", "The hub asked for a pause", "Questions wait; sends do not.", "Nothing; it continues automatically."];
  if (!ended && !open && skipped["without-id"]) {
    return ["warn", "Look", "The hub gives sends no id", "So it cannot be asked about them: its tier is below Standard.",
      "Use a hub of the Standard tier, or do without telemetry."];
  }
  if (!ended) {
    return ["idle", open ? "Asking" : "Standing by", open ? `${plural(open, "send")} followed` : "No accepted send to ask about yet",
      open ? "The hub has told the end of none yet." : "Nothing was accepted since the start.", "Nothing."];
  }
  if (!targets) {
    return ["warn", "Look", "No device is known to be reached",
      `${plural(nobodys, "send")} of ${number(ended)} found none; the hub has not said what became of the others.`, "See below how they ended."];
  }
  return ["good", "Good", `${percent(successes, targets)} of the devices reached`, `${number(successes)} of ${plural(targets, "device")}, in ${plural(ended, "send")}.`, "Nothing."];
}

function sendCells({ states, targets, successes, timed, secondsWithin }) {
  const unknown = sum(["Unknown", "Abandoned"].map((state) => states[state] ?? 0));
  const nobody = states.NoTargetFound ?? 0;
  const few = targets > SHARE.devices && successes < SHARE.least * targets;
  return [
    ["Sends", number(sum(Object.values(states))), "number"],
    ["Devices", number(targets), "number"],
    ["Reached", number(successes), "number"],
    ["Share", percent(successes, targets), few ? "number warn" : "number"],
    ["Half done within", within(secondsWithin.p50, timed), "number"],
    ["90 % done within", within(secondsWithin.p90, timed), "number"],
    ["For nobody", number(nobody), nobody ? "number warn" : "number"],
    ["End unknown", number(unknown), unknown ? "number warn" : "number"],
  ];
}

function outcomeRow({ platform, lane, outcome, devices, last }, now) {
  const tone = outcome === "InvalidCredentials" ? "bad" : HARMLESS.includes(outcome) ? "" : "warn";
  return tableRow(`${nameOf(platform)}, ${lane}`, [
    ["Outcome", outcome, tone], ["Meaning", MEANING[outcome] ?? "no document names it", "sentence"], ["Devices", number(devices), "number"],
    ["Last", past(last, now), "number"],
  ]);
}

function questionRows({ open, oldestSeconds, answers, skipped, records }) {
  const counted = (kind, words) => words.map(([name, text]) => [text, number(kind[name]), kind[name] && !USUAL.includes(name) ? "warn" : ""])
    .filter(([, count]) => count !== "0");
  return [
    ["Sends followed now", number(open)], ...(open ? [["The oldest of them", duration(oldestSeconds)]] : []),
    ...counted(answers, ANSWERS), ...counted(skipped, SKIPPED), ["Records stored", number(records.stored)],
    ...counted(records, [["refused", "Records that the broker refused"], ["unreadable", "Results that cannot be read"]]),
  ].map(([text, count, tone]) => tableRow(text, [["Count", count, `number ${tone ?? ""}`]]));
}

function draw(status) {
  const { at, sends, outcomes, withoutTarget, withoutTargetCount } = status;
  get("no-sends").hidden = sends.length > 0;
  get("some-sends").hidden = !sends.length;
  get("sends").replaceChildren(...sends.map((send) => tableRow(`${send.lane}, ${send.platform}`, sendCells(send))));
  get("outcomes-section").hidden = !outcomes.length;
  get("outcomes").replaceChildren(...outcomes.map((outcome) => outcomeRow(outcome, at)));
  get("no-tags").hidden = withoutTarget.length > 0;
  get("some-tags").hidden = !withoutTarget.length;
  get("tags").replaceChildren(...withoutTarget.map(({ tag, sends: count, last }) => tableRow(tag, [
    ["Sends", number(count), "number"], ["Last", past(last, at), "number"],
  ])));
  write(get("tags-more"), withoutTarget.length < withoutTargetCount
    ? `The last ${number(withoutTarget.length)} of ${number(withoutTargetCount)}.` : "");
  get("questions").replaceChildren(...questionRows(status));
}

follow(LIMIT, verdict, draw);
