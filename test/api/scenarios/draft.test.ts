import { expect } from 'chai';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';

describe('drafts of scenarios', () => {
  let running: RunningApp;
  before(async () => (running = await startApp()));
  after(() => running.app.stop());

  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await ask(running.port, `/api/sim/${path}`, { method, ...(body !== undefined && { body }) });
    return { status: answer.status, text: answer.text, ...answer.json };
  };
  const step = (ticks: number) => call('POST', 'controls/time/step', { ticks });

  /** The state of a run of the text, which the check has accepted. */
  async function outcomeOf(yaml: string): Promise<Json> {
    const checked = await call('POST', 'scenarios/check', { yaml });
    expect(checked.status, `${checked.text}\n${yaml}`).to.equal(200);
    expect(checked.fits).to.equal(true);
    const { id } = await call('POST', 'scenarios', { yaml });
    await call('POST', `scenarios/${id}/start`, { pace: 'fast' });
    for (;;) {
      const { run } = await call('GET', `scenarios/${id}`);
      if (run.state !== 'running') return { ...run, steps_in_all: checked.steps };
    }
  }

  it('of a capture are accepted, run, and expect the same of the devices', async () => {
    await step(2);
    const parameters = { residual_pu: 0.5, duration_s: 0.5 };
    await call('POST', 'controls/grid/event', { event: 'sag', parameters });
    expect((await call('GET', 'scenarios/draft?capture=1')).status).to.equal(409);
    await step(20);
    const { text } = await call('GET', 'scenarios/draft?capture=1');
    expect(text).to.contain('event: { event: "sag", parameters: { residual_pu: 0.5, duration_s: 0.5 } }');
    const { state, failures } = await outcomeOf(text);
    expect({ state, failures }).to.deep.equal({ state: 'passed', failures: [] });
    const other = await outcomeOf(
      text.replace(/pointer: "\/captures\/0\/summary", equals: "[^"]*"/, '$&x').replace('"x', 'x"'),
    );
    expect(other.state).to.equal('failed');
  });

  it('of a span of the timeline are accepted, and run', async () => {
    const { sim_time: since } = await call('GET', 'timeline?limit=1');
    await step(1);
    await call('POST', 'controls/grid', { voltage_pu: 0.95 });
    await step(3);
    await call('POST', 'registers/704', { points: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' } });
    await call('POST', 'controls/environment', { irradiance_w_m2: 300 });
    await call('POST', 'controls/time', { mode: 'paused', rate: 2 });
    const { text } = await call('GET', `scenarios/draft?since=${since}`);
    expect(text.match(/^ {2}- at: .*/gm)).to.deep.equal(['  - at: 0', '  - at: 4.5', '  - at: 4.5']);
    expect(text).to.match(/# .* not a step \(the scenario has the clock/);
    const { state, failures, steps_done: done } = await outcomeOf(text);
    expect({ state, failures, done }).to.deep.equal({ state: 'passed', failures: [], done: 3 });
    expect((await call('GET', 'scenarios/draft?since=2200-01-01T00:00:00Z')).text).to.contain(
      'No entry of the timeline',
    );
    expect((await call('GET', `scenarios/draft?capture=1&since=${since}`)).status).to.equal(422);
    expect((await call('GET', 'scenarios/draft?capture=99')).status).to.equal(404);
    expect((await call('GET', 'scenarios/draft?device=9')).status).to.equal(404);
  });

  it('of chosen entries of the timeline have these alone', async () => {
    await step(1);
    await call('POST', 'controls/grid', { voltage_pu: 0.97 });
    await call('POST', 'controls/grid', { voltage_pu: 0.98 });
    await step(2);
    await call('POST', 'controls/environment', { irradiance_w_m2: 450 });
    const { entries } = await call('GET', 'timeline?limit=3');
    const [first, , last] = entries.map(({ id }: Json) => id);
    const { text } = await call('GET', `scenarios/draft?ids=${last},${first}`);
    expect(text).to.include('voltage_pu: 0.97').and.to.include('irradiance_w_m2: 450').and.not.to.include('0.98');
    expect(text.match(/^ {2}- at: /gm)).to.have.length(2);
    const missing = await call('GET', `scenarios/draft?ids=${first},99999`);
    expect([missing.status, missing.detail]).to.deep.equal([404, 'the timeline has no entry 99999']);
    for (const query of ['ids=', 'ids=1,', 'ids=0', `ids=${first}&device=0`, `ids=${first}&capture=1`])
      expect((await call('GET', `scenarios/draft?${query}`)).status, query).to.equal(422);
  });
});
