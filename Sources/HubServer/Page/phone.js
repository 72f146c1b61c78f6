// One phone: its reader's choice, the hub's registration, and the notifications that have arrived.

import { register, unregister } from "/hub.js";
import { notification } from "/payload.js";

export const categories = ["World", "Politics", "Business", "Technology", "Science", "Sports"];
export const clockFormat = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
// The name of the reader's time zone.
export const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(new Date())
  .find(({ type }) => type === "timeZoneName").value;
const kept = 30;

const tagOf = (language) => `language_${language}`;
const same = (one, other) => one.join() === other.join();
// A tag of an interest: team_bvb stands for team:bvb.
const followed = /^([A-Za-z0-9-]+):([\w@#.:-]{1,100})$/;
const interestOf = (tag) => tag.replace("_", ":");
const list = new Intl.ListFormat("en");

// A choice in this browser: { tags (of categories, of interests and, last, of the language), run: the run of the hub that accepted it, isConfirmed, delivered: the number of
// deliveries when the hub last confirmed it }. Without storage it is kept until the page closes.
const memory = {
  held: {},
  load(platform) {
    try {
      const choice = this.held[platform] ?? JSON.parse(localStorage.getItem(`newswire.choice.${platform}`));
      return Array.isArray(choice?.tags) ? choice : null;
    } catch {
      return null;
    }
  },
  save(platform, choice) {
    delete this.held[platform];
    try {
      localStorage.setItem(`newswire.choice.${platform}`, JSON.stringify(choice));
    } catch {
      this.held[platform] = choice;
    }
  },
};

export function chip(type, name, value, text = value) {
  const label = Object.assign(document.createElement("label"), { className: "chip" });
  label.append(Object.assign(document.createElement("input"), { type, name, value }),
    Object.assign(document.createElement("span"), { textContent: text }));
  return label;
}

export class Phone {
  // - ask: polls the hub at once.
  constructor({ platform, name, service, handle, installation, templates }, languages, announce, ask) {
    Object.assign(this, { platform, name, handle, installation, templates, announce, ask });
    this.languages = languages.map(({ code }) => tagOf(code));
    this.wanted = [];
    this.known = [];
    this.workedAt = 0;
    this.element = document.getElementById("phone-template").content.firstElementChild.cloneNode(true);
    this.element.classList.add(platform);
    this.element.setAttribute("aria-label", name);
    this.find(".name").textContent = name;
    this.find(".service").textContent = service;
    this.find("legend").textContent = `News that the ${name} asks for`;
    this.list = this.find(".notifications");
    this.list.setAttribute("aria-label", `Notifications on the ${name}`);
    this.find(".chips").append(...categories.map((category) => chip("checkbox", platform, category)));
    this.field = this.find(".follow input");
    this.field.setAttribute("aria-label", `Something that the ${name} follows, as kind:id`);
    this.find(".app").addEventListener("change", ({ target }) => target === this.field || this.choose(this.checked()));
    this.field.addEventListener("input", () => this.field.setCustomValidity(""));
    this.find(".follow").addEventListener("submit", (event) => {
      event.preventDefault();
      this.follow();
    });
    this.language = this.find(".language");
    this.language.setAttribute("aria-label", `Language of the ${name}`);
    this.language.append(...languages.map(({ code, name }) => new Option(name, code)));
    this.language.addEventListener("change", () => this.choose(this.checked()));
    this.find(".again").addEventListener("click", () => this.choose(this.wanted));
  }

  find(selector) { return this.element.querySelector(selector); }

  inputs() { return Array.from(this.element.querySelectorAll(".chip input")); }

  // The tags in the order in which choices are compared: categories, interests, the language.
  arranged(tags) {
    const interests = tags.filter((tag) => /^[A-Za-z0-9-]+_/.test(tag) && !tag.startsWith(tagOf(""))).sort();
    return [...categories.filter((tag) => tags.includes(tag)), ...interests, ...this.languages.filter((tag) => tags.includes(tag))];
  }

  interests() { return this.wanted.filter((tag) => ![...categories, ...this.languages].includes(tag)); }

  // Follows the interest in the field.
  follow() {
    const interest = this.field.value.trim().match(followed);
    this.field.setCustomValidity(interest ? "" : "Write a kind and an id, such as team:bvb.");
    if (!interest) return void this.field.reportValidity();
    this.field.value = "";
    this.choose(this.arranged([...new Set([...this.checked(), `${interest[1]}_${interest[2]}`])]));
  }

  checked() {
    const chosen = this.arranged(this.inputs().filter((input) => input.checked).map((input) => input.value));
    return chosen.length && this.language.value ? [...chosen, tagOf(this.language.value)] : chosen;
  }

  // The templates have the same names in all languages, so the hub keeps one of each.
  asked(tags) {
    const language = Object.keys(this.templates).find((code) => tags.includes(tagOf(code)));
    return { ...this.installation, tags, templates: this.templates[language] ?? this.installation.templates };
  }

  // ---- Its registration ---------------------------------------------------------------------------------------------

  async choose(tags) {
    memory.save(this.platform, { tags });
    this.trouble = "";
    this.isToTell = true;
    await this.work();
  }

  // Registers the latest choice, even if choices follow one another quickly.
  async work() {
    if (this.isWorking) return;
    this.isWorking = true;
    this.isDropped = false;
    let choice = memory.load(this.platform);
    try {
      for (let done; !done;) {
        this.wanted = choice.tags;
        this.describe();
        if (choice.tags.length) await register(this.asked(choice.tags));
        else await unregister(this.installation);
        const newest = memory.load(this.platform) ?? choice;
        done = same(newest.tags, choice.tags);
        choice = newest;
      }
      this.trouble = "";
      this.isAwaited = true;
      memory.save(this.platform, { tags: choice.tags, run: this.run });
    } catch (error) {
      this.trouble = error.message.replace(/^The/, "the").replace(/\.$/, "");
    }
    this.isWorking = false;
    this.workedAt = performance.now();
    this.describe();
    if (!this.trouble) this.ask();
  }

  // - overview: the hub's state, which takes precedence unless the hub has forgotten a registration. An answer to a question from
  //   before the last registration is ignored.
  update({ run, phones, dropped, delivered, asked }) {
    this.isLost = false;
    this.run = run;
    if (this.isWorking || asked < this.workedAt) return;
    const known = phones[this.platform] && this.arranged(phones[this.platform]);
    const choice = memory.load(this.platform);
    const isNewer = choice?.run && choice.run !== run;
    // The choice was not accepted yet, or only by an earlier run of a hub that has lost it. The phone registers it again.
    const isDue = isNewer ? !known && choice.tags.length : choice && !choice.run && !same(known ?? [], choice.tags);
    if (isDue) return void this.work();
    this.isAwaited = false;
    this.trouble = "";
    this.known = known ?? [];
    const confirm = () => memory.save(this.platform, { tags: this.known, run, isConfirmed: true, delivered });
    const isConfirmed = choice?.isConfirmed || isNewer;
    const isDead = dropped[this.platform] > choice?.delivered;
    this.isDropped = Boolean(isConfirmed && !known && choice.tags.length && isDead);
    if (!choice || this.isDropped || !isConfirmed) {
      this.wanted = choice?.tags ?? this.known;
      if (choice && !isConfirmed && same(this.known, choice.tags)) confirm();
    } else {
      // The choice may have been made in another browser, or the phone was dropped and registered again there.
      this.wanted = this.known;
      if (!same(this.known, choice.tags) || isNewer || isDead) confirm();
    }
    this.describe();
  }

  lose() {
    this.isLost = true;
    this.describe();
  }

  describe() {
    const shown = this.inputs().map(({ value }) => value);
    const missing = this.interests().filter((tag) => !shown.includes(tag));
    this.find(".chips").append(...missing.map((tag) => chip("checkbox", this.platform, tag, interestOf(tag))));
    for (const input of this.inputs()) input.checked = this.wanted.includes(input.value);
    // Without a category there is no registration that could contain the language.
    if (this.wanted.length) {
      const chosen = Array.from(this.language.options).find(({ value }) => this.wanted.includes(tagOf(value)));
      this.language.value = chosen?.value ?? "";
    }
    const [text, mood] = this.words();
    const state = this.find(".state");
    if (state.textContent !== text) state.textContent = text;
    state.className = `state ${mood}`;
    this.find(".again").hidden = mood !== "bad";
    // The result of a click is announced once, and a second time if it was not final.
    if (!this.isToTell || this.isUnderWay() || this.told === text) return;
    this.announce(`${this.name}: ${text}`);
    this.told = mood === "warn" ? text : "";
    this.isToTell = mood === "warn";
  }

  // A retried registration continues to show why it failed.
  isUnderWay() { return !this.trouble && (this.isWorking || this.isAwaited); }

  words() {
    if (this.isLost) return ["The hub does not answer.", "warn"];
    if (this.isUnderWay()) return ["Registering…", ""];
    if (this.trouble) return [`Not registered: ${this.trouble}.`, "bad"];
    if (!this.wanted.length) return ["Not subscribed. Choose a category.", ""];
    const wanted = [...categories.filter((category) => this.wanted.includes(category)), ...this.interests().map(interestOf)];
    if (same(this.known, this.wanted)) return [`Subscribed to ${list.format(wanted)}.`, "good"];
    return this.isDropped
      ? ["Not registered: the hub has dropped it.", "bad"]
      : ["Accepted; the hub has yet to apply it.", "warn"];
  }

  // ---- Its notifications --------------------------------------------------------------------------------------------

  // Returns the text of a new notification.
  show(delivery) {
    const { text, category, replaces, isQuiet } = notification(this.platform, delivery);
    if (!text) return "";
    // A send that names no template arrives by both templates. The reader notices the one with the sound.
    const twin = Array.from(this.list.children).find(({ dataset }) => dataset.message === delivery.messageId);
    if (twin && (isQuiet || twin.querySelector(".quiet").hidden)) return "";
    const item = document.getElementById("notification-template").content.firstElementChild.cloneNode(true);
    const old = Array.from(this.list.children).find((other) => replaces && other.dataset.replaces === replaces);
    item.dataset.replaces = replaces ?? "";
    item.dataset.message = delivery.messageId;
    item.querySelector(".quiet").hidden = !isQuiet;
    item.querySelector(".tag").textContent = category ?? "";
    item.querySelector(".text").textContent = text;
    // The exact payload, for developers.
    item.title = delivery.body ?? "";
    item.querySelector(".text").title = text;
    item.querySelector(".updated").hidden = !old || old.querySelector(".text").textContent === text;
    const time = item.querySelector("time");
    time.dateTime = delivery.time;
    time.textContent = new Date(delivery.time).toLocaleTimeString([], clockFormat);
    old?.remove();
    twin?.remove();
    this.list.prepend(item);
    while (this.list.children.length > kept) this.list.lastElementChild.remove();
    return [category, text].filter(Boolean).join(": ");
  }

  forget() { this.list.replaceChildren(); }
}
