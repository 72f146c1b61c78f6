// The form that sends a story.

import { request, unanswered } from "/hub.js";
import { outcome } from "/panels.js";
import { categories, chip } from "/phone.js";

const $ = (id) => document.getElementById(id);
const corrected = 8;
const patience = 10000;
// Placeholders for the empty field.
const examples = { en: "Parliament passes the climate bill", fr: "Le Parlement adopte la loi climat", zh: "议会通过气候法案" };
const lists = new Intl.ListFormat("en");

export class Composer {
  stories = [];
  // The headlines by language, except the one in the field.
  headlines = {};

  // - isWanted: returns true if a phone of the page has chosen a category.
  // - sent: called after every send.
  constructor({ throughKafka, languages }, isWanted, sent) {
    Object.assign(this, { throughKafka, isWanted, sent, form: $("composer") });
    $("language").append(...languages.map(({ code, name }) => new Option(name, code)));
    this.turnTo($("language").value);
    $("language").addEventListener("change", () => this.turn());
    $("composer-categories").append(...categories.map((category) => chip("radio", "category", category)));
    this.form.elements.category.value = categories[0];
    $("corrects").addEventListener("change", () => this.correct());
    // The outcome of the last story says nothing about the next one.
    $("headline").addEventListener("input", () => this.until === "story" && this.say(""));
    $("headline").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }

  // - until: the text holds until the hub answers again ("answer"), or until the next story is begun ("story").
  say(text, mood = "", until = "") {
    this.until = until;
    $("composer-hint").textContent = text;
    $("composer-hint").className = `hint ${mood}`;
  }

  // Shows the headline of another language in the field. The others are kept, and the page says so.
  turn() {
    this.headlines[this.language] = $("headline").value.trim();
    this.turnTo($("language").value);
    $("headline").focus();
    const others = Array.from($("language").options).filter(({ value }) => this.headlines[value]).map(({ text }) => text);
    this.say(others.length ? `Also in ${lists.format(others)}; each phone shows its own language.` : "");
  }

  turnTo(language) {
    this.language = $("language").value = $("headline").lang = language;
    $("headline").placeholder = examples[language] ?? examples.en;
    $("headline").value = this.headlines[language] ?? "";
    delete this.headlines[language];
    $("headline").required = !Object.values(this.headlines).some(Boolean);
  }

  // The languages with a headline, in the order of the list.
  written() {
    const all = { ...this.headlines, [this.language]: $("headline").value.trim() };
    return Array.from($("language").options, ({ value }) => [value, all[value]]).filter(([, text]) => text);
  }

  clear() {
    this.headlines = {};
    this.turnTo($("language").options[0].value);
  }

  correct() {
    const story = this.stories.find((known) => known.story === $("corrects").value);
    if (!story) return;
    this.form.elements.category.value = story.category;
    // The story has a headline in each of its languages.
    this.headlines = { ...story.headlines, [story.language]: story.headline };
    this.turnTo(story.language);
    this.turn();
    $("headline").select();
  }

  async send() {
    const { category, headline, corrects } = this.form.elements;
    const written = this.written();
    if (!written.length || this.isSending) return;
    // Readers of languages without a headline receive the first one.
    const [[language, text], ...others] = written;
    const story = { category: category.value, headline: text, language, headlines: Object.fromEntries(others), story: corrects.value };
    this.isSending = true;
    try {
      const reply = await request("/_emulator/stories", {
        method: "POST", body: JSON.stringify(story), headers: { "Content-Type": "application/json" },
      });
      const answer = await reply.json();
      if (!reply.ok) throw new Error(answer.error);
      this.pending = { id: answer.id, category: story.category, time: performance.now() };
      this.say(this.throughKafka ? "On its way through Kafka." : "Accepted by the hub.");
      this.remember({ ...story, story: answer.story });
      this.clear();
      corrects.value = "";
    } catch (error) {
      this.say(`Not sent. ${error.message}`, "bad", error.message === unanswered ? "answer" : "story");
    }
    this.isSending = false;
    headline.focus();
    this.sent();
  }

  // The hub does not answer: a text about the last story may be wrong by now.
  lose() { if (this.pending) this.say("The hub does not answer; the outcome is not known.", "warn", "answer"); }

  // Shows the outcome of the last story.
  update({ sends, asked }) {
    if (this.until === "answer") this.say("");
    const send = this.pending && sends.find(({ event }) => event === this.pending.id);
    if (!send) return this.miss(asked);
    this.pending.isSeen = true;
    const { text, mood, isFinal } = outcome(send);
    if (!isFinal) {
      if (!send.refused) return this.say(text, mood);
      const trouble = send.refused === "reset" ? "The hub cut the connection" : `The hub answered ${send.refused}`;
      return this.say(`${trouble}; the publisher will try again.`, mood);
    }
    const { category } = this.pending;
    const nobody = this.isWanted(category)
      ? `Sent to 0 phones: the hub has no registration for ${category}.`
      : `Sent to 0 phones: nobody has asked for ${category}.`;
    this.say(send.phones ? `Arrived on ${text}.` : send.failed.length ? `Sent to ${text}.` : nobody, mood, "story");
    this.pending = undefined;
  }

  // The story is not among the latest sends: it is too old, or has not yet arrived through Kafka.
  miss(asked) {
    if (!this.pending) return;
    const { isSeen, time } = this.pending;
    const isGone = isSeen || !this.throughKafka && asked > time;
    if (!isGone && asked < time + patience) return;
    this.say("Sent. Its outcome is not among the last sends.", "", "story");
    if (isGone) this.pending = undefined;
  }

  remember(story) {
    this.stories = [story, ...this.stories.filter((known) => known.story !== story.story)].slice(0, corrected);
    $("corrects").replaceChildren($("corrects").firstElementChild, ...this.stories.map(({ story: value, headline }) =>
      new Option(`a correction of “${headline.slice(0, 40)}”`, value)));
  }
}
