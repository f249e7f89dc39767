/** Description of a device before it is created. */
import type { Wiring } from '../inverter/ac.ts';
import type { OcppStationSettings } from '../../contract/ocpp-settings.ts';
import type { Series } from '../surroundings/series.ts';
import type { ProfileSpec } from '../device/template.ts';
import type { VisitPlan } from '../surroundings/visits.ts';

export interface DeviceSpec {
  readonly name: string;
  readonly deviceType: string;
  readonly profileName: string | null;
  /** as `Device.ocpp` */
  readonly ocpp?: OcppStationSettings;
  /** place where the user chose the profile, for messages; absent: position and name of the device */
  readonly profilePlace?: string;
  readonly phases: Wiring;
  /** devices of one profile share one object, and with it layout and start values */
  readonly profile: ProfileSpec;
  readonly series?: DeviceSeries;
}

/** Series that feed one device; devices may share the objects. */
export interface DeviceSeries {
  /** weather: irradiance for PV, wind at the anemometer for turbines; null: still air in the dark */
  readonly dc: { readonly series: Series; readonly name: string; readonly timeScale: number } | null;
  /** local load, column load_kw */
  readonly load: Series | null;
  /** vehicles that arrive and leave by a table */
  readonly visits: VisitPlan | null;
}
