"""What a page looks like, computed from its elements rather than guessed: contrast and the size of targets."""

CONTRAST = r"""(() => {
  const parse = (text) => {
    const parts = text.match(/-?[\d.]+/g).map(Number);
    const [r, g, b, a = 1] = text.startsWith("color(srgb") ? [parts[0] * 255, parts[1] * 255, parts[2] * 255, parts[3]] : parts;
    return { r, g, b, a };
  };
  const over = (top, below) => {
    const mix = (name) => top[name] * top.a + below[name] * (1 - top.a);
    return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 };
  };
  const ground = (element) => {
    const layers = [];
    for (let place = element; place; place = place.parentElement) {
      const colour = parse(getComputedStyle(place).backgroundColor);
      if (colour.a > 0) layers.push(colour);
      if (colour.a === 1) break;
    }
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? { r: 18, g: 18, b: 18, a: 1 } : { r: 255, g: 255, b: 255, a: 1 };
    return layers.reduceRight((below, top) => over(top, below), canvas);
  };
  const luminance = ({ r, g, b }) => {
    const [red, green, blue] = [r, g, b].map((value) => value / 255).map((value) => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4);
    return .2126 * red + .7152 * green + .0722 * blue;
  };
  const ratio = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((first, second) => first - second);
    return (light + .05) / (dark + .05);
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (!texts.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.matches("script, style, noscript, template, :disabled")) continue;
    const own = parse(element instanceof SVGElement ? style.fill : style.color);
    const below = ground(element instanceof SVGElement ? element.closest("svg") : element);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const value = ratio(over(own, below), below);
    if (value < (isLarge ? 3 : 4.5)) found.add(`${value.toFixed(2)}: ${texts.currentNode.data.trim().slice(0, 40)}`);
  }
  // What says that something can be used: the edge of a field or a button, unless its ground does.
  for (const element of document.querySelectorAll("button, input, select, textarea")) {
    const style = getComputedStyle(element);
    if (!element.checkVisibility() || parseFloat(style.borderTopWidth) === 0 || parse(style.borderTopColor).a === 0) continue;
    const around = ground(element.parentElement);
    const value = Math.max(ratio(over(parse(style.borderTopColor), around), around), ratio(ground(element), around));
    if (value < 3) found.add(`${value.toFixed(2)}: edge of ${element.id || element.textContent.trim()}`);
  }
  return [...found];
})()"""

TARGETS = """[...document.querySelectorAll('a, button, input, select, summary')].filter((element) => element.checkVisibility()
  && getComputedStyle(element).display !== 'inline').map((element) => [element, element.getBoundingClientRect()])
  .filter(([, {width, height}]) => width < 43.9 || height < 43.9)
  .map(([element, {width, height}]) => `${element.id || element.textContent.trim()} ${Math.round(width)} x ${Math.round(height)}`)"""


def legible(page):
    """Text has a contrast of 4.5 at least (large text 3), edges of controls 3, in light and dark."""
    for scheme in ["light", "dark"]:
        page.emulate(prefers_color_scheme=scheme)
        poor = page.script(CONTRAST)
        assert not poor, (scheme, poor)
    page.emulate(prefers_color_scheme="light")


def reachable(page):
    """Everything to press is 44 pixels wide and high, except links within a sentence."""
    small = page.script(TARGETS)
    assert not small, small
