// An operator's orders for a lane: pause, resume, release.

import { get, number, write } from "./format.js";

let token = "";
let passing;

/** Shows what became of an order. It disappears after a while, because it may not hold any longer. */
export function say(text) {
  clearTimeout(passing);
  write(get("action"), text);
  passing = setTimeout(() => write(get("action"), ""), 120_000);
}

/** @param waiting the number of affected events, if the order cannot be undone */
export async function ask(lane, order, waiting) {
  if (waiting !== undefined && !(await isSure(lane, order, waiting))) return;
  const action = order.split("?")[0];
  const { ok, problem } = await send(`api/lanes/${encodeURIComponent(lane)}/${order}`);
  say(ok ? `Asked lane ${lane} to ${action}.` : `Could not ${action} lane ${lane}: ${problem}`);
}

/** Asks with the token, if one was entered, and asks for it when it is needed. */
export async function send(address, method = "POST") {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const reply = await fetch(address, { method, headers, signal: AbortSignal.timeout(30_000) })
    .catch(() => undefined);
  const needsToken = reply?.status === 401;
  get("token-form").hidden = !needsToken;
  if (needsToken) get("token").focus();
  const answer = await reply?.json().catch(() => undefined);
  return { ok: reply?.ok ?? false, status: reply?.status, answer, problem: answer?.error ?? "no answer" };
}

/** Asks for confirmation of an order that cannot be undone. Escape means no. */
function isSure(lane, order, waiting) {
  const isDeadLetter = order.endsWith("dead-letter");
  write(get("confirm-title"), isDeadLetter ? `Move the rest of lane ${lane} to the dead letters?` : `Send the rest of lane ${lane}?`);
  write(get("confirm-text"), isDeadLetter
    ? `About ${number(Number(waiting))} events end as dead letters, and no reader gets them.`
    : `About ${number(Number(waiting))} events are sent; those with the same fault end as dead letters one by one.`);
  write(get("confirm-yes"), isDeadLetter ? "Move" : "Send");
  const dialog = get("confirm");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

export function startOrders() {
  const dialog = get("confirm");
  get("confirm-yes").addEventListener("click", () => dialog.close("yes"));
  get("confirm-no").addEventListener("click", () => dialog.close(""));
  get("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    token = get("token").value;
    get("token-form").hidden = true;
    say("Now try again.");
  });
}
