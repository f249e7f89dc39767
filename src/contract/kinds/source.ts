import type { PvParameters } from './pv.ts';
import type { BatteryParameters } from './battery.ts';
import type { EvseParameters } from './evse.ts';
import type { FuelCellParameters } from './fuelcell.ts';
import type { HybridParameters } from './hybrid.ts';
import type { WindParameters } from './wind.ts';

/** What stands behind the inverter of a device, as its profile gives it with every default filled in. */
export type SourceParameters =
  | { readonly kind: 'pv'; readonly pv: PvParameters }
  | { readonly kind: 'battery'; readonly battery: BatteryParameters }
  | { readonly kind: 'wind'; readonly wind: WindParameters }
  | { readonly kind: 'fuelcell'; readonly fuelCell: FuelCellParameters }
  | {
      readonly kind: 'hybrid-dc';
      readonly pv: PvParameters;
      readonly battery: BatteryParameters;
      readonly hybrid: HybridParameters;
    }
  | { readonly kind: 'evse'; readonly evse: EvseParameters };
