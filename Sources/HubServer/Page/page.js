// Starts the page and passes news to its parts. Plain modern JavaScript.

import { Composer } from "/composer.js";
import { open } from "/hub.js";
import { follow } from "/news.js";
import { buildCopying, buildFaults, refreshCopies, showDashboard, showFaults, showSends } from "/panels.js";
import { Phone, clockFormat, zone } from "/phone.js";

const $ = (id) => document.getElementById(id);

// Announces one sentence at a time to screen readers. A burst is reduced to its last story.
const announcer = {
  count: 0,
  say(text) { $("announcer").textContent = text; },
  arrived(text) {
    this.count += 1;
    this.last = text;
    this.timer ??= setTimeout(() => {
      this.say(this.count === 1 ? this.last : `${this.count} stories arrived. The last one: ${this.last}`);
      this.count = 0;
      this.timer = undefined;
    }, 1000);
  },
};

function status(text, mood = "") {
  if ($("status").textContent === text) return;
  if (mood === "bad") announcer.say(text);
  $("status").textContent = text;
  $("status").className = `status ${mood}`;
}

const counts = ({ received, delivered, devices }) =>
  [[received, "send"], [delivered, "delivery", "deliveries"], [devices, "phone subscribed", "phones subscribed"]]
    .map(([n, one, many = `${one}s`]) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`).join(" · ");

function showDeliveries(deliveries, phones, isFirst) {
  const texts = new Set();
  for (const delivery of deliveries) {
    try {
      const text = phones.find((phone) => phone.handle === delivery.handle)?.show(delivery);
      if (text) texts.add(text);
    } catch (error) {
      // A notification that cannot be shown must not hide the others.
      console.error(error);
    }
  }
  // Deliveries from before the page was opened are not announced.
  if (!isFirst) texts.forEach((text) => announcer.arrived(text));
}

function tick() {
  const time = new Date().toLocaleTimeString([], clockFormat);
  for (const clock of document.querySelectorAll(".clock")) clock.textContent = time;
}

async function start() {
  const session = await open();
  const announce = (text) => announcer.say(text);
  const phones = session.phones.map((description) => new Phone(description, session.languages, announce, () => ask()));
  $("phones").append(...phones.map((phone) => phone.element));
  const isWanted = (category) => phones.some((phone) => phone.wanted.includes(category));
  const composer = new Composer(session, isWanted, () => ask());
  buildFaults(() => ask());
  buildCopying(announce);
  $("zone").textContent = `times in ${zone}`;
  tick();
  setInterval(tick, 5000);
  let isOpen = false, isOld = false;
  // Another hub may have this address by now.
  const renew = async () => {
    isOld = false;
    try {
      composer.throughKafka = (await open()).throughKafka;
      await refreshCopies();
    } catch {
      isOld = true;
    }
  };
  const ask = follow(phones.map((phone) => phone.handle), async (overview, isNew) => {
    status(counts(overview));
    if (isNew) phones.forEach((phone) => phone.forget());
    if (isOpen && isNew || isOld) await renew();
    phones.forEach((phone) => phone.update(overview));
    showDeliveries(overview.deliveries, phones, isNew);
    showSends(overview.sends);
    showFaults(overview);
    showDashboard(overview.dashboard);
    composer.update(overview);
    isOpen = true;
    document.documentElement.dataset.ready = "true";
  }, () => {
    status("The hub does not answer.", "bad");
    phones.forEach((phone) => phone.lose());
    composer.lose();
  });
}

start().catch((error) => {
  status(error.message, "bad");
  for (const part of document.querySelectorAll(".needs-script")) part.hidden = true;
});
