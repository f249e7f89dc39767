import type { DeviceEntry } from '../../store/site';

/** Properties of the page of each kind of device. */
export interface PageProps {
  readonly device: DeviceEntry;
}
