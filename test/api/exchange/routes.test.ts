import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { HandWall } from '../../support/wall.ts';

describe('exchange', () => {
  let rest: Rest;
  let session: string;
  before(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'Batt-3Phase', 'PV-1Phase'] }));
  });
  after(() => rest.api.stop());

  const attach = async (body: object = {}, status = 201): Promise<Json> => {
    const reply = await rest.post('/exchange', body, status);
    session = reply.session;
    return reply;
  };
  const end = () => rest.post('/exchange/end', { session });
  const step = (body: object) => rest.post('/exchange/step', { session, ...body });
  const issues = async (path: string, body: object): Promise<readonly string[]> =>
    (await rest.refused(path, 422, 'validation', { session, ...body })).errors.map(
      ({ name, detail }: Json) => `${name}: ${detail}`,
    );

  it('says that nothing is attached, and refuses steps', async () => {
    expect(await rest.get('/exchange')).to.include({ attached: false, session: null, pace: null });
    for (const path of ['step', 'values', 'end'])
      expect(
        (
          await rest.refused(`/exchange/${path}`, 409, 'conflict', {
            session: 'x',
            ...(path === 'step' && { dt_s: 1 }),
          })
        ).detail,
      ).to.contain('no devices are attached');
    await rest.refused('/exchange/values', 409, 'conflict');
  });

  it('steps all devices to an instant in one tick, and answers in columns', async () => {
    const { devices, pace, time_s: timeS, nominal_hz: hz } = await attach();
    expect({ pace, timeS, hz }).to.deep.equal({ pace: 'stepped', timeS: 0, hz: 60 });
    expect(devices.map(({ index, wiring }: Json) => [index, wiring])).to.deep.equal([
      [0, 'three'],
      [1, 'three'],
      [2, 'single'],
    ]);
    const { tick } = rest.plant.latest;
    const reply = await step({ to_s: 12.5, va_pu: [1.01, 1.02, 1.03], frequency_hz: 60.02 });
    expect(reply).to.include({ session, time_s: 12.5, age_s: 0, tick: tick + 1, events_lost: 0 });
    expect(Object.keys(reply)).to.not.include('pa_w');
    expect(reply.status).to.deep.equal([3, 3, 3]);
    const flow = rest.plant.device(0).flow;
    expect(reply.p_w[0]).to.equal(Math.round(flow.powerW * 1000) / 1000);
    for (const [index, pu] of [1.01, 1.02, 1.03].entries())
      expect(rest.plant.grid(index)).to.include({ voltageAPu: pu, voltageBPu: pu, voltageCPu: pu, frequencyHz: 60.02 });
    expect(await rest.get('/exchange/values')).to.deep.equal(reply);
    await end();
    expect(await rest.get('/exchange')).to.include({ attached: false });
  });

  it('answers the outputs that were asked for, and phases', async () => {
    await attach({ devices: [2, 1], outputs: ['soc_pct', 'p_mean_w'], phases: true });
    const reply = await step({ dt_s: 1, va_pu: 1, vb_pu: 0.99, vc_pu: 1.01 });
    expect(reply.soc_pct[0]).to.equal(null);
    expect(reply.soc_pct[1]).to.be.within(0, 100);
    expect(reply.p_w).to.equal(undefined);
    expect(reply.pb_w[0], 'a phase that the wiring lacks').to.equal(null);
    expect(reply.ia_a[0]).to.be.greaterThan(0);
    expect(rest.plant.grid(1)).to.include({ voltageBPu: 0.99, voltageCPu: 1.01 });
    await end();
  });

  it('takes volts line to neutral in place of per unit', async () => {
    const { devices } = await attach();
    const volts = devices.map(({ v_nom_ln_v: nominal }: Json) => 1.02 * nominal);
    await step({ dt_s: 1, v_v: [volts, volts, volts] });
    expect(rest.plant.grid(2).voltageAPu).to.be.closeTo(1.02, 1e-12);
    const tooHigh = devices.map(({ v_nom_ln_v: nominal }: Json) => 3 * nominal);
    expect(
      (await issues('/exchange/step', { dt_s: 1, v_v: [volts, tooHigh, volts] })).map((words) => words.slice(0, 8)),
    ).to.deep.equal(['/v_v/1/0', '/v_v/1/1', '/v_v/1/2']);
    await end();
  });

  it('applies nothing of a request that has a wrong part', async () => {
    await attach();
    await step({ dt_s: 1, va_pu: 1 });
    const before = rest.plant.now;
    expect(await issues('/exchange/step', { dt_s: 1, va_pu: [1.1, 1.1], frequency_hz: [60] })).to.deep.equal([
      '/va_pu: has 2 values; 3 devices are attached',
      '/frequency_hz: has 1 values; 3 devices are attached',
    ]);
    expect((await issues('/exchange/step', { dt_s: 1, va_pu: [1.1, null, 2.5] })).join()).to.contain('/va_pu');
    expect((await issues('/exchange/step', { dt_s: 0, va_pu: 1.1 })).join()).to.contain('/dt_s');
    expect((await issues('/exchange/step', { va_pu: 1.1 })).join()).to.contain('exactly one of to_s and dt_s');
    expect((await issues('/exchange/step', { to_s: 1, va_pu: 1.1 })).join()).to.contain(
      '/to_s: must lie after the present 1 s',
    );
    expect(
      (
        await issues('/exchange/step', {
          dt_s: 1,
          va_pu: 1.1,
          v_v: [
            [1, 1, 1],
            [1, 1, 1],
            [1, 1, 1],
          ],
        })
      ).join(),
    ).to.contain('together');
    await rest.refused('/exchange/step', 409, 'conflict', { session: 'other', dt_s: 1, va_pu: 1.1 });
    expect(rest.plant.grid(0).voltageAPu).to.equal(1);
    expect(rest.plant.now).to.equal(before);
    await end();
  });

  it('keeps the clock and the grid of its devices to itself', async () => {
    await attach({ owner: 'helics:grid' });
    const refusals = [
      await rest.refused('/exchange', 409, 'conflict', {}),
      await rest.refused('/controls/time', 409, 'conflict', { mode: 'accelerated' }),
      await rest.refused('/controls/time/step', 409, 'conflict', {}),
      await rest.refused('/controls/grid', 409, 'conflict', { voltage_pu: 1 }),
      await rest.refused('/controls/grid/event?device=0', 409, 'conflict', { event: 'sag' }),
    ];
    for (const { detail } of refusals) expect(detail).to.contain('"helics:grid"');
    await end();
    await rest.post('/controls/grid', { voltage_pu: 1 });
  });

  it('puts values in while the clock runs, and refuses steps then', async () => {
    await rest.post('/controls/time', { mode: 'accelerated' });
    expect((await attach()).pace).to.equal('running');
    const { tick } = await rest.post('/exchange/values', { session, va_pu: 1.04 });
    expect(tick).to.equal(rest.plant.latest.tick);
    expect(rest.plant.grid(0).voltageAPu).to.equal(1.04);
    expect((await rest.refused('/exchange/step', 409, 'conflict', { session, dt_s: 1 })).detail).to.contain('paused');
    await rest.post('/controls/time', { mode: 'paused' });
    await end();
  });

  it('has the age of the powers while the clock runs, and values that are reached by a ramp', async () => {
    const wall = new HandWall();
    const running = await Rest.open(testPlant({ mode: 'accelerated', wall }));
    const { session: id } = await running.post('/exchange', {}, 201);
    const put = (body: object) => running.post('/exchange/values', { session: id, ...body });
    wall.advance(250);
    expect(await put({ va_pu: 1.1, ramp_s: 2 })).to.include({ age_s: 0.25, time_s: 0 });
    wall.advance(1000);
    expect((await running.get('/exchange/values')).age_s).to.equal(1.25);
    expect(await running.get('/controls/grid?device=0')).to.include({ voltage_a_pu: 1.05, ramp_remaining_s: 1 });
    for (const [ramp, words] of [
      [{ ramp_s: 1 }, '/ramp_s: times the values of the same request: give one'],
      [{ va_pu: 1, ramp_s: 3601 }, '/ramp_s: must be from 0 to 3600; given 3601'],
    ] as const)
      expect((await running.refused('/exchange/values', 422, 'validation', { session: id, ...ramp })).detail).to.equal(
        words,
      );
    await running.api.stop();
  });

  it('names no device twice, and none that is not there', async () => {
    expect((await issues('/exchange', { session: undefined, devices: [0, 0] })).join()).to.contain('twice');
    await rest.refused('/exchange', 404, 'unknown-device', { devices: [0, 9] });
    expect(await rest.get('/exchange')).to.include({ attached: false });
  });

  it('needs a device', async () => {
    const empty = await Rest.open();
    await empty.plant.remove(0);
    expect((await empty.refused('/exchange', 409, 'conflict', {})).detail).to.equal('there are no devices to attach');
    await empty.api.stop();
  });

  it('attaches the devices that are there when the tick under way has ended', async () => {
    const own = await Rest.open(testPlant({ types: ['PV', 'PV'] }));
    const { exchange } = own.plant;
    let openGate = (): void => undefined;
    const gate = new Promise<void>((resolve) => (openGate = resolve));
    void own.plant.betweenTicks(() => gate);
    const removed = own.plant.remove(1);
    const betweenTicks = exchange.betweenTicks.bind(exchange);
    exchange.betweenTicks = (work) => {
      const done = betweenTicks(work);
      openGate();
      return done;
    };
    const { devices } = await own.post('/exchange', {}, 201);
    expect(devices.map(({ index }: Json) => index)).to.deep.equal([0]);
    await removed;
    await own.api.stop();
  });

  it('readers wait for the requests before them in one turn, and take no place from the client', async () => {
    await attach();
    let openGate = (): void => undefined;
    const gate = new Promise<void>((resolve) => (openGate = resolve));
    void rest.plant.betweenTicks(() => gate);
    const step = () => rest.call('/exchange/step', { method: 'POST', body: { session, dt_s: 1 } });
    const read = () => rest.call('/exchange/values');
    const first = step();
    const early = Array.from({ length: 20 }, read);
    const second = step();
    const late = Array.from({ length: 20 }, read);
    const others = Array.from({ length: 7 }, step);
    // all have arrived when one more step is refused
    expect((await step()).status).to.equal(429);
    openGate();
    const times = async (answers: readonly ReturnType<typeof step>[]) =>
      new Set((await Promise.all(answers)).map(({ status, json }) => (status === 200 ? json.time_s : status)));
    expect(await times([first, ...early])).to.deep.equal(new Set([1]));
    expect(await times([second, ...late])).to.deep.equal(new Set([2]));
    expect(await times(others)).to.deep.equal(new Set([3, 4, 5, 6, 7, 8, 9]));
    await end();
  });

  it('runs steps one after the other, and a few wait', async () => {
    await attach();
    let openGate = (): void => undefined;
    const gate = new Promise<void>((resolve) => (openGate = resolve));
    void rest.plant.betweenTicks(() => gate);
    let refused = 0;
    const answers = Array.from({ length: 14 }, async () => {
      const answer = await rest.call('/exchange/step', { method: 'POST', body: { session, dt_s: 1 } });
      // one step is under way and eight wait: the others are refused while the gate is shut
      if (answer.status !== 429) return answer;
      expect(answer.json.detail).to.equal('8 requests of the exchange wait for others.');
      if ((refused += 1) === 5) openGate();
      return answer;
    });
    const done = (await Promise.all(answers)).filter(({ status }) => status === 200).map(({ json }) => json.time_s);
    expect(refused).to.equal(5);
    expect(done.toSorted((one, other) => one - other)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await end();
  });
});
