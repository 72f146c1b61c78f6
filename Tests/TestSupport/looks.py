"""Checks a page's contrast and target sizes by WCAG 2.2, computed from its elements."""

CONTRAST = r"""(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data);
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] / 255 + below[i] * (1 - top[3] / 255)).concat(255);
  const ground = (element) => {
    if (!element) return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 255] : [255, 255, 255, 255];
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
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !element.closest("script, style, noscript, template, option, :disabled, .unseen, .hidden");
  const weak = new Set();
  let count = 0;
  const judge = (what, element, colour, below, least, ...others) => {
    count += 1;
    const found = Math.max(...[over(rgba(colour), below), ...others].map((one) => contrast(one, below)));
    if (found < least) weak.add(`${what} ${found.toFixed(2)}: ${(element.textContent || element.value || element.id).trim().slice(0, 40)}`);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !isSeen(element)) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    const drawing = element.closest("svg");
    judge("text", element, drawing ? style.fill : style.color, ground(drawing ?? element), isLarge ? 3 : 4.5);
  }
  // A control is recognised by its border, unless its background suffices.
  for (const element of document.querySelectorAll("input, textarea, select, button, .chip span, .slider")) {
    const style = getComputedStyle(element);
    if (!isSeen(element)) continue;
    if (element.value) judge("value", element, style.color, ground(element), 4.5);
    if (element.placeholder) judge("placeholder", element, getComputedStyle(element, "::placeholder").color, ground(element), 4.5);
    if (parseFloat(style.borderTopWidth) > 0) judge("edge", element, style.borderTopColor, ground(element.parentElement), 3, ground(element));
  }
  return [count, [...weak]];
})()"""

# A control inside a label is activated through the label.
TARGETS = r"""(() => {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
    .filter((element) => element.checkVisibility() && getComputedStyle(element).display !== "inline");
  const small = all.map((element) => [element, (element.matches("label input[type=checkbox], label input[type=radio]") ? element.closest("label") : element).getBoundingClientRect()])
    .filter(([, { width, height }]) => width < 43.9 || height < 43.9)
    .map(([element, { width, height }]) => `${element.id || element.value || element.textContent.trim()} ${Math.round(width)} x ${Math.round(height)}`);
  return [all.length, small];
})()"""


def legible(page):
    """Checks a contrast of at least 4.5 for text (3 for large text) and 3 for borders of controls, in light and dark."""
    for scheme in ["light", "dark"]:
        page.emulate(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        count, weak = page.script(CONTRAST)
        assert count > 0 and not weak, (scheme, weak)
    page.emulate(prefers_color_scheme="light")


def reachable(page):
    """Checks that all controls are 44 pixels wide and high, except links within a sentence."""
    count, small = page.script(TARGETS)
    assert count > 0 and not small, small
