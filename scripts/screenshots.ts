/**
 * Views of the dashboard over the mixed site while things happen, as WebP. Chromium (`CHROMIUM` names one) and
 * `npm run build` come before; with `cwebp` of libwebp (`CWEBP` names it) the files are small enough for the package:
 *
 *   npm run screenshots            docs/images/dashboard-VIEW-light.webp: the views that pages of docs show
 *   npm run screenshots -- FOLDER  FOLDER/dashboard-VIEW-SCHEME.webp: all views, light and dark
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launch } from '../test/support/browser.ts';
import { deviceIndex, startScene } from './screenshots-scene.ts';
import type { Scene } from './screenshots-scene.ts';

const [, , named] = process.argv;
const folder = named ?? fileURLToPath(new URL('../docs/images', import.meta.url));
const schemes = named === undefined ? (['light'] as const) : (['light', 'dark'] as const);

const { pv, battery, charger } = deviceIndex;
const viewsOf = ({ capture }: Scene): Readonly<Record<string, string>> => ({
  overview: 'overview',
  charger: `devices/${charger}/picture`,
  charts: `charts?device=${pv}`,
  'grid-support': `devices/${pv}/grid-support/volt-watt`,
  battery: `devices/${battery}/picture`,
  faults: 'inputs/faults',
  registers: `devices/${pv}/registers?model=706`,
  protocols: 'protocols',
  compare: `compare/all?device=${charger}`,
  capture: `events/captures/${capture}`,
});

/** Views that pages of docs show. */
const inDocs: readonly string[] = ['overview', 'capture'];

/** Runs in the page: a PNG as WebP, both as text in base64. A quality of 1 is without loss. */
const toWebp = `async (png) => {
  const picture = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext('2d').drawImage(picture, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 1 })).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}`;

/** The encoder of libwebp, whose files have a third of the size; undefined: the browser encodes. */
const cwebp = [process.env['CWEBP'], '/usr/bin/cwebp'].find((path) => path !== undefined && existsSync(path));
/** Flat grounds and lines keep their colour; the edges of letters may change a little. */
const cwebpFlags = ['-quiet', '-near_lossless', '0', '-m', '6', '-q', '100', '-o', '-', '--', '-'];

async function webpOf(encoder: Page, png: Buffer): Promise<Buffer> {
  if (cwebp !== undefined) return execFileSync(cwebp, cwebpFlags, { input: png, maxBuffer: 4 * png.length });
  const text = await encoder.evaluate<string>(`(${toWebp})(${JSON.stringify(png.toString('base64'))})`);
  return Buffer.from(text, 'base64');
}

async function shoot(browser: Browser, scene: Scene): Promise<void> {
  const encoder = await browser.newPage();
  for (const colorScheme of schemes) {
    for (const [name, hash] of Object.entries(viewsOf(scene))) {
      if (named === undefined && !inDocs.includes(name)) continue;
      if (name === 'capture' && colorScheme === 'light') await scene.settle();
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
      await page.addInitScript(`localStorage.setItem('site-name', 'Mixed site')`);
      await page.goto(`${scene.origin}/#/${hash}`);
      await page.waitForSelector('[data-test="clock"]');
      await page.waitForLoadState('networkidle');
      const png = await page.screenshot({ animations: 'disabled' });
      await writeFile(join(folder, `dashboard-${name}-${colorScheme}.webp`), await webpOf(encoder, png));
      await page.close();
    }
  }
}

const executable = findChromium();
if (executable === undefined) throw new Error('no Chromium found (set CHROMIUM)');
await mkdir(folder, { recursive: true });
const scene = await startScene();
const browser = await launch(executable);
try {
  await shoot(browser, scene);
} finally {
  await browser.close();
  await scene.stop();
}
