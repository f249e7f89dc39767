import { expect } from 'chai';
import type { Device } from '../../../src/contract/device.ts';
import type { ModeName } from '../../../src/csip/control/model.ts';
import { createDeviceReports } from '../../../src/csip/report/report-bridge.ts';
import type { DeviceReports, ReportOptions } from '../../../src/csip/report/model.ts';
import { alarmBits } from '../../../src/csip/report/model.ts';
import { m701 } from '../../../src/sunspec/models/m701.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { evsePlant } from '../../support/evse-plant.ts';
import { testPlant } from '../../support/plant.ts';
import { withRegisters } from './registers.ts';

const options: ReportOptions = {
  revision: '2018',
  csipAus: null,
  lfdi: '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5',
  pen: 40732,
  subscribes: false,
};

const supported = new Set<ModeName>(['opModConnect', 'opModMaxLimW', 'opModVoltVar', 'opModExpLimW', 'opModImpLimW']);

const kinds = {
  pv: 'PV-3Phase',
  battery: 'Batt-3Phase',
  wind: 'Wind-T4-3Phase',
  fuelcell: 'Fuelcell-3Phase',
  'hybrid-dc': 'HybridDC-3Phase',
} as const;

async function deviceOf(type: string): Promise<Device> {
  const plant = type === 'EVSE' ? evsePlant() : testPlant({ types: [type] });
  await plant.step(2);
  return plant.device(plant.firstIndex);
}

function reportsOf(device: Device, change: Partial<ReportOptions> = {}): DeviceReports {
  return createDeviceReports(device, supported, { ...options, ...change });
}

const valueOf = (scaled: { readonly multiplier: number; readonly value: number } | undefined) =>
  scaled === undefined ? undefined : Number(`${scaled.value}e${scaled.multiplier}`);

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

/** The document of a device with these registers. */
function statusWith(device: Device, change: (map: WritableMapView) => void, of: Partial<ReportOptions> = {}) {
  return reportsOf(withRegisters(device, change), of).status(1000);
}

describe('CSIP reports: registers as documents', () => {
  describe('DERCapability', () => {
    const types = { pv: 4, battery: 80, wind: 6, fuelcell: 3, 'hybrid-dc': 83 } as const;

    for (const [kind, type] of Object.entries(kinds)) {
      it(`gives the ratings of 702 for a ${kind}`, async () => {
        const device = await deviceOf(type);
        const m = device.bank.map.m702;
        const document = reportsOf(device).capability();
        expect(document.type).to.equal(types[device.assetType as keyof typeof types]);
        expect(valueOf(document.rtgMaxW)).to.equal(m.WMaxRtg);
        expect(valueOf(document.rtgMaxVA)).to.be.closeTo(m.VAMaxRtg ?? NaN, 1e-4 * (m.VAMaxRtg ?? 0));
        expect(valueOf(document.rtgMaxVar)).to.be.closeTo(m.VarMaxInjRtg ?? NaN, 1e-4 * (m.VarMaxInjRtg ?? 0));
        expect(valueOf(document.rtgMaxVarNeg)).to.equal(-(valueOf(document.rtgMaxVar) ?? NaN));
        expect(valueOf(document.rtgVNom)).to.equal(m.VNomRtg);
        expect(valueOf(document.rtgMaxA)).to.be.closeTo(m.AMaxRtg ?? NaN, 1e-4 * (m.AMaxRtg ?? 0));
        expect(document.rtgNormalCategory).to.equal(m.NorOpCatRtg === 'CAT_A' ? 1 : 2);
        expect(document.rtgAbnormalCategory).to.equal({ CAT_1: 1, CAT_2: 2, CAT_3: 3 }[m.AbnOpCatRtg ?? 'CAT_1']);
        expect(valueOf(document.rtgMaxChargeRateW) ?? null).to.equal(m.WChaRteMaxRtg);
        expect(valueOf(document.rtgMaxWh) ?? null).to.equal(device.bank.map.m713.WHRtg);
      });
    }

    it('names a charging station EVSE', async () => {
      const reports = reportsOf(await deviceOf('EVSE'));
      expect(reports.capability().type).to.equal(82);
      expect(reports.deviceCategory).to.equal(2 ** 17);
    });

    it('has the modes that the device supports, with charging and discharging of a storage', async () => {
      expect(reportsOf(await deviceOf('PV-3Phase')).capability().modesSupported).to.equal('00900004');
      expect(reportsOf(await deviceOf('Batt-3Phase')).capability().modesSupported).to.equal('00900007');
    });

    it('has the members of CSIP-AUS and of 2023 only where they belong', async () => {
      const device = await deviceOf('Batt-3Phase');
      expect(reportsOf(device).capability()).not.to.have.any.keys(
        'doeModesSupported',
        'vppModesSupported',
        'modesSupported2',
      );
      expect(reportsOf(device, { csipAus: '1.2' }).capability()).to.include({ doeModesSupported: '03' });
      expect(reportsOf(device, { csipAus: '1.2' }).capability()).not.to.have.property('vppModesSupported');
      const storage = createDeviceReports(device, new Set(['opModStorageTargetW']), { ...options, csipAus: '1.3' });
      expect(storage.capability()).to.include({ doeModesSupported: '00', vppModesSupported: '01' });
      expect(storage.settings(0)).to.include({ doeModesEnabled: '00', vppModesEnabled: '01' });
      expect(reportsOf(device, { revision: '2023' }).capability().modesSupported2).to.equal('00000000');
    });

    it('keeps bits of 2023 out of documents of 2018', async () => {
      const device = await deviceOf('PV-3Phase');
      const of = (revision: '2018' | '2023') =>
        createDeviceReports(device, new Set(['opModIslandPermit', 'opModMaxLimWInject']), { ...options, revision });
      expect(of('2018').capability().modesSupported).to.equal('00000000');
      expect(of('2023').capability()).to.include({ modesSupported: '80000000', modesSupported2: '00000100' });
    });

    it('gives a power of over- or under-excitation only with its power factor', async () => {
      const device = withRegisters(await deviceOf('PV-3Phase'), ({ m702 }) => {
        m702.WOvrExtRtg = 9000;
        m702.WOvrExtRtgPF = 0.85;
        m702.WUndExtRtg = 9000;
        m702.WUndExtRtgPF = null;
      });
      const document = reportsOf(device).capability();
      expect(document.rtgOverExcitedW).to.deep.equal({ multiplier: 0, value: 9000 });
      expect(document.rtgOverExcitedPF).to.deep.equal({ displacement: 85, multiplier: -2 });
      expect(document).not.to.have.any.keys('rtgUnderExcitedW', 'rtgUnderExcitedPF');
    });
  });

  describe('DERSettings', () => {
    it('follows the settings of 702 and 703', async () => {
      const plant = testPlant({ types: ['Batt-3Phase'] });
      await plant.step(1);
      const device = plant.device(0);
      device.bank.transact({ source: 'rest' }, (tx) => {
        tx.m702.WMax = 7000;
        tx.m703.ESDlyTms = 300;
        tx.m703.ESHzHi = 60.1;
        tx.m703.ESVLo = 91.7;
        tx.m703.ESRmpTms = 250;
        tx.m704.WRmp = 5;
      });
      const document = reportsOf(device).settings(77);
      expect(document.updatedTime).to.equal(77);
      expect(document.setMaxW).to.deep.equal({ multiplier: 0, value: 7000 });
      expect(document).to.include({
        setESDelay: 30_000,
        setESHighFreq: 6010,
        setESLowVolt: 9170,
        setESRampTms: 25_000,
        setSoftGradW: 40,
        setGradW: 500,
        modesEnabled: '00900007',
      });
    });

    it('gives the gradient that is held: 27 hundredths of a percent per second', () => {
      const plant = testPlant();
      const device = plant.device(0);
      device.command({ kind: 'gradient', wPctPerS: 0.27 }, { source: 'rest' });
      expect(reportsOf(device).settings(0).setGradW).to.equal(27);
    });

    it('never says that there is no limit where the gradient is very slow', async () => {
      const device = Object.create(await deviceOf('PV-3Phase'), {
        gradient: { value: { w: { pctPerS: 1e-4, source: 'gradient' }, var: { pctPerS: 1, source: 'register' } } },
      }) as Device;
      expect(reportsOf(device).settings(0).setGradW).to.equal(1);
    });

    it('has the rated power factors where there is no setting of them', async () => {
      const { PFOvrExt, PFOvrExtRtg } = (await deviceOf('Batt-3Phase')).bank.map.m702;
      expect(PFOvrExt).to.equal(null);
      const { setMinPFOverExcited: pf } = reportsOf(await deviceOf('Batt-3Phase')).settings(0);
      expect(Number(`${pf?.displacement}e${pf?.multiplier}`)).to.equal(PFOvrExtRtg);
    });

    for (const type of Object.values(kinds)) {
      it(`sets nothing above its rating: ${type}`, async () => {
        const reports = reportsOf(
          withRegisters(await deviceOf(type), ({ m702 }) => {
            m702.WMax = 2 * (m702.WMaxRtg ?? 0);
            m702.VarMaxAbs = 2 * (m702.VarMaxAbsRtg ?? 0);
          }),
        );
        const ratings = reports.capability();
        const settings = reports.settings(0);
        expect(valueOf(settings.setMaxW)).to.equal(valueOf(ratings.rtgMaxW));
        expect(valueOf(settings.setMaxVarNeg)).to.equal(valueOf(ratings.rtgMaxVarNeg));
        expect(valueOf(settings.setMaxVA)).to.be.at.most(valueOf(ratings.rtgMaxVA) ?? NaN);
      });
    }
  });

  describe('DERStatus', () => {
    const states = {
      OFF: [1, '01', 1],
      SLEEPING: [2, '03', 1],
      STARTING: [3, '07', 2],
      RUNNING: [4, '07', 2],
      THROTTLED: [5, '07', 2],
      SHUTTING_DOWN: [6, '05', 2],
      FAULT: [7, '11', 1],
      STANDBY: [8, '03', 1],
    } as const;

    for (const [state, [inverter, connect, mode]] of Object.entries(states)) {
      it(`translates 701.InvSt ${state}`, async () => {
        const document = statusWith(await deviceOf('PV-3Phase'), ({ m701: m }) => {
          m.InvSt = state as keyof typeof states;
          m.ConnSt = 'CONNECTED';
        });
        expect(document.inverterStatus).to.deep.equal({ dateTime: 1000, value: inverter });
        expect(document.genConnectStatus?.value).to.equal(connect);
        expect(document.operationalModeStatus?.value).to.equal(mode);
      });
    }

    it('covers every state of the model', () => {
      const point = m701.points.find(({ name }) => name === 'InvSt');
      expect(Object.keys(states)).to.deep.equal(Object.keys((point as { symbols: object }).symbols));
    });

    const bits = { AC_OVER_VOLT: 1, AC_UNDER_VOLT: 2, OVER_FREQUENCY: 3, UNDER_FREQUENCY: 4, MANUAL_SHUTDOWN: 7 };
    const symbols = (m701.points.find(({ name }) => name === 'Alrm') as { symbols: Record<string, number> }).symbols;

    for (const [name, source] of Object.entries(symbols)) {
      const bit = (bits as Partial<Record<string, number>>)[name];
      it(`${bit === undefined ? 'has no bit for' : 'translates'} 701.Alrm ${name}`, async () => {
        const device = withRegisters(await deviceOf('PV-3Phase'), ({ m701: m }) => {
          m.Alrm = 2 ** source;
        });
        const reports = reportsOf(device);
        expect([...reports.alarms]).to.deep.equal(bit === undefined ? [] : [bit]);
        expect(Number.parseInt(reports.status(0).alarmStatus ?? '', 16)).to.equal(bit === undefined ? 0 : 2 ** bit);
        expect(reports.status(0).manufacturerStatus?.value).to.equal('ALARM');
      });
    }

    it('has only alarms of the standard', async () => {
      const device = withRegisters(await deviceOf('PV-3Phase'), ({ m701: m }) => {
        m.Alrm = 0x1ffff;
      });
      expect(alarmBits).to.include.members([...reportsOf(device).alarms]);
    });

    it('gives each state the time at which it was seen first', async () => {
      const plant = testPlant({ types: ['PV-3Phase'] });
      await plant.step(1);
      const reports = reportsOf(plant.device(0));
      reports.status(100);
      plant.commands.submit({ command: 'stop', deviceIndex: 0 }, { source: 'rest' });
      await plant.step(5);
      const document = reports.status(160);
      expect(document.readingTime).to.equal(160);
      expect(document.inverterStatus).to.deep.equal({ dateTime: 160, value: 1 });
      expect(document.genConnectStatus).to.deep.equal({ dateTime: 160, value: '00' });
      expect(document.operationalModeStatus).to.deep.equal({ dateTime: 160, value: 1 });
      expect(document.localControlModeStatus).to.deep.equal({ dateTime: 100, value: 1 });
      expect(document.alarmStatus).to.equal('00000080');
      expect(reports.status(150).inverterStatus?.dateTime, 'clock set back').to.equal(150);
    });

    it('a disconnect of the server is no emergency at the device; a stop of an operator is', async () => {
      const plant = testPlant({ types: ['PV-3Phase'] });
      await plant.step(1);
      const device = plant.device(0);
      const reports = reportsOf(device);
      device.command({ kind: 'switch', closed: false }, { source: 'csip' });
      await plant.step(40);
      expect(device.bank.map.m701.Alrm).to.equal(1 << 6);
      expect(reports.status(0).alarmStatus).to.equal('00000000');
      expect([...reports.alarms]).to.deep.equal([]);
      device.command({ kind: 'stop' }, { source: 'rest' });
      expect([...reports.alarms]).to.deep.equal([7]);
    });

    it('gives storage and state of charge of a battery', async () => {
      const device = await deviceOf('Batt-3Phase');
      const document = reportsOf(device).status(5);
      expect(document.stateOfChargeStatus?.value).to.equal(Math.round((device.bank.map.m713.SoC ?? NaN) * 100));
      expect(document.storageModeStatus?.value).to.equal(2);
      expect(document.storConnectStatus?.value).to.equal('07');
      expect(document.genConnectStatus?.value, 'it discharges').to.equal('07');
    });

    it('counts a charging station as a generator only where it discharges', async () => {
      const station = await deviceOf('EVSE');
      const of = (dischargeW: number | null) =>
        statusWith(station, ({ m702 }) => {
          m702.WDisChaRteMaxRtg = dischargeW;
        });
      expect(of(7000).genConnectStatus?.value).to.equal(of(7000).storConnectStatus?.value);
      for (const none of [0, null]) expect(of(none)).not.to.have.property('genConnectStatus');
    });

    it('says nothing of a storage that is not there', async () => {
      const reports = reportsOf(await deviceOf('PV-3Phase'));
      expect(reports.status(5)).not.to.have.any.keys('stateOfChargeStatus', 'storageModeStatus', 'storConnectStatus');
      expect(reports.information(5).secondaryPower).to.equal(0);
      expect(reports.powerStatus(5)).not.to.have.property('estimatedChargeRemaining');
    });

    it('says which way a battery goes', async () => {
      const plant = testPlant({ types: ['Batt-3Phase'] });
      const device = plant.device(0);
      const modeAt = async (w: number) => {
        device.bank.transact({ source: 'rest' }, ({ m704 }) => {
          m704.WSetMod = 'WATTS';
          m704.WSet = w;
          m704.WSetEna = 'ENABLED';
        });
        await plant.step(20);
        return reportsOf(device).status(5).storageModeStatus?.value;
      };
      expect([await modeAt(-3000), await modeAt(3000), await modeAt(0)]).to.deep.equal([0, 1, 2]);
    });

    it('has connectStatus of 2023 in place of both others', async () => {
      const of = (state: 'RUNNING' | 'STANDBY', connection: 'CONNECTED' | 'DISCONNECTED') => (map: WritableMapView) => {
        map.m701.InvSt = state;
        map.m701.ConnSt = connection;
      };
      const device = await deviceOf('HybridDC-3Phase');
      const at2018 = statusWith(device, of('RUNNING', 'CONNECTED'));
      expect(at2018.genConnectStatus?.value).to.equal('07');
      expect(at2018.storConnectStatus?.value).to.equal('07');
      expect(at2018).not.to.have.property('connectStatus');
      const running = statusWith(device, of('RUNNING', 'CONNECTED'), { revision: '2023' });
      expect(running.connectStatus?.value).to.equal('03');
      expect(running).not.to.have.any.keys('genConnectStatus', 'storConnectStatus');
      const ceased = statusWith(device, of('STANDBY', 'CONNECTED'), { revision: '2023' });
      expect(ceased.connectStatus?.value).to.equal('01');
      const open = statusWith(device, of('STANDBY', 'DISCONNECTED'), { revision: '2023' });
      expect(open.connectStatus?.value).to.equal('00');
    });
  });

  describe('the other documents', () => {
    it('DERAvailability: available power, share of the maximum, and how long a storage lasts', async () => {
      const device = await deviceOf('Batt-3Phase');
      const { injectW, absorbW, injectVar, absorbVar } = device.available;
      const document = reportsOf(device).availability(9);
      expect(valueOf(document.statWAvail)).to.be.closeTo(injectW, 0.5);
      expect(valueOf(document.statVarAvail)).to.be.closeTo(Math.min(injectVar, absorbVar), 0.5);
      expect(document.reservePercent).to.equal(Math.round((10_000 * injectW) / (device.bank.map.m702.WMax ?? NaN)));
      expect(document).not.to.have.any.keys('statWAbsorbAvail', 'statVarAbsorbAvail');
      const { capacityWh, socPct, socReserveMinPct, sohPct } = device.detail as unknown as Record<string, number>;
      const storedWh = ((((socPct ?? 0) - (socReserveMinPct ?? 0)) / 100) * (capacityWh ?? 0) * (sohPct ?? 0)) / 100;
      expect(document.availabilityDuration).to.equal(Math.floor((storedWh / injectW) * 3600));
      const of2023 = reportsOf(device, { revision: '2023' }).availability(9);
      expect(valueOf(of2023.statWAbsorbAvail)).to.be.closeTo(absorbW, 0.5);
    });

    it('DERAvailability of a PV device has no durations', async () => {
      const document = reportsOf(await deviceOf('PV-3Phase')).availability(9);
      expect(document).not.to.have.any.keys('availabilityDuration', 'maxChargeDuration', 'reserveChargePercent');
      expect(document.statWAvail?.value).to.be.greaterThan(0);
    });

    it('DeviceInformation comes from the common model', async () => {
      const device = await deviceOf('PV-3Phase');
      const { Md, SN, Vr } = device.bank.map.m1;
      expect(reportsOf(device).information(4)).to.include({
        lFDI: options.lfdi,
        mfModel: Md.slice(0, 32),
        mfSerNum: SN.slice(0, 32),
        swVer: Vr,
        mfID: 40732,
        mfDate: 4,
        functionsImplemented: '00000000001045ED',
      });
      expect(reportsOf(device, { subscribes: true }).information(4).functionsImplemented).to.equal('00000000001045FD');
    });

    it('DeviceStatus has state and temperatures, PowerStatus the battery', async () => {
      const device = withRegisters(await deviceOf('Batt-3Phase'), ({ m701: m, m713 }) => {
        m.InvSt = 'SHUTTING_DOWN';
        m.TmpCab = 41.5;
        m713.SoC = 4;
      });
      expect(reportsOf(device).deviceStatus(3)).to.deep.equal({
        changedTime: 3,
        opState: 4,
        Temperature: [{ multiplier: -1, subject: 0, value: 415 }],
      });
      expect(reportsOf(device).powerStatus(3)).to.include({ batteryStatus: 2, estimatedChargeRemaining: 400 });
    });

    for (const type of [...Object.values(kinds), 'PV-1Phase', 'PV-2Phase', 'EVSE']) {
      it(`has finite numbers only, also without registers: ${type}`, async () => {
        const device = await deviceOf(type);
        const bare = withRegisters(device, ({ m701: a, m702, m703 }) => {
          a.W = null;
          a.InvSt = null;
          a.VL1 = null;
          m702.WMaxRtg = null;
          m702.NorOpCatRtg = null;
          m702.VNom = null;
          m703.ESRmpTms = null;
        });
        for (const each of [device, bare]) {
          for (const revision of ['2018', '2023'] as const) {
            const reports = reportsOf(each, { revision, csipAus: '1.3' });
            const documents = [
              reports.capability(),
              reports.settings(1),
              reports.status(1),
              reports.availability(1),
              reports.information(1),
              reports.deviceStatus(1),
              reports.powerStatus(1),
            ];
            expect(numbersIn(documents).every(Number.isFinite)).to.equal(true);
            expect(JSON.stringify(documents)).not.to.include('null');
            expect(numbersIn([reports.meter().w, reports.meter().var]).every(Number.isFinite)).to.equal(true);
          }
        }
      });
    }
  });

  it('agrees with telemetry of the same tick', async () => {
    const plant = testPlant({ types: ['PV-3Phase'] });
    const { published } = await plant.step(3);
    const metrics = published[0]?.snapshot.metrics;
    const meter = reportsOf(plant.device(0)).meter();
    expect(meter.w / 1000).to.equal(metrics?.power_kw);
    expect(meter.var / 1000).to.equal(metrics?.reactive_power_kvar);
    expect(meter.hz).to.equal(metrics?.frequency_hz);
    expect(meter.volts.get(129)).to.equal(metrics?.voltage_ln_v);
    expect([...meter.volts.keys()]).to.deep.equal([129, 65, 33]);
  });
});
