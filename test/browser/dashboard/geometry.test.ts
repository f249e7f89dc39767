/** Type, sizes, columns and colours of the page are those of its design (`look.ts`). */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { noChromium } from '../../support/browser.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { openIn, show } from '../../support/dashboard-views.ts';
import { startApp } from '../../support/running-app.ts';
import { skip } from '../../support/skip.ts';
import { contrasts, fills, leastOnSoft, looks, mapLooks, schemes, softGrounds, tokens, widths } from './look.ts';
import type { Looks } from './look.ts';

/** Runs in the page: values of the first element in sight that a selector finds; null: there is none. */
const valuesOf = `(looks) => {
  const valueOf = (element, pseudo, name) => {
    const style = getComputedStyle(element, pseudo);
    if (name === 'columns') return style.gridTemplateColumns.split(' ').length;
    if (pseudo === undefined && (name === 'width' || name === 'height'))
      return Math.round(element.getBoundingClientRect()[name]);
    const value = style.getPropertyValue(name);
    return /^[0-9.]+px$/.test(value) ? parseFloat(value) : value;
  };
  return Object.fromEntries(Object.entries(looks).map(([selector, names]) => {
    const [base, pseudo] = selector.split('::');
    const element = [...document.querySelectorAll(base)].find((each) => each.getClientRects().length > 0);
    if (element === undefined) return [selector, null];
    return [selector, Object.fromEntries(names.map((name) => [name, valueOf(element, pseudo && '::' + pseudo, name)]))];
  }));
}`;

async function expectLooks(page: Page, expected: Looks): Promise<void> {
  const names = Object.fromEntries(Object.entries(expected).map(([selector, look]) => [selector, Object.keys(look)]));
  expect(await page.evaluate(`(${valuesOf})(${JSON.stringify(names)})`)).to.deep.equal(expected);
}

type Colour = readonly [red: number, green: number, blue: number];

const colourOf = (text: string): Colour => {
  const [red = NaN, green = NaN, blue = NaN] = text.startsWith('#')
    ? [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16))
    : [...text.matchAll(/[0-9.]+/g)].map(([value]) => Number(value));
  return [red, green, blue];
};

/** Relative luminance (WCAG 2.2). */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Colour, other: Colour): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** The colours that the page gives to tokens. */
async function coloursIn(page: Page, names: readonly string[]): Promise<Readonly<Record<string, Colour>>> {
  const texts = await page.evaluate<readonly string[]>(`(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    const colours = ${JSON.stringify(names)}.map((name) => {
      probe.style.color = 'var(--' + name + ')';
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return colours;
  })()`);
  return Object.fromEntries(names.map((name, at) => [name, colourOf(texts[at] ?? '')]));
}

describe('dashboard: geometry', function () {
  this.timeout(60_000);
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard([
      ...['EVSE', 'PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'HybridDC-3Phase', 'Fuelcell-3Phase'],
    ]);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.post('evse/SIM-CP-1/connectors/1/plug', { ev: { id: 'EV-7', soc_pct: 40, max_charge_kw: 11 } });
    await dashboard.post('evse/SIM-CP-1/connectors/1/limit', { power_kw: 6 });
    await dashboard.post('controls/battery?device=2', { mode: 'charge', power_kw: 5 });
    await dashboard.step(30);
    await dashboard.post('controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.42, duration_s: 1.2 } });
    await dashboard.step(40);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  for (const [path, expected] of looks)
    it(`of ${path} is that of the design`, async () => {
      const { page, seen } = await dashboard.open();
      await page.setViewportSize({ width: 1280, height: 800 });
      await show(page, path);
      await expectLooks(page, expected);
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
    });

  it('of the overview at other widths is that of the design', async () => {
    const { page } = await dashboard.open();
    for (const [width, expected] of Object.entries(widths)) {
      await page.setViewportSize({ width: Number(width), height: 800 });
      await show(page, 'overview');
      await expectLooks(page, expected);
    }
    await page.close();
  });

  it('of the map of many devices is that of the design', async () => {
    const { app, port } = await startApp(Array.from({ length: 31 }, () => 'PV-3Phase'));
    const page = await dashboard.browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`http://127.0.0.1:${port}/#/overview`);
    await page.locator('.cells > .cell').first().waitFor();
    await expectLooks(page, mapLooks);
    await page.close();
    await app.stop();
  });

  for (const [at, scheme] of schemes.entries())
    it(`colours in ${scheme} are those of the design, with its contrasts`, async () => {
      const { page } = await openIn(dashboard, scheme);
      const colours = await coloursIn(page, Object.keys(tokens));
      const designed = Object.entries(tokens).map(([name, ofSchemes]) => [name, colourOf(ofSchemes[at] ?? '')]);
      expect(colours).to.deep.equal(Object.fromEntries(designed));

      const on = (name: string, ground: string) => contrast(colours[name] as Colour, colours[ground] as Colour);
      for (const [name, ofSchemes] of Object.entries(contrasts))
        expect(on(name, 'surface'), name).to.be.closeTo(ofSchemes[at] ?? NaN, 0.051);
      for (const [name, ground] of softGrounds) expect(on(name, ground), name).to.be.at.least(leastOnSoft);

      const properties = Object.entries(fills).map(([selector, [property]]) => [selector, [property]]);
      const shown = await page.evaluate<Readonly<Record<string, Readonly<Record<string, string>> | null>>>(
        `(${valuesOf})(${JSON.stringify(Object.fromEntries(properties))})`,
      );
      for (const [selector, [property, token]] of Object.entries(fills))
        expect(colourOf(shown[selector]?.[property] ?? ''), selector).to.deep.equal(colours[token]);
      await page.close();
    });
});
