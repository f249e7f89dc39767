/** The members of a default control beside its modes, as points of 703. */
import type { HoldValue } from '../../sunspec/map/holds.ts';
import type { Asset } from './asset-bridge.ts';
import type { ResolvedControl } from './model.ts';
import { scaledOf } from './values.ts';

/** The ramp after entering service that a slope in hundredths of a percent per second means, s; 0: no limit. */
function softRampS(setSoftGradW: unknown): number | null {
  const pctPerS = scaledOf(setSoftGradW, -2);
  if (pctPerS === null || pctPerS < 0) return null;
  return pctPerS === 0 ? 0 : 100 / pctPerS;
}

/** Values for the points of 703 that the device has; `setESRampTms` goes before `setSoftGradW`, which means the same. */
export function settingsPoints(asset: Asset, settings: ResolvedControl['settings']): readonly HoldValue[] {
  if (!settings) return [];
  const values = {
    ESDlyTms: scaledOf(settings.setESDelay, -2),
    ESRndTms: scaledOf(settings.setESRandomDelay, -2),
    ESRmpTms: scaledOf(settings.setESRampTms, -2) ?? softRampS(settings.setSoftGradW),
    ESHzHi: scaledOf(settings.setESHighFreq, -2),
    ESHzLo: scaledOf(settings.setESLowFreq, -2),
    ESVHi: scaledOf(settings.setESHighVolt, -2),
    ESVLo: scaledOf(settings.setESLowVolt, -2),
  };
  return asset.optional(703, Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)));
}
