import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { amount, parsed } from '../csip/head-end/bodies.ts';
import { HeadEnd, lfdiOf } from '../csip/head-end/head-end.ts';
import { headEndPki } from '../support/head-end.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

type Values = Readonly<Record<string, number | null>>;

/** A simulator whose client reports to our head-end, and pysunspec2 at its Modbus port. */
interface Rig {
  readonly simulator: RunningSimulator;
  readonly headEnd: HeadEnd;
  readonly master: PythonPeer;
  readonly directory: string;
}

async function open(flags: readonly string[]): Promise<Rig> {
  const pki = await headEndPki();
  const headEnd = await HeadEnd.open({ tls: { identity: pki.server, ca: pki.root.cert }, nowMs: Date.now });
  Object.assign(headEnd.rates, { endDevicePost: 1, mirrorPost: 1 });
  headEnd.register(lfdiOf(new X509Certificate(pki.device.cert).raw));
  headEnd.program({ default: {} });
  const directory = mkdtempSync(join(tmpdir(), 'derbench-reports-'));
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const simulator = await startSimulator([
    ...['--csip_client_enable', 'yes', '--csip_server_port', String(headEnd.port), '--csip_website_port', '0'],
    ...['--csip_root_cert', file('root.pem', pki.root.cert), '--csip_cert', file('device.pem', pki.device.cert)],
    ...['--csip_key', file('device.key', pki.device.key), '--tick', '0.1', ...flags],
  ]);
  const master = new PythonPeer('sunspec_master', simulator.modbusPort);
  await master.ask('scan');
  return { simulator, headEnd, master, directory };
}

async function close({ simulator, headEnd, master, directory }: Rig): Promise<void> {
  await master.stop();
  expect(await simulator.stop()).to.equal(0);
  await headEnd.close();
  rmSync(directory, { recursive: true, force: true });
}

/** The value of a member as a number: a power with its multiplier, a power factor, or a plain one. */
function numberOf(member: Json): number {
  if (typeof member === 'string') return Number(member);
  return amount({ value: member.value ?? member.displacement, multiplier: member.multiplier });
}

/** Members by the point that says the same. */
const capability: Readonly<Record<string, string>> = {
  rtgMaxW: 'WMaxRtg',
  rtgMaxVA: 'VAMaxRtg',
  rtgMaxVar: 'VarMaxInjRtg',
  rtgMaxChargeRateW: 'WChaRteMaxRtg',
  rtgMaxDischargeRateW: 'WDisChaRteMaxRtg',
  rtgMaxChargeRateVA: 'VAChaRteMaxRtg',
  rtgMaxDischargeRateVA: 'VADisChaRteMaxRtg',
  rtgMaxA: 'AMaxRtg',
  rtgMaxV: 'VMaxRtg',
  rtgMinV: 'VMinRtg',
  rtgVNom: 'VNomRtg',
  rtgOverExcitedW: 'WOvrExtRtg',
  rtgOverExcitedPF: 'WOvrExtRtgPF',
  rtgUnderExcitedW: 'WUndExtRtg',
  rtgUnderExcitedPF: 'WUndExtRtgPF',
  rtgReactiveSusceptance: 'ReactSusceptRtg',
};

const settings: Readonly<Record<string, string>> = {
  setMaxW: 'WMax',
  setMaxVA: 'VAMax',
  setMaxVar: 'VarMaxInj',
  setMaxChargeRateW: 'WChaRteMax',
  setMaxDischargeRateW: 'WDisChaRteMax',
  setMaxA: 'AMax',
  setVNom: 'VNom',
};

/** 16 bits have at least four digits. */
const digits = 5e-4;

function expectAlike(document: Json, members: Readonly<Record<string, string>>, points: Values): void {
  for (const [member, point] of Object.entries(members)) {
    const value = points[point];
    if (value === null || value === undefined) expect(document, member).not.to.have.property(member);
    else expect(numberOf(document[member]), member).to.be.closeTo(value, digits * Math.abs(value));
  }
}

const kinds = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'HybridDC-3Phase'];

for (const type of kinds) {
  describeWith(['pysunspec2'], `what the reports to a head-end say is in the registers: ${type}`, () => {
    let rig: Rig;
    let headEnd: HeadEnd;
    let master: PythonPeer;

    before(async () => {
      rig = await open(['-d', type]);
      ({ headEnd, master } = rig);
    });
    after(() => close(rig));

    const latest = (name: string): Json => {
      const body = headEnd.sent('PUT', new RegExp(`/${name}$`)).at(-1)?.body;
      return body === undefined ? undefined : parsed(body).value;
    };

    it('DERCapability and DERSettings give what pysunspec2 reads in 702 and 713', async () => {
      const [document, set] = await headEnd.until(() => {
        const both = [latest('dercap'), latest('derg')] as const;
        return both.includes(undefined) ? undefined : both;
      });
      const points: Values = await master.ask('read', { model: 702 });
      expectAlike(document, capability, points);
      expectAlike(set, settings, points);
      expect(numberOf(document.rtgMaxVarNeg)).to.be.closeTo(-(points['VarMaxAbsRtg'] ?? NaN), 10);
      expect(Number(document.rtgNormalCategory)).to.equal((points['NorOpCatRtg'] ?? NaN) + 1);
      expect(Number(document.rtgAbnormalCategory)).to.equal((points['AbnOpCatRtg'] ?? NaN) + 1);
      const storage: Values = await master.ask('read', { model: 713 });
      expectAlike(document, { rtgMaxWh: 'WHRtg' }, storage);
    });

    it('DERSettings follow what pysunspec2 writes into 703 and 704', async () => {
      await master.ask('write_model', { model: 703, values: { ESDlyTms: 42, ESVLo: 93.5, ESHzHi: 60.2 } });
      await master.ask('write_point', { model: 704, path: 'WRmp', value: 7 });
      const document = await headEnd.until(() => {
        const now = latest('derg');
        return now?.setESDelay === '4200' && now.setGradW === '700' ? now : undefined;
      });
      expect(document).to.include({ setESLowVolt: '9350', setESHighFreq: '6020' });
    });

    it('DERStatus gives the states of 701 one higher, before and after pysunspec2 ends the permission', async () => {
      const expectStates = async (document: Json) => {
        const points: Values = await master.ask('read', { model: 701 });
        expect(Number(document.inverterStatus.value)).to.equal((points['InvSt'] ?? NaN) + 1);
        const connection = document.genConnectStatus ?? document.storConnectStatus;
        expect(Number.parseInt(connection.value, 16) & 1).to.equal(points['ConnSt']);
        const { SoC: soc } = (await master.ask('read', { model: 713 })) as Values;
        if (document.stateOfChargeStatus !== undefined)
          expect(Number(document.stateOfChargeStatus.value) / 100).to.be.closeTo(soc ?? NaN, 0.11);
      };
      await expectStates(await headEnd.until(() => latest('ders')));
      await master.ask('write_point', { model: 703, path: 'ES', value: 0 });
      await expectStates(
        await headEnd.until(() => {
          const now = latest('ders');
          return now?.inverterStatus.value === '8' ? now : undefined;
        }),
      );
      await master.ask('write_model', { model: 703, values: { ES: 1, ESDlyTms: 0, ESRmpTms: 0 } });
      await headEnd.until(() => (latest('ders')?.inverterStatus.value === '8' ? undefined : true));
    });

    it('readings lie between the powers that pysunspec2 reads meanwhile, with their signs', async () => {
      const power = (): Promise<number> => master.ask('read_point', { model: 701, path: 'W' });
      if (type === 'Batt-3Phase') {
        await master.ask('write_model', { model: 704, values: { WSetMod: 1, WSet: -3000, WSetEna: 1 } });
        // pysunspec2 reads too seldom to see each power of a ramp
        while (Math.abs((await power()) + 3000) > 5);
      }
      const device = headEnd.mirrors.find(({ roleFlags }) => roleFlags === '0049');
      const readings = (uom: number) =>
        headEnd.readings.filter(({ mup, type: known }) => mup === device?.id && known['uom'] === uom);
      // periods that begin from here on, and end while pysunspec2 still reads
      const fromS = headEnd.nowS + 2;
      const within = () => readings(38).filter(({ startS }) => (startS ?? 0) > fromS);
      const powers: number[] = [];
      while (within().length < 2) powers.push(await power());
      const marginW = 0.002 * Math.max(...powers.map(Math.abs)) + 1;
      for (const { value, durationS, type: known } of within()) {
        expect(durationS).to.equal(1);
        // forward: positive is import, and 701.W is positive for export
        expect(known).to.include({ flowDirection: 1, dataQualifier: 2, kind: 37 });
        expect(-value).to.be.within(Math.min(...powers) - marginW, Math.max(...powers) + marginW);
      }
      const { Hz: hz, VL1: volts } = (await master.ask('read', { model: 701 })) as Values;
      expect((readings(33).at(-1)?.value ?? NaN) / 1000).to.be.closeTo(hz ?? NaN, 0.01);
      const l1 = readings(29).filter(({ type: known }) => known['phase'] === 129);
      expect((l1.at(-1)?.value ?? NaN) / 10).to.be.closeTo(volts ?? NaN, 0.01 * (volts ?? 0));
    });
  });
}
