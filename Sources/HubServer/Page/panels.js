// The panels beside the phones: sends, faults, and values to copy.

import { clockFormat } from "/phone.js";

const $ = (id) => document.getElementById(id);

const made = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text });

// ---- Sends ----------------------------------------------------------------------------------------------------------

// A send's outcome in words.
export function outcome({ refused, state, phones, failed }) {
  if (refused) {
    return { text: refused === "reset" ? "connection cut" : `refused, ${refused}`, mood: "bad", isFinal: false };
  }
  // `1 ExpiredChannel` in words.
  const reasons = failed.map((reason) => reason.replace(/\B[A-Z]/g, " $&").toLowerCase()).join(", ");
  const text = `${phones} ${phones === 1 ? "phone" : "phones"}${reasons && `: ${reasons}`}`;
  if (state === "Scheduled" || state === "Canceled") return { text: state.toLowerCase(), mood: "", isFinal: true };
  if (state !== "Completed" && state !== "NoTargetFound") return { text: `${text} so far`, mood: "", isFinal: false };
  return { text, mood: failed.length ? "bad" : phones ? "good" : "warn", isFinal: true };
}

let shown = "";

export function showSends(sends) {
  const now = JSON.stringify(sends);
  if (now === shown) return;
  shown = now;
  $("no-sends").hidden = sends.length > 0;
  $("sends").replaceChildren(...sends.map((send) => {
    const row = document.createElement("tr");
    const { text, mood } = outcome(send);
    const time = new Date(send.time).toLocaleTimeString([], { ...clockFormat, second: "2-digit" });
    const result = Object.assign(made("td", `outcome ${mood}`, text), { title: text });
    if (send.languages > 1) result.append(made("span", "languages", ` · ${send.languages} languages`));
    row.append(
      made("td", "time", time), made("td", "tag", send.category ?? send.tags ?? "everyone"),
      made("td", "headline", send.headline), result);
    return row;
  }));
}

// ---- Faults ---------------------------------------------------------------------------------------------------------

const faults = [
  ["answers 503", { status: 503, retryAfter: 2, on: "sends" }],
  ["answers 429", { status: 429, retryAfter: 2, on: "sends" }],
  ["is 250 ms slow", { latencyMs: 250, on: "sends" }],
  ["expires tokens", { expired: true, on: "all" }],
  ["cuts connections", { reset: "before", on: "sends" }],
];
// Changes are made one after another, because each starts from the current faults.
let changes = Promise.resolve();
let waiting = 0;
let changedAt = 0;
const key = (fault) => JSON.stringify(Object.entries(fault).sort());

async function change(fault, isOn) {
  const call = async (method, body) => {
    const reply = await fetch("/_emulator/faults", { method, body: body && JSON.stringify(body) });
    if (!reply.ok) throw new Error(`The hub answered ${reply.status}.`);
    return reply;
  };
  if (isOn) return call("POST", fault);
  // Faults can only be cleared together, so the others are set again.
  const others = (await (await call("GET")).json()).filter((other) => key(other) !== key(fault));
  await call("DELETE");
  if (others.length) await call("POST", others);
}

// - changed: called after every change.
export function buildFaults(changed) {
  $("faults").append(...faults.map(([name, fault]) => {
    const label = made("label", "switch", "");
    const input = Object.assign(document.createElement("input"), { type: "checkbox", value: key(fault) });
    input.setAttribute("role", "switch");
    input.addEventListener("change", () => {
      const isOn = input.checked;
      waiting += 1;
      changes = changes.then(() => change(fault, isOn)).catch(() => {
        $("faults-hint").textContent = "The hub does not answer.";
      }).then(() => {
        waiting -= 1;
        changedAt = performance.now();
        changed();
      });
    });
    label.append(input, made("span", "slider", ""), made("span", "", name));
    return label;
  }));
}

// An answer to a question from before the last change would undo the change on the page.
export function showFaults({ faults: set, asked }) {
  if (waiting || asked < changedAt) return;
  const keys = set.map(key);
  for (const input of $("faults").querySelectorAll("input")) input.checked = keys.includes(input.value);
  const others = keys.filter((one) => !faults.some(([, fault]) => key(fault) === one)).length;
  const text = others ? `and ${others} set over /_emulator/faults` : "";
  if ($("faults-hint").textContent !== text) $("faults-hint").textContent = text;
}

// ---- What to copy ---------------------------------------------------------------------------------------------------

export function buildCopying(announce) {
  for (const button of document.querySelectorAll("[data-copies]")) {
    const field = $(button.dataset.copies);
    const words = button.firstChild;
    button.addEventListener("click", async () => {
      field.select();
      // Over http from another machine there is no clipboard. The text is then selected for Ctrl-C.
      const isCopied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
      words.data = isCopied ? "Copied" : "Selected";
      announce(isCopied ? "Copied." : "Selected, to be copied with Ctrl-C.");
      setTimeout(() => { words.data = "Copy"; }, 2000);
    });
  }
}

// A restarted hub may have another name, key and purpose.
export async function refreshCopies() {
  const reply = await fetch("/", { signal: AbortSignal.timeout(5000) });
  if (!reply.ok) throw new Error(`The hub answered ${reply.status}.`);
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  for (const id of ["connection", "next"]) $(id).value = page.getElementById(id)?.getAttribute("value") ?? "";
  for (const id of ["hub", "next-title"]) $(id).textContent = page.getElementById(id)?.textContent ?? "";
}

export function showDashboard(address) {
  $("dashboard").hidden = !address;
  if (address) $("dashboard").href = address;
}
