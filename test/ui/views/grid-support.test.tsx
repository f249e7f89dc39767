import { expect } from 'chai';
import { daemon as runOfDaemon } from '../../../src/ui/store/site';
import { GridSupportView } from '../../../src/ui/views/devices/grid-support/grid-support';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { notice } from '../../../src/ui/kit/notice';
import { address, all, leave, one, press, show, textOf, tick, type } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

const set = (number: number, dept_ref: string) => ({
  number,
  in_force: number === 1,
  adoptable: true,
  issue: null,
  changed_by: null,
  dept_ref,
  response_time_s: 5,
  points: [
    { v_pct: 92, var_pct: 44 },
    { v_pct: 108, var_pct: -44 },
  ],
});
const sets = {
  volt_var: {
    adopt_request: 1,
    adopt_result: 'completed',
    sets: [set(1, 'var_max_pct'), set(2, 'var_max_pct'), set(3, 'va_max_pct')],
  },
};

/** An answer that comes when the test gives it. */
class LateAnswer {
  give: (content: object) => void = () => undefined;
  readonly asked = () => new Promise<object>((resolve) => (this.give = resolve));
}

const reference = 'select[name="/dept_ref"]';
const varOfPoint1 = 'input[aria-label="Point 1, Reactive power"]';

async function typePoint(value: string): Promise<void> {
  const cell = one(varOfPoint1);
  cell.value = value;
  cell.dispatchEvent(new Event('input', { bubbles: true }));
  await settle();
  cell.dispatchEvent(new Event('change', { bubbles: true }));
  await settle();
}

describe('editors of grid support', () => {
  let daemon: Daemon;

  before(startPage);

  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    daemon.on('GET grid-support/sets', () => sets);
    runOfDaemon.value = 'this run';
    await accept();
  });

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  async function open(page: string): Promise<void> {
    await address(`#/devices/0/grid-support/${page}`);
    await show(<GridSupportView />);
  }

  it('of a stored set come with the set: a choice before would be lost, or reach the set in force', async () => {
    const late = new LateAnswer();
    daemon.on('GET grid-support/sets', late.asked);
    await open('volt-var?device=0&set=3');
    expect([...all(reference), ...all(varOfPoint1)]).to.deep.equal([]);
    late.give(sets);
    await settle();
    expect(one(reference).value).to.equal('va_max_pct');

    await type('/dept_ref', 'w_max_pct');
    // the sets are read again meanwhile, with the same values as before
    await pass(6000);
    late.give(structuredClone(sets));
    await settle();
    expect(one(reference).value).to.equal('w_max_pct');
    await press('Stage values');
    expect(daemon.to('POST registers/705').map(({ body }) => body)).to.deep.equal([
      { points: { 'Crv[2].DeptRef': 'W_MAX_PCT' } },
    ]);
  });

  it('of the set in force need no other set', async () => {
    daemon.on('GET grid-support/sets', new LateAnswer().asked);
    await open('volt-var?device=0');
    expect(all(reference)).to.have.length(1);
    expect(all(varOfPoint1)).to.have.length(1);
  });

  for (const page of ['volt-var', 'lv-trip', 'freq-droop'])
    it(`${page}: a set that there is not has no editor`, async () => {
      const late = new LateAnswer();
      daemon.on('GET grid-support/sets', late.asked);
      await open(`${page}?device=0&set=9`);
      expect(all('table')).to.deep.equal([]);
      late.give(page === 'volt-var' ? sets : {});
      await settle();
      expect(all('table')).to.deep.equal([]);
      expect(textOf()).to.contain('There is no set 9.');
    });

  it('keep values that are typed while others are sent', async () => {
    const late = new LateAnswer();
    daemon.on('POST registers/705', late.asked);
    await open('volt-var?device=0&set=3');
    await type('/dept_ref', 'w_max_pct');
    await press('Stage values');
    await type('/response_time_s', '9');
    late.give({});
    await settle();
    expect(one('[name="/response_time_s"]').value).to.equal('9');
    await press('Stage values');
    expect(daemon.to('POST registers/705').map(({ body }) => body.points)).to.deep.equal([
      { 'Crv[2].DeptRef': 'W_MAX_PCT' },
      { 'Crv[2].RspTms': 9 },
    ]);
  });

  it('keep points that are changed while others are sent', async () => {
    const late = new LateAnswer();
    daemon.on('POST grid-support/volt-var', late.asked);
    await open('volt-var?device=0');
    await typePoint('20');
    await press('Apply points');
    await typePoint('10');
    late.give({});
    await settle();
    expect(one(varOfPoint1).value).to.equal('10');
    expect(textOf()).to.contain('not applied yet');
    await press('Apply points');
    late.give({});
    await settle();
    expect(textOf()).not.to.contain('not applied yet');
    const sent = daemon.to('POST grid-support/volt-var').map(({ body }) => body.points[0].var_pct);
    expect(sent).to.deep.equal([20, 10]);
  });

  const pointsSent = () => daemon.to('POST grid-support/volt-var').map(({ body }) => body.points);
  const category = (scale: number) =>
    [
      [92, 44],
      [98, 0],
      [102, 0],
      [108, -44],
    ].map(([v_pct, percent = 0]) => ({ v_pct, var_pct: percent * scale }));

  /** Volt-var with this reference, at a device of 10 kVA and 5 kvar. */
  function answerVoltVar(dept_ref: string): void {
    const support = daemon.exampleOf('GET', 'grid-support');
    const voltVar = { ...support.volt_var, supported: true, enabled: false, dept_ref };
    daemon.on('GET grid-support', () => ({ ...support, volt_var: voltVar }));
    const ratings = { WMax: 10_000, VAMax: 10_000, VarMaxInj: 5000, VarMaxAbs: 5000 };
    daemon.on('GET registers/702', () => ({
      points: Object.entries(ratings).map(([name, value]) => ({ name, value })),
    }));
  }

  for (const [dept_ref, scale] of [
    ['va_max_pct', 1],
    ['var_max_pct', 2],
  ] as const)
    it(`take the preset of a category in ${dept_ref} of the set, and keep what was applied`, async () => {
      localStorage.removeItem('derbench-own-curves');
      answerVoltVar(dept_ref);
      await open('volt-var?device=0');
      await press('Presets');
      await press('IEEE 1547 category B');
      expect(pointsSent()).to.deep.equal([]);
      await press('Apply points');
      expect(pointsSent()).to.deep.equal([category(scale)]);
      await press('Presets');
      const own = `92: ${44 * scale}, 98: 0, 102: 0, 108: ${-44 * scale}`;
      await press('Flat');
      await press('Presets');
      await press(own);
      await press('Apply points');
      expect(pointsSent()).to.deep.equal([category(scale), category(scale)]);
    });

  it('offer no preset in percent of what is available', async () => {
    answerVoltVar('var_aval_pct');
    await open('volt-var?device=0');
    await press('Presets');
    expect(
      all('.menu-list button').map(({ textContent, disabled }) => [textContent, disabled]),
    ).to.deep.include.members([
      ['IEEE 1547 category A', true],
      ['IEEE 1547 category B', true],
      ['Flat', false],
    ]);
  });

  it('send a curve to the devices of a filter in order, and list who refuses', async () => {
    daemon.on('POST grid-support/volt-var', ({ query }) =>
      query['device'] === '1' ? refusal(409, 'The device is under local control.') : {},
    );
    await open('volt-var?device=0');
    await typePoint('20');
    await press('Apply to…');
    await tick('same-kind', false);
    await type('apply-to', '0-2');
    await press('Apply to 3 devices');
    expect(daemon.to('POST grid-support/volt-var').map(({ query }) => query['device'])).to.deep.equal(['0', '1', '2']);
    expect(new Set(pointsSent().map(([point]) => point.var_pct))).to.deep.equal(new Set([20]));
    expect(textOf('dialog [role="status"]')).to.equal(
      '2 devices took it, 1 refused1 Device battery: The device is under local control.',
    );
    expect(textOf()).not.to.contain('not applied yet');
  });

  it('begin with the devices of the same kind', async () => {
    await open('volt-var?device=0');
    await press('Apply to…');
    await press('Apply to 1 device');
    expect(daemon.to('POST grid-support/volt-var').map(({ query }) => query['device'])).to.deep.equal(['0']);
  });

  it('list what acts, what is on and what is off, and a switch can be taken back', async () => {
    const support = daemon.exampleOf('GET', 'grid-support');
    const member = (name: string, supported: boolean, enabled: boolean) => ({ ...support[name], supported, enabled });
    daemon.on('GET grid-support', () => ({
      ...Object.fromEntries(Object.keys(support).map((name) => [name, { supported: false }])),
      volt_var: member('volt_var', true, true),
      volt_watt: member('volt_watt', true, true),
      max_power: member('max_power', true, false),
    }));
    const mode = { active: false, source: null, source_detail: null, changed_at: null, reversion_remaining_s: null };
    daemon.on('GET controls', () => ({
      modes: { volt_var: mode, volt_watt: { ...mode, active: true }, max_power: mode },
    }));
    await open('volt-watt?device=0');
    const listed = all('.function-group').map((group) => [
      group.firstElementChild?.textContent,
      [...group.querySelectorAll('li')].length,
    ]);
    expect(listed).to.deep.equal([
      ['Acts now', 1],
      ['On', 1],
      ['Off', 1],
      ['12 not used by this device', 12],
    ]);
    one('[aria-label="Active power limit enabled"]').click();
    await settle();
    expect(notice.value?.text).to.equal('Active power limit on');
    notice.value?.undo?.();
    await settle();
    expect(daemon.to('POST grid-support/max-power').map(({ body }) => body)).to.deep.equal([
      { enabled: true },
      { enabled: false },
    ]);
  });
});
