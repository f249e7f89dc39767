/** Devices of all kinds in steady surroundings, and random changes of them, for trials of the exchange. */
import type { OutsideColumns } from '../../../src/contract/exchange.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { RandomStream } from '../../../src/core/random.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { configuredDevices } from '../../support/configured.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { useCurve } from '../inverter/ideal-rig.ts';

/** The devices of `steadyPlant`: types, some of them with flags. */
export const kindNames = [
  'PV-3Phase',
  'PV-2Phase',
  'PV-1Phase',
  'Batt-3Phase',
  'Batt-1Phase',
  'Wind-T4-3Phase',
  'Wind-T3-3Phase',
  'Fuelcell-3Phase',
  'Fuelcell-3Phase --fuelcell_mode bidirectional --fuelcell_fuel tank',
  'HybridDC-3Phase',
  'EVSE',
  'EVSE --evse_profile EVSE-AC-22kW-1port-EU',
  'EVSE --evse_profile EVSE-AC-7.4kW-2port',
  'EVSE --evse_profile EVSE-V2G-DC-50kW-bidir',
];
const devicesOf = (name: string) => configuredDevices('--device_type', ...name.split(' '));

/**
 * A plant whose devices are attached, in steady sun and wind.
 * @param names types, without flags where options change their profiles
 */
export function steadyPlant(names = kindNames, options: TestPlantOptions = {}): SimPlant {
  const plant = testPlant({
    ...(options.inverter ? { types: names } : { devices: names.flatMap(devicesOf) }),
    ...options,
  });
  plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
  for (const device of plant.devices)
    if (device.assetType === 'wind') device.command({ kind: 'wind.override', speedMS: 9, height: 'hub' }, byTest);
  plant.exchange.attach(
    plant.devices.map(({ index }) => index),
    'solver',
    byTest,
  );
  return plant;
}

export const between = (random: RandomStream, from: number, to: number) => from + (to - from) * random.next();
export const oneOf = <T>(random: RandomStream, list: readonly T[]): T => list[Math.floor(random.next() * list.length)]!;

type Draw = (random: RandomStream) => (tx: WritableMapView) => void;

const enable = (random: RandomStream) => oneOf(random, ['ENABLED', 'DISABLED'] as const);
const priority = (random: RandomStream) => oneOf(random, ['ACTIVE', 'REACTIVE'] as const);
const varReference = (random: RandomStream) => oneOf(random, ['VAR_MAX_PCT', 'VAR_AVAIL_PCT', 'VA_MAX_PCT'] as const);

const settings: readonly Draw[] = [
  (random) => (tx) => {
    Object.assign(tx.m704, { WMaxLimPctEna: enable(random), WMaxLimPct: between(random, 5, 100) });
  },
  (random) => (tx) => {
    const WSetPct = between(random, -100, 100);
    Object.assign(tx.m704, { WSetEna: enable(random), WSetMod: 'W_MAX_PCT', WSetPct });
  },
  (random) => (tx) => {
    Object.assign(tx.m704, { WRmp: oneOf(random, [1, 10, 100]), VarRmp: oneOf(random, [5, 50, 100]) });
  },
  (random) => (tx) => {
    tx.m704.PFWInjEna = enable(random);
    const Ext = oneOf(random, ['OVER_EXCITED', 'UNDER_EXCITED'] as const);
    Object.assign(tx.m704.PFWInj, { PF: between(random, 0.85, 1), Ext });
  },
  (random) => (tx) => {
    Object.assign(tx.m704, {
      VarSetEna: enable(random),
      VarSetMod: varReference(random),
      VarSetPct: between(random, -100, 100),
      VarSetPri: priority(random),
    });
  },
  (random) => (tx) => {
    const low = [between(random, 88, 94), between(random, 20, 100)] as const;
    const high = [between(random, 103, 109), between(random, -100, -20)] as const;
    useCurve(tx, 705, [low, [98, 0], [102, 0], high], {
      RspTms: oneOf(random, [0, 1, 5, 20]),
      DeptRef: oneOf(random, ['VA_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAL_PCT']),
      Pri: priority(random),
      VRefAutoEna: oneOf(random, ['ENABLED', 'DISABLED', 'DISABLED']),
      VRefAutoTms: 300,
    });
  },
  (random) => (tx) => {
    const end = [between(random, 105, 109), between(random, 0, 60)] as const;
    const DeptRef = oneOf(random, ['W_MAX_PCT', 'W_AVAL_PCT']);
    useCurve(tx, 706, [[between(random, 98, 104), 100], end], { RspTms: oneOf(random, [0, 1, 10]), DeptRef });
  },
  (random) => (tx) => {
    const end = [100, between(random, -44, -10)] as const;
    useCurve(tx, 712, [[0, 0], [between(random, 20, 50), 0], end], { Pri: priority(random) });
  },
  () => (tx) => {
    tx.m705.Ena = tx.m706.Ena = tx.m712.Ena = 'DISABLED';
  },
  (random) => (tx) => {
    tx.m711.Ena = enable(random);
  },
  (random) => (tx) => {
    tx.m702.VAMax = between(random, 0.7, 1) * tx.m702.VAMaxRtg!;
  },
  (random) => (tx) => {
    tx.m702.AMax = between(random, 0.8, 1) * tx.m702.AMaxRtg!;
  },
  (random) => (tx) => {
    const [ESDlyTms, ESRmpTms] = [oneOf(random, [0, 2, 30]), oneOf(random, [0, 5, 100])];
    Object.assign(tx.m703, { ESDlyTms, ESRndTms: 0, ESRmpTms });
  },
];

type Command = Parameters<SimDevice['command']>[0];

const commands: readonly ((random: RandomStream) => Command)[] = [
  (random) => ({ kind: oneOf(random, ['start', 'start', 'start', 'stop'] as const) }),
  (random) => ({ kind: 'battery.control', socPct: between(random, 5, 95) }),
  (random) => ({ kind: 'battery.control', mode: oneOf(random, ['auto', 'charge', 'discharge'] as const) }),
  (random) => ({
    kind: 'hybrid.policy',
    policy: oneOf(random, ['self_consumption', 'pv_priority', 'manual'] as const),
  }),
  (random) => ({ kind: 'wind.override', speedMS: between(random, 2, 16), height: 'hub' }),
  (random) => ({ kind: 'evse.plug', connectorId: 1, ev: { socPct: between(random, 5, 90) } }),
  () => ({ kind: 'evse.unplug', connectorId: 1 }),
];

/** Changes settings or the source at random; a device may refuse that. */
export function disturb(device: SimDevice, random: RandomStream): void {
  const act = Math.floor(random.next() * (settings.length + commands.length));
  try {
    const command = commands[act - settings.length];
    if (command) device.command(command(random), byTest);
    else device.bank.transact(byTest, settings[act]!(random));
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
  }
}

/** Values of the grid, mostly near nominal. */
export function gridValues(random: RandomStream, count: number): OutsideColumns {
  const list = <T>(draw: () => T) => Array.from({ length: count }, draw);
  const mean = list(() => (random.next() < 0.9 ? between(random, 0.93, 1.08) : between(random, 0.3, 1.25)));
  const phase = () => mean.map((pu) => pu + between(random, -0.01, 0.01));
  return {
    aPu: phase(),
    bPu: phase(),
    cPu: phase(),
    frequencyHz: list(() => (random.next() < 0.9 ? 60 : between(random, 59.5, 60.5))),
    outage: list(() => random.next() < 0.01),
  };
}
