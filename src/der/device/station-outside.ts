/** The device around a charging station, as the station uses it. */
import type { EvseExternalLimit } from '../../contract/kinds/evse.ts';
import { isLater } from '../../core/origin.ts';
import type { Provenance } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import { phaseCount } from '../inverter/ac.ts';
import type { Inverter } from '../inverter/inverter.ts';
import { takeLimit } from '../inverter/take-limit.ts';
import type { Power } from './power.ts';
import type { StationOutside } from '../source/evse/outside.ts';

/** Points behind a bound on consumption; other bounds have none, or belong to the site. */
const pointsBehind: Readonly<Partial<Record<string, readonly (readonly [modelId: number, path: string])[]>>> = {
  active_power: [
    [704, 'WSetEna'],
    [704, 'WSetMod'],
    [704, 'WSet'],
    [704, 'WSetPct'],
  ],
  charge_limit: [[702, 'WChaRteMax']],
  freq_droop: [[711, 'Ena']],
};

export interface StationOutsideOptions {
  readonly inverter: Inverter;
  readonly bank: RegisterBank;
  readonly power: Pick<Power, 'down'>;
  readonly now: () => SimTime;
  /** maximum consumption of the station alone, W */
  readonly maxPowerW: number;
}

export function stationOutside(options: StationOutsideOptions): StationOutside {
  const { inverter, bank, power, now, maxPowerW } = options;
  return {
    supplyPhases: phaseCount(inverter.ratings.wiring),
    get down() {
      return power.down;
    },
    get siteHolds() {
      return inverter.activePower.decidedBy === 'site';
    },
    get limit(): EvseExternalLimit | null {
      const limit = takeLimit(inverter, now(), maxPowerW);
      return limit && { ...limit, writer: lastWriter(bank, pointsBehind[limit.decidedBy] ?? []) };
    },
  };
}

function lastWriter(bank: RegisterBank, points: NonNullable<(typeof pointsBehind)[string]>): Provenance | null {
  let last: Provenance | null = null;
  for (const [modelId, path] of points) {
    const slot = bank.layout.slot(modelId, path);
    const writer = slot && bank.provenance(slot);
    if (writer && (last === null || isLater(writer, last))) last = writer;
  }
  return last;
}
