/** Kinds of devices in pictures: icon, name of the feeder, and the class that has the colour (`--k`). */
import { Icon } from './icons';
import type { IconName } from './icons';

interface Kind {
  readonly icon: IconName;
  readonly title: string;
  /** class of `look/kit.css` that sets `--k` */
  readonly look: string;
}

/** By `asset_type`, in the order of the feeders. */
export const kinds = {
  pv: { icon: 'solar', title: 'Solar', look: 'solar' },
  wind: { icon: 'wind', title: 'Wind', look: 'wind' },
  battery: { icon: 'storage', title: 'Storage', look: 'storage' },
  'hybrid-dc': { icon: 'hybrid', title: 'Hybrid', look: 'hybrid' },
  fuelcell: { icon: 'cell', title: 'Fuel cell', look: 'hybrid' },
  evse: { icon: 'charger', title: 'Chargers', look: 'charger' },
} as const satisfies Record<string, Kind>;

/** The kind of a device; a kind that the page does not know looks like a load. */
export function kindOf(assetType: string): Kind {
  return (kinds as Readonly<Record<string, Kind>>)[assetType] ?? { icon: 'load', title: assetType, look: 'load' };
}

/** The icon of a kind in its colour. */
export function KindIcon({ of }: { readonly of: string }) {
  const { icon, look } = kindOf(of);
  return (
    <span class={`kind-icon ${look}`}>
      <Icon name={icon} />
    </span>
  );
}
