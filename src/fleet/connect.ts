/** Connects to the NATS server of a fleet. Its libraries are loaded by the first connection. */
import type { FleetLink } from './link.ts';
import type { LinkOptions } from './link-options.ts';

/**
 * @throws FleetError `denied`: credentials, certificates or a refused URL; `offline`: no server within `waitMs`
 */
export async function connectFleet(options: LinkOptions): Promise<FleetLink> {
  const { openLink } = await import('./nats/link.ts');
  return openLink(options);
}
