/** A control of a head-end moves the voltage of a grid outside of the simulator. */
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import type { Program } from '../head-end/model.ts';
import { Site } from './site.ts';

/** A line: a source at 1.02, and 4 % more voltage for 10 kW. */
const voltageAt = (powerW: number) => 1.02 + (0.04 * powerW) / 10_000;

describe('an exchange with a grid outside, beside a head-end', () => {
  let site: Site;
  let session: string;
  before(async () => {
    site = await Site.open({
      prepare(headEnd, [lfdi = '']) {
        headEnd.register(lfdi);
        headEnd.program({});
      },
    });
    await post('controls/environment', { irradiance_w_m2: 1000 });
    ({ session } = await post('exchange', { owner: 'grid' }));
  });
  after(() => site.close());

  const post = async (path: string, body: object): Promise<Json> => {
    const { json, status, text } = await ask(site.port, `/api/sim/${path}`, { method: 'POST', body });
    expect(status, text).to.be.below(300);
    return json;
  };

  /** Steps of 1 s, in which time passes for the client too; answers the last voltage. */
  async function run(seconds: number): Promise<{ readonly powerW: number; readonly voltagePu: number }> {
    let powerW = 0;
    let voltagePu = 1.02;
    for (let second = 0; second < seconds; second += 1) {
      voltagePu = voltageAt(powerW);
      ({
        p_w: [powerW],
      } = await post('exchange/step', { session, dt_s: 1, va_pu: voltagePu }));
      site.timers.pass(1000);
      await site.settle();
    }
    return { powerW, voltagePu };
  }

  it('lowers the voltage by a limit of active power, and gives it back at its end', async () => {
    const before = await run(60);
    expect(before.voltagePu).to.be.above(1.055);
    const control = site.headEnd.control(site.headEnd.programs[0] as Program, {
      modes: { opModMaxLimW: 4000 },
      inS: 10,
      durationS: 300,
    });
    const during = await run(200);
    expect(during.powerW).to.be.closeTo(4000, 0.01);
    expect(during.voltagePu).to.be.closeTo(1.036, 1e-6);
    const after = await run(200);
    expect(after.voltagePu).to.be.closeTo(before.voltagePu, 1e-3);
    expect(site.headEnd.statuses(control.mRID)).to.include.members([2, 3]);
  });
});
