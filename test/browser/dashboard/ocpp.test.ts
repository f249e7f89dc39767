import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Central } from '../../ocpp/central/central.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

const id = 'CP-1';

describe('dashboard: charge points of OCPP', () => {
  let dashboard: Dashboard;
  let central: Central;
  let other: Central;

  before(async function skipWithoutBrowser() {
    const wrong = () => undefined;
    [central, other] = await Promise.all([Central.open({ wrong }), Central.open({ wrong })]);
    const flags = ['--ocpp_enable', 'yes', '--ocpp_csms_url', central.url, '--ocpp_csid', id];
    const started = await startDashboard(['EVSE', 'EVSE'], flags);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });
  after(async () => {
    await (dashboard as Dashboard | undefined)?.stop();
    await Promise.all([(central as Central | undefined)?.close(), (other as Central | undefined)?.close()]);
  });

  const press = async (page: Page, name: string): Promise<number> => {
    const sent = page.waitForResponse((response) => response.request().method() !== 'GET');
    // titles of columns are buttons too
    await page
      .locator('button:not(.sort)')
      .and(page.getByRole('button', { name, exact: true }))
      .first()
      .click();
    return (await sent).status();
  };
  const open = async (part: string) => {
    const shown = await dashboard.open(`#/protocols/ocpp/${part}?station=${id}`);
    await shown.page.getByText('accepted').first().waitFor();
    return shown;
  };

  it('shows charge points, sends calls with their answers, and says why one is refused', async () => {
    const { page, seen } = await open('state');
    const { charge_points: all } = await dashboard.get('ocpp');
    for (const each of all) await page.getByRole('button', { name: each.id, exact: true }).waitFor();
    expect(await press(page, 'Heartbeat')).to.equal(200);
    await page.locator('[data-test="answer"]').filter({ hasText: 'currentTime' }).waitFor();
    expect((await dashboard.get(`ocpp/${id}`)).last_heartbeat_at).to.be.a('string');
    expect(await press(page, 'Boot')).to.equal(200);
    await page.locator('[data-test="answer"]').filter({ hasText: 'Accepted' }).waitFor();
    expect(await press(page, 'Send')).to.equal(200);
    await page.getByText('DataTransfer', { exact: false }).first().waitFor();
    expect((await dashboard.get(`ocpp/${id}/messages?action=DataTransfer`)).messages).to.have.length(2);
    expect(seen.complaints).to.deep.equal([]);
    await page.getByLabel('Payload (JSON)').fill('{"vendor": 1}');
    expect(await press(page, 'Send')).to.be.within(400, 499);
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('Payload (JSON)').fill('[');
    await page.getByText('The payload must be a JSON object.').waitFor();
    await page.close();
  });

  it('pairs calls with their answers, filters them, and keeps charge point and message over a reload', async () => {
    const { page, seen } = await open('messages');
    await page.getByLabel('Action', { exact: true }).selectOption('BootNotification');
    const row = page
      .locator('table[aria-label="OCPP messages"] tbody tr')
      .filter({ hasText: 'BootNotification' })
      .last();
    await row.click();
    await page.getByLabel('Payload of the call').getByText('chargePointVendor').waitFor();
    await page.getByLabel('Payload of the answer').getByText('Accepted').waitFor();
    await page.reload();
    await page.getByLabel('Payload of the answer').getByText('Accepted').waitFor();
    expect(new URL(page.url()).hash).to.contain(`station=${id}`);
    await page.getByLabel('Direction', { exact: true }).selectOption('in');
    await page.getByText('No message yet').waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('reads on from the last message, searches, pauses and clears the trace', async () => {
    const { page, seen } = await open('messages');
    const rows = page.locator('table[aria-label="OCPP messages"] tbody tr');
    await rows.first().waitFor();
    expect(await page.getByRole('button', { name: 'Follow', pressed: true }).count()).to.equal(1);
    const asked = page.waitForRequest((request) => /messages\?limit=1000&after_id=\d+$/.test(request.url()));
    await asked;
    const messages = async () => (await dashboard.get(`ocpp/${id}/messages?limit=1000`)).messages;
    const calls = async () => (await messages()).filter(({ type }: { type: string }) => type === 'call').length;
    await rows.nth((await calls()) - 1).waitFor();
    await page.getByLabel('Find in OCPP messages').fill('chargePointVendor');
    const boots = (await messages()).filter(
      ({ payload }: { payload: object }) => 'chargePointVendor' in payload,
    ).length;
    await rows.nth(boots).waitFor({ state: 'detached' });
    expect(await rows.count()).to.equal(boots);
    expect(await rows.first().innerText()).to.contain('BootNotification');
    await page.reload();
    await rows.first().waitFor();
    expect(await rows.count()).to.equal(boots);
    // the search of another part is another one
    await page.getByRole('link', { name: 'Configuration', exact: true }).click();
    expect(await page.getByLabel('Find in the configuration').inputValue()).to.equal('');
    await page.getByRole('link', { name: 'Messages', exact: true }).click();
    await page.getByLabel('Find in OCPP messages').fill('heartbeat');
    await page.getByText('No message yet').or(rows.first()).first().waitFor();
    await page.getByRole('button', { name: 'Pause list' }).click();
    await dashboard.post(`ocpp/${id}/heartbeat`);
    const before = await rows.count();
    await page.getByRole('button', { name: 'Pause list' }).click();
    await rows.nth(before).waitFor();
    await page.getByRole('button', { name: 'Clear list' }).click();
    await page.getByText('No message yet').waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('changes the configuration, and shows why a value is refused', async () => {
    const { page, seen } = await open('configuration');
    await page.getByLabel('Find in the configuration').fill('heartbeatinter');
    await page.getByRole('button', { name: 'HeartbeatInterval', exact: true }).click();
    await page.getByLabel('Value').fill('77');
    expect(await press(page, 'Change')).to.equal(200);
    const { keys } = await dashboard.get(`ocpp/${id}/configuration?key=HeartbeatInterval`);
    expect(keys[0].value).to.equal('77');
    // with the new value the form begins anew
    await page.getByRole('cell', { name: '77', exact: true }).waitFor();
    expect(seen.complaints).to.deep.equal([]);
    await page.getByLabel('Value').fill('many');
    expect(await press(page, 'Change')).to.be.within(400, 499);
    await page.getByRole('alert').first().waitFor();
    await page.close();
  });

  it('draws the composite schedule of charging profiles', async () => {
    const profile = {
      chargingProfileId: 5,
      stackLevel: 0,
      chargingProfilePurpose: 'ChargePointMaxProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule: {
        chargingRateUnit: 'W',
        chargingSchedulePeriod: [
          { startPeriod: 0, limit: 7000 },
          { startPeriod: 600, limit: 4000 },
        ],
      },
    };
    const answer = await central.station(id).call('SetChargingProfile', {
      connectorId: 0,
      csChargingProfiles: {
        ...profile,
        chargingProfileKind: 'Recurring',
        recurrencyKind: 'Daily',
        chargingSchedule: { ...profile.chargingSchedule, startSchedule: '2020-01-01T00:00:00Z' },
      },
    });
    expect(answer).to.deep.include({ kind: 'result', payload: { status: 'Accepted' } });
    const { page, seen } = await open('schedules');
    await page.getByRole('cell', { name: 'ChargePointMaxProfile', exact: true }).waitFor();
    await page.getByRole('table', { name: 'Periods' }).waitFor();
    const { periods } = await dashboard.get(`ocpp/${id}/composite-schedule?connector=1&duration_s=3600&unit=W`);
    const shown = await page.getByRole('table', { name: 'Periods' }).locator('tbody tr').count();
    expect(shown).to.equal(periods.length);
    expect(await page.locator('.plot svg').count()).to.equal(1);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });

  it('shows and forgets findings, lists, and connects to another central system', async () => {
    const { page, seen } = await open('findings');
    expect(await press(page, 'Forget findings')).to.equal(200);
    await page.getByText('has not violated the specification').waitFor();
    await page.getByRole('link', { name: 'Transactions and lists', exact: true }).click();
    await page.getByText('The local list is empty').waitFor();
    await page.getByRole('navigation', { name: 'Parts of OCPP' }).getByText('State').click();
    expect(await press(page, 'Disconnect')).to.equal(202);
    await page.getByRole('table', { name: 'Charge points' }).getByText('disconnected').waitFor();
    await page.getByLabel('Central system').fill(other.url);
    await page
      .locator('form')
      .filter({ hasText: 'Security profile' })
      .getByRole('button', { name: 'Connect', exact: true })
      .click();
    await page.getByRole('table', { name: 'Charge points' }).getByText(other.url).waitFor();
    expect((await dashboard.get(`ocpp/${id}`)).url).to.equal(other.url);
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
  });
});
