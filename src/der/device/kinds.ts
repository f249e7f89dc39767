/**
 * The physics of each kind: the properties of inverter, map and telemetry that depend on the source behind the
 * inverter. Facts other than physics are in `contract/kinds/table.ts`.
 */
import type { AssetType, DcMode } from '../../contract/device.ts';
import type { PvParameters } from '../../contract/kinds/pv.ts';
import type { Issue } from '../../core/errors.ts';
import type { BatteryParameters } from '../../contract/kinds/battery.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import type { SourceParameters } from '../../contract/kinds/table.ts';
import { createRandom } from '../../core/random.ts';
import { dcFromAc } from '../inverter/efficiency.ts';
import { BatteryPort } from '../source/battery/battery-port.ts';
import { EvseSource } from '../source/evse/evse-source.ts';
import { FuelCellPort } from '../source/fuelcell/fuelcell-port.ts';
import { HybridSource } from '../source/hybrid/hybrid-source.ts';
import { maximumPowerPoint, parametersAt, pvModules } from '../source/pv/module.ts';
import type { PvConfig } from '../source/pv/array.ts';
import { PvPort } from '../source/pv/port.ts';
import type { DcSource } from '../source/source.ts';
import { WindPort } from '../source/wind/wind-port.ts';

/** Makes the source of one device; its random numbers follow from the seed and the device index. */
export type CreateSource = (seed: number, deviceIndex: number) => DcSource;

interface OwnTraits {
  /** of the inverter; null: the source counts its power at the AC terminals */
  readonly efficiencyNominal: number | null;
  /** runs at maximum power without a set-point */
  readonly generator: boolean;
  /** DC ports of model 714 */
  readonly portCount: number;
  /** AC power that the inverter takes while its source gives nothing, W; absent: none */
  readonly nightW?: number;
  readonly createSource: CreateSource;
}

export interface KindTraits extends OwnTraits {
  readonly assetType: AssetType;
  readonly dcMode: DcMode;
  /** the storage behind models 713 and 802; null: none */
  readonly storage: BatteryParameters | null;
}

interface Sizing {
  /** rated AC power */
  readonly wMaxW: number;
  /** receives an issue for parameters that do not fit together */
  readonly issues: Issue[];
}

function pvConfig(pv: PvParameters, issues: Issue[]): PvConfig | null {
  const module = Object.hasOwn(pvModules, pv.module) ? pvModules[pv.module as keyof typeof pvModules] : undefined;
  if (!module) {
    issues.push({ name: 'pv.module', detail: `given ${JSON.stringify(pv.module)}`, allowed: Object.keys(pvModules) });
    return null;
  }
  const standard = maximumPowerPoint(parametersAt(module, 1000, 25));
  const openV = standard.voc * pv.series;
  const bestV = standard.v * pv.series;
  // the array must suit its input: its working voltage inside the window, its open-circuit voltage not above
  if (openV > pv.maxDcVoltageV) {
    issues.push({
      name: 'pv.max_dc_voltage_v',
      detail: `given ${pv.maxDcVoltageV}; allowed: at least the open-circuit voltage of the strings, ${openV.toFixed(1)} V`,
    });
  }
  if (bestV < pv.minDcVoltageV) {
    issues.push({
      name: 'pv.min_dc_voltage_v',
      detail: `given ${pv.minDcVoltageV}; allowed: up to the voltage of the strings at maximum power, ${bestV.toFixed(1)} V`,
    });
  }
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

/** Own traits of each kind, from its parameters; null when there are issues. */
const traitsByKind: { readonly [K in AssetType]: (source: SourceParameters<K>, sizing: Sizing) => OwnTraits | null } = {
  pv({ pv }, { issues }) {
    const config = pvConfig(pv, issues);
    return (
      config && {
        generator: true,
        efficiencyNominal: pv.efficiencyNominal,
        portCount: 1,
        nightW: pv.nightPowerW,
        createSource: () => new PvPort(config),
      }
    );
  },
  battery: ({ battery }) => ({
    generator: false,
    efficiencyNominal: battery.efficiencyNominal,
    portCount: 1,
    createSource: (seed, index) => new BatteryPort(battery, createRandom(seed, index, 'battery')),
  }),
  wind: ({ wind }) => ({
    generator: true,
    efficiencyNominal: wind.efficiencyNominal,
    portCount: 1,
    createSource: (seed, index) => new WindPort(wind, createRandom(seed, index, 'wind')),
  }),
  fuelcell: ({ fuelCell }) => ({
    generator: fuelCell.operatingMode === 'fc_only',
    efficiencyNominal: fuelCell.efficiencyNominal,
    portCount: 1,
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
        createSource: (seed, index) =>
          new HybridSource({
            pv: new PvPort(config),
            // a fixed cell temperature of the surroundings is that of the PV cells
            battery: new BatteryPort(battery, createRandom(seed, index, 'battery'), { takesCellTemperature: false }),
            busVoltageV: hybrid.busVoltageV,
            policy: hybrid.policy,
            chargeFromGrid: hybrid.chargeFromGrid,
            dcOfAcW: (acW) => dcFromAc(acW, wMaxW / efficiencyNominal, efficiencyNominal),
          }),
      }
    );
  },
  evse: ({ evse }) => ({
    generator: false,
    efficiencyNominal: null,
    portCount: evse.connectors.filter(({ type }) => type === 'dc').length,
    createSource: (seed, index) => new EvseSource(evse, createRandom(seed, index, 'evse')),
  }),
};

/**
 * Traits of the kind behind these parameters.
 * @param wMaxW rated AC power
 * @param issues receives an issue for parameters that do not fit together
 * @returns null when there are issues
 */
export function kindTraits(source: SourceParameters, wMaxW: number, issues: Issue[]): KindTraits | null {
  const traitsOf: (source: never, sizing: Sizing) => OwnTraits | null = traitsByKind[source.kind];
  const own = traitsOf(source as never, { wMaxW, issues });
  return (
    own && {
      ...own,
      assetType: source.kind,
      dcMode: kindTable[source.kind].dcMode,
      storage: 'battery' in source ? source.battery : null,
    }
  );
}
