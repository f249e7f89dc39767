import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { noChromium } from '../../support/browser.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard } from '../../support/dashboard.ts';
import { skip } from '../../support/skip.ts';

describe('dashboard: settings', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard();
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });
  after(() => (dashboard as Dashboard | undefined)?.stop());

  const valueOf = async (key: string) =>
    (await dashboard.get('settings')).settings.find((each: Answer) => each.key === key).value;

  it('changes settings of several groups in one request, and saves the lab as a file', async () => {
    const { page, seen } = await dashboard.open('#/settings?settings-group=Modbus+TCP');
    await page.locator('[name="mb_idle_timeout_s"]').fill('60');
    await page.getByRole('searchbox', { name: 'Find settings' }).fill('log_level');
    await page.locator('[name="log_level"]').selectOption('debug');
    const requests: string[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && requests.push(request.postData() ?? ''));
    await page.getByRole('button', { name: 'Change 2 settings' }).click();
    await page.getByRole('status').getByText('Changed mb_idle_timeout_s, log_level.').waitFor();
    expect(requests).to.deep.equal(['{"mb_idle_timeout_s":60,"log_level":"debug"}']);
    expect([await valueOf('mb_idle_timeout_s'), await valueOf('log_level')]).to.deep.equal([60, 'debug']);
    await page.getByRole('button', { name: 'Lab as a file' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download lab.yaml' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).to.equal('lab.yaml');
    expect(await readFile(await file.path(), 'utf8')).to.include('mb_idle_timeout_s: 60');
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows an issue at its field and a conflict above the form, and changes nothing', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { page } = await dashboard.open('#/settings?settings-find=mb_');
    const field = page.locator('[name="mb_port"]');
    await field.fill('70000');
    await page.getByRole('button', { name: 'Change 1 setting' }).click();
    await page.locator('.setting', { has: field }).locator('.issue').waitFor();
    await field.fill(String(port));
    await page.getByRole('button', { name: 'Change 1 setting' }).click();
    await page.getByRole('alert').getByText(`${port}`).waitFor();
    expect(await valueOf('mb_port')).to.equal(0);
    taken.close();
    await page.close();
  });

  it('switches a protocol on with its settings, and off after a question', async () => {
    const { page, seen } = await dashboard.open('#/protocols/dnp3');
    await page.locator('[name="dnp3_port"]').fill('0');
    await page.locator('[name="dnp3_remote_addr"]').fill('3, 4');
    await page.getByRole('button', { name: 'Switch on DNP3' }).click();
    await page.getByText('listening', { exact: true }).waitFor();
    expect(await valueOf('dnp3_remote_addr')).to.deep.equal([3, 4]);
    const questions: string[] = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      void dialog.accept();
    });
    await page.getByRole('button', { name: 'Switch off DNP3' }).click();
    await page.getByRole('button', { name: 'Switch on DNP3' }).waitFor();
    expect(questions).to.have.length(1);
    expect((await dashboard.get('dnp3')).enabled).to.equal(false);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
