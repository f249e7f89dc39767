/** The site that `npm run docs:build` has made. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import express from 'express';
import type { Browser } from 'playwright-core';
import { listen } from '../../src/core/net/listen.ts';
import { findChromium, launch, noChromium, watch } from '../support/browser.ts';
import { closed } from '../support/ports.ts';
import { skip } from '../support/skip.ts';

const folder = fileURLToPath(new URL('../../site/dist', import.meta.url));

describe('site in a browser', () => {
  let browser: Browser;
  let server: Server;
  let origin: string;

  before(async function skipWithoutSite() {
    const executable = findChromium();
    if (executable === undefined) skip(this, noChromium);
    if (!existsSync(`${folder}/llms.txt`)) skip(this, 'the site is not built (npm run docs:build)');
    browser = await launch(executable);
    server = createServer(express().use(express.static(folder, { extensions: ['html'] })));
    await listen(server, '127.0.0.1', 0);
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });

  after(async () => {
    // a skipped suite has started neither
    await (browser as Browser | undefined)?.close();
    if ((server as Server | undefined) !== undefined) await closed(server);
  });

  it('search finds a point in the page that explains it, and nothing is asked of another host', async () => {
    const page = await browser.newPage();
    const seen = watch(page, origin);
    await page.goto(`${origin}/glossary`);
    await page.click('.VPNavBarSearchButton, .DocSearch-Button');
    await page.fill('.search-bar input, .search-input', 'WMaxLimPct');
    const results = page.locator('.results .result');
    await results.first().waitFor();
    const titles = await results.allInnerTexts();
    expect(titles.join('\n')).to.match(/Grid support|Modbus/);
    await results.first().click();
    await page.waitForURL((url) => url.pathname !== '/glossary');
    // the address changes before the page of it is drawn
    await page.locator('main', { hasText: 'WMaxLimPct' }).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('a page has the sidebar of the table, and its Markdown beside it', async () => {
    const page = await browser.newPage();
    const seen = watch(page, origin);
    await page.goto(`${origin}/protocols/modbus`);
    expect(await page.locator('.VPSidebar').innerText()).to.include('Grid support');
    const markdown = await page.request.get(`${origin}/protocols/modbus.md`);
    expect(await markdown.text()).to.match(/^# /);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
