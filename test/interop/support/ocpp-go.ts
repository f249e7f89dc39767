/** The central system of ocpp-go. */
import type { CentralOptions } from './ocpp-central.ts';
import { LinePeer, installedPath } from './peers.ts';

export function startGoCentral(port: number, options: CentralOptions = {}): LinePeer {
  return new LinePeer('ocpp-go', installedPath('goCentral'), [String(port), JSON.stringify(options)]);
}
