"""What can be computed of how a page looks: contrast and the size of targets, by WCAG 2.2."""

CONTRAST = r"""
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return Array.from(canvas.getImageData(0, 0, 1, 1).data);
};
const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] / 255 + below[i] * (1 - top[3] / 255)).concat(255);
const ground = (element) => {
  if (!element) return [255, 255, 255, 255];
  const own = rgba(getComputedStyle(element).backgroundColor);
  return own[3] === 255 ? own : over(own, ground(element.parentElement));
};
const light = (colour) => colour.slice(0, 3).map((c) => c / 255)
  .map((c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
const contrast = (one, other) => {
  const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
  return (a + .05) / (b + .05);
};
const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !element.closest(".unseen, .hidden");
const name = (element) => `${element.tagName.toLowerCase()}.${element.className} “${(element.textContent || element.value || "").trim().slice(0, 30)}”`;
const weak = [];
let count = 0;
const judge = (element, colour, ground, least, what) => {
  count += 1;
  const found = contrast(over(rgba(colour), ground), ground);
  if (found < least) weak.push(`${what} of ${name(element)}: ${found.toFixed(2)}`);
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement;
  if (!texts.currentNode.data.trim() || !isSeen(element) || element.closest("svg, script, option")) continue;
  const style = getComputedStyle(element);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
  judge(element, style.color, ground(element), isLarge ? 3 : 4.5, "text");
}
for (const element of document.querySelectorAll("input, textarea, select, button, .chip span, .slider")) {
  const style = getComputedStyle(element);
  if (!isSeen(element) || !parseFloat(style.borderTopWidth)) continue;
  if (element.value) judge(element, style.color, ground(element), 4.5, "value");
  if (element.placeholder) judge(element, getComputedStyle(element, "::placeholder").color, ground(element), 4.5, "placeholder");
  judge(element, style.borderTopColor, ground(element.parentElement), 3, "edge");
}
return [count, weak];
"""

TARGETS = r"""
const least = arguments[0];
const small = [];
let count = 0;
for (const element of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
  if (!element.checkVisibility() || element.closest("p")) continue;
  const { width, height } = (element.matches("label input[type=checkbox], label input[type=radio]") ? element.closest("label") : element).getBoundingClientRect();
  count += 1;
  if (width < least || height < least) small.push(`${element.tagName} ${element.id || element.value || element.textContent} ${width} × ${height}`);
}
return [count, small];
"""


def check_contrast(page):
    """4.5 : 1 for text, 3 : 1 for large text and the edges of controls."""
    count, weak = page.driver.execute_script(CONTRAST)
    assert count > 0 and not weak, weak


def check_targets(page, least=44):
    """Whatever can be pressed is as large as a finger, but for links within a sentence."""
    count, small = page.driver.execute_script(TARGETS, least)
    assert count > 0 and not small, small
