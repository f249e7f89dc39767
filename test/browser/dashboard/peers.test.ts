import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { noChromium } from '../../support/browser.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { judgePeer, judgedPeerId } from '../../support/judged-peer.ts';
import { RawClient, readRequest } from '../../support/modbus-client.ts';
import { modbusEndpoint } from '../../support/running-app.ts';
import { skip } from '../../support/skip.ts';

/** A part of the report, whose title ends with a count. */
const part = (page: Page, title: string | RegExp): Locator =>
  page.locator('section.panel').filter({ has: page.getByRole('heading', { level: 2, name: title }) });

describe('dashboard: peers', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard();
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });
  after(() => (dashboard as Dashboard | undefined)?.stop());

  /** Id of a request in the wire log. */
  const recordedRequest = async (): Promise<number> => {
    await dashboard.post('modbus/messages', { enabled: true });
    const master = await RawClient.open(modbusEndpoint(dashboard.app, 0).port);
    await master.request(readRequest(1, 40000, 2));
    master.destroy();
    const { messages } = await dashboard.get('modbus/messages');
    return messages[0].id;
  };

  it('leads from the list to the report and to the message; waives, deletes the waiver, names and clears', async () => {
    const { page, seen } = await dashboard.open('#/compare/report-cards');
    await page.getByText('No peer has sent a valid request yet').waitFor();
    const id = await recordedRequest();
    judgePeer(dashboard.app.findings, { channel: 'modbus', id });
    await page.getByRole('link', { name: '127.0.0.2', exact: true }).click();
    await page.waitForURL((url) => url.hash === `#/compare/report-cards/${judgedPeerId}`);
    await page.getByText(/^3 of \d+ checks came up\.$/).waitFor();
    expect(await part(page, 'Broken (2)').locator('h3').allInnerTexts()).to.deep.equal([
      'Writes end inside a point',
      'Polls are fast',
    ]);
    await part(page, /^Not exercised/)
      .getByRole('link', { name: 'modbus delay' })
      .waitFor();
    await part(page, /^Not observable/)
      .getByText('the connection has no TLS')
      .first()
      .waitFor();
    await part(page, 'Held (1)').getByText('Frames are whole').waitFor();

    const [document] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'page (new tab)' }).click(),
    ]);
    await document.getByText('Writes end inside a point').first().waitFor();
    await document.close();

    const violation = page.locator('[data-test="modbus.t_write"]');
    await violation.getByText('Evidence (1)').press('Enter');
    await violation.getByRole('link', { name: String(id), exact: true }).click();
    await page.getByRole('heading', { name: `Message ${id}` }).waitFor();
    await page.goBack();

    await violation.getByText('Waive', { exact: false }).first().press('Enter');
    await violation.getByLabel('Reason (required)').fill('known, fixed in the next release');
    await violation.getByRole('button', { name: 'Waive', exact: true }).click();
    const waived = part(page, 'Waived (1)');
    await waived.getByText('Accepted: known, fixed in the next release').waitFor();
    await part(page, 'Broken (1)').waitFor();
    await page.locator('main .title').nth(1).getByText('risks').waitFor();
    await waived.getByRole('button', { name: 'Delete waiver 1' }).click();
    const badge = page.getByRole('link', { name: /Compare\s+1 violation/ });
    await badge.waitFor();

    await page.locator('[name="name"]').fill('Head-end A');
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await page.getByRole('heading', { level: 2, name: 'Head-end A' }).waitFor();

    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByText('No rule was broken so far.').waitFor();
    await badge.waitFor({ state: 'detached' });
    expect((await dashboard.get('findings')).findings).to.deep.equal([]);
    expect(await page.locator('main b').count()).to.equal(0);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
