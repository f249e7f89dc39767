import { expect } from 'chai';
import { views } from '../../../src/ui/shell/views';
import { functions, pathOf } from '../../../src/ui/views/devices/grid-support/functions';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { address, all, leave, show, showCalls, textOf } from '../support/page.tsx';
import { callIssues, nonValues } from '../support/shown.ts';
import { answerForSite, kinds, telemetryOf } from '../support/site.ts';
import { accept, send, startPage } from '../support/stream.ts';
import { variants } from '../support/variants.ts';

const parts = (path: string, setting: string, names: string) =>
  names.split(' ').map((name) => `${path}?${setting}=${name}`);

const tabs = (path: string, names: string) => names.split(' ').map((name) => `${path}/${name}`);

const gridSupport = 'devices/0/grid-support';

/** The first function of each kind; the others are drawn by the same code. */
const firstOfKind = functions.filter(({ kind }, index) => functions.findIndex((each) => each.kind === kind) === index);
const alike = functions
  .filter((each) => !firstOfKind.includes(each))
  .map(({ name }) => `${gridSupport}/${pathOf(name)}`);

/** Each view with each of its parts, by address. */
const places: readonly string[] = [
  'overview',
  'devices',
  ...kinds.map((_kind, index) => `devices/${index}`),
  ...functions.map(({ name }) => `${gridSupport}/${pathOf(name)}`),
  ...['why', 'holds', 'changes', 'gradient'].map((page) => `${gridSupport}/${page}`),
  ...['charts', 'registers', 'faults'].map((tab) => `devices/0/${tab}`),
  ...kinds.map((_kind, index) => `devices/${index}/details`),
  ...['battery', 'hybrid-dc'].map((kind) => `devices/${kinds.findIndex((each) => each === kind)}/cells`),
  ...['sessions', 'grid-support/der-controls'].map((tab) => `devices/${kinds.indexOf('evse')}/${tab}`),
  'devices/site/registers',
  'fleet',
  'charts',
  ...['grid', 'weather', 'site', 'faults', 'clock'].map((tab) => `inputs/${tab}`),
  'protocols',
  ...tabs('protocols/modbus', 'state messages transactions settings connect'),
  ...tabs('protocols/csip', 'state events reports messages sequence client settings connect'),
  ...tabs('protocols/ocpp', 'state messages sequence findings schedules lists configuration settings connect'),
  ...tabs('protocols/dnp3', 'state points messages sequence settings connect'),
  ...tabs('protocols/sunspec-client', 'state samples'),
  ...tabs('compare', 'all side-by-side answered rules'),
  'compare/rules?rule=modbus.retry_hasty',
  'compare/report-cards',
  'compare/report-cards/8e0d71c4a652',
  'scenarios',
  'scenarios/runs',
  'scenarios/runs/1',
  'scenarios/runs/1/2',
  'scenarios/editor',
  'settings',
  ...parts('settings', 'settings-part', 'certificates'),
  'settings?settings-part=certificates&certificate=device0',
  'state',
  'simulator',
  'events/timeline',
  'events/timeline?entry=42',
  'events/timeline?entry=43&kind=command',
  'events/captures',
  'events/captures/1',
  'events/captures/1?with=2',
  'events/log',
  'changes',
];

describe('views with the replies of the API', () => {
  before(async () => {
    await startPage();
    await accept();
  });

  afterEach(async () => {
    await leave();
    // answers that nothing shows are forgotten
    await pass(3000);
  });

  for (const place of places) {
    const View = views.find(({ path }) => place.split(/[/?]/)[0] === path)?.component;
    if (View === undefined) throw new Error(`no view is at ${place}`);
    for (const variant of alike.includes(place) ? (['example'] as const) : variants)
      it(`${place}: ${variant}`, async () => {
        const daemon = new Daemon();
        daemon.variant = variant;
        answerForSite(daemon);
        await address(`#/${place}`);
        // from what a daemon never answers, such as a curve without points, no call follows
        const hasCalls = variant === 'example' || variant === 'least';
        if (hasCalls) await showCalls();
        const root = await show(<View />);
        for (const snapshot of telemetryOf(daemon)) await send(snapshot);
        if (variant === 'example') {
          await pass(1000);
          expect(all('[role=alert]').filter((each) => each.textContent !== '')).to.deep.equal([]);
        }
        expect(textOf().length).to.be.above(60);
        expect(daemon.asked).not.to.have.lengthOf(0);
        expect(daemon.strange).to.deep.equal([]);
        expect(nonValues(root)).to.deep.equal([]);
        if (hasCalls) expect(callIssues()).to.deep.equal([]);
      });
  }

  it('has a place for each view', () => {
    const shown = new Set(places.map((place) => place.split(/[/?]/)[0]));
    expect(views.filter(({ path }) => !shown.has(path))).to.deep.equal([]);
  });
});
