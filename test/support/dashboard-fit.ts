/** Parts of a view of the dashboard that do not fit, and controls that are too small for a finger. */
import type { Page } from 'playwright-core';

/** Runs in the page: elements that reach over the right edge where nothing can be scrolled, as coloured text with its field can. */
const cutOff = `(width) => {
  const scrolls = (element) => {
    for (let at = element; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const all = [...document.querySelectorAll('.shell > * *')].filter((element) => {
    const { width: wide, right } = element.getBoundingClientRect();
    const isLeftOut = element.closest('svg, .u-wrap, .visually-hidden, .code-text') !== null;
    return wide > 1 && right > width + 1 && !isLeftOut && !scrolls(element.parentElement);
  });
  return [
    ...(document.documentElement.scrollWidth > width ? ['the page'] : []),
    ...all.map((element) => element.tagName + ' ' + element.textContent.slice(0, 40)),
  ];
}`;

/** Runs in the page: text that its box cuts off, unless the whole text is its title. */
const clipped = `() => {
  const passed = '.visually-hidden, option, svg, .u-wrap, .code-text';
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const isLeftOut = (element) => {
    for (let at = element; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX) || at.matches(passed)) return true;
    return element.closest('[title]') !== null;
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1)
    .filter((element) => hasText(element) && !isLeftOut(element))
    .map((element) => 'text ' + element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 60));
}`;

/** Runs in the page: chosen tabs out of sight, plots whose text is scaled, heads below the button of the CSV. */
const misplaced = `() => {
  const box = (element) => element.getBoundingClientRect();
  const isHidden = (tab) => box(tab).left < box(tab.parentElement).left - 1 || box(tab).right > box(tab.parentElement).right + 1;
  const isScaled = (svg) => Math.abs(box(svg).width - svg.viewBox.baseVal.width) > 2;
  const isCovered = (button) => {
    const head = button.previousElementSibling;
    return head !== null && box(head).right > box(button).left + 1;
  };
  const named = (what, selector, is) =>
    [...document.querySelectorAll(selector)].filter(is).map((each) => what + ' ' + (each.ariaLabel ?? each.textContent));
  return [
    ...named('tab', '.tabs [aria-current]', isHidden),
    ...named('plot', '.plot svg', isScaled),
    ...named('head', 'th > .csv', isCovered),
  ];
}`;

/** Elements in a wrong place, or cut off. @param width of the page, px */
export function misfits(page: Page, width: number): Promise<readonly string[]> {
  const all = `[...(${cutOff})(${width}), ...(${clipped})(), ...(${misplaced})()]`;
  // a plot and a canvas take the width of their box a frame behind it
  return page.evaluate<readonly string[]>(`(async () => {
    for (let frames = 0; frames < 60 && ${all}.length > 0; frames += 1)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return ${all};
  })()`);
}

/** Least size of a link, box or cell. */
const linkPx = 24;
/** Least size of a control. */
const controlPx = 44;

/**
 * Runs in the page: controls in sight that a finger does not hit, with their size. Links in a sentence are as high as its
 * lines. A label belongs to its field, and a layer of the control without a look of its own makes it larger.
 */
const smallTargets = `(leastPx, mainPx) => {
  const isInSentence = (element) =>
    getComputedStyle(element).display === 'inline' &&
    [...element.parentElement.childNodes].some((node) => node !== element && node.textContent.trim() !== '');
  const sizeOf = (element) => {
    const boxes = [element, ...(element.labels ?? [])].map((each) => each.getBoundingClientRect());
    const layers = ['::before', '::after'].map((layer) => getComputedStyle(element, layer))
      .filter(({ content, position }) => content !== 'none' && position === 'absolute');
    const most = (side) => Math.max(...boxes.map((box) => box[side]), ...layers.map((style) => parseFloat(style[side]) || 0));
    return [most('width'), most('height')];
  };
  const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, tr[tabindex]')];
  return all
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('.visually-hidden, .skip'))
    .filter((element) => !element.matches('a') || !isInSentence(element))
    .flatMap((element) => {
      const [width, height] = sizeOf(element);
      const isMain = !element.matches('a:not(.button, .tabs > a, .side > a), .cell, .strip > button, [type=checkbox], [type=radio]');
      const fits = width + 0.5 >= leastPx && height + 0.5 >= (isMain ? mainPx : leastPx);
      const name = element.ariaLabel || element.textContent.trim().slice(0, 40) || element.name || element.type;
      return fits ? [] : [element.tagName + '.' + element.className + ' ' + name + ': ' + Math.round(width) + ' x ' + Math.round(height)];
    });
}`;

/** Controls of the view that are smaller than a finger needs. */
export const touchMisfits = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`(${smallTargets})(${linkPx}, ${controlPx})`);
