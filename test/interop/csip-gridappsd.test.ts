import { expect } from 'chai';
import { depth } from '../support/depth.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { skip } from '../support/skip.ts';
import { brokenRules } from './support/findings.ts';
import { PythonPeer, describeWith } from './support/peers.ts';
import { Stream } from './support/stream.ts';
import { UtilityServer } from './support/utility-server.ts';

/** Of the control with this number: the server keeps one for good, so each try has its own. */
const mRIDOf = (number: number) => `C0FFEE0000000000000000000000${number.toString(16).toUpperCase().padStart(4, '0')}`;
/** of a control; the server takes one connection for each request and is slow on a busy machine */
const seconds = { ahead: 8, duration: 8 };
const postRateS = 3;

/** MirrorReadingSets of active power in the store; export is negative where the reading is positive for import. */
const powerSets = (lists: Json): readonly Json[] => lists['/mup_0_mr_0_rs'] ?? [];
const powers = ({ lists }: Json): readonly number[] => powerSets(lists).map(({ Reading }) => Reading[0].value);

describeWith(['gridappsd', 'pysunspec2', 'openssl'], 'the client at a utility server of other people', function () {
  // eslint-disable-next-line no-restricted-syntax -- real seconds of two processes, at night; both tries are reported
  this.retries(1);
  let published = 0;
  const nextEvent = () => mRIDOf((published += 1));
  let utility: UtilityServer;
  let server: PythonPeer;
  let simulator: RunningSimulator;
  let master: PythonPeer;
  let stream: Stream;
  let lfdi: string;

  before(async function () {
    if (depth !== 'full') skip(this, 'it takes real seconds and runs at night alone (TEST_DEPTH=full)');
    utility = await UtilityServer.open();
    ({ peer: server, lfdi } = utility);
    simulator = await startSimulator([
      ...['--csip_client_enable', 'yes', '--csip_website_port', '0', ...utility.flags],
      ...['--csip_poll_rate_s', '2', '--tick', '0.1'],
    ]);
    master = new PythonPeer('sunspec_master', simulator.modbusPort);
    await master.ask('scan');
    stream = await Stream.open(simulator.httpPort);
    await post('csip/messages', { enabled: true });
  });
  after(async () => {
    // a skipped suite has opened none of them
    await (stream as Stream | undefined)?.close();
    await (master as PythonPeer | undefined)?.stop();
    expect((await (simulator as RunningSimulator | undefined)?.stop()) ?? 0).to.equal(0);
    await (utility as UtilityServer | undefined)?.close();
  });

  const client = async (): Promise<Json> => (await ask(simulator.httpPort, '/api/sim/csip-client')).json;
  async function post(path: string, body: Json): Promise<void> {
    const { status, text } = await ask(simulator.httpPort, `/api/sim/${path}`, { method: 'POST', body });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  }
  /** What the responses to an event promise. */
  const promised = async (event: string): Promise<readonly Json[]> => {
    const { json } = await ask(simulator.httpPort, '/api/sim/answers?protocol=csip');
    return (json.answers as readonly Json[]).filter(({ command }) => command === `event ${event}`);
  };
  const read = (model: number): Promise<Json> => master.ask('read', { model });
  const until = <T>(what: string, answer: () => Promise<T | undefined>): Promise<T> => stream.until(what, 30, answer);

  it('finds its EndDevice, its PIN and its program; the default control is in 704 and in 701.W', async () => {
    const state = await until('a default control', async () => {
      const json = await client();
      return json.default_control === null ? undefined : json;
    });
    expect(state.server.tls_protocol).to.equal('TLSv1.2');
    expect(state.end_device.lfdi).to.equal(lfdi);
    expect(state.end_device.registration.pin_matches).to.equal(true);
    expect(state.programs.map(({ primacy }: Json) => primacy)).to.deep.equal([10]);
    expect(state.default_control).to.deep.equal({ op_mod_max_lim_w_pct: 90 });
    // the server leaves out the quality that the schema asks for
    expect(state.time.quality).to.equal(null);
    expect(state.time.offset_s).to.be.closeTo(0, 2);
    await until('the default limit', async () => ((await read(701)).W <= 9000 ? true : undefined));
    expect(await read(704)).to.include({ WMaxLimPctEna: 1, WMaxLimPct: 90 });
  });

  it('carries out a DERControl that the operator publishes, and the server reads responses 1, 2 and 3', async () => {
    const event = nextEvent();
    const start = Math.floor(Date.now() / 1000) + seconds.ahead;
    const { status } = await server.ask('control', { mrid: event, start, duration: seconds.duration, limit: 4000 });
    expect(status).to.equal(201);
    await until('the limit', async () => ((await read(704)).WMaxLimPct === 40 ? true : undefined));
    await until('the power', async () => (Math.abs((await read(701)).W - 4000) <= 20 ? true : undefined));
    const begun = await until('response 2', async () => {
      const found = await promised(event);
      return found.length > 0 ? found : undefined;
    });
    expect(begun.map(({ told, answer, done }) => [told.value, answer, done])).to.deep.equal([
      ['ENABLED', 'Response 2 (started)', true],
      [40, 'Response 2 (started)', true],
    ]);
    const responses = await until('response 3', async () => {
      const stored = (await server.ask('stored')).responses.filter(({ subject }: Json) => subject === event);
      return stored.length === 3 ? stored : undefined;
    });
    const said = responses.map(({ subject, endDeviceLFDI, status: each }: Json) => ({
      subject,
      endDeviceLFDI,
      status: each,
    }));
    expect(said).to.deep.equal([1, 2, 3].map((each) => ({ subject: event, endDeviceLFDI: lfdi, status: each })));
    const [received, started, completed] = responses.map(({ createdDateTime }: Json) => createdDateTime);
    expect(received).to.be.below(start);
    expect(started).to.be.within(start, start + 1);
    expect(completed).to.be.within(start + seconds.duration, start + seconds.duration + 1);
    expect((await read(704)).WMaxLimPct).to.equal(90);
    const given = await promised(event);
    expect(given.map(({ answer, done }) => [answer, done])).to.deep.equal([
      ['Response 3 (completed)', true],
      ['Response 3 (completed)', true],
    ]);
  });

  it('reports what pysunspec2 reads: capability, settings and status are in the store of the server', async () => {
    const { documents } = await server.ask('stored');
    const rated = await read(702);
    expect(documents.dercap.type).to.equal(4);
    expect(documents.dercap.rtgMaxW).to.deep.equal({ multiplier: 0, value: rated.WMaxRtg });
    expect(documents.dercap.rtgVNom).to.deep.equal({ multiplier: 0, value: rated.VNomRtg });
    expect(documents.derg.setMaxW).to.deep.equal({ multiplier: 0, value: rated.WMax });
    expect(documents.ders.genConnectStatus.value).to.equal('07');
    expect(documents.ders.operationalModeStatus.value).to.equal(2);
  });

  it('mirrors readings once per postRate of the server, which has their types and the limited power', async () => {
    const { lists } = await until('the limit in a reading', async () => {
      const stored = await server.ask('stored');
      return powers(stored).includes(-4000) ? stored : undefined;
    });
    const [mirror, ...others] = lists['/mup'];
    expect(others).to.deep.equal([]);
    expect(mirror).to.include({ deviceLFDI: lfdi, roleFlags: '0049', postRate: postRateS });
    const uoms = mirror.MirrorMeterReading.map(({ ReadingType }: Json) => ReadingType.uom);
    expect(uoms).to.deep.equal([38, 63, 29, 29, 29, 33]);
    const periods = powerSets(lists).map(({ timePeriod }) => timePeriod as { start: number; duration: number });
    const begin = periods[0]?.start ?? NaN;
    expect(periods).to.deep.equal(
      periods.map((_, index) => ({ start: begin + postRateS * index, duration: postRateS })),
    );
  });

  it('breaks two rules: its Time lacks members that the schema requires, and it asks for polls every 2 s', async () => {
    const { json } = await ask(simulator.httpPort, '/api/sim/logs?modules=Findings&limit=1000');
    const ids = json.logs.map(({ message }: Json) => String(message).split(' ')[0]).sort();
    expect(ids).to.deep.equal(['csip.member_required', 'csip.poll_rate_extreme']);
  });

  it('was told of a control that has started in a device that does not act by it', async () => {
    await post('faults', { inject: [{ protocol: 'device', kind: 'ignore_effect', points: ['704'] }] });
    const event = nextEvent();
    const start = Math.floor(Date.now() / 1000) + seconds.ahead;
    await server.ask('control', { mrid: event, start, duration: seconds.duration, limit: 3000 });
    const broken = await until('response 2', async () => {
      const found = (await promised(event)).find(({ done }) => done === false);
      return found?.told.value === 30 ? found : undefined;
    });
    expect(broken.explanation).to.match(
      /requested op_mod_max_lim_w_pct, which is 704\.WMaxLimPct = 30, by event \w+ at .* and was answered with Response 2 \(started\); the register has 30, but the device acts by 90: fault 'ignore_effect'/,
    );
  });

  it('has no finding but that of the members which the server leaves out', async () => {
    expect(await brokenRules(simulator.httpPort, 'risk')).to.deep.equal(['csip.member_required']);
  });
});
