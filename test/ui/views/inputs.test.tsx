import { expect } from 'chai';
import { Notice } from '../../../src/ui/kit/notice';
import { GridTab } from '../../../src/ui/views/inputs/grid';
import { scaleFor } from '../../../src/ui/views/inputs/scale';
import { SiteTab } from '../../../src/ui/views/inputs/site';
import { WeatherTab } from '../../../src/ui/views/inputs/weather';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, textOf, type } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('inputs', () => {
  let daemon: Daemon;

  before(startPage);
  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    await accept();
  });
  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  const answering = (name: string, members: Json) => {
    const example = daemon.exampleOf('GET', name);
    daemon.on(`GET ${name}`, () => ({ ...example, ...members }));
    return members;
  };
  const group = (name: string) => one(`[role=group][aria-label="${name}"]`);
  /** Releases a slider at a value. */
  const slide = async (name: string, value: number) => {
    const slider = group(name).querySelector<HTMLInputElement>('[type=range]');
    if (slider === null) throw new Error(`${name} has no slider`);
    slider.value = String(value);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
  };
  const sent = (name: string) => daemon.to(`POST ${name}`).map(({ query, body }) => ({ query, body }));
  const draw = async (hash: string, what: Parameters<typeof show>[0]) => {
    await address(hash);
    await show(
      <>
        <Notice />
        {what}
      </>,
    );
  };

  describe('grid', () => {
    it('shows the values in force, and sends percent as per unit', async () => {
      answering('controls/grid', { voltage_a_pu: 0.97, voltage_b_pu: 0.97, voltage_c_pu: 0.97 });
      await draw('#/inputs/grid', <GridTab />);
      expect(group('Voltage').querySelector<HTMLInputElement>('.number input')?.value).to.equal('97');
      await slide('Voltage', 106.4);
      await press('Undo');
      expect(sent('controls/grid')).to.deep.equal([
        { query: {}, body: { voltage_pu: 1.064 } },
        { query: {}, body: { voltage_a_pu: 0.97, voltage_b_pu: 0.97, voltage_c_pu: 0.97 } },
      ]);
    });

    it('takes a change of one device back to the common grid, unless it deviated before', async () => {
      const grid = answering('controls/grid', { deviating_devices: [], frequency_hz: 60 });
      await draw('#/inputs/grid?on=1', <GridTab />);
      await slide('Frequency', 59);
      await press('Undo');
      grid['deviating_devices'] = [1];
      await pass(6000);
      await slide('Frequency', 58);
      await press('Undo');
      expect(sent('controls/grid')).to.deep.equal([
        { query: { device: '1' }, body: { frequency_hz: 59 } },
        { query: { device: '1' }, body: { source: 'csv' } },
        { query: { device: '1' }, body: { frequency_hz: 58 } },
        { query: { device: '1' }, body: { frequency_hz: 60 } },
      ]);
    });

    it('names the program outside that gives the grid of devices', async () => {
      const exchange = answering('exchange', { owner: 'helics:grid' });
      await draw('#/inputs/grid', <GridTab />);
      expect(textOf('[data-test=exchange]')).to.equal(
        'helics:grid gives the grid of 2 devices until it ends its exchange; it cannot be set here.',
      );
      Object.assign(exchange, { attached: false, owner: null, devices: [] });
      await pass(6000);
      expect(all('[data-test=exchange]')).to.deep.equal([]);
    });

    it('sends the ramp and the duration with each change', async () => {
      await draw('#/inputs/grid', <GridTab />);
      const ramp = one('[name=ramp_s]');
      ramp.value = '5';
      ramp.dispatchEvent(new Event('change', { bubbles: true }));
      await settle();
      await slide('Frequency', 59);
      expect(sent('controls/grid').map(({ body }) => body)).to.deep.equal([{ frequency_hz: 59, ramp_s: 5 }]);
    });

    it('starts an event for each device of a group, and says each refusal once', async () => {
      const scopes = daemon.exampleOf('GET', 'site/scopes').scopes;
      daemon.on('GET site/scopes', () => ({ scopes: [scopes[0], { ...scopes[1], devices: [1, 3, 4] }] }));
      daemon.on('POST controls/grid/event', ({ query }) =>
        query['device'] === '1'
          ? daemon.exampleOf('POST', 'controls/grid/event')
          : refusal(409, 'An island has no sag.'),
      );
      daemon.on('GET grid-events', () => ({
        events: [
          {
            name: 'sag',
            description: 'Voltage dip.',
            parameters: [
              { name: 'residual_pu', unit: 'pu', default: 0.5, minimum: 0, maximum: 1, allowed: null },
              { name: 'duration_s', unit: 's', default: 0.5, minimum: 0.001, maximum: 86_400, allowed: null },
            ],
          },
        ],
      }));
      await draw('#/inputs/grid?on=1,3,4', <GridTab />);
      await type('residual_pu', '42');
      await press('Start sag');
      expect(sent('controls/grid/event').map(({ query, body }) => [query['device'], body.parameters])).to.deep.equal(
        ['1', '3', '4'].map((device) => [device, { residual_pu: 0.42, duration_s: 0.5 }]),
      );
      expect(all('.event-card .problem').map((each) => each.textContent)).to.deep.equal(['An island has no sag.']);
      await type('residual_pu', 'deep');
      await press('Start sag');
      expect(sent('controls/grid/event')).to.have.lengthOf(3);
      expect(textOf('.event-card .issue')).to.equal('must be a number');
    });

    it('lists the devices that deviate, each with its way back', async () => {
      answering('controls/grid', { deviating_devices: [2, 4] });
      await draw('#/inputs/grid', <GridTab />);
      expect(all('.deviations > li > .link').map((each) => each.textContent)).to.deep.equal([
        '2 Device wind',
        '4 Device hybrid-dc',
      ]);
      await press('Back to the common grid');
      expect(sent('controls/grid')).to.deep.equal([{ query: { device: '2' }, body: { source: 'csv' } }]);
    });
  });

  describe('weather', () => {
    it('takes a change back to the data, or to the earlier constant', async () => {
      const now = answering('controls/environment', { overridden: [], load_kw: 2, deviating_devices: [] });
      await draw('#/inputs/weather', <WeatherTab />);
      const load = 'Load beside each device';
      await slide(load, 5);
      await press('Undo');
      now['overridden'] = ['load_kw'];
      await pass(6000);
      await slide(load, 7);
      await press('Undo');
      expect(sent('controls/environment').map(({ body }) => body.load_kw)).to.deep.equal([5, null, 7, 2]);
    });

    it('changes the wind of the turbines of the scope only', async () => {
      await draw('#/inputs/weather?on=2', <WeatherTab />);
      await slide('Wind speed', 20);
      expect(sent('wind/override')).to.deep.equal([
        { query: { device: '2' }, body: { wind_speed_m_s: 20, height: 'hub' } },
      ]);
      expect(all('[aria-label="Shaded modules"]')).to.deep.equal([]);
    });
  });

  describe('shade', () => {
    it('starts with dim light, which then can be changed', async () => {
      const now = answering('controls/shading', { shaded_share: 0, irradiance_share: 1 });
      await draw('#/inputs/weather?on=0', <WeatherTab />);
      expect(group('Light on the shaded modules').querySelector<HTMLInputElement>('[type=range]')?.disabled).to.equal(
        true,
      );
      await press('Half');
      Object.assign(now, { shaded_share: 0.5, irradiance_share: 0.2 });
      await pass(6000);
      await slide('Light on the shaded modules', 40);
      expect(sent('controls/shading').map(({ body }) => body)).to.deep.equal([
        { shaded_share: 0.5, irradiance_share: 0.2 },
        { shaded_share: 0.5, irradiance_share: 0.4 },
      ]);
    });
  });

  describe('site limits', () => {
    it('set the limit of the named owner, and show that of another one as a mark', async () => {
      const [whole, other] = daemon.exampleOf('GET', 'site/scopes').scopes;
      daemon.on('GET site/scopes', () => ({ scopes: [whole, other] }));
      await draw('#/inputs/site?owner=lab', <SiteTab />);
      const slider = group('Export limit');
      expect(slider.querySelector<HTMLInputElement>('.number input')?.value).to.equal('');
      expect(slider.querySelector<HTMLElement>('.limit')?.style.left).to.equal('50%');
      expect(slider.textContent).to.contain('5.00\u00a0kW in force, rest');
      await slide('Export limit', 3);
      await press('Undo');
      expect(sent('site').map(({ body }) => body)).to.deep.equal([
        { export_limit_kw: 3, owner: 'lab' },
        { export_limit_kw: null, owner: 'lab' },
      ]);
    });

    it('end all limits of an owner, and restore them', async () => {
      await draw('#/inputs/site', <SiteTab />);
      await press('End rest:feeder');
      await press('Undo');
      expect(sent('site').map(({ body }) => body)).to.deep.equal([
        { export_limit_kw: null, owner: 'feeder', devices: [0] },
        { export_limit_kw: 1, owner: 'feeder', devices: [0] },
      ]);
    });

    it('appear for the chosen devices before these have any', async () => {
      await draw('#/inputs/site?group=1,2', <SiteTab />);
      expect(button('End rest:feeder')).not.to.equal(undefined);
      expect(all('section.panel > header h2').map((each) => each.textContent)).to.include('Devices 1, 2');
    });

    it('have scales that end in round numbers above the value', () => {
      expect([0, 8, 9, 300, 1700].map((value) => scaleFor(value, 10))).to.deep.equal([10, 10, 20, 500, 5000]);
    });
  });
});
