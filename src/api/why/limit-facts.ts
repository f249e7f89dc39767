/** The facts of `controls/why` about each limit of a device: writer, end, resource and words. */
import type { Device } from '../../contract/device.ts';
import type { DeviceLimit } from '../../contract/limit-chain.ts';
import type { Plant } from '../../contract/plant.ts';
import type { SiteCut } from '../../contract/site.ts';
import { powerText } from '../../contract/power-text.ts';
import type { Provenance } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import { functionTable } from '../../sunspec/map/grid-support/functions.ts';
import { reversionRemainingS } from '../../sunspec/map/grid-support/state.ts';
import { latestOf, pointWriter } from '../common/points.ts';
import { overrideOf } from '../common/writers.ts';
import type { LimitFacts } from './model.ts';
import { byText, shownWriter, timeText } from './words.ts';

const labels: Readonly<Record<DeviceLimit, string>> = {
  w_max: 'maximum active power (702.WMax)',
  charge_limit: 'charge limit (702.WChaRteMax)',
  discharge_limit: 'discharge limit (702.WDisChaRteMax)',
  max_power: functionTable.max_power.label,
  active_power: 'active power set-point',
  freq_droop: functionTable.freq_droop.label,
  volt_watt: functionTable.volt_watt.label,
  second_limiter: 'a limit without a register (fault)',
  enter_service: 'the enter-service ramp',
  ramp: 'a ramp',
  site: 'limit of the site',
  apparent_power: 'the rating in kVA',
  cessation: 'momentary cessation',
  out_of_service: 'out of service',
};

/** Points that set a limit; the others have none, or are not written. */
const pointsBehind: Readonly<Partial<Record<DeviceLimit, readonly [modelId: number, ...paths: string[]]>>> = {
  w_max: [702, 'WMax'],
  charge_limit: [702, 'WChaRteMax'],
  discharge_limit: [702, 'WDisChaRteMax', 'VADisChaRteMax'],
  max_power: [704, 'WMaxLimPctEna', 'WMaxLimPct'],
  active_power: [704, 'WSetEna', 'WSetMod', 'WSet', 'WSetPct'],
  freq_droop: [711, 'Ena', 'AdptCtlReq'],
  volt_watt: [706, 'Ena', 'AdptCrvReq'],
  enter_service: [703, 'ES', 'ESRmpTms'],
  apparent_power: [702, 'VAMax'],
};

function writerOf(device: Device, key: DeviceLimit): Provenance | null {
  const { bank } = device;
  if (key === 'out_of_service')
    return latestOf([
      pointWriter(bank, 703, 'ES'),
      pointWriter(bank, 715, 'OpCtl'),
      device.switchClosed ? null : overrideOf(device, 'switch'),
    ]);
  const [modelId, ...paths] = pointsBehind[key] ?? [0];
  return latestOf(paths.map((path) => pointWriter(bank, modelId, path)));
}

function linkOf({ index }: Device, key: DeviceLimit): string | null {
  switch (key) {
    case 'w_max':
    case 'charge_limit':
    case 'discharge_limit':
    case 'apparent_power':
      return `registers/702?device=${index}`;
    case 'max_power':
    case 'active_power':
    case 'freq_droop':
    case 'volt_watt':
    case 'enter_service':
      return `grid-support?device=${index}`;
    case 'ramp':
      return `controls/gradient?device=${index}`;
    case 'second_limiter':
      return 'faults';
    case 'site':
      return 'site/scopes';
    case 'cessation':
    case 'out_of_service':
      return `controls?device=${index}`;
  }
}

/** Value of the input that a function follows. */
function inputText({ trace }: Device, key: DeviceLimit): string {
  if (key === 'volt_watt') return ` at ${trace.now.voltagePct.toFixed(1)} %`;
  return key === 'freq_droop' ? ` at ${trace.now.frequencyHz.toFixed(3)} Hz` : '';
}

/** Simulated date at which a reversion timer ends the limit; null: none runs. */
function endMs({ bank }: Device, plant: Plant, key: DeviceLimit): number | null {
  if (key !== 'max_power' && key !== 'active_power' && key !== 'freq_droop' && key !== 'volt_watt') return null;
  const leftS = reversionRemainingS(bank, functionTable[key]);
  return leftS === null ? null : plant.dateMs(addSeconds(plant.now, leftS));
}

/** Verb of the writer: curves and set-points are written, single settings are set. */
const curves: ReadonlySet<DeviceLimit> = new Set(['volt_watt', 'freq_droop']);

export function deviceLimitFacts(device: Device, plant: Plant, key: DeviceLimit): LimitFacts {
  if (key === 'site') return siteFacts(device, plant);
  const by = shownWriter(writerOf(device, key));
  const verb = curves.has(key) ? 'curve written' : 'written';
  return {
    by,
    owner: null,
    untilMs: endMs(device, plant, key),
    link: linkOf(device, key),
    label: labels[key],
    clause: `${labels[key]}${inputText(device, key)}${byText(plant, verb, by)}`,
  };
}

const maxNamedDevices = 10;

/** ` of the site`, ` of device 1`, ` of devices 0, 2`. */
function scopeText(devices: SiteCut['devices']): string {
  if (devices === null) return ' of the site';
  const more = devices.length > maxNamedDevices ? ', ...' : '';
  return ` of ${devices.length === 1 ? 'device' : 'devices'} ${devices.slice(0, maxNamedDevices).join(', ')}${more}`;
}

/** The limits around a device; of several the one that cuts its power. */
function siteFacts(device: Device, plant: Plant): LimitFacts {
  const cut = plant.siteCut(device.index);
  const facts = { by: null, owner: null, untilMs: null, link: linkOf(device, 'site'), label: labels.site };
  if (cut === null) return { ...facts, clause: 'the share in the limits of the site' };
  const scope = cut.devices === null ? plant.site : plant.siteOf(cut.devices);
  const by = scope.limits[cut.limit].setBy;
  const since = by === null ? '' : `, since ${timeText(plant, by.at)}`;
  return {
    ...facts,
    by,
    owner: cut.owner,
    clause: `${cut.limit} limit${scopeText(cut.devices)} ${powerText(cut.limitW)}, owner ${cut.owner}${since}`,
  };
}
