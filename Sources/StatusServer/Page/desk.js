// The dialog in which an order is given: what it needs, what it will do, and who gives it.

import { element, get, moment, number, past, plural, sum, time, write } from "./format.js";
import { send } from "./orders.js";

let status;
/** The order that the dialog is about; undefined while it is closed. */
let asked;
/** What the publisher has found for the name in the field. */
let found;

const texts = {
  stop: "Nothing of it is sent from then on, by any process. Nothing is lost: it waits until it is resumed.",
  hub: "No process sends anything from then on. Nothing is lost: the news waits until the hub is resumed. What is on its way cannot be stopped.",
  recall: "No process sends anything of it any more, and what waits ends as canceled. Phones that have it keep it, unless a replacement takes its place.",
  lift: "What comes of it from now on is sent again.",
};
const verbs = { stop: "Stop", resume: "Resume", recall: "Recall", lift: "Lift" };
const list = new Intl.ListFormat("en");

/** Keeps the newest status, and redraws what waits while the dialog is open. */
export function note(newest) {
  status = newest;
  if (asked?.verb === "resume") write(get("order-text"), waiting(asked));
}

/** Says how much a stop holds back, of which categories, since when, and how much of it will expire. */
function waiting({ query, order, met, processes }) {
  const what = query.what.toLowerCase();
  const news = status?.stopped?.find((stopped) => stopped.what.toLowerCase() === what);
  const parts = [];
  if (news) {
    const categories = Object.entries(news.categories).sort((one, other) => other[1] - one[1])
      .map(([name, count]) => `${number(count)} of ${name}`);
    parts.push(`${plural(news.events, "event")} ${news.events === 1 ? "waits" : "wait"} in this process`
      + (categories.length ? `: ${list.format(categories)}.` : "."));
    parts.push(`The oldest is from ${moment(news.oldest)}, ${past(news.oldest, status.at)}.`);
    if (news.tooOld) parts.push(`${number(news.tooOld)} ${news.tooOld === 1 ? "is" : "are"} too old by now and will expire.`);
    parts.push(news.expiring ? `${number(news.expiring)} will be too old within 5 minutes, the first at ${time(news.nextExpiry)}.`
      : news.nextExpiry ? `${news.tooOld ? "No other" : "None"} will be too old within 5 minutes; the next at ${moment(news.nextExpiry)}.`
      : news.tooOld ? "" : "None of them expires.");
  } else {
    parts.push("Nothing that this process has read waits for it.");
  }
  // Unread events have no category yet.
  const lanes = status?.lanes.filter(({ name }) => what === "hub" || what === `lane:${name.toLowerCase()}`) ?? [];
  const unread = sum(lanes.map(({ lag, held }) => Math.max(0, (lag ?? 0) - held)));
  if (unread > 0) parts.push(`About ${plural(unread, "event")} behind ${unread === 1 ? "it is" : "them are"} not read yet.`);
  const then = order && met(order);
  if (then && processes > 1) {
    parts.push(`When it was stopped, at ${moment(order.at)}, ${plural(then.met.waiting, "delivery", "deliveries")} waited in ${plural(then.processes, "process", "processes")}.`);
  }
  if (processes > 1) parts.push(`${processes === 2 ? "The other process holds back its own share" : `Each of the other ${number(processes - 1)} processes holds back its own share`}; its dashboard says how much.`);
  parts.push("What is not too old is sent now. Recall first what readers must not get.");
  return parts.filter(Boolean).join("\n");
}

/**
 * Asks for the author, the reason and a confirmation. Escape means no.
 * @param doubt the problem with the order, if it was refused before and may be given all the same
 * @param give is called with the verb, the words, the query of the API, and the author and reason
 */
export function ask(order, give) {
  const { verb, words, query, doubt, reason = "" } = order;
  asked = order;
  found = undefined;
  const isHub = query.what === "hub";
  const [isPart, isStory] = [verb === "stop" && !query.what, verb === "recall" && !doubt];
  write(get("order-title"), `${verb === "lift" ? "Lift the recall of" : verbs[verb]} ${words}?`);
  write(get("order-text"), doubt ?? (verb === "resume" ? waiting(order) : texts[verb === "stop" && isHub ? "hub" : verb]));
  write(get("order-yes"), verbs[verb]);
  get("order-yes").className = verb === "stop" || verb === "recall" ? "danger" : "strong";
  get("order-part").hidden = !isPart;
  get("order-story").hidden = !isStory;
  get("story").required = isStory;
  if (isPart) drawParts();
  if (isStory) {
    for (const id of ["story", "replace"]) get(id).value = "";
    write(get("sent"), "");
    drawFound([]);
    preview();
    findResults();
  }
  const needsReason = verb === "recall" || (verb === "stop" && isHub);
  get("order-reason").required = needsReason;
  write(get("order-reason-label"), needsReason ? "Reason" : "Reason (optional)");
  get("order-reason").value = reason;
  get("order-by").value = localStorage.getItem("newswire-name") ?? "";
  const dialog = get("order");
  dialog.onclose = () => {
    asked = undefined;
    if (dialog.returnValue !== "yes") return;
    const by = get("order-by").value.trim();
    localStorage.setItem("newswire-name", by);
    const who = { by, reason: get("order-reason").value.trim() };
    if (isPart) return give(verb, get("part").selectedOptions[0].textContent, { what: get("part").value }, who);
    if (!isStory) return give(verb, words, query, who);
    const [story, replace] = ["story", "replace"].map((id) => get(id).value.trim());
    give(verb, `story ${story}`, replace ? { story, replace } : { story }, who);
  };
  dialog.returnValue = "";
  dialog.showModal();
  (isStory ? get("story") : isPart ? get("part") : get("order-reason")).focus();
}

function drawParts() {
  const group = (label, kind, names) => {
    const made = element("optgroup");
    made.label = label;
    made.append(...names.map((name) => new Option(`${kind} ${name}`, `${kind}:${name}`)));
    return made;
  };
  get("part").replaceChildren(group("Categories", "category", status?.categories.map(({ name }) => name) ?? []),
    group("Lanes", "lane", status?.lanes.map(({ name }) => name) ?? []));
}

/** The last results of this process, from which a story is picked by a part of its id. */
let latest = [];
async function findResults() {
  const reply = await fetch("api/results", { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
  latest = reply?.ok ? (await reply.json()).results : [];
  drawFound(latest);
}

function drawFound(results) {
  const part = get("story").value.trim().toLowerCase();
  const events = new Map();
  for (const result of results) {
    if (!result.eventId || !`${result.eventId} ${result.story ?? ""}`.toLowerCase().includes(part)) continue;
    if (!events.has(result.eventId)) events.set(result.eventId, result);
  }
  const rows = [...events.values()].slice(0, 4).map((result) => {
    const button = element("button", result.eventId);
    button.type = "button";
    button.append(element("span", `${result.outcome} ${time(result.settledAt)}${result.categories.length ? `, ${result.categories.join(", ")}` : ""}`, "muted"));
    button.addEventListener("click", () => {
      get("story").value = result.eventId;
      drawFound([]);
      look();
    });
    const row = element("li");
    row.append(button);
    return row;
  });
  get("found").replaceChildren(...rows);
}

/** Looks up the story of the name in the field, and what readers have of it. */
async function look() {
  const name = get("story").value.trim();
  found = undefined;
  preview();
  if (!name) return write(get("sent"), "");
  write(get("sent"), "Looking it up…");
  const { ok, answer, problem } = await send(`api/story?name=${encodeURIComponent(name)}`, "GET");
  if (name !== get("story").value.trim()) return;
  if (!ok) return write(get("sent"), `It cannot be looked up: ${problem}`);
  found = answer;
  write(get("sent"), sentences(name, answer).join(" "));
  preview();
}

const event = ({ eventId, at, categories, singleReaders, test }) =>
  `${eventId}, ${moment(at)}, ${test ? "for testers" : [categories.length && `for ${categories.join(", ")}`, singleReaders && "for single readers"].filter(Boolean).join(" and ")}`;

function sentences(name, { story, found: kind, recalledBy, accepted, unknown, doubts }) {
  const shown = (events) => events.slice(-3).map(event).join("; ") + (events.length > 3 ? `; and ${number(events.length - 3)} earlier` : "");
  return [
    kind === "event" && story !== name ? `${name} is an event of the story ${story}; the recall is about the whole story.` : "",
    recalledBy && `It is recalled already, by ${recalledBy}.`,
    accepted.length ? `Readers have: ${shown(accepted)}.` : "No result says that the hub took any of it.",
    unknown.length && `Not known whether readers have: ${shown(unknown)}.`,
    doubts?.inFlight && `More may have been accepted: ${plural(doubts.inFlight, "request")} of newswire send ${doubts.inFlight === 1 ? "has" : "have"} no outcome.`,
    doubts?.lacksResults && "More may have been accepted: results of the last 7 days were removed from their topic.",
  ].filter(Boolean);
}

/** Shows the replacement as a notification, and who gets it. */
function preview() {
  const text = get("replace").value.trim();
  const place = get("preview");
  place.hidden = !text;
  const audience = [...new Set(found?.accepted.flatMap(({ categories }) => categories) ?? [])];
  if (found?.accepted.some(({ singleReaders }) => singleReaders)) audience.push("single readers");
  place.replaceChildren(element("strong", text), element("span", !found ? "Pick a story to see who gets it."
    : audience.length ? `Without a sound where that is possible, in place of the story, to the readers of ${list.format(audience)} to whom the hub sent it. Only phones that still show the story show this text.`
    : "Nobody gets it: no result says that the hub took any of the story.", "muted"));
}

/** Connects the dialog's controls. */
export function openDesk() {
  get("order-no").addEventListener("click", () => get("order").close(""));
  get("order-form").addEventListener("submit", (event) => {
    event.preventDefault();
    get("order").close("yes");
  });
  get("story").addEventListener("input", () => drawFound(latest));
  get("story").addEventListener("change", look);
  get("story").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    // Enter looks the story up. It must not recall it yet.
    event.preventDefault();
    drawFound([]);
    look();
  });
  get("replace").addEventListener("input", preview);
}
