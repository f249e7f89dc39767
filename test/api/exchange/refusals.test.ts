import { connect } from 'node:net';
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const many = 25;

describe('refusals of the exchange', () => {
  let rest: Rest;
  let session: string;
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: Array.from({ length: many }, () => 'PV-1Phase') }));
    ({ session } = await rest.post('/exchange', { owner: 'helics:grid' }, 201));
  });
  afterEach(() => rest.api.stop());

  const step = (body: object) => rest.post('/exchange/step', { session, ...body });
  const list = (value: unknown, at: Readonly<Record<number, unknown>> = {}) =>
    Array.from({ length: many }, (_, place) => (place in at ? at[place] : value));
  async function refusal(body: object): Promise<Json> {
    const before = [rest.plant.now, rest.plant.grid(0).voltageAPu, rest.plant.grid(24).frequencyHz];
    const problem = await rest.refused('/exchange/step', 422, 'validation', { session, dt_s: 1, va_pu: 1.1, ...body });
    expect([rest.plant.now, rest.plant.grid(0).voltageAPu, rest.plant.grid(24).frequencyHz]).to.deep.equal(before);
    return problem;
  }
  const issues = async (body: object): Promise<readonly string[]> =>
    (await refusal(body)).errors.map(({ name, detail }: Json) => `${name}: ${detail}`);

  it('name each list of another length with both lengths', async () => {
    expect(await issues({ va_pu: [1, 1], outage: [0], angle_deg: [] })).to.deep.equal([
      '/va_pu: has 2 values; 25 devices are attached',
      '/angle_deg: has 0 values; 25 devices are attached',
      '/outage: has 1 values; 25 devices are attached',
    ]);
    expect(await issues({ va_pu: undefined, v_v: [list(120), list(120), [120]] })).to.deep.equal([
      '/v_v/2: has 1 values; 25 devices are attached',
    ]);
  });

  it('name a wrong value by its place', async () => {
    expect(
      await issues({
        va_pu: list(1, { 17: null, 20: 2.5 }),
        frequency_hz: list(60, { 3: 'x' }),
        angle_deg: 200,
        outage: list(0, { 1: 2 }),
        island: null,
      }),
    ).to.deep.equal([
      '/va_pu/17: must be a number from 0 to 2; given null',
      '/va_pu/20: must be a number from 0 to 2; given 2.5',
      '/frequency_hz/3: must be a number from 40 to 70; given "x"',
      '/angle_deg: must be a number from -180 to 180, or a list; given 200',
      '/outage/1: must be true, false, 0 or 1; given 2',
      '/island: must be true, false, 0 or 1, or a list; given null',
    ]);
  });

  it('list the first 20 values by place, and count the others', async () => {
    const { errors, detail } = await refusal({ va_pu: list(-0.1) });
    expect(errors.map(({ name }: Json) => name)).to.deep.equal(Array.from({ length: 20 }, (_, n) => `/va_pu/${n}`));
    expect(detail).to.match(/^\/va_pu\/0: must be a number from 0 to 2; given -0\.1; .*; and 20 more$/);
  });

  it('take no number of JSON that is not finite', async () => {
    const body = `{"session":"${session}","dt_s":1,"va_pu":NaN}`;
    await rest.refused('/exchange/step', 400, 'malformed-json', body);
    expect(await issues({ va_pu: list(1, { 4: 1e999 }) })).to.deep.equal([
      '/va_pu/4: must be a number from 0 to 2; given null',
    ]);
  });

  it('know volts of each device up to twice its nominal ones, and take one way of voltages', async () => {
    expect(await issues({ va_pu: undefined, v_v: [list(120), list(120, { 2: 500 }), list(120)] })).to.deep.equal([
      '/v_v/1/2: must be a number from 0 to 480 V; given 500',
    ]);
    expect(await issues({ va_pu: undefined, v_v: [list(120)] })).to.deep.equal([
      '/v_v: must be three lists, of phases a, b and c',
    ]);
    expect(await issues({ v_v: [list(120), list(120), list(120)] })).to.deep.equal([
      '/v_v: cannot be given together with va_pu, vb_pu or vc_pu',
    ]);
  });

  it('ask for one length of the step, whole microseconds, ahead and within a day', async () => {
    await step({ dt_s: 2.5 });
    expect(await issues({ dt_s: undefined, to_s: 2.5 })).to.deep.equal([
      '/to_s: must lie after the present 2.5 s, by 0.001 to 86400 s; given 2.5',
    ]);
    expect(await issues({ dt_s: undefined, to_s: 90_000 })).to.deep.equal([
      '/to_s: must lie after the present 2.5 s, by 0.001 to 86400 s; given 90000',
    ]);
    expect(await issues({ dt_s: 0.0010005 })).to.deep.equal(['/dt_s: must be a multiple of 0.000001 s']);
    expect(await issues({ dt_s: undefined, to_s: 3.0000004 })).to.deep.equal([
      '/to_s: must be a multiple of 0.000001 s',
    ]);
    expect(await issues({ to_s: 3 })).to.deep.equal(['/to_s: exactly one of to_s and dt_s is required']);
    expect(await issues({ dt_s: 0 })).to.deep.equal(['/dt_s: must be from 0.001 to 86400; given 0']);
    expect(await step({ to_s: 0.1 + 0.2 + 2.5 })).to.include({ time_s: 2.8 });
    // 0.1 added to itself 75,678 times
    expect(await step({ to_s: 7567.80000001 })).to.include({ time_s: 7567.8 });
    expect(await step({ dt_s: 0.001001 })).to.include({ time_s: 7567.801001 });
  });

  it('name who is attached since when, to another session and to a second client', async () => {
    const { since } = await rest.get('/exchange');
    const other = await rest.refused('/exchange/step', 409, 'conflict', { session: 'x', dt_s: 1 });
    expect(other.detail).to.equal(`the session is another one: "helics:grid" is attached since ${since}`);
    const second = await rest.refused('/exchange', 409, 'conflict', {});
    expect(second.detail).to.equal(
      `"helics:grid" is attached since ${since}: POST exchange/end with the session of GET exchange ends it`,
    );
    await rest.post('/exchange/end', { session });
    const none = await rest.refused('/exchange/step', 409, 'conflict', { session, dt_s: 1 });
    expect(none.detail).to.equal('no devices are attached: POST exchange attaches them');
  });

  it('end at 2 MiB of a body, which are more than other operations take', async () => {
    const padded = (bytes: number) => `{"session":"${session}","dt_s":1}${' '.repeat(bytes)}`;
    expect((await rest.post('/exchange/step', padded(512 * 1024))).time_s).to.equal(1);
    const { detail } = await rest.refused('/exchange/step', 413, 'too-large', padded(2 * 1024 * 1024));
    expect(detail).to.equal('The body is larger than 2097152 bytes.');
    await rest.refused('/controls/grid', 413, 'too-large', padded(512 * 1024));
  });

  it('leave the result of a step whose client went away to GET exchange/values', async () => {
    const body = JSON.stringify({ session, dt_s: 7, va_pu: 1.02 });
    const stepped = new Promise<void>((resolve) => rest.plant.onTick(() => resolve()));
    const socket = connect(rest.port, '127.0.0.1');
    socket.write(
      'POST /api/sim/exchange/step HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
    await stepped;
    const { time_s: timeS, p_w: powers } = await rest.get('/exchange/values');
    expect(timeS).to.equal(7);
    expect(powers).to.have.length(many);
  });

  it('make the end of the exchange wait for the step under way, and the steps behind it conflict', async () => {
    let openGate = (): void => undefined;
    void rest.plant.betweenTicks(() => new Promise<void>((resolve) => (openGate = resolve)));
    const first = rest.call('/exchange/step', { body: { session, dt_s: 1 } });
    await rest.get('/exchange');
    const end = rest.call('/exchange/end', { body: { session } });
    await rest.get('/exchange');
    const late = rest.call('/exchange/step', { body: { session, dt_s: 1 } });
    await rest.get('/exchange');
    openGate();
    expect((await first).json.time_s).to.equal(1);
    expect((await end).json.attached).to.equal(false);
    const { status, json } = await late;
    expect([status, json.detail]).to.deep.equal([409, 'no devices are attached: POST exchange attaches them']);
  });

  it('keep the place of a removed device, with null and the event `removed`', async () => {
    await rest.plant.remove(3);
    const { p_w: powers, status, events } = await step({ dt_s: 1, va_pu: list(1.01) });
    expect([powers[3], status[3]]).to.deep.equal([null, null]);
    expect(powers[4]).to.be.a('number');
    expect(events).to.deep.include({ device: 3, time_s: 0, event: 'removed' });
  });

  it('tell a plant that stops', async () => {
    rest.plant.end();
    const { status, json } = await rest.call('/exchange/step', { body: { session, dt_s: 1, va_pu: 1.2 } });
    expect([status, json.code]).to.deep.equal([503, 'stopping']);
    expect(rest.plant.grid(0).voltageAPu).to.equal(1);
  });
});
