/** Start values of the classic models: ratings, and settings converted from their current face. */
import type { AssetType } from '../../contract/device.ts';
import type { BatteryParameters } from '../../contract/kinds/battery.ts';
import type { Layout } from '../../sunspec/map/layout.ts';
import { readPoint, writePoint } from '../../sunspec/map/view.ts';
import type { WritableMapView } from '../../sunspec/map/view.ts';
import { assignTo, facesOf, readerOf } from './bound-faces.ts';

interface ClassicTraits {
  readonly assetType: AssetType;
  readonly storage: BatteryParameters | null;
}

/** Kinds of devices with a number for 120.DERTyp. */
const derTypes: Partial<Record<AssetType, 'PV' | 'PV_STOR'>> = { pv: 'PV', battery: 'PV_STOR', 'hybrid-dc': 'PV_STOR' };

function nameplate(map: WritableMapView, { assetType, storage }: ClassicTraits): void {
  const { m120: m, m702 } = map;
  if (!m) return;
  const charges = m702.WChaRteMaxRtg !== null;
  const [inject, absorb] = [m702.VarMaxInjRtg ?? 0, m702.VarMaxAbsRtg ?? 0];
  const [over, under] = [m702.PFOvrExtRtg ?? 1, m702.PFUndExtRtg ?? 1];
  // the mandatory point of the type stays "not implemented" where the model has no number for the kind
  Object.assign(m, { DERTyp: derTypes[assetType] ?? null });
  m.WRtg = m702.WMaxRtg ?? 0;
  m.VARtg = m702.VAMaxRtg ?? 0;
  m.ARtg = m702.AMaxRtg ?? 0;
  // quadrants in the direction of generators: 1 delivers both powers, 2 takes the active, 3 both, 4 the reactive power
  m.VArRtgQ1 = inject;
  m.VArRtgQ4 = 0 - absorb;
  m.PFRtgQ1 = over;
  m.PFRtgQ4 = -under;
  m.VArRtgQ2 = charges ? inject : 0;
  m.VArRtgQ3 = charges ? 0 - absorb : 0;
  m.PFRtgQ2 = charges ? -over : -1;
  m.PFRtgQ3 = charges ? under : 1;
  m.MaxChaRte = m702.WChaRteMaxRtg;
  if (storage === null) return;
  m.WHRtg = storage.capacityWh;
  m.MaxDisChaRte = m702.WDisChaRteMaxRtg;
}

/** Fills the classic models of an image whose current models have their start values. */
export function classicDefaults(layout: Layout, image: Buffer, map: WritableMapView, traits: ClassicTraits): void {
  nameplate(map, traits);
  if (map.m121) map.m121.VRefOfs = 0;
  if (map.m122) map.m122.TmSrc = 'SIM';
  if (map.m123) Object.assign(map.m123, { Conn: 'CONNECT', VArPct_Mod: 'WMax' });
  if (map.m124)
    Object.assign(map.m124, {
      WChaMax: map.m702.WChaRteMax ?? map.m802?.WChaRteMax ?? 0,
      OutWRte: 100,
      InWRte: 100,
      ...(map.m702.WChaRteMaxRtg !== null && { ChaGriSet: 'GRID' }),
    });
  const read = readerOf(layout, (slot) => readPoint(layout, image, slot));
  for (const { face } of facesOf(layout)) {
    assignTo(layout, face.toClassic(read), (slot, value) => {
      writePoint(layout, image, slot, value);
    });
  }
}
