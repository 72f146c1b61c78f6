// Editors' orders: those in force, their authors, the red button. Orders apply to all processes, not only to this one.

import { duration, element, get, number, sentence, write } from "./format.js";
import { send } from "./orders.js";

let known;
let shown = "";
let pending;

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

/** The time, with the day if it is not today. */
function moment(instant) {
  const date = new Date(instant);
  const clock = date.toLocaleTimeString("en-GB");
  return date.toDateString() === new Date().toDateString()
    ? clock
    : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${clock.slice(0, 5)}`;
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
  get("control-section").hidden = get("stop-hub").hidden = false;
  const isStopped = known.orders.some((order) => order.scope === "stop/hub");
  const button = get("stop-hub");
  button.dataset.stopped = isStopped;
  write(button, isStopped ? "Resume the hub…" : "Stop the hub…");
  write(get("control-remark"), remark());
  // Rows are redrawn only after a change, so that selection and focus stay.
  const state = JSON.stringify([known.orders, known.recent]);
  if (state === shown) return;
  shown = state;
  get("no-orders").hidden = known.orders.length > 0;
  get("some-orders").hidden = !known.orders.length;
  get("orders").replaceChildren(...known.orders.map(standing));
  get("no-recent").hidden = known.recent.length > 0;
  get("some-recent").hidden = !known.recent.length;
  get("recent").replaceChildren(...known.recent.map(past));
}

function remark() {
  if (known.problem) return sentence(known.problem);
  if (!known.known) return "The orders are being read.";
  const { processes, silent, standing, orders } = known;
  const behind = new Set(orders.flatMap((order) => order.unconfirmed));
  const all = processes.length === 1 ? "1 process" : `${number(processes.length)} processes`;
  const obeying = !processes.length ? "No process has been heard lately."
    : behind.size ? `Orders hold for all processes; only ${number(processes.length - behind.size)} of ${all} confirmed all of them.`
    : `Orders hold for all processes; ${all} ${processes.length === 1 ? "obeys" : "obey"} them.`;
  const lost = silent.length
    ? ` ${silent.map(({ replica }) => replica).join(", ")} ${silent.length === 1 ? "has" : "have"} fallen silent without ending: killed, or cut off from Kafka.` : "";
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
  const act = element("td");
  act.append(button);
  row.append(heading, cell("Since", moment(order.at)), cell("By", order.by, "sentence"),
    cell("Reason", order.reason ?? "–", "sentence"),
    cell("Ends", order.until ? moment(order.until) : "when resumed"),
    cell("Not confirmed by", order.unconfirmed.join(", ") || "–", order.unconfirmed.length ? "bad sentence" : ""), act);
  return row;
}

/** The author, time and reason of an order that was replaced. */
const author = ({ by, at, reason }) => `by ${by}, ${moment(at)}${reason ? `: ${reason}` : ""}`;

function past(order) {
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

const titles = {
  stop: (words) => [`Stop ${words}?`, words === "the hub"
    ? "No process sends anything from then on. Nothing is lost: the news waits until the hub is resumed. What is on its way cannot be stopped."
    : "Nothing of it is sent from then on, by any process. Nothing is lost: it waits until it is resumed.", "Stop"],
  resume: (words) => [`Resume ${words}?`,
    "What waits is sent now, unless it has grown too old. Recall first what readers must not get.", "Resume"],
  recall: (words) => [`Recall ${words}?`,
    "No process sends anything of it any more, and what waits ends as canceled. Phones that have it keep it; newswire recall --replace puts another text in its place.",
    "Recall"],
  lift: (words) => [`Lift the recall of ${words}?`, "What comes of it from now on is sent again.", "Lift"],
};

/**
 * Asks for the author, the reason and a confirmation. Escape means no.
 * @param doubt the problem with the order, if it was refused before and may be given all the same
 */
function begin(verb, words, query, doubt, reason = "") {
  const dialog = get("order");
  const [title, text, yes] = titles[verb](words);
  write(get("order-title"), title);
  write(get("order-text"), doubt ?? text);
  write(get("order-yes"), yes);
  get("order-yes").className = verb === "stop" || verb === "recall" ? "danger" : "strong";
  const needsReason = verb === "recall" || (verb === "stop" && query.what === "hub");
  get("order-reason").required = needsReason;
  write(get("order-reason-label"), needsReason ? "Reason" : "Reason (optional)");
  get("order-reason").value = reason;
  get("order-by").value = localStorage.getItem("newswire-name") ?? "";
  dialog.onclose = () => {
    if (dialog.returnValue === "yes") give(verb, words, query);
  };
  dialog.returnValue = "";
  dialog.showModal();
}

async function give(verb, words, query) {
  const by = get("order-by").value.trim();
  localStorage.setItem("newswire-name", by);
  const reason = get("order-reason").value.trim();
  const parameters = new URLSearchParams({ ...query, by, reason });
  let said = `${deeds[verb]} ${words}`;
  write(get("action"), `${said}: waiting for every process…`);
  const { ok, status, answer, problem } = await send(`api/control/${verb}?${parameters}`);
  askForOrders();
  if (!ok) {
    write(get("action"), `Could not order “${said}”: ${problem}`);
    if (verb === "recall" && status === 404) {
      begin(verb, words, { ...query, unseen: "true" }, `${words} was not seen in the news of the last 7 days. Recall it all the same?`, reason);
    }
    return;
  }
  // The name of an event stands for its story.
  said = `${deeds[verb]} ${subject(answer.scope).words}`;
  const { processes, applied, milliseconds, missing, silent, met, former, successor } = answer;
  const waiting = verb === "stop" && applied ? `; ${number(met.waiting)} ${met.waiting === 1 ? "delivery waits" : "deliveries wait"}` : "";
  const unheard = ended(verb) ? "the order is lifted" : "the order is in force; a process that starts reads it before it sends anything";
  write(get("action"), (!processes ? `${said}: no process has confirmed; ${unheard}.`
    : `${said}: applied by ${number(applied)} of ${number(processes)} in ${duration(milliseconds / 1000)}${waiting}.`
      + (missing.length ? ` No answer from ${missing.join(", ")}.` : ""))
    + (silent.length ? ` Not waited for, as silent for long: ${silent.join(", ")}.` : "")
    + (former ? ` ${ended(verb) ? "It ends" : "It takes the place of"} the order ${author(former)}.` : "")
    + (successor ? ` In the meantime ${ended(successor.do) ? "it was ended" : `another order has taken its place, ${author(successor)}`}.` : ""));
}

export function startControl() {
  get("stop-hub").addEventListener("click", (event) =>
    begin(event.currentTarget.dataset.stopped === "true" ? "resume" : "stop", "the hub", { what: "hub" }));
  get("recall").addEventListener("submit", (event) => {
    event.preventDefault();
    const story = get("story").value.trim();
    if (story) begin("recall", `story ${story}`, { story });
  });
  get("order-no").addEventListener("click", () => get("order").close(""));
  get("order-form").addEventListener("submit", (event) => {
    event.preventDefault();
    get("order").close("yes");
  });
  askForOrders();
}
