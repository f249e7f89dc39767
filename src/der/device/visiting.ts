import type { EvseConnectorCommand } from '../../contract/kinds/evse-commands.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler } from '../../core/time/scheduler.ts';
import type { DcSource } from '../source/source.ts';
import { Visits } from '../surroundings/visits.ts';
import type { DeviceContext } from './device-context.ts';

/** Begins the visits of vehicles to a device at `instant`, if its configuration has any. */
export function startVisits(
  { visits, seriesTime, log, dcLog = log }: DeviceContext,
  index: number,
  source: DcSource,
  scheduler: Scheduler,
  instant: SimTime,
  command: (command: EvseConnectorCommand) => void,
): void {
  if (!visits || !seriesTime) return;
  const run = new Visits(visits, {
    command,
    connectors: () => {
      const detail = source.detail();
      return detail.kind === 'evse' ? detail.connectors : [];
    },
    warn: (text) => {
      dcLog.warning(text, index);
    },
  });
  run.begin(scheduler, instant, seriesTime(instant));
}
