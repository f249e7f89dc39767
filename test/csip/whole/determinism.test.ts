/** Stepped on the simulated clock with one seed and one script of the head-end, two runs agree to the byte. */
import { expect } from 'chai';
import { stateOf } from '../../support/csip-controls.ts';
import { Site } from './site.ts';

interface Run {
  /** every register of the device, at several instants */
  readonly dumps: readonly string[];
  readonly responses: readonly string[];
  readonly readings: readonly string[];
}

async function run(): Promise<Run> {
  const site = await Site.open({
    types: ['Batt-3Phase'],
    flags: ['--seed', '7'],
    prepare(headEnd, [lfdi = '']) {
      headEnd.rates.mirrorPost = 60;
      headEnd.register(lfdi);
      headEnd.program({ fsa: headEnd.fsa('system'), primacy: 20, default: { opModMaxLimW: 9000 } });
      headEnd.program({ fsa: headEnd.fsa('service point'), primacy: 5 });
    },
  });
  try {
    const { headEnd, app } = site;
    const { bank } = app.plant.device(0);
    const dumps: string[] = [];
    const dump = () => {
      const points = bank.layout.slots.map((slot) => [slot.modelId, slot.path, String(bank.value(slot))]);
      dumps.push(JSON.stringify([points, stateOf(app.plant)]));
    };
    await site.until('the groups', 60, () => headEnd.sent('GET', /derc$/)[0]);
    const [system, point] = headEnd.programs;
    if (!system || !point) throw new Error('the head-end has two programs');
    headEnd.control(system, {
      modes: { opModTargetW: { multiplier: 3, value: 4 }, opModFixedVar: { refType: 2, value: 1500 } },
      inS: 90,
      durationS: 250,
      randomizeStartS: 40,
      randomizeDurationS: -40,
    });
    headEnd.control(point, { modes: { opModTargetW: { multiplier: 3, value: -2 } }, inS: 200, durationS: 100 });
    await site.advance(110);
    dump();
    app.plant.device(0).command({ kind: 'local', local: true }, { source: 'rest' });
    await site.advance(100.5, 0.7);
    app.plant.device(0).command({ kind: 'local', local: false }, { source: 'rest' });
    await site.advance(30);
    dump();
    app.plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await site.advance(200);
    dump();
    return {
      dumps,
      responses: headEnd.responses.map((each) => JSON.stringify(each)),
      readings: headEnd.readings.map((each) => JSON.stringify(each)),
    };
  } finally {
    await site.close();
  }
}

describe('a client at a head-end: determinism', () => {
  it('registers, responses and readings of two stepped runs are identical', async () => {
    const [one, other] = [await run(), await run()];
    expect(one.responses.length).to.be.greaterThan(5);
    expect(one.readings.length).to.be.greaterThan(5);
    expect(other).to.deep.equal(one);
  }).timeout(60_000);
});
