import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { startDashboard } from '../../support/dashboard.ts';
import type { Answer, Dashboard, Shown } from '../../support/dashboard.ts';
import { noChromium } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';

interface Nested {
  readonly modules: readonly { readonly cells: readonly unknown[] }[];
}

const types = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase'];

describe('dashboard: a page for each kind of device', () => {
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(types);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    // a station that waits for a token, and a bidirectional one
    await dashboard.post('devices', { device_type: 'EVSE', profile: { evse: { auto_authorize: false } } });
    await dashboard.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-V2G-DC-50kW-bidir' });
    await dashboard.step(3);
  });

  after(() => (dashboard as Dashboard | undefined)?.stop());

  /** A number as the page shows it. */
  const shown = (value: number, decimals: number, unit: string): string =>
    `${value
      .toFixed(decimals)
      .replace(/^-(?=0\.?0*$)/, '')
      .replace('-', '−')}\u00a0${unit}`;

  const waitFor = (page: Page, name: string, text: string): Promise<void> =>
    page.locator(`[data-test="${name}"]`).filter({ hasText: text }).waitFor();

  const press = async (where: Page | Locator, name: string): Promise<void> =>
    where.getByRole('button', { name, exact: true }).click();

  /** The details with this summary, opened. */
  const operation = async (page: Page, summary: string): Promise<Locator> => {
    const box = page.locator('details', { has: page.locator('summary', { hasText: new RegExp(`^${summary}$`) }) });
    await box.evaluate((element) => {
      element.setAttribute('open', '');
    });
    return box;
  };

  /** Presses, and waits for the call that this makes. @returns status of the answer */
  const act = async (page: Page, where: Page | Locator, name: string): Promise<number> => {
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      press(where, name),
    ]);
    return answer.status();
  };

  const check = async ({ page, seen }: Shown): Promise<void> => {
    const unnamed = await page.$$eval(
      'main button, main input, main select',
      (elements) =>
        elements.filter(
          (element) =>
            (element.textContent ?? '').trim() === '' &&
            !element.closest('label') &&
            !element.getAttribute('aria-label'),
        ).length,
    );
    expect(unnamed).to.equal(0);
    // refusals that the test provokes stand in the console too, and a reload aborts what is under way
    expect(seen.complaints.filter((text) => !/4(09|22)|ERR_ABORTED/.test(text))).to.deep.equal([]);
    await page.close();
  };

  it('PV: shows the curve with its operating point, ratings, and keeps the device over a reload', async () => {
    const open = await dashboard.open('#/devices/0/picture');
    const { page } = open;
    const { operating_point: now } = await dashboard.get('dc-iv?device=0');
    await waitFor(page, 'operating-point-0', `${shown(now.v, 1, 'V')}, ${shown(now.i, 1, 'A')}`);
    await press(page, 'Device menu');
    expect(await act(page, page, 'Stop device')).to.be.oneOf([200, 201, 202]);
    await dashboard.step(2);
    const { kind_state: state } = (await dashboard.get('overview')).devices[0];
    expect(state).not.to.equal('producing');
    await waitFor(page, 'device-state', state);
    await page.getByRole('link', { name: 'Details', exact: true }).click();
    const { ratings } = await dashboard.get('nameplate?device=0');
    await page
      .getByRole('cell', { name: (ratings.w_max_w / 1000).toFixed(2), exact: true })
      .first()
      .waitFor();
    await page.goto(`${dashboard.origin}/#/devices/2/picture`);
    await page.reload();
    await page
      .getByRole('heading', { level: 1, name: (await dashboard.get('devices?device=2')).devices[0].name })
      .waitFor();
    await waitFor(page, 'wind-source', 'from data');
    await check(open);
  });

  /** Types into the number of a control, and waits for the call that Enter makes. @returns status of the answer */
  const set = async (page: Page, name: string, text: string): Promise<number> => {
    const field = page.getByRole('group', { name, exact: true }).locator('input[inputmode="decimal"]');
    await field.fill(text);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      field.press('Enter'),
    ]);
    return answer.status();
  };

  it('battery: forces charging, opens a string, sets the charge, and shows its cells', async () => {
    const open = await dashboard.open('#/devices/1/picture');
    const { page } = open;
    expect(await act(page, page, 'Charge')).to.equal(200);
    await page.getByRole('button', { name: 'Charge', pressed: true }).waitFor();
    expect(await set(page, 'Power at the DC side', '2')).to.equal(200);
    await dashboard.step();
    const bank = await dashboard.get('controls/battery?device=1');
    expect(bank.power_kw).to.be.closeTo(-2, 0.01);
    await waitFor(page, 'battery-power', shown(-bank.power_kw, 2, 'kW'));
    await waitFor(page, 'forced-mode', 'set by dashboard');
    expect(await act(page, page, 'Open string 0')).to.equal(200);
    await dashboard.step();
    expect((await dashboard.get('battery?device=1&detail=strings')).strings[0].contactor).to.equal('open');
    expect(await set(page, 'State of charge', '70')).to.equal(200);
    expect((await dashboard.get('battery?device=1&detail=bank')).soc_pct).to.equal(70);
    await press(page, 'Undo');
    await page.getByRole('link', { name: 'Cells', exact: true }).click();
    await waitFor(page, 'contactor-0', 'open');
    const { strings } = await dashboard.get('battery?device=1');
    const count = strings.flatMap(({ modules }: Nested) => modules.flatMap(({ cells }) => cells)).length;
    await waitFor(page, 'cell-summary', `${count} cells`);
    expect(await page.locator('.heat [role=img] rect').count()).to.equal(count);
    expect((await dashboard.get('battery?device=1&detail=bank')).soc_pct).not.to.equal(70);
    await press(page, 'Temperature');
    await page.reload();
    await page.getByRole('button', { name: 'Temperature', pressed: true }).waitFor();
    await check(open);
  });

  it('wind: puts a steady wind in place of the data and ends it', async () => {
    const open = await dashboard.open('#/devices/2/picture');
    const { page } = open;
    expect(await set(page, 'Wind', '12')).to.equal(200);
    await dashboard.step();
    const wind = await dashboard.get('wind?device=2');
    expect(wind.wind_speed_m_s).to.equal(12);
    await waitFor(page, 'wind-speed', shown(12, 1, 'm/s'));
    await waitFor(page, 'rotor-rpm', shown(wind.rotor_rpm, 1, 'rpm'));
    const { metrics } = (await dashboard.get('devices?device=2')).devices[0];
    await waitFor(page, 'device-power', (metrics.power_kw / 1000).toFixed(2));
    expect(await act(page, page.getByRole('group', { name: 'Wind', exact: true }), 'From data')).to.equal(200);
    await dashboard.step();
    await waitFor(page, 'wind-source', 'from data');
    await check(open);
  });

  it('fuel cell: sets power and tank', async () => {
    const open = await dashboard.open('#/devices/3/picture');
    const { page } = open;
    expect(await set(page, 'Stack power', '2')).to.equal(200);
    expect(await set(page, 'Tank level', '80')).to.equal(200);
    await dashboard.step(5);
    const cell = await dashboard.get('fuelcell?device=3');
    expect(cell.setpoint_kw).to.be.closeTo(2, 0.01);
    expect(cell.tank_level_pct).to.be.closeTo(80, 1);
    await waitFor(page, 'fc-setpoint', shown(cell.setpoint_kw, 2, 'kW'));
    await waitFor(page, 'fc-power', shown(cell.stack_power_kw, 2, 'kW'));
    await check(open);
  });

  it('hybrid: has a target in policy manual only, and shows a refusal in the words of the daemon', async () => {
    const open = await dashboard.open('#/devices/4/picture');
    const { page } = open;
    await page.getByText('Applies in policy Manual.').waitFor();
    expect(await act(page, page, 'Manual')).to.equal(200);
    await page.getByRole('button', { name: 'Manual', pressed: true }).waitFor();
    expect(await set(page, 'AC output', '3')).to.equal(200);
    await dashboard.step(3);
    const hybrid = await dashboard.get('hybrid-dc?device=4');
    expect(hybrid.manual_target_kw).to.equal(3);
    await waitFor(page, 'hybrid-target', shown(3, 2, 'kW'));
    await waitFor(page, 'device-power', Math.abs(hybrid.inverter.ac_power_kw).toFixed(2));
    await waitFor(page, 'hybrid-pv', shown(Math.abs(hybrid.pv.power_kw), 2, 'kW'));
    await waitFor(page, 'hybrid-battery', shown(Math.abs(hybrid.battery.power_kw), 2, 'kW'));
    await dashboard.post('hybrid-dc/dispatch?device=4', { policy: 'self_consumption' });
    expect(await set(page, 'AC output', '4')).to.equal(409);
    await page.getByRole('group', { name: 'AC output', exact: true }).getByRole('alert').waitFor();
    await check(open);
  });

  it('EVSE: a charging session from plug to unplug', async () => {
    const open = await dashboard.open('#/devices/5/picture');
    const { page } = open;
    const read = async () => (await dashboard.get('evse')).evses[0].connectors[0];
    await waitFor(page, 'status-1', 'available');
    await press(page, 'More…');
    const operations = page.getByRole('group', { name: 'Operations of connector 1' });
    const unable = async (name: string, reason: string) => {
      const button = page.locator(`button[title="${reason}"]`, { hasText: new RegExp(`^${name}$`) });
      await button.waitFor({ state: 'attached' });
      expect(await button.isDisabled(), name).to.equal(true);
    };
    await unable('Unplug', 'Nothing is plugged in');
    await unable('Suspend', 'No session is charging or suspended');
    await unable('Unlock', 'The cable is not locked');
    await unable('Clear fault', 'No fault to clear');
    await unable('Cancel reservation', 'No reservation to cancel');
    const plug = await operation(page, 'Plug a vehicle');
    await plug.locator('[name="/ev/soc_pct"]').fill('140');
    expect(await act(page, plug, 'Plug')).to.equal(422);
    await plug.locator('label.field:has([name="/ev/soc_pct"]) .issue').waitFor();
    expect(await plug.locator('label.field .issue').count()).to.equal(1);
    expect((await read()).ev).to.equal(null);
    await plug.locator('[name="/ev/soc_pct"]').fill('35');
    await plug.locator('[name="/ev/phases"]').selectOption('3');
    expect(await act(page, plug, 'Plug')).to.equal(200);
    expect((await read()).ev).to.deep.include({ soc_pct: 35, phases: 3 });
    await waitFor(page, 'status-1', 'preparing');
    await page.locator('.why', { hasText: 'waits for authorisation' }).waitFor();
    await unable('Plug', 'A vehicle is plugged in already');
    const authorise = await operation(page, 'Authorise');
    await authorise.getByLabel('Token').fill('CARD-1');
    expect(await act(page, authorise, 'Authorise')).to.equal(200);
    await dashboard.step(20);
    const charging = await read();
    expect(charging.power_kw).to.be.above(3);
    await waitFor(page, 'actual-1', shown(charging.power_kw, 2, 'kW'));
    const limit = await operation(page, 'Limit');
    // a three-phase vehicle needs 4.1 kW
    await limit.getByLabel('Power, kW').fill('5');
    expect(await act(page, limit, 'Set limit')).to.equal(200);
    await dashboard.step(3);
    expect((await read()).power_kw).to.be.closeTo(5, 0.1);
    await waitFor(page, 'limit-1', 'set by dashboard');
    const { sentence } = await dashboard.get('controls/why?device=5&connector=1');
    await page.locator('.why', { hasText: sentence }).waitFor();
    const discharge = await operation(page, 'Discharge');
    await discharge.getByText('The connector is not bidirectional').first().waitFor();
    await unable('Set discharge', 'The connector is not bidirectional');
    const start = await operation(page, 'Start');
    await start.getByLabel('Token').fill('CARD-2');
    await start.getByText('A session is running').waitFor();
    await unable('Start session', 'A session is running');
    await unable('Resume', 'Nothing is suspended');
    expect(await act(page, operations, 'Suspend')).to.equal(200);
    await waitFor(page, 'status-1', 'suspended evse');
    expect(await act(page, operations, 'Suspend')).to.equal(409);
    await page.getByText('the station has already suspended the session').waitFor();
    expect(await act(page, operations, 'Resume')).to.equal(200);
    const stop = await operation(page, 'Stop');
    expect(await act(page, stop, 'Stop session')).to.equal(200);
    await waitFor(page, 'status-1', 'finishing');
    expect(await act(page, start, 'Start session')).to.be.oneOf([200, 201]);
    expect((await read()).session.id_token).to.equal('CARD-2');
    expect(await act(page, stop, 'Stop session')).to.equal(200);
    expect(await act(page, operations, 'Unplug')).to.equal(200);
    await waitFor(page, 'status-1', 'available');
    await unable('Stop session', 'No session is running');
    const fault = await operation(page, 'Fault');
    const { components } = (await (await fetch(`${dashboard.origin}/openapi.json`)).json()) as Answer;
    const codes = fault.locator('[name="/error_code"]');
    await codes.locator('option').nth(1).waitFor({ state: 'attached' });
    const offered = await codes.locator('option').allTextContents();
    expect(offered.slice(1)).to.deep.equal(components.schemas.ConnectorFaultRequest.properties.error_code.enum);
    await codes.selectOption('GroundFailure');
    expect(await act(page, fault, 'Inject fault')).to.equal(200);
    await waitFor(page, 'status-1', 'faulted');
    expect(await act(page, operations, 'Clear fault')).to.equal(200);
    await waitFor(page, 'status-1', 'available');
    const [session] = (await dashboard.get('evse/sessions')).sessions;
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByRole('cell', { name: session.transaction_id, exact: true }).waitFor();
    await check(open);
  });

  it('EVSE: a vehicle gives power to the grid at a bidirectional station', async () => {
    const open = await dashboard.open('#/devices/6/picture');
    const { page } = open;
    await press(page, 'More…');
    const plug = await operation(page, 'Plug a vehicle');
    await plug.locator('[name="/ev/soc_pct"]').fill('80');
    await plug.locator('[name="/ev/max_discharge_kw"]').fill('20');
    expect(await act(page, plug, 'Plug')).to.equal(200);
    const [begun] = (await dashboard.get('evse')).evses[1].connectors;
    expect(begun.session.id_token).to.equal('AUTO');
    await dashboard.step(20);
    const discharge = await operation(page, 'Discharge');
    await discharge.getByLabel('Power, kW').fill('5');
    expect(await act(page, discharge, 'Set discharge')).to.equal(200);
    await dashboard.step(20);
    const [connector] = (await dashboard.get('evse')).evses[1].connectors;
    expect(connector.power_kw).to.be.closeTo(-5, 0.2);
    await waitFor(page, 'actual-1', shown(connector.power_kw, 2, 'kW'));
    await check(open);
  });

  it('EVSE: sets and ends DER controls, and shows why one is refused', async () => {
    const open = await dashboard.open('#/devices/6/grid-support/der-controls?der-control=limit_max_discharge_pct');
    const { page } = open;
    const panel = page.getByRole('region', { name: 'DER controls', exact: true }).first();
    const read = () => dashboard.get('evse/der-controls?device=6');
    const rows = panel.locator('table tbody tr:not([aria-hidden])');
    await rows.first().waitFor();
    const supported = Object.values(await read()).filter((each) => (each as { supported?: boolean } | null)?.supported);
    expect(await panel.getByRole('table').getAttribute('aria-rowcount')).to.equal(String(supported.length));
    const limit = panel.locator('[name="/limit_max_discharge_pct"]');
    await limit.fill('130');
    expect(await act(page, panel, 'Set control')).to.equal(422);
    await panel.locator('label.field .issue').waitFor();
    await limit.fill('40');
    expect(await act(page, panel, 'Set control')).to.equal(200);
    expect((await read()).limit_max_discharge_pct).to.equal(40);
    await waitFor(page, 'discharge-limit', shown(40, 1, '%'));
    await rows.filter({ hasText: /^max power ?on ?dashboard/ }).waitFor();
    expect(await act(page, panel, 'End this limit')).to.equal(200);
    expect((await read()).limit_max_discharge_pct).to.equal(null);
    await panel.locator('[name="der-function"]').selectOption('constant_var');
    await page.reload();
    await panel.locator('[name="/constant_var/var_pct"]').fill('12');
    await panel.locator('[name="/constant_var/enabled"]').selectOption('true');
    expect(await act(page, panel, 'Set control')).to.equal(200);
    expect((await read()).constant_var).to.include({ enabled: true, var_pct: 12, source: 'dashboard' });
    await check(open);
  });

  it('changes name, identities and profile of a device, and asks before another takes its place', async () => {
    const open = await dashboard.open('#/devices/1/picture');
    const { page } = open;
    await press(page, 'Device menu');
    await press(page, 'Change device');
    const dialog = page.getByRole('dialog');
    const outcome = dialog.getByRole('status');
    const change = async (texts: Readonly<Record<string, string>>): Promise<number> => {
      for (const [name, text] of Object.entries(texts)) await dialog.locator(`[name="${name}"]`).fill(text);
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'PATCH'),
        press(dialog, 'Change'),
      ]);
      return answer.status();
    };
    expect(await change({ '/name': 'Cellar', '/csip/lfdi': 'F0' })).to.equal(422);
    await dialog.getByText('40 hexadecimal digits', { exact: true }).waitFor();
    expect(await change({ '/csip/lfdi': '', '/csip/nmi': 'NMI-1' })).to.equal(200);
    await outcome.getByText('Changed device 1 Cellar.').waitFor();
    expect(await dashboard.get('devices/1')).to.deep.include({
      name: 'Cellar',
      csip: { nmi: 'NMI-1', lfdi: null, pin_set: false },
    });
    expect(await change({ '/name': '', '/csip/nmi': '' })).to.equal(200);
    const former = await dashboard.get('devices/1');
    expect([former.name === 'Cellar', former.csip.nmi]).to.deep.equal([false, null]);
    const questions: string[] = [];
    page.on('dialog', (question) => {
      questions.push(question.message());
      void question.accept();
    });
    await dialog.locator('[name="/profile"]').selectOption('Batt-LFP-100kW-3Phase');
    expect(await change({})).to.equal(200);
    await outcome.getByText('Another device has taken its place.').waitFor();
    expect(questions).to.have.length(1);
    expect((await dashboard.get('devices/1')).device_profile_name).to.equal('Batt-LFP-100kW-3Phase');
    await check(open);
  });
});
