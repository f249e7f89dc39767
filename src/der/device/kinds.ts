/**
 * Physics of each kind: properties of inverter, map and telemetry that depend on the source. Facts other than physics
 * are in `contract/kinds/table.ts`.
 */
import type { AssetType, DcMode } from '../../contract/device.ts';
import type { PvParameters } from '../../contract/kinds/pv.ts';
import type { Issue } from '../../core/errors.ts';
import type { BatteryParameters } from '../../contract/kinds/battery.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import type { SourceParameters } from '../../contract/kinds/table.ts';
import { createRandom } from '../../core/random.ts';
import { dcFromAc } from '../inverter/dc-link.ts';
import { BatteryPort } from '../source/battery/battery-port.ts';
import { EvseSource } from '../source/evse/evse-source.ts';
import { FuelCellPort } from '../source/fuelcell/fuelcell-port.ts';
import { HybridSource } from '../source/hybrid.ts';
import { maximumPowerPoint, parametersAt, pvModules } from '../source/pv/module.ts';
import type { PvConfig } from '../source/pv/array.ts';
import { PvInputs, PvPort } from '../source/pv/port.ts';
import type { PvInputConfig } from '../source/pv/port.ts';
import type { DcSource } from '../source/source.ts';
import { WindPort } from '../source/wind/wind-port.ts';

/**
 * Creates the source of one device with random numbers by seed and device index.
 * @param central true: a charging station authorises tokens at a central system from the start
 */
export type CreateSource = (seed: number, deviceIndex: number, central?: boolean) => DcSource;

interface SourceTraits {
  /** efficiency of the inverter; null: the source counts its power at the AC terminals */
  readonly efficiencyNominal: number | null;
  /** true: runs at maximum power without a set-point */
  readonly generator: boolean;
  /** DC ports of model 714 */
  readonly portCount: number;
  /** number of ports that carry power in both directions: the last ones */
  readonly twoWayPorts: number;
  /** AC power taken by the inverter while its source gives nothing, W; absent: none */
  readonly nightW?: number;
  readonly createSource: CreateSource;
}

export interface KindTraits extends SourceTraits {
  readonly assetType: AssetType;
  readonly dcMode: DcMode;
  /** the storage behind models 713 and 802; null: none */
  readonly storage: BatteryParameters | null;
}

interface Sizing {
  /** rated AC power */
  readonly wMaxW: number;
  /** receives issues of parameters that do not fit together */
  readonly issues: Issue[];
}

/**
 * Issues of an array whose open-circuit voltage is above the window of its input, or whose voltage at maximum power is
 * below it.
 */
function windowIssues({ maxDcVoltageV, minDcVoltageV }: PvParameters, openV: number, bestV: number): Issue[] {
  const issues: Issue[] = [];
  if (openV > maxDcVoltageV) {
    issues.push({
      name: 'pv.max_dc_voltage_v',
      detail: `given ${maxDcVoltageV}; allowed: at least the open-circuit voltage of the strings, ${openV.toFixed(1)} V`,
    });
  }
  if (bestV < minDcVoltageV) {
    issues.push({
      name: 'pv.min_dc_voltage_v',
      detail: `given ${minDcVoltageV}; allowed: up to the voltage of the strings at maximum power, ${bestV.toFixed(1)} V`,
    });
  }
  return issues;
}

/**
 * Issues of one input, like `windowIssues`; the window belongs to the inverter, so the strings of the input are at
 * fault.
 */
function inputIssues(pv: PvParameters, path: string, openV: number, bestV: number): Issue[] {
  const { series, maxDcVoltageV, minDcVoltageV } = pv;
  const name = `${path}.series`;
  const issues: Issue[] = [];
  if (openV > maxDcVoltageV) {
    issues.push({
      name,
      detail:
        `given or derived ${series}, whose open-circuit voltage is ${openV.toFixed(1)} V; allowed: up to ` +
        `pv.max_dc_voltage_v, which is ${maxDcVoltageV}`,
    });
  }
  if (bestV < minDcVoltageV) {
    issues.push({
      name,
      detail:
        `given or derived ${series}, whose voltage at maximum power is ${bestV.toFixed(1)} V; allowed: from ` +
        `pv.min_dc_voltage_v, which is ${minDcVoltageV}`,
    });
  }
  return issues;
}

/** @param path path of an input in the profile; null: the array of the block */
function pvConfig(pv: PvParameters, issues: Issue[], path: string | null = null): PvConfig | null {
  const module = Object.hasOwn(pvModules, pv.module) ? pvModules[pv.module as keyof typeof pvModules] : undefined;
  if (!module) {
    const name = `${path ?? 'pv'}.module`;
    issues.push({ name, detail: `given ${JSON.stringify(pv.module)}`, allowed: Object.keys(pvModules) });
    return null;
  }
  const standard = maximumPowerPoint(parametersAt(module, 1000, 25));
  const volts = [standard.voc * pv.series, standard.v * pv.series] as const;
  issues.push(...(path === null ? windowIssues(pv, ...volts) : inputIssues(pv, path, ...volts)));
  return {
    module,
    seriesCount: pv.series,
    parallelCount: pv.parallel,
    minDcVoltageV: pv.minDcVoltageV,
    maxDcVoltageV: pv.maxDcVoltageV,
    mpptTimeConstantS: pv.mpptTimeConstantS,
    startSeconds: pv.startTimeS,
    startPowerW: pv.startPowerW,
    shading: pv.shading,
    tracker: pv.mppt,
  };
}

/** One element for each of `pv.inputs`; null: a module is unknown. */
function pvInputConfigs(
  pv: PvParameters,
  inputs: NonNullable<PvParameters['inputs']>,
  issues: Issue[],
): readonly PvInputConfig[] | null {
  const configs = inputs.flatMap((input, i) => {
    const array = pvConfig({ ...pv, ...input }, issues, `pv.inputs[${i}]`);
    if (!array) return [];
    const ratedW = maximumPowerPoint(parametersAt(array.module, 1000, 25)).p * input.series * input.parallel;
    return [{ name: input.name, ratedW, array }];
  });
  if (configs.length < inputs.length) return null;
  const ratedW = configs.reduce((sum, config) => sum + config.ratedW, 0);
  // the inverter starts at the power of all inputs together
  return configs.map((config) => ({
    ...config,
    array: { ...config.array, startPowerW: (pv.startPowerW * config.ratedW) / ratedW },
  }));
}

/** The sources of PV devices, and their number of ports; null: a module is unknown. */
function pvSource(
  pv: PvParameters,
  issues: Issue[],
): Pick<SourceTraits, 'portCount' | 'twoWayPorts' | 'createSource'> | null {
  if (pv.inputs !== undefined) {
    const configs = pvInputConfigs(pv, pv.inputs, issues);
    return configs && { portCount: configs.length, twoWayPorts: 0, createSource: () => new PvInputs(configs) };
  }
  const config = pvConfig(pv, issues);
  return config && { portCount: 1, twoWayPorts: 0, createSource: () => new PvPort(config) };
}

/** Traits of each kind, from its parameters; null: an issue prevents them. */
const traitsByKind: {
  readonly [K in AssetType]: (source: SourceParameters<K>, sizing: Sizing) => SourceTraits | null;
} = {
  pv({ pv }, { issues }) {
    const source = pvSource(pv, issues);
    return source && { generator: true, efficiencyNominal: pv.efficiencyNominal, nightW: pv.nightPowerW, ...source };
  },
  battery: ({ battery }) => ({
    generator: false,
    efficiencyNominal: battery.efficiencyNominal,
    portCount: 1,
    twoWayPorts: 1,
    createSource: (seed, index) => new BatteryPort(battery, createRandom(seed, index, 'battery')),
  }),
  wind: ({ wind }) => ({
    generator: true,
    efficiencyNominal: wind.efficiencyNominal,
    portCount: 1,
    twoWayPorts: 0,
    createSource: (seed, index) => new WindPort(wind, createRandom(seed, index, 'wind')),
  }),
  fuelcell: ({ fuelCell }) => ({
    generator: fuelCell.operatingMode === 'fc_only',
    efficiencyNominal: fuelCell.efficiencyNominal,
    portCount: 1,
    twoWayPorts: fuelCell.operatingMode === 'fc_only' ? 0 : 1,
    createSource: () => new FuelCellPort(fuelCell),
  }),
  'hybrid-dc'({ pv, battery, hybrid }, { wMaxW, issues }) {
    const config = pvConfig(pv, issues);
    const { efficiencyNominal } = pv;
    return (
      config && {
        generator: false,
        efficiencyNominal,
        portCount: 2,
        twoWayPorts: 1,
        createSource: (seed, index) =>
          new HybridSource({
            pv: new PvPort(config),
            // a fixed cell temperature of the surroundings applies only to PV cells
            battery: new BatteryPort(battery, createRandom(seed, index, 'battery'), { takesCellTemperature: false }),
            busVoltageV: hybrid.busVoltageV,
            policy: hybrid.policy,
            chargeFromGrid: hybrid.chargeFromGrid,
            dcOfAcW: (acW) => dcFromAc(acW, wMaxW / efficiencyNominal, efficiencyNominal),
          }),
      }
    );
  },
  evse({ evse }) {
    const ports = evse.connectors.filter(({ type }) => type === 'dc').length;
    return {
      generator: false,
      efficiencyNominal: null,
      portCount: ports,
      twoWayPorts: ports,
      createSource: (seed, index, central) => new EvseSource(evse, createRandom(seed, index, 'evse'), central),
    };
  },
};

/**
 * Traits of the kind of these parameters.
 * @param wMaxW rated AC power
 * @param issues receives issues of parameters that do not fit together
 * @returns null: an issue prevents the traits
 */
export function kindTraits(source: SourceParameters, wMaxW: number, issues: Issue[]): KindTraits | null {
  const traitsOf: (source: never, sizing: Sizing) => SourceTraits | null = traitsByKind[source.kind];
  const sourceTraits = traitsOf(source as never, { wMaxW, issues });
  return (
    sourceTraits && {
      ...sourceTraits,
      assetType: source.kind,
      dcMode: kindTable[source.kind].dcMode,
      storage: 'battery' in source ? source.battery : null,
    }
  );
}
