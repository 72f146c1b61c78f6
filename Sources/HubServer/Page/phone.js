// One phone, what it remembers and what it makes of a payload.

import { drop, keep, registration } from "/hub.js";

export const categories = ["World", "Politics", "Business", "Technology", "Science", "Sports"];
export const platforms = {
  apple: { name: "iPhone", label: "APNs", first: ["World", "Sports"] },
  fcmv1: { name: "Android", label: "FCM v1", first: ["World", "Technology"] },
  windows: { name: "Windows", label: "WNS", first: ["Business"] },
  browser: { name: "Browser", label: "Web Push", first: ["Science", "Politics"] },
};
export const clockFormat = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const kept = 30;

// ---- What this browser remembers ----------------------------------------------------------------------------------

const memory = {
  load(platform) {
    try { return JSON.parse(localStorage.getItem(`newswire.phone.${platform}`)) ?? {}; } catch { return {}; }
  },
  save(platform, state) {
    try { localStorage.setItem(`newswire.phone.${platform}`, JSON.stringify(state)); } catch { /* private windows */ }
  },
};

function randomHex(bytes) {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
}

function newHandle(platform) {
  const id = randomHex(32);
  if (platform === "windows") return `https://wns.example/?token=${id}`;
  if (platform === "browser") return `https://push.example/send/${id}`;
  return platform === "apple" ? id.toUpperCase() : `fcm-${id}`;
}

// ---- What a phone makes of a payload ------------------------------------------------------------------------------

function header(delivery, name) {
  const key = Object.keys(delivery.headers).find((k) => k.toLowerCase() === name);
  return key && delivery.headers[key];
}

const parse = (text) => { try { return JSON.parse(text); } catch { return {}; } };

const shows = {
  apple(delivery) {
    const body = parse(delivery.body);
    const alert = body.aps?.alert ?? body.alert ?? "";
    const text = typeof alert === "string" ? alert : [alert.title, alert.body].filter(Boolean).join(": ");
    return { text, category: body.category ?? body.aps?.["thread-id"], replaces: header(delivery, "apns-collapse-id") || body.story || body.id };
  },
  fcmv1(delivery) {
    const { notification = {}, data = {}, android = {} } = parse(delivery.body).message ?? {};
    const text = [notification.title, notification.body ?? data.message].filter(Boolean).join(": ");
    return { text, category: data.category, replaces: android.notification?.tag || android.collapse_key || data.story || data.id };
  },
  windows(delivery) {
    const toast = new DOMParser().parseFromString(delivery.body ?? "", "text/xml");
    const launch = toast.documentElement.getAttribute("launch") ?? "";
    const data = parse(launch);
    const texts = Array.from(toast.querySelectorAll("text"), (node) => node.textContent);
    const category = data.category ?? (texts.length > 1 ? texts[0] : undefined);
    const text = (texts.length > 1 ? texts.slice(1) : texts).join(" ");
    return { text, category, replaces: header(delivery, "x-wns-tag") || data.story || data.id || launch };
  },
  browser(delivery) {
    const body = parse(delivery.body);
    const text = [body.body && body.title, body.message ?? body.body ?? body.title].filter(Boolean).join(": ");
    return { text, category: body.category, replaces: body.tag || body.story || body.id };
  },
};

// ---- One phone ----------------------------------------------------------------------------------------------------

export class Phone {
  constructor(platform) {
    this.platform = platform;
    this.state = memory.load(platform);
    this.state.handle ??= newHandle(platform);
    this.state.chosen ??= platforms[platform].first;
    this.seen = 0;
    memory.save(platform, this.state);
    this.build();
  }

  build() {
    this.element = document.getElementById("phone-template").content.firstElementChild.cloneNode(true);
    this.element.classList.add(this.platform);
    this.element.setAttribute("aria-label", platforms[this.platform].name);
    this.find(".name").textContent = platforms[this.platform].name;
    this.find(".platform").textContent = platforms[this.platform].label;
    this.list = this.find(".notifications");
    this.list.setAttribute("aria-label", `Notifications on ${platforms[this.platform].name}`);
    for (const category of categories) {
      const label = document.createElement("label");
      label.className = "switch";
      const input = Object.assign(document.createElement("input"), { type: "checkbox", value: category });
      input.setAttribute("role", "switch");
      input.checked = this.state.chosen.includes(category);
      const slider = Object.assign(document.createElement("span"), { className: "slider" });
      label.append(Object.assign(document.createElement("span"), { textContent: category }), input, slider);
      this.find(".switches").append(label);
    }
    this.find(".app").addEventListener("change", () => {
      this.state.chosen = this.chosen();
      memory.save(this.platform, this.state);
      this.describe();
    });
    this.find(".app").addEventListener("submit", (event) => {
      event.preventDefault();
      this.subscribe(this.chosen());
    });
    this.describe();
  }

  find(selector) { return this.element.querySelector(selector); }

  chosen() { return Array.from(this.element.querySelectorAll(".switch input:checked"), (input) => input.value); }

  say(text, mood = "") {
    const state = this.find(".state");
    state.textContent = text;
    state.className = `state ${mood}`;
  }

  describe() {
    const { subscribed, chosen } = this.state;
    if (!subscribed?.length) return this.say(chosen.length ? "Not subscribed yet." : "Choose what you want to hear about.");
    if (subscribed.join() !== chosen.join()) return this.say("Press Subscribe to keep your changes.");
    this.say(`Subscribed to ${new Intl.ListFormat("en").format(subscribed)}.`, "good");
  }

  async subscribe(tags) {
    const button = this.find("button");
    button.disabled = true;
    try {
      if (tags.length) {
        await keep(this.state, "template", registration(this.platform, this.state.handle, tags, true));
        await keep(this.state, "native", registration(this.platform, this.state.handle, tags, false));
      } else {
        await drop(this.state);
      }
      this.state.subscribed = tags;
      this.describe();
    } catch (error) {
      this.say(`Not registered: ${error.message}.`, "bad");
    } finally {
      memory.save(this.platform, this.state);
      button.disabled = false;
    }
  }

  // Shows what arrived while nobody looked.
  async catchUp() {
    const reply = await fetch(`/_emulator/devices/${encodeURIComponent(this.state.handle)}`);
    if (reply.ok) for (const delivery of (await reply.json()).deliveries.slice(-kept)) this.show(delivery);
  }

  show(delivery) {
    if (delivery.number <= this.seen || delivery.outcome !== "Success") return;
    this.seen = delivery.number;
    const { text, category, replaces } = shows[this.platform](delivery);
    if (!text) return;
    const item = document.getElementById("notification-template").content.firstElementChild.cloneNode(true);
    const old = replaces && Array.from(this.list.children).find((other) => other.dataset.replaces === replaces);
    item.dataset.replaces = replaces ?? "";
    item.querySelector(".tag").textContent = category || "News";
    item.querySelector(".text").textContent = text;
    item.querySelector(".updated").hidden = !old || old.querySelector(".text").textContent === text;
    const time = item.querySelector("time");
    time.dateTime = delivery.time;
    time.textContent = new Date(delivery.time).toLocaleTimeString([], clockFormat);
    old?.remove();
    this.list.prepend(item);
    while (this.list.children.length > kept) this.list.lastElementChild.remove();
  }
}
