/** Every view at the widths of phones and screens, in both themes: nothing hinders readers, nothing is cut off. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, colourRules } from '../../support/axe.ts';
import { noChromium } from '../../support/browser.ts';
import { dealt } from '../../support/choice.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { openIn, show, startSite, views } from '../../support/dashboard-views.ts';
import { misfits } from '../../support/dashboard-fit.ts';
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
