// Editors' orders: those in force, their authors, and the processes that obey them. Orders apply to all processes, not only to this
// one.

import { ask, openDesk } from "./desk.js";
import { duration, element, get, moment, number, past, plural, seconds, sentence, tableRow, write } from "./format.js";
import { say, send } from "./orders.js";

let known;
let shown = "";
let pending;
/** The name of the process that serves this page. */
let own;

/** The subject of an order, from its key: the words for people, and the parameters of the API. */
function subject(scope) {
  const [kind, part, ...rest] = scope.split("/");
  const name = rest.join("/");
  const plain = [part, ...rest].join("/");
  if (kind === "send" || kind === "redrive") return { words: plain };
  if (kind === "release") return { words: `lane ${plain}` };
  if (kind === "recall") return { words: `story ${name}`, query: { story: name }, end: "lift" };
  if (part === "hub") return { words: "the hub", query: { what: "hub" }, end: "resume" };
  return { words: `${part} ${name}`, query: { what: `${part}:${name}` }, end: "resume" };
}

const deeds = {
  recall: "Recall", stop: "Stop", lift: "Lift the recall of", resume: "Resume", lapse: "Lapsed:", send: "Sent",
  release: "Release", redrive: "Redrive for",
};
const ended = (action) => ["lift", "resume", "lapse"].includes(action);

/** The author, time and reason of a stop order; undefined if they are not known here. */
export function stopOf(gate) {
  const order = known?.orders.find(({ scope }) => scope === `stop/${gate.replace(":", "/")}`);
  if (!order) return undefined;
  const missing = order.unconfirmed.length ? `. Not confirmed by ${order.unconfirmed.join(", ")}` : "";
  return `${order.by} stopped it at ${moment(order.at)}${order.reason ? `: ${order.reason}` : ""}${missing}`;
}

export async function askForOrders() {
  clearTimeout(pending);
  let pause = 2000;
  try {
    const reply = await fetch("api/control", { signal: AbortSignal.timeout(5000) });
    if (reply.ok) {
      known = await reply.json();
      if (known) draw();
      else pause = 60_000;
    }
  } catch {
    // The verdict shows that the answer is missing.
  }
  pending = setTimeout(askForOrders, pause);
}

function draw() {
  get("desk").hidden = false;
  const isStopped = known.orders.some((order) => order.scope === "stop/hub");
  const button = get("stop-hub");
  button.dataset.stopped = isStopped;
  write(button, isStopped ? "Resume the hub…" : "Stop the hub…");
  write(get("control-remark"), remark());
  drawProcesses();
  // Rows are redrawn only after a change, so that selection and focus stay.
  const state = JSON.stringify([known.orders, known.recent]);
  if (state === shown) return;
  shown = state;
  get("some-orders").hidden = !known.orders.length;
  get("orders").replaceChildren(...known.orders.map(standing));
  get("recent-section").hidden = !known.recent.length;
  if (known.recent.length) write(get("recent-remark"), lastOrder(known.recent[0]));
  get("recent").replaceChildren(...known.recent.map(pastOrder));
}

/** Adds what the status knows, and disables the buttons without a connection. */
export function follow(status, isLost) {
  own = status?.replica ?? own;
  for (const button of document.querySelectorAll("#desk button, #orders button")) button.disabled = isLost;
  get("instead").hidden = !isLost;
  get("control-remark").hidden = isLost;
  write(get("instead").querySelector("code"), get("stop-hub").dataset.stopped === "true"
    ? "newswire resume hub" : 'newswire stop hub --reason "…"');
}

/** The orders that a process has not confirmed. */
const open = (replica) => known.orders.filter(({ unconfirmed }) => unconfirmed.includes(replica)).map(({ scope }) => title(scope));

function drawProcesses() {
  const { processes, silent, at } = known;
  // Every order is unconfirmed for a moment.
  const old = known.orders.filter((order) => seconds(order.at, at) > 5).flatMap(({ unconfirmed }) => unconfirmed);
  const late = processes.filter(({ replica }) => old.includes(replica)).length;
  const versions = new Set(processes.map(({ version }) => version ?? "unknown"));
  const section = get("processes-section");
  section.hidden = !processes.length && !silent.length;
  write(get("processes-remark"), [
    late ? `${number(late)} of ${plural(processes.length, "process", "processes")} have not confirmed every order`
      : processes.length === 1 ? "1, which obeys all orders" : `${number(processes.length)}, which obey all orders`,
    silent.length && `${number(silent.length)} fell silent`,
    versions.size > 1 ? `versions ${[...versions].sort().join(" and ")}` : versions.size && `version ${[...versions][0]}`,
  ].filter(Boolean).join("; "));
  // It opens and closes with a problem, and otherwise stays as the reader wants it.
  const problem = String(late > 0 || silent.length > 0 || versions.size > 1);
  if (problem !== (section.dataset.problem ?? "false")) section.open = problem === "true";
  section.dataset.problem = problem;
  const orders = plural(known.standing, "order");
  const row = (process, state, tone) => tableRow(process.replica + (process.replica === own ? " (this one)" : ""), [
    ["Orders", state, `${tone} sentence`], ["Version", process.version ?? "unknown"],
    ["Event loops", number(process.shards), "number"], ["Group", process.group ?? "–", "sentence"],
    ["Hub", process.hub ?? "–", "sentence"], ["Last heard", past(process.lastHeard, at)],
  ]);
  // Those that need somebody come first.
  const rows = [...silent.map((process) => row(process, "Fell silent without ending: killed, or cut off from Kafka", "bad")),
    ...processes.map((process) => [process, open(process.replica)]).sort((one, other) => other[1].length - one[1].length)
      .map(([process, open]) => open.length ? row(process, `Not confirmed: ${open.join(", ")}`, "bad")
        : row(process, known.standing ? `Obeys ${known.standing === 1 ? "the one order" : `all ${orders}`}` : "None in force", ""))];
  get("processes").replaceChildren(...rows);
}

function remark() {
  if (known.problem) return sentence(known.problem);
  if (!known.known) return "The orders are being read.";
  const { processes, silent, standing, orders } = known;
  const behind = new Set(orders.flatMap((order) => order.unconfirmed));
  const all = plural(processes.length, "process", "processes");
  const stand = standing ? `${plural(standing, "order")} in force; ` : "No order is in force; ";
  const obeying = !processes.length ? "No process has been heard lately."
    : behind.size ? `${stand}only ${number(processes.length - behind.size)} of ${all} confirmed ${standing === 1 ? "it" : "all of them"}.`
    : `${stand}${all} ${processes.length === 1 ? "obeys" : "obey"}.`;
  const lost = silent.length ? ` ${plural(silent.length, "process", "processes")} fell silent without ending.` : "";
  const more = standing > orders.length
    ? ` ${number(orders.length)} of ${number(standing)} standing orders are shown; newswire control has all.` : "";
  return obeying + lost + more;
}

function cell(label, text, className) {
  const made = element("td", text, className);
  made.dataset.label = label;
  return made;
}

function standing(order) {
  const row = element("tr");
  const { words, query, end } = subject(order.scope);
  const heading = element("th", order.do === "recall" ? `Recalled: ${words}` : `Stopped: ${words}`, "wide order");
  heading.scope = "row";
  const button = element("button", end === "lift" ? "Lift…" : "Resume…");
  button.type = "button";
  button.setAttribute("aria-label", `${end === "lift" ? "Lift the recall of" : "Resume"} ${words}`);
  button.addEventListener("click", () => begin(end, words, query));
  button.disabled = !get("instead").hidden;
  const act = element("td");
  act.append(button);
  row.append(heading, cell("Since", moment(order.at)), cell("By", order.by, "sentence"),
    cell("Reason", order.reason ?? "–", "sentence"),
    cell("Ends", order.until ? moment(order.until) : "when resumed"),
    cell("Not confirmed by", order.unconfirmed.join(", ") || "–", order.unconfirmed.length ? "bad sentence" : ""), act);
  return row;
}

/** An order in a few words. */
function title(scope) {
  const { words, end } = subject(scope);
  return end === "lift" ? `recall of ${words}` : `stop of ${words}`;
}

const lastOrder = ({ at, do: action, scope, by }) =>
  `${deeds[action] ?? action} ${subject(scope).words}, ${by ? `by ${by}, ` : ""}${moment(at)}`;

/** The author, time and reason of an order that was replaced. */
const author = ({ by, at, reason }) => `by ${by}, ${moment(at)}${reason ? `: ${reason}` : ""}`;

function pastOrder(order) {
  const row = element("tr");
  const { words } = subject(order.scope);
  const heading = element("th", `${deeds[order.do] ?? order.do} ${words}`, "wide");
  heading.scope = "row";
  const { waiting, inFlight, held } = order.met;
  const met = [
    waiting && `${number(waiting)} ${order.do === "stop" ? "wait" : "ended"}`,
    held && `${number(held)} held`,
    inFlight && `${number(inFlight)} on their way`,
  ].filter(Boolean).join(", ");
  const count = order.processes === 1 ? "1 process" : `${number(order.processes)} processes`;
  const applied = order.neverApplied ? "Never applied"
    : ["lapse", "send", "release", "redrive"].includes(order.do) ? "–" : order.processes ? count + (met && !ended(order.do) ? `; ${met}` : "") : "No process yet";
  row.append(cell("When", moment(order.at)), heading, cell("By", order.by ?? "–", "sentence"),
    cell("Reason", [order.reason, order.former && `${ended(order.do) ? "it was" : "in place of that"} ${author(order.former)}`,
      order.text && `“${order.text}”`, order.despite && `despite ${order.despite.join(", ")}`].filter(Boolean).join("; ") || "–",
      "sentence"), cell("Applied by", applied, order.neverApplied ? "bad" : ""));
  return row;
}

/** Asks for what the order needs, and gives it. A doubt is why it was refused before; it may be given all the same. */
function begin(verb, words, query, doubt, reason) {
  ask({ verb, words, query, doubt, reason, order: known?.orders.find(({ scope }) => query.what && scope === `stop/${query.what.replace(":", "/")}`),
    met: (order) => known?.recent.find((recent) => recent.scope === order.scope && recent.do === "stop"),
    processes: known?.processes.length ?? 0 }, give);
}

async function give(verb, words, query, { by, reason }) {
  const parameters = new URLSearchParams({ ...query, by, reason });
  let said = `${deeds[verb]} ${words}`;
  say(`${said}: waiting for every process…`);
  const { ok, status, answer, problem } = await send(`api/control/${verb}?${parameters}`);
  askForOrders();
  if (!ok) {
    // Without an answer, the order may stand on the control topic.
    say(status ? `“${said}”: ${problem}` : `“${said}” may have been ordered, as no answer came. The orders below show it.`);
    if (verb === "recall" && status === 404) {
      begin(verb, words, { ...query, unseen: "true" }, `${words} was not seen in the news of the last 7 days. Recall it all the same?`, reason);
    }
    return;
  }
  // The name of an event stands for its story.
  said = `${deeds[verb]} ${subject(answer.scope).words}`;
  const { processes, applied, milliseconds, missing, silent, met, former, successor, replaced, notReplaced } = answer;
  const waiting = verb === "stop" && applied ? `; ${number(met.waiting)} ${met.waiting === 1 ? "delivery waits" : "deliveries wait"}` : "";
  const unheard = ended(verb) ? "the order is lifted" : "the order is in force; a process that starts reads it before it sends anything";
  say((!processes ? `${said}: no process has confirmed; ${unheard}.`
    : `${said}: applied by ${number(applied)} of ${number(processes)} in ${duration(milliseconds / 1000)}${waiting}.`
      + (missing.length ? ` No answer from ${missing.join(", ")}.` : ""))
    + (silent.length ? ` Not waited for, as silent for long: ${silent.join(", ")}.` : "")
    + (former ? ` ${ended(verb) ? "It ends" : "It takes the place of"} the order ${author(former)}.` : "")
    + (replaced?.length ? ` The replacement goes to ${readers(replaced)}.` : replaced ? " Nobody gets the replacement." : "")
    + (notReplaced?.length ? ` It is not known whether ${readers(notReplaced)} have the story; they get no replacement.` : "")
    + (answer.otherGroups?.length ? ` Readers of the hubs of ${answer.otherGroups.join(", ")} get no replacement: recall the story with their settings too${replaced?.length ? ", once this one has left" : ""}.` : "")
    + (answer.replacementCanceled ? " The replacement does not leave: another order has ended the recall." : "")
    + (answer.replacementFailed ? ` The replacement was not written: ${answer.replacementFailed}.` : "")
    + (successor ? ` In the meantime ${ended(successor.do) ? "it was ended" : `another order has taken its place, ${author(successor)}`}.` : ""));
}

/** The readers of categories and interests, and those that the service describes in words of its own. */
function readers(names) {
  const described = names.filter((name) => /^(single )?readers( |$)/.test(name));
  const categories = names.filter((name) => !described.includes(name));
  return [categories.length && `the readers of ${categories.join(", ")}`, ...described].filter(Boolean).join(" and ");
}

export function startControl() {
  get("stop-hub").addEventListener("click", (event) =>
    begin(event.currentTarget.dataset.stopped === "true" ? "resume" : "stop", "the hub", { what: "hub" }));
  get("recall-story").addEventListener("click", () => begin("recall", "a story", {}));
  get("stop-part").addEventListener("click", () => begin("stop", "a lane or category", {}));
  openDesk();
  askForOrders();
}
