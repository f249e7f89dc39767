/** The limits that a device has been sent, one for each connector and one for the station (0). */
import type { EvseProfileLimit } from '../../contract/kinds/evse-commands.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { StationPort } from '../station/port.ts';
import { openLimit } from './limits.ts';
import type { Limit } from './model.ts';

export interface SentLimitsOptions {
  readonly device: Pick<StationPort, 'deviceIndex' | 'command'>;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
}

/** The device takes commands up to this. */
const maxLimit = 1e9;

/** A limit as the device takes it. */
function commandOf(limit: Limit): EvseProfileLimit {
  const bounded = (value: number | null | undefined) => (value == null ? null : Math.min(maxLimit, value));
  const signed = (value: number) => Math.max(-maxLimit, Math.min(maxLimit, value));
  const { setpointW, setpointA, dischargeLimitW, dischargeLimitA, numberPhases } = limit;
  return {
    limitW: bounded(limit.limitW),
    limitA: bounded(limit.limitA),
    phases: numberPhases,
    ...(setpointW != null && { setpointW: signed(setpointW) }),
    ...(setpointA != null && { setpointA: signed(setpointA) }),
    ...(dischargeLimitW != null && { dischargeLimitW: Math.min(maxLimit, -dischargeLimitW) }),
    ...(dischargeLimitA != null && { dischargeLimitA: Math.min(maxLimit, -dischargeLimitA) }),
  };
}

/** Refusals that end by themselves. */
const waitingCodes: readonly string[] = ['COMMAND_CONFLICT', 'MAP_LOCAL_CONTROL'];

const openText = JSON.stringify(commandOf(openLimit));

/** Sends limits that have changed. */
export class SentLimits {
  readonly #options: SentLimitsOptions;
  /** what the device has, by connector; absent: no limit */
  readonly #sent = new Map<number, string>();
  /** connectors whose limit the device has not taken yet */
  readonly #waiting = new Set<number>();

  constructor(options: SentLimitsOptions) {
    this.#options = options;
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The device has no limits any more. */
  forget(): void {
    this.#sent.clear();
  }

  set(connectorId: number, limit: Limit): void {
    const { device, log } = this.#options;
    const wanted = commandOf(limit);
    const text = JSON.stringify(wanted);
    const where = connectorId === 0 ? 'of the station' : `of connector ${connectorId}`;
    if ((this.#sent.get(connectorId) ?? openText) !== text) {
      try {
        device.command({ kind: 'evse.profile_limit', connectorId, ...wanted });
      } catch (error) {
        if (error instanceof SimError && waitingCodes.includes(error.code)) {
          if (!this.#waiting.has(connectorId))
            log.warning(`the charging limit ${where} waits: ${error.message}`, device.deviceIndex);
          this.#waiting.add(connectorId);
          return;
        }
        // not tried again: the same command would fail the same way
        log.error(`the charging limit ${where} failed: ${errorText(error)}`, device.deviceIndex);
      }
      this.#sent.set(connectorId, text);
    }
    if (this.#waiting.delete(connectorId))
      log.info(`the charging limit ${where} is in force after its wait`, device.deviceIndex);
  }
}
