/** The map of more devices than a page has buttons for: what stands at a place is what the API says of its device. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { noChromium } from '../../support/browser.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard } from '../../support/dashboard.ts';
import { openIn } from '../../support/dashboard-views.ts';
import { skip } from '../../support/skip.ts';

const roofs = 280;
const stores = 30;
/** Cell and gap of a map above 300 devices, px. */
const [cellPx, gapPx] = [18, 3];
const trippedIndex = 137;

/** A cell by the canvas of its group, and the middle of it in px of the canvas. */
interface Spot {
  readonly canvas: Locator;
  readonly position: { readonly x: number; readonly y: number };
}

describe('dashboard: map of 310 devices', function () {
  this.timeout(60_000);
  let dashboard: Dashboard;
  let page: Page;
  let devices: Answer[];

  before(async function skipWithoutBrowser() {
    // every second kind, so that a group has other indexes than its cells
    const types = Array.from({ length: roofs + stores }, (_none, at) =>
      at % 10 === 9 && at < stores * 10 ? 'Batt-1Phase' : 'PV-1Phase',
    );
    const started = await startDashboard(types, ['--mb_enable', 'no']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    await dashboard.post(`controls/grid?device=${trippedIndex}`, { voltage_pu: 0.3 });
    await dashboard.step(4);
    ({ devices } = await dashboard.get('overview'));
    ({ page } = await openIn(dashboard, 'light', '#/devices'));
    await page.locator('.heat-map canvas').nth(1).waitFor();
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  const ofKind = (kind: string) => devices.filter(({ asset_type }) => asset_type === kind);

  /** The place of a device, computed from the order of the API and the width of the canvas. */
  async function spotOf(index: number): Promise<Spot> {
    const kind = devices[index].asset_type;
    const canvas = page.locator('.heat-map canvas').nth(kind === 'pv' ? 0 : 1);
    const widthPx = (await canvas.boundingBox())?.width ?? 0;
    const columns = Math.floor((widthPx + gapPx) / (cellPx + gapPx));
    const at = ofKind(kind).findIndex(({ device_index }) => device_index === index);
    const middle = (cell: number) => cell * (cellPx + gapPx) + cellPx / 2;
    return { canvas, position: { x: middle(at % columns), y: middle(Math.floor(at / columns)) } };
  }

  /** The colours of places of the first canvas. */
  const coloursAt = (places: readonly (readonly [left: number, top: number])[]) =>
    page.evaluate<readonly string[]>(`${JSON.stringify(places)}.map((place) => {
      const pen = document.querySelector('.heat-map canvas').getContext('2d');
      const [left, top] = place.map((px) => Math.round(px * devicePixelRatio));
      return pen.getImageData(left, top, 1, 1).data.join(' ');
    })`);

  it('says of a place what the API says of its device, and opens that device', async () => {
    const samples = [0, 9, 10, trippedIndex, 199, 299, roofs + stores - 1];
    for (const index of samples) {
      const { canvas, position } = await spotOf(index);
      await canvas.hover({ position });
      const { name, kind_state: state, power_kw: powerKw } = devices[index];
      const text = (await page.getByRole('tooltip').innerText()).replaceAll('\u00a0', ' ');
      expect(text)
        .to.contain(`${index} ${name}`)
        .and.to.contain(`${Math.abs(powerKw).toFixed(2)} kW`);
      expect(text).to.contain(state);
    }
    const { canvas, position } = await spotOf(199);
    await canvas.click({ position });
    expect(new URL(page.url()).hash).to.equal('#/devices/199/picture');
    await page.goBack();
    await page.locator('.heat-map canvas').nth(1).waitFor();
  });

  it('draws the tripped device alone in its frame, also in forced colours', async () => {
    const solar = ofKind('pv').map(({ device_index: index }): number => index);
    /** Solar devices whose left edge has the colour of that of the tripped one. */
    const framed = async () => {
      const spots = await Promise.all(solar.map(spotOf));
      const colours = await coloursAt(spots.map(({ position: { x, y } }) => [x - cellPx / 2 + 1, y] as const));
      return solar.filter((_index, at) => colours[at] === colours[solar.indexOf(trippedIndex)]);
    };
    expect(devices.filter(({ kind_state: state }) => state === 'tripped')).to.have.lengthOf(1);
    expect(await framed()).to.deep.equal([trippedIndex]);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.reload();
    await page.locator('.heat-map canvas').nth(1).waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await framed()).to.deep.equal([trippedIndex]);
    await page.emulateMedia({ forcedColors: 'none' });
  });

  it('is reached by Tab, walked by keys in sight of a phone, and hinders no reader', async () => {
    await page.setViewportSize({ width: 390, height: 480 });
    const map = page.getByRole('application', { name: 'Map of devices' });
    const spoken = map.getByRole('status');
    await page.getByRole('button', { name: 'Table' }).focus();
    await page.keyboard.press('Tab');
    await spoken.filter({ hasText: '0 ' }).waitFor();
    await page.keyboard.press('End');
    const last = ofKind('pv').at(-1);
    await spoken.filter({ hasText: `${last.device_index} ${last.name}` }).waitFor();
    const { y, height } = (await page.locator('.chosen-cell').boundingBox()) ?? { y: -1, height: 0 };
    const hits = await page.evaluate<boolean>(
      `document.elementFromPoint(innerWidth / 2, ${y + height / 2})?.closest('.heat-map') !== null`,
    );
    expect([y > 52, y + height < 480, hits]).to.deep.equal([true, true, true]);
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).to.equal(`#/devices/${last.device_index}/picture`);
  });
});
