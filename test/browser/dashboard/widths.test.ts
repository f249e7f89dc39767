/** Every view at the widths of phones and screens, in both themes: nothing hinders readers, nothing is cut off. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, colourRules } from '../../support/axe.ts';
import { noChromium } from '../../support/browser.ts';
import { dealt } from '../../support/choice.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { openIn, show, startSite, views } from '../../support/dashboard-views.ts';
import { pick } from '../../support/depth.ts';
import { runSeed } from '../../support/seed.ts';
import { skip } from '../../support/skip.ts';

const widths = [390, 800, 1280, 1920];
/** Half of a screen of 1280 px, as at a zoom of 200 %. */
const zoomedWidth = 640;
/** Address of each view. */
const paths = views.map(([path]) => path);
/** Parts of the views: in a run that is short each part is looked at in one width, in another one with another seed. */
const parts = pick({ quick: 4, ci: 4, full: 1 });

/** Runs in the page: elements that reach over the right edge where nothing can be scrolled. */
const cutOff = `(width) => {
  const scrolls = (element) => {
    for (let at = element; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const all = [...document.querySelectorAll('.shell > * *')].filter((element) => {
    const { width: wide, right } = element.getBoundingClientRect();
    return wide > 1 && right > width + 1 && !element.closest('svg, .u-wrap, .visually-hidden') && !scrolls(element.parentElement);
  });
  return [
    ...(document.documentElement.scrollWidth > width ? ['the page'] : []),
    ...all.map((element) => element.tagName + ' ' + element.textContent.slice(0, 40)),
  ];
}`;

/** Runs in the page: text that its box cuts off, unless the whole text is its title. */
const clipped = `() => {
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const isLeftOut = (element) => {
    for (let at = element; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX) || at.matches('.visually-hidden, option, svg, .u-wrap')) return true;
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

/** Elements in a wrong place, or cut off. */
async function misfits(page: Page, width: number): Promise<readonly string[]> {
  const cut = await page.evaluate<readonly string[]>(`[...(${cutOff})(${width}), ...(${clipped})()]`);
  // a plot takes the width of its box one frame behind it
  const places = await page.evaluate<readonly string[]>(`(async () => {
    for (let frames = 0; frames < 60 && (${misplaced})().length > 0; frames += 1)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return (${misplaced})();
  })()`);
  return [...cut, ...places];
}

describe('dashboard: widths and themes', function () {
  this.timeout(120_000);
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startSite(true);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  /** Walks through views. @param judged those that axe looks at @param rules of axe, default: all */
  async function walk(
    page: Page,
    width: number,
    walked: readonly string[],
    judged: readonly string[],
    rules?: readonly string[],
  ): Promise<Readonly<Record<string, readonly string[]>>> {
    await page.setViewportSize({ width, height: 800 });
    const wrongIn: Record<string, readonly string[]> = {};
    for (const path of walked) {
      await show(page, path);
      const wrong = await misfits(page, width);
      const hindering = judged.includes(path) ? await axeFindings(page, rules) : [];
      if (wrong.length + hindering.length > 0) wrongIn[path] = [...wrong, ...hindering];
    }
    return wrongIn;
  }

  for (const [n, width] of widths.entries()) {
    const part = dealt(paths, parts, runSeed + n);

    it(`nothing is cut off or hinders readers at ${width} px in light`, async () => {
      const { page, seen } = await openIn(dashboard, 'light');
      expect(await walk(page, width, paths, part)).to.deep.equal({});
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
    });

    it(`nothing is cut off or hinders readers at ${width} px in dark`, async () => {
      const { page, seen } = await openIn(dashboard, 'dark');
      expect(await walk(page, width, part, part, colourRules)).to.deep.equal({});
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
    });
  }

  it('nothing is cut off at a zoom of 200 %', async () => {
    const { page, seen } = await openIn(dashboard, 'light');
    expect(await walk(page, zoomedWidth, paths, [])).to.deep.equal({});
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('nothing is cut off, hinders readers or moves in forced colours with reduced motion', async () => {
    const { page, seen } = await openIn(dashboard, 'light');
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    const part = dealt(paths, parts, runSeed);
    expect(await walk(page, 1280, part, part)).to.deep.equal({});
    expect(await page.evaluate('document.getAnimations().length')).to.equal(0);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
