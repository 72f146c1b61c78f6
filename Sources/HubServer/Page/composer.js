// The form that sends a story.

import { outcome } from "/panels.js";
import { categories, chip } from "/phone.js";

const $ = (id) => document.getElementById(id);
const corrected = 8;

export class Composer {
  stories = [];

  // - sent: called after every send.
  constructor(throughKafka, sent) {
    Object.assign(this, { throughKafka, sent, form: $("composer") });
    $("composer-categories").append(...categories.map((category) => chip("radio", "category", category)));
    this.form.elements.category.value = categories[0];
    $("corrects").addEventListener("change", () => this.correct());
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

  say(text, mood = "") {
    $("composer-hint").textContent = text;
    $("composer-hint").className = `hint ${mood}`;
  }

  correct() {
    const story = this.stories.find((known) => known.story === $("corrects").value);
    if (!story) return;
    this.form.elements.category.value = story.category;
    $("headline").value = story.headline;
    $("headline").select();
  }

  async send() {
    const { category, headline, corrects } = this.form.elements;
    const story = { category: category.value, headline: headline.value.trim(), story: corrects.value };
    if (!story.headline || this.isSending) return;
    this.isSending = true;
    try {
      const reply = await fetch("/_emulator/stories", {
        method: "POST", body: JSON.stringify(story), headers: { "Content-Type": "application/json" },
      });
      const answer = await reply.json();
      if (!reply.ok) throw new Error(answer.error);
      this.pending = { id: answer.id, category: story.category };
      this.say(this.throughKafka ? "On its way through Kafka." : "Accepted by the hub.");
      this.remember({ ...story, story: answer.story });
      headline.value = corrects.value = "";
    } catch (error) {
      this.say(`Not sent. ${error.message}`, "bad");
    }
    this.isSending = false;
    headline.focus();
    this.sent();
  }

  // Tells what became of the last story.
  update({ sends }) {
    const send = this.pending && sends.find(({ event }) => event === this.pending.id);
    if (!send) return;
    const { text, mood, isFinal } = outcome(send);
    if (!isFinal) {
      return this.say(this.throughKafka ? `The hub answered ${send.refused}; the publisher will try again.` : text, mood);
    }
    const nobody = `Sent to 0 phones: nobody has asked for ${this.pending.category}.`;
    this.say(send.phones ? `Arrived on ${text}.` : nobody, mood);
    this.pending = undefined;
  }

  remember(story) {
    this.stories = [story, ...this.stories.filter((known) => known.story !== story.story)].slice(0, corrected);
    $("corrects").replaceChildren($("corrects").firstElementChild, ...this.stories.map(({ story: value, headline }) =>
      new Option(`a correction of “${headline.slice(0, 40)}”`, value)));
  }
}
