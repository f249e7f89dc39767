/** DERAvailability: what the device could do without the controls in force. */
import type { Device } from '../../contract/device.ts';
import { storageIn } from '../../contract/kinds/table.ts';
import type { DERAvailability } from '../xml/documents.ts';
import type { ReportOptions } from './model.ts';
import { perCent, present, signed16, unsigned16 } from './units.ts';

/** Stored energy above the lower reserve, and room below the upper one, Wh; null: no storage. */
function energyOf(device: Device): { readonly storedWh: number; readonly roomWh: number } | null {
  const storage = storageIn(device.detail);
  if (storage === null) return null;
  const share = (fromPct: number, toPct: number) =>
    (Math.max(0, toPct - fromPct) / 100) * storage.capacityWh * (storage.sohPct / 100);
  return {
    storedWh: share(storage.socReserveMinPct, storage.socPct),
    roomWh: share(storage.socPct, storage.socReserveMaxPct),
  };
}

/** Time that the energy lasts, s; undefined: no power, or no storage. */
function lasting(wh: number | undefined, w: number): number | undefined {
  return wh === undefined || !(w > 0) ? undefined : Math.min(Math.floor((wh / w) * 3600), 0xffff_ffff);
}

/** Percent of a maximum; undefined: no maximum. */
function shareOf(w: number, maxW: number | null): number | undefined {
  return maxW === null || !(maxW > 0) ? undefined : perCent((100 * w) / maxW);
}

/**
 * DERAvailability of a device. statWAvail, the base of curves with the yRefType %statWAvail, is the whole available
 * power, so the reserve is that power as well. For a storage, the durations are the times that reservePercent and
 * reserveChargePercent last within its reserves.
 */
export function availabilityOf(
  device: Device,
  { revision }: Pick<ReportOptions, 'revision'>,
  readingS: number,
): DERAvailability {
  const { injectW, absorbW, injectVar, absorbVar } = device.available;
  const m = device.bank.map.m702;
  const energy = energyOf(device);
  const is2023 = revision === '2023';
  return {
    readingTime: readingS,
    ...present({
      availabilityDuration: lasting(energy?.storedWh, injectW),
      maxChargeDuration: lasting(energy?.roomWh, absorbW),
      reserveChargePercent: shareOf(absorbW, m.WChaRteMax),
      reservePercent: shareOf(injectW, m.WMax),
      statVarAbsorbAvail: is2023 ? unsigned16(absorbVar) : undefined,
      statVarAvail: signed16(Math.min(injectVar, absorbVar)),
      statWAbsorbAvail: is2023 ? unsigned16(absorbW) : undefined,
      statWAvail: signed16(injectW),
    }),
  };
}
