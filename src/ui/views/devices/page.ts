import type { DeviceEntry } from '../../store/site';

/** What the page of each kind of device gets. */
export interface PageProps {
  readonly device: DeviceEntry;
}
