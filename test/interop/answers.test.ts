/** `GET answers` and the assertion `answered`, with commands of programs of other people. */
import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { PythonCentral } from './support/ocpp-central.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

const limit = '704.WMaxLimPct';
/** output of the built-in map that is bound to it */
const limitOutput = 88;

const profile = (id: number, limitW: number): Json => ({
  chargingProfileId: id,
  stackLevel: 1,
  chargingProfilePurpose: 'TxDefaultProfile',
  chargingProfileKind: 'Absolute',
  chargingSchedule: {
    chargingRateUnit: 'W',
    startSchedule: '2020-01-01T00:00:00Z',
    chargingSchedulePeriod: [{ startPeriod: 0, limit: limitW }],
  },
});

describeWith(['ocpp', 'pysunspec2', 'opendnp3'], 'what peers were told', function () {
  this.timeout(120_000);
  let central: PythonCentral;
  let modbus: PythonPeer;
  let dnp3: PythonPeer;

  before(async () => {
    const port = await freePorts(1);
    central = await PythonCentral.open('CP-1', { flags: ['--dnp3_enable', 'yes', '--dnp3_port', String(port)] });
    const { station } = central;
    modbus = new PythonPeer('sunspec_master', station.simulator.modbusPort);
    dnp3 = new PythonPeer('dnp3_opendnp3', port, '1', '4', 'no');
    await modbus.ask('scan');
    await dnp3.ask('begun');
    await station.next('BootNotification');
    // a scenario begins to record after its start has been answered
    for (const protocol of ['modbus', 'dnp3']) await post(`${protocol}/messages`, { enabled: true });
  });
  after(async () => {
    await modbus.stop();
    await dnp3.stop();
    await central.station.close();
    await central.peer.stop();
  });

  const { get, post } = {
    get: (path: string) => central.station.get(path),
    post: (path: string, body: Json) => central.station.post(path, body),
  };
  const inject = (...faults: readonly Json[]) => post('faults', { inject: faults });
  const answersOf = async (protocol: string): Promise<readonly Json[]> =>
    (await get(`answers?protocol=${protocol}`)).answers;

  /** Each peer gives one command that is answered positively. */
  const commands: Readonly<Record<string, (value: number) => Promise<void>>> = {
    modbus: async (pct) => {
      await modbus.ask('write_point', { model: 704, path: 'WMaxLimPct', value: pct });
    },
    dnp3: async (pct) => {
      const { results } = await dnp3.ask('operate', {
        commands: [['AO', limitOutput, 10 * pct, 'Int16']],
        select: true,
      });
      expect(results[0].status).to.equal('SUCCESS');
    },
    ocpp: async (pct) => {
      const csChargingProfiles = profile(pct, 100 * pct);
      await central.station.expectStatus('Accepted', 'SetChargingProfile', { connectorId: 1, csChargingProfiles });
    },
  };

  /** Runs a scenario that asks only whether what was answered is done, while a peer gives a command. */
  async function judged(protocol: string, value: number): Promise<Json> {
    const { count } = await get(`answers?protocol=${protocol}`);
    const { id } = await post('scenarios', {
      scenario: {
        name: protocol,
        steps: [{ when: { get: `answers?protocol=${protocol}`, pointer: '/count', above: count, timeout: '10 min' } }],
        finally: [{ expect: { answered: { protocol } } }],
      },
    });
    await post(`scenarios/${id}/start`, { pace: 'real' });
    await commands[protocol]?.(value);
    return central.station.until('the end of the scenario', async () => {
      const { run } = await get(`scenarios/${id}`);
      return run.state === 'running' ? undefined : run;
    });
  }

  const lies: readonly (readonly [protocol: string, lie: () => Promise<unknown>, words: RegExp])[] = [
    [
      'modbus',
      () => inject({ kind: 'ignore_write', points: [limit] }),
      /Modbus master 127\.0\.0\.1:\d+ wrote 704\.WMaxLimPct = 40 at .* and was answered with success; the register has 80: fault 'ignore_write'/,
    ],
    [
      'dnp3',
      () => inject({ protocol: 'device', kind: 'ignore_effect', points: ['704'] }),
      /DNP3 master 4@127\.0\.0\.1:\d+ operated AO88, bound to 704\.WMaxLimPct, = 40 at .* and was answered with SUCCESS; the register has 40, but the device acts by 80: fault 'ignore_effect'/,
    ],
    [
      'ocpp',
      () => post('controls/local', { local: true }),
      /OCPP central system of CP-1 set charging profile 40, by which the limit of connector 1 is 4000 W now, at .* and was answered with Accepted; the limit in force of connector 1 has 8000: the device is under local control/,
    ],
    [
      'ocpp',
      () => inject({ protocol: 'ocpp', kind: 'ignore_call' }),
      /OCPP central system of CP-1 set charging profile 40 at .* and was answered with Accepted; the station has off: fault 'ignore_call'/,
    ],
  ];

  lies.forEach(([protocol, lie, words], n) => {
    it(`is there after a command over ${protocol}, and is missed in a device that lies (${n + 1})`, async () => {
      const honest = await judged(protocol, 80);
      expect(honest.failures, JSON.stringify(honest)).to.deep.equal([]);
      const [first, ...others] = await answersOf(protocol);
      expect([first, ...others].map((each) => each?.done)).to.not.include(false);
      await lie();
      const caught = await judged(protocol, 40);
      expect(caught.state).to.equal('failed');
      expect(caught.failures.join('\n')).to.match(words);
      await post('faults', { clear: true });
      await post('controls/local', { local: false });
    });
  });
});
