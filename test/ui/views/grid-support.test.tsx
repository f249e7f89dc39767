import { expect } from 'chai';
import { daemon as runOfDaemon } from '../../../src/ui/store/site';
import { GridSupportView } from '../../../src/ui/views/devices/grid-support/grid-support';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { address, all, leave, one, press, show, textOf, type } from '../support/page.tsx';
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
});
