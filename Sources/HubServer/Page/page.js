// The composer, the live stream and the start of the page. Plain modern JavaScript.

import { hub } from "/hub.js";
import { Phone, categories, clockFormat, platforms } from "/phone.js";

const $ = (id) => document.getElementById(id);

// ---- The composer -------------------------------------------------------------------------------------------------

const stories = [];

function buildComposer() {
  for (const [index, category] of categories.entries()) {
    const label = document.createElement("label");
    label.className = "chip";
    const input = Object.assign(document.createElement("input"), { type: "radio", name: "category", value: category });
    input.checked = index === 0;
    label.append(input, Object.assign(document.createElement("span"), { textContent: category }));
    $("composer-categories").append(label);
  }
  $("corrects").addEventListener("change", () => {
    const story = stories.find((known) => known.story === $("corrects").value);
    if (!story) return;
    $("composer").elements.category.value = story.category;
    $("headline").value = story.headline;
    $("headline").select();
  });
  $("composer").addEventListener("submit", send);
}

async function send(event) {
  event.preventDefault();
  const form = $("composer");
  const button = form.querySelector("button");
  const story = { category: form.elements.category.value, headline: form.elements.headline.value.trim(), story: form.elements.corrects.value };
  if (!story.headline) return;
  button.disabled = true;
  const hint = $("composer-hint");
  hint.classList.remove("bad");
  try {
    const reply = await fetch("/_emulator/stories", {
      method: "POST", body: JSON.stringify(story), headers: { "Content-Type": "application/json" } });
    const answer = await reply.json();
    if (!reply.ok) throw new Error(answer.error);
    hint.textContent = hub.throughKafka ? "On its way through Kafka." : "Accepted by the hub.";
    remember({ ...story, story: answer.story });
    form.elements.headline.value = "";
    form.elements.corrects.value = "";
  } catch (error) {
    hint.textContent = `Not sent: ${error.message}`;
    hint.classList.add("bad");
  } finally {
    button.disabled = false;
    form.elements.headline.focus();
  }
}

function remember(story) {
  const index = stories.findIndex((known) => known.story === story.story);
  if (index >= 0) stories.splice(index, 1);
  stories.unshift(story);
  stories.length = Math.min(stories.length, 8);
  const select = $("corrects");
  select.replaceChildren(select.firstElementChild, ...stories.map(({ story: id, headline }) =>
    Object.assign(document.createElement("option"), { value: id, textContent: `a correction of “${headline.slice(0, 40)}”` })));
}

// ---- Start --------------------------------------------------------------------------------------------------------

async function refreshStatus() {
  const status = $("status");
  try {
    const { received, delivered, registrations } = await (await fetch("/_emulator/status")).json();
    const counts = [[received, "send"], [delivered, "delivery", "deliveries"], [registrations, "registration"]]
      .map(([n, one, many = `${one}s`]) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`);
    status.textContent = `Hub ${hub.name} · ${counts.join(" · ")}`;
    status.classList.remove("bad");
  } catch {
    status.textContent = "The hub does not answer.";
    status.classList.add("bad");
  }
  const time = new Date().toLocaleTimeString([], clockFormat);
  for (const clock of document.querySelectorAll(".clock")) clock.textContent = time;
}

async function start() {
  buildComposer();
  try { await hub.open(); } catch (error) {
    $("status").textContent = error.message;
    $("status").classList.add("bad");
    return;
  }
  const phones = Object.keys(platforms).map((platform) => new Phone(platform));
  $("phones").append(...phones.map((phone) => phone.element));
  const query = phones.map((phone) => `handle=${encodeURIComponent(phone.state.handle)}`).join("&");
  // A hub may have forgotten us: what was subscribed is registered again at every start.
  await Promise.all(phones.map((phone) => phone.state.subscribed?.length && phone.subscribe(phone.state.subscribed)));
  const stream = new EventSource(`/_emulator/stream?${query}`);
  // At first everything is older than the stream; after a cut the stream itself repeats what was missed.
  stream.addEventListener("open", () => phones.forEach((phone) => phone.catchUp().catch(() => {})), { once: true });
  stream.addEventListener("delivery", (event) => {
    const delivery = JSON.parse(event.data);
    phones.find((phone) => phone.state.handle === delivery.handle)?.show(delivery);
  });
  await refreshStatus();
  setInterval(refreshStatus, 2000);
  document.documentElement.dataset.ready = "true";
}

start();
