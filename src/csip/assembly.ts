/** Puts the parts of the clients together; loaded when a process with CSIP starts. */
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import type { CsipParts } from './adapter.ts';
import { ClientFacade } from './views/facade.ts';
import { rawControls } from './views/raw-controls.ts';
import { discoverServers } from './discovery/discover.ts';
import { createDeviceDisturber } from './faults/fault-bridge.ts';
import { Runtime } from './runtime.ts';
import type { RuntimeOptions } from './runtime.ts';
import { csipChannel, CsipMessageBook } from './transport/messages.ts';
import { buildDocument, parseDocument } from './xml/codec.ts';

export interface AssemblyOptions extends Omit<RuntimeOptions, 'channel' | 'codecOf' | 'disturber' | 'discover'> {
  readonly commAlarms: CommAlarmSwitch;
  readonly faults: FaultRegistry;
  readonly wireLog: WireLog;
}

export function assemble({ wireLog, faults, ...options }: AssemblyOptions): CsipParts {
  const channel = csipChannel(wireLog);
  const discover = () => discoverServers({ later: options.later });
  const runtime = new Runtime({
    discover,
    ...options,
    channel,
    disturber: createDeviceDisturber({ registry: faults, devices: () => options.plant.devices }),
    codecOf: (revision, aus) => ({
      parse: (octets) => parseDocument(octets),
      build: (document) => buildDocument(document, { revision: revision(), aus }),
    }),
  });
  const client = new ClientFacade(runtime, {
    messages: new CsipMessageBook(channel),
    rawControls: rawControls(channel),
    discover,
  });
  return { runtime, client };
}
